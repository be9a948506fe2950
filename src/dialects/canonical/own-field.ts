import { isJson, type Json } from "../../kit/index.ts";
import type { UpstreamRequest } from "../dialect.ts";
import type { Refused } from "./errors.ts";
import { parseJson } from "./json.ts";

/** Steps to a field: names, and places in lists. */
type Path = readonly string[];

/**
 * Where the canonical body has what an upstream's body says under another name. A target's own name for a field is no
 * reason to blame the client, so a refusal of the name alone is not the client's.
 */
const ELSEWHERE: readonly (readonly [sent: RegExp, canonical: readonly string[]])[] = [
  [
    /(^|\.)(max_tokens|max_completion_tokens|max_output_tokens|maxTokens|maxOutputTokens)$/,
    ["max_tokens", "max_completion_tokens"],
  ],
  [/(^|\.)(stop|stop_sequences|stopSequences)\b/, ["stop"]],
  [/(^|\.)(temperature)$/, ["temperature"]],
  [/(^|\.)(top_p|topP|p)$/, ["top_p"]],
  [/(^|\.)(top_k|topK|k)$/, ["top_k"]],
  [/(^|\.)(frequency_penalty|frequencyPenalty)$/, ["frequency_penalty"]],
  [/(^|\.)(presence_penalty|presencePenalty)$/, ["presence_penalty"]],
  [/^(reasoning|output_config)\.effort$/, ["reasoning_effort"]],
  [/^text\.verbosity$/, ["verbosity"]],
  [/^(input|contents|messages|system|instructions|systemInstruction)\b/, ["messages"]],
  [/^(tools|toolConfig\.tools)\b/, ["tools"]],
  [/^(tool_choice|toolConfig)\b/, ["tool_choice"]],
  [/^(text\.format|response_format|output_format|output_config\.format)\b/, ["response_format"]],
];

/** Content: the gateway writes it in another form, but what is in it is the client's. */
const CONTENT: ReadonlySet<string> = new Set(["messages", "tools", "tool_choice", "response_format", "stop"]);

/** The refusal is of the field's name: whatever its value, this upstream does not have it. */
const OF_THE_NAME =
  /unsupported parameter|unknown (field|parameter|name)\b|unrecognized request argument|extra inputs|extraneous key|is not a valid field/i;
const NAME_CODES: ReadonlySet<string> = new Set([
  "unsupported_parameter",
  "unknown_parameter",
  "extra_forbidden",
  "unknown_field",
]);

/** What providers call content that a model does not take. */
const MEDIA =
  /\b(image(s|_url)?|vision|audio|input_audio|video(_url)?|documents?|files?|system (message|prompt)|developer)\b/i;

/** Names that are words in any sentence, or that every request has. */
const NO_NAMES: ReadonlySet<string> = new Set(["model", "models", "stream", "text", "input", "user", "n", "p", "k"]);

/**
 * Whether a refused field stands in the client's own body and was sent as it stands there.
 * @param sent the body that the upstream refused.
 */
export function isOwnField({ dialect, error, call }: Refused, sent: Json | null): boolean {
  if (call === undefined || sent === null) return false;
  const path = pathIn(sent, error.parameter) ?? namedIn(sent, error.text);
  // In OpenAI's dialect a place within a field is the same in the canonical body.
  const isCanonical = dialect === "openai" || dialect === "azure";
  if (path === null) return MEDIA.test(error.text) && call.body["messages"] !== undefined;
  const value = valueAt(sent, path);
  const sameName = [call.body, call.native].map((body) => valueAt(body, path)).find((own) => own !== undefined);
  if (sameName !== undefined) {
    // A client of another format cannot have meant the name: it has no other.
    const named = isRenamed(path) && (call.dialect ?? "chat") !== "chat" && isOfTheName(error);
    return !named && isSame(value, sameName, path[0]!);
  }
  if (isCanonical && path.length > 1 && call.body[path[0]!] !== undefined) return false;
  const names = isOfTheName(error) ? [] : canonicalNames(path);
  return names.some((name) => call.body[name] !== undefined && isSame(value, call.body[name], name));
}

function isOfTheName({ codes, text }: Refused["error"]): boolean {
  return codes.some((code) => NAME_CODES.has(code)) || OF_THE_NAME.test(text);
}

/** The field has several names, by which the gateway chooses. */
function isRenamed(path: Path): boolean {
  return canonicalNames(path).includes("max_tokens");
}

function canonicalNames(path: Path): readonly string[] {
  const written = path.join(".");
  return ELSEWHERE.filter(([sent]) => sent.test(written)).flatMap(([, names]) => names);
}

function isSame(sent: unknown, own: unknown, name: string): boolean {
  if (sent === own) return true;
  if (CONTENT.has(name)) return typeof own === "object";
  return typeof sent === "object" && typeof own === "object" && JSON.stringify(sent) === JSON.stringify(own);
}

/** Where the body has a field that a provider names, also when it leaves out what the field stands in; null: nowhere. */
function pathIn(body: Json, name: string): Path | null {
  const path = name.split(/[.[\]/]+/).filter(Boolean);
  if (path.length === 0) return null;
  // Some name the kind of a message, too, between its place and its field.
  const real = existing(body, path);
  if (real.at(-1) === path.at(-1)) return real;
  return path.length === 1 ? within(body, path[0]!) : null;
}

/** The path without the steps that lead nowhere. */
function existing(body: Json, path: Path): Path {
  let real: Path = [];
  for (const step of path) {
    const next = [...real, step];
    if (valueAt(body, next) !== undefined) real = next;
  }
  return real;
}

/** One object further in, as in Gemini's `generationConfig`. */
function within(body: Json, name: string): Path | null {
  const outer = Object.keys(body).find((key) => isJson(body[key]) && Object.hasOwn(body[key], name));
  return outer === undefined ? null : [outer, name];
}

/** What the limit of the answer is called, and how providers speak of it. */
const LIMITS = ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxTokens", "maxOutputTokens"];
const OF_THE_LIMIT = /\b(maximum|max|output|completion) tokens\b/i;

/** The first field of the body that a sentence has a word for. */
function namedIn(body: Json, text: string): Path | null {
  for (const [word] of text.matchAll(/[a-z][\w.]*\w/gi)) {
    const path = NO_NAMES.has(word) ? null : pathIn(body, word);
    if (path !== null && path.join(".") === word) return path;
  }
  if (!OF_THE_LIMIT.test(text)) return null;
  return LIMITS.map((name) => pathIn(body, name)).find((path) => path !== null) ?? null;
}

function valueAt(body: unknown, path: Path): unknown {
  let value = body;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[step];
  }
  return value;
}

/** The body of a request as an object; null if it is no object, or is read from elsewhere. */
export function sentJson(body: UpstreamRequest["body"]): Json | null {
  const value = typeof body === "string" ? parseJson(body) : bodyValue(body);
  return isJson(value) ? value : null;
}

function bodyValue(body: Exclude<UpstreamRequest["body"], string>): unknown {
  if (body === null) return null;
  if ("json" in body) return body.json;
  return "chunks" in body ? parseJson(Buffer.concat(body.chunks)) : null;
}
