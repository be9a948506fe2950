import { asText } from "../fields.ts";
import { type Issue, type Path, problemOf, type Shape } from "./shape.ts";

/** One complaint of pydantic, by which Anthropic, Mistral, vLLM and NVIDIA check bodies: https://docs.pydantic.dev/latest/errors/validation_errors/ */
export interface Complaint {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  /** What is there; where a field is missing, what should have it. */
  readonly input: unknown;
}

/** The first thing that is wrong with a body, in pydantic's words. */
export function complaintOf(shape: Shape, body: unknown): Complaint | undefined {
  const problem = problemOf(shape, body);
  if (!problem) return undefined;
  const { path, issue } = problem;
  const input = valueAt(body, issue.kind === "missing" ? path.slice(0, -1) : path);
  return { ...worded(issue), loc: locationOf(path), input };
}

function valueAt(body: unknown, path: Path): unknown {
  return path.reduce((value, step) => {
    if (typeof step === "object") return value;
    return (value as Readonly<Record<string | number, unknown>>)[step];
  }, body);
}

/** The tag by which a kind was told is a step of its own. */
function locationOf(path: Path): readonly (string | number)[] {
  return path.map((step) => (typeof step === "object" ? step.tag : step));
}

const TYPES: Readonly<Record<string, readonly [type: string, msg: string]>> = {
  "a string": ["string_type", "Input should be a valid string"],
  "an integer": ["int_type", "Input should be a valid integer"],
  "a decimal": ["float_type", "Input should be a valid number"],
  "a boolean": ["bool_type", "Input should be a valid boolean"],
  "an object": ["dict_type", "Input should be a valid dictionary"],
};

function worded(issue: Issue): Pick<Complaint, "type" | "msg"> {
  switch (issue.kind) {
    case "missing":
      return { type: "missing", msg: "Field required" };
    case "unknown":
      return { type: "extra_forbidden", msg: "Extra inputs are not permitted" };
    case "word":
      return { type: "literal_error", msg: `Input should be ${alternatives(issue.known)}` };
    case "tag":
      return issue.value === undefined
        ? { type: "union_tag_not_found", msg: `Unable to extract tag using discriminator '${issue.tag}'` }
        : {
            type: "union_tag_invalid",
            msg: `Input tag '${asText(issue.value)}' found using '${issue.tag}' does not match any of the expected tags: ${issue.known.map((one) => `'${one}'`).join(", ")}`,
          };
    case "pattern":
      return { type: "string_pattern_mismatch", msg: `String should match pattern '${issue.pattern}'` };
    case "bound": {
      const { side, at } = issue.bound;
      return side === "minimum"
        ? { type: "greater_than_equal", msg: `Input should be greater than or equal to ${at}` }
        : { type: "less_than_equal", msg: `Input should be less than or equal to ${at}` };
    }
    case "length":
      return badLength(issue);
    case "type":
      return badType(issue);
  }
}

function badLength({
  of,
  length,
  bound,
}: Extract<Issue, { readonly kind: "length" }>): Pick<Complaint, "type" | "msg"> {
  const most = bound.side === "minimum" ? "at least" : "at most";
  const s = bound.at === 1 ? "" : "s";
  const long = bound.side === "minimum" ? "short" : "long";
  return of === "string"
    ? { type: `string_too_${long}`, msg: `String should have ${most} ${bound.at} character${s}` }
    : { type: `too_${long}`, msg: `List should have ${most} ${bound.at} item${s} after validation, not ${length}` };
}

function badType({ expected, value }: Extract<Issue, { readonly kind: "type" }>): Pick<Complaint, "type" | "msg"> {
  if (expected === "an integer" && typeof value === "number")
    return {
      type: "int_from_float",
      msg: "Input should be a valid integer, got a number with a fractional part",
    };
  const [type, msg] = TYPES[expected] ?? ["list_type", "Input should be a valid list"];
  return { type, msg };
}

/** `'a', 'b' or 'c'` */
function alternatives(words: readonly string[]): string {
  const quoted = words.map((word) => `'${word}'`);
  const last = quoted.pop() ?? "";
  return quoted.length === 0 ? last : `${quoted.join(", ")} or ${last}`;
}
