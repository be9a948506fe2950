import { Ajv } from "ajv";
import type { ErrorObject, ValidateFunction } from "ajv";
import chat from "../../schemas/api/chat.schema.json" with { type: "json" };
import { escapeSegment } from "./diagnostics.ts";

const SCHEMAS = { chat } as const;

export type BodyKind = keyof typeof SCHEMAS;

/** The first mistake of a request body: `Invalid request: <pointer> <what>` (decisions 1.2). */
export interface BodyProblem {
  readonly pointer: string;
  readonly what: string;
}

/**
 * Compiles the check of one kind of body; keep the result. A good body costs one pass and no allocation.
 * A missing field is pointed at by its own name, the whole body by `/`.
 */
export function bodyValidator(kind: BodyKind): (body: unknown) => BodyProblem | null {
  const ajv = new Ajv({ allErrors: false, strict: true, strictRequired: false, allowUnionTypes: true });
  const validate: ValidateFunction = ajv.compile(SCHEMAS[kind]);
  return (body) => (validate(body) ? null : problem(validate.errors?.[0]));
}

function problem(error: ErrorObject | undefined): BodyProblem {
  if (!error) return { pointer: "/", what: "is not valid" };
  const params = error.params as Readonly<Record<string, unknown>>;
  if (error.keyword === "required") {
    return { pointer: `${error.instancePath}/${escapeSegment(String(params.missingProperty))}`, what: "is required" };
  }
  return { pointer: error.instancePath === "" ? "/" : error.instancePath, what: what(error.keyword, params) };
}

function what(keyword: string, params: Readonly<Record<string, unknown>>): string {
  switch (keyword) {
    case "type":
      return `must be ${typeNames(params.type)}`;
    case "minItems":
    case "minLength":
      return "must not be empty";
    case "minimum":
      return `must be at least ${String(params.limit)}`;
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
