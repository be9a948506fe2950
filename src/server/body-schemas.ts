import { Ajv, type ErrorObject } from "ajv";
import chat from "../../schemas/api/chat.schema.json" with { type: "json" };
import countTokens from "../../schemas/api/count-tokens.schema.json" with { type: "json" };
import embeddings from "../../schemas/api/embeddings.schema.json" with { type: "json" };
import image from "../../schemas/api/image.schema.json" with { type: "json" };
import messages from "../../schemas/api/messages.schema.json" with { type: "json" };
import rerank from "../../schemas/api/rerank.schema.json" with { type: "json" };
import responses from "../../schemas/api/responses-create.schema.json" with { type: "json" };
import speech from "../../schemas/api/speech.schema.json" with { type: "json" };
import transcription from "../../schemas/api/transcription.schema.json" with { type: "json" };
import { type Endpoint, escapeSegment, isJson } from "../kit/index.ts";
import { conversationExcess, MAX_CONVERSATION_VALUES } from "./conversation-bound.ts";

/** Bodies with a schema: those of inference endpoints, and of counting a request's tokens. */
export type BodyName = Endpoint | "count_tokens";

const SCHEMAS = {
  chat,
  messages,
  count_tokens: countTokens,
  responses,
  embeddings,
  rerank,
  speech,
  transcription,
  image,
} as const satisfies Record<BodyName, object>;

const CONVERSATIONS: ReadonlySet<BodyName> = new Set(["chat", "messages", "count_tokens", "responses"]);

/** The first mistake of a request body: `Invalid request: <pointer> <what>`. */
interface BodyProblem {
  /** A missing field is pointed at by its own name, the whole body by `/`. */
  readonly pointer: string;
  readonly what: string;
}

/** What is wrong with a body of so many bytes, and where; null when nothing is. */
export type ValidateBody = (name: BodyName, body: unknown, bytes?: number) => BodyProblem | null;

/** Each schema is compiled when a body of its kind first comes: a start does not wait for all of them. */
export function bodyValidators(): ValidateBody {
  const validators = new Map<BodyName, ReturnType<typeof bodyValidator>>();
  return (name, body, bytes) => {
    let validate = validators.get(name);
    if (validate === undefined) validators.set(name, (validate = bodyValidator(name)));
    return validate(body, bytes);
  };
}

/**
 * Compiles the check of one kind of body (of a transcription: the text fields of its form); keep the result. A good
 * body costs one pass and no allocation; one that could have too many values is counted first.
 */
export function bodyValidator(body: BodyName): (body: unknown, bytes?: number) => BodyProblem | null {
  const ajv = new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true, verbose: true });
  lengthInCodePoints(ajv);
  const validate = ajv.compile(SCHEMAS[body]);
  const check = (value: unknown): BodyProblem | null => (validate(value) ? null : explainBody(validate.errors ?? []));
  if (!CONVERSATIONS.has(body)) return check;
  const fields = Object.keys(SCHEMAS[body].properties);
  // No value is shorter than a byte.
  return (value, bytes = Infinity) =>
    (bytes > MAX_CONVERSATION_VALUES && isJson(value) ? conversationExcess(value, fields) : null) ?? check(value);
}

/** The one mistake behind a validation that stopped at its first error. */
function explainBody(errors: readonly ErrorObject[]): BodyProblem {
  // A condition that holds the mistake is reported too, after it.
  const error = errors.findLast(({ keyword }) => keyword !== "if");
  if (!error) return { pointer: "/", what: "is not valid" };
  const { keyword, instancePath } = error;
  if (keyword === "required") {
    const { missingProperty } = error.params as { readonly missingProperty: string };
    return { pointer: `${instancePath}/${escapeSegment(missingProperty)}`, what: "is required" };
  }
  return { pointer: instancePath === "" ? "/" : instancePath, what: problemText(error) };
}

function problemText({ keyword, schema: value, parentSchema }: ErrorObject): string {
  switch (keyword) {
    case "type":
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

/**
 * Replaces `minLength` and `maxLength` by ones that look at no more of a text than the limit: ajv's own walk through all
 * of it, 3 ms a megabyte, before they refuse it.
 */
export function lengthInCodePoints(ajv: Ajv): void {
  const keyword = (name: string, fits: (text: string, limit: number) => boolean): void => {
    ajv.removeKeyword(name);
    const compile = (limit: number) => (text: string) => fits(text, limit);
    ajv.addKeyword({ keyword: name, type: "string", schemaType: "number", compile });
  };
  keyword("minLength", (text, limit) => isLonger(text, limit - 1));
  keyword("maxLength", (text, limit) => !isLonger(text, limit));
}

/** Whether a text has more code points than that; one of them takes one or two of `length`. */
function isLonger(text: string, points: number): boolean {
  if (text.length <= points) return false;
  if (text.length > 2 * points) return true;
  let left = points;
  for (const _ of text) {
    left -= 1;
    if (left < 0) return true;
  }
  return false;
}
