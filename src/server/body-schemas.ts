import type { ErrorObject } from "ajv";
import { fields, validators } from "../../schemas/bodies.gen.js";
import { type Endpoint, escapeSegment, isJson } from "../kit/index.ts";
import { conversationExcess, MAX_CONVERSATION_VALUES } from "./conversation-bound.ts";

/** Bodies with a schema: those of inference endpoints, and of counting a request's tokens. */
export type BodyName = Endpoint | "count_tokens";

const CONVERSATIONS: ReadonlySet<BodyName> = new Set(["chat", "messages", "count_tokens", "responses"]);

/** The first mistake of a request body: `Invalid request: <pointer> <what>`. */
export interface BodyProblem {
  /** A missing field is pointed at by its own name, the whole body by `/`. */
  readonly pointer: string;
  readonly what: string;
}

/** What is wrong with a body of so many bytes, and where; null when nothing is. */
export type ValidateBody = (name: BodyName, body: unknown, bytes?: number) => BodyProblem | null;

export const validateBody: ValidateBody = (name, body, bytes = Infinity) => {
  // No value is shorter than a byte.
  const isLarge = bytes > MAX_CONVERSATION_VALUES && CONVERSATIONS.has(name) && isJson(body);
  const excess = isLarge ? conversationExcess(body, fields[name]) : null;
  if (excess !== null) return excess;
  // Compiled ahead: a good body costs one pass and no allocation.
  const validate = validators[name];
  return validate(body) ? null : problemOf(validate.errors ?? []);
};

/** The one mistake behind a validation that stopped at its first error. */
export function problemOf(errors: readonly ErrorObject[]): BodyProblem {
  // A condition that holds the mistake is reported too, after it.
  const error = errors.findLast(({ keyword }) => keyword !== "if");
  if (!error) return { pointer: "/", what: "is not valid" };
  const { keyword, instancePath } = error;
  if (keyword === "required") {
    const { missingProperty } = error.params as { readonly missingProperty: string };
    return { pointer: `${instancePath}/${escapeSegment(missingProperty)}`, what: "is required" };
  }
  if (keyword === "additionalProperties") {
    const { additionalProperty } = error.params as { readonly additionalProperty: string };
    return { pointer: `${instancePath}/${escapeSegment(additionalProperty)}`, what: unknownText(error, errors) };
  }
  return { pointer: instancePath === "" ? "/" : instancePath, what: problemText(error) };
}

/** With the names that are known there, and the field by which they are others than elsewhere. */
function unknownText({ parentSchema }: ErrorObject, errors: readonly ErrorObject[]): string {
  const condition = errors.find(({ keyword, params }) => keyword === "if" && params["failingKeyword"] === "then");
  const { required = [] } = (condition?.schema ?? {}) as { readonly required?: readonly string[] };
  const beside = required.length === 0 ? "" : ` beside ${required.join(" and ")}`;
  const known = Object.keys((parentSchema?.["properties"] ?? {}) as object);
  return `is not known${beside}${known.length === 0 ? "" : `: ${known.join(", ")}`}`;
}

function problemText({ keyword, schema: value, parentSchema }: ErrorObject): string {
  switch (keyword) {
    case "type":
      // A form says more than that it is one of texts.
      if (value === "string" && parentSchema?.["pattern"] !== undefined) return `must be ${form(parentSchema)}`;
      return `must be ${typeNames(value)}`;
    case "enum":
      return `must be ${choices(value)}`;
    case "pattern":
      return `must be ${form(parentSchema)}`;
    case "minItems":
    case "minLength":
      return "must not be empty";
    case "maxItems":
      return `must have at most ${String(value)} items`;
    case "maxLength":
      return `must be at most ${String(value)} characters`;
    case "minimum":
      return `must be at least ${String(value)}`;
    case "maximum":
      return `must be at most ${String(value)}`;
    default:
      return "is not valid";
  }
}

/** JSON's own names: the reader is a developer with a request in hand. */
const NAMES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "a boolean",
  array: "an array",
  object: "an object",
};

/** `["string", "array", "null"]` is "a string, an array or null". */
function typeNames(type: unknown): string {
  const names = (Array.isArray(type) ? type : [type]).map((name: unknown) => NAMES[String(name)] ?? String(name));
  const last = names.pop() ?? "";
  return names.length === 0 ? last : `${names.join(", ")} or ${last}`;
}

/** Who may send null may as well leave the field out: it is no choice. */
function choices(values: unknown): string {
  const names = (Array.isArray(values) ? values : [])
    .filter((value: unknown) => value !== null)
    .map((value: unknown) => JSON.stringify(value));
  return names.length === 1 ? names.join("") : `one of ${names.join(", ")}`;
}

/** A description of a field with a pattern says the form in words: "WIDTHxHEIGHT in pixels, or auto." */
function form(schema: ErrorObject["parentSchema"]): string {
  const words = String(schema?.["description"] ?? "of another form").replace(/\.$/, "");
  return words.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
}
