import { type Json, isJson } from "../kit/index.ts";

/** A refusal by the simulator, written in the error form of the dialect that was asked. */
export class SimError extends Error {
  override readonly name = "SimError";
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;
  /** For a Retry-After, as the script writes it. */
  readonly retryAfter: string | null;
  /** The whole JSON body, of a provider that has a form of its own. */
  readonly body: object | null;

  constructor(
    status: number,
    message: string,
    more: { param?: string; code?: string; retryAfter?: string; body?: object } = {},
  ) {
    super(message);
    this.status = status;
    this.param = more.param ?? null;
    this.code = more.code ?? null;
    this.retryAfter = more.retryAfter ?? null;
    this.body = more.body ?? null;
  }
}

/** 400 about one parameter of the request. */
export function badParameter(param: string, message: string, code?: string): SimError {
  return new SimError(400, message, { param, code });
}

/** @throws SimError 400 for text that is no JSON object. */
export function parseBody(text: string): Json {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // Falls through: text that is not JSON and JSON that is no object get the same answer.
  }
  if (isJson(body)) return body;
  throw new SimError(400, "We could not parse the JSON body of your request.");
}

/** @throws SimError 400 */
export function parseModel(model: unknown): string {
  if (typeof model === "string" && model !== "") return model;
  throw badParameter("model", "you must provide a model parameter");
}

/** A text that must be there. @throws SimError 400 naming it. */
export function parseText(name: string, value: unknown): string {
  if (typeof value !== "string") throw wrong(name, "a string", value);
  if (value === "") throw badParameter(name, `Invalid '${name}': empty string.`, "empty_string");
  return value;
}

/** @throws SimError 400 naming it. */
export function parseList(name: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(name, "an array", value);
  if (value.length === 0) throw badParameter(name, `Invalid '${name}': empty array.`, "empty_array");
  return value;
}

/** An integer from 1, or nothing. @throws SimError 400 naming it. */
export function integer(name: string, value: unknown, maximum = Number.MAX_SAFE_INTEGER): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1 || value > maximum) {
    throw wrong(name, `an integer from 1 to ${maximum}`, value);
  }
  return value;
}

/** One of some words, the first without any. @throws SimError 400 naming it. */
export function oneOf<Word extends string>(name: string, value: unknown, words: readonly [Word, ...Word[]]): Word {
  if (value === undefined || value === null) return words[0];
  const found = words.find((word) => word === value);
  if (found === undefined) throw wrong(name, `one of ${words.join(", ")}`, value);
  return found;
}

export function wrong(name: string, expects: string, value: unknown): SimError {
  if (value === undefined)
    return badParameter(name, `Missing required parameter: '${name}'.`, "missing_required_parameter");
  return badParameter(name, `Invalid value for '${name}': expected ${expects}.`, "invalid_type");
}

/**
 * Whether a text is base64, padded or not. Looks for a wrong character: a pattern that matches megabytes of right ones can
 * exhaust the stack.
 * @param wrong what is not one of its characters
 */
export function isBase64(text: string, wrong = /[^A-Za-z0-9+/]/): boolean {
  let end = text.length;
  while (text[end - 1] === "=" && text.length - end < 2) end -= 1;
  return !wrong.test(text.slice(0, end));
}

/** A value of any type as text: `String` throws for an object whose own `toString` is none. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "undefined");
}

/** A value that is no number is `otherwise`: `Number` throws for an object whose own `toString` is none. */
export function asNumber(value: unknown, otherwise = 0): number {
  return typeof value === "number" ? value : otherwise;
}

/** Names of Gemini's with several words, where both ways of writing them are taken. */
const GEMINI_NAMES = new Set(
  (
    "systemInstruction toolConfig safetySettings generationConfig cachedContent topP topK candidateCount " +
    "maxOutputTokens stopSequences thinkingConfig presencePenalty frequencyPenalty responseLogprobs " +
    "responseMimeType responseSchema responseJsonSchema responseModalities speechConfig mediaResolution imageConfig " +
    "inlineData fileData mimeType fileUri functionCall functionResponse executableCode codeExecutionResult " +
    "thoughtSignature videoMetadata functionDeclarations parametersJsonSchema functionCallingConfig " +
    "allowedFunctionNames retrievalConfig googleSearch googleSearchRetrieval codeExecution urlContext fileSearch " +
    "googleMaps thinkingBudget thinkingLevel includeThoughts"
  ).split(" "),
);
/** Values whose names are the client's own. */
const FREE = /^(?:args|response|properties|labels|\w*Schema|parameters)$/;

/** Protobuf takes a field's name in JSON in either way: `topP`, `top_p`. https://protobuf.dev/programming-guides/json/ */
export function camelCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(camelCased);
  if (!isJson(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const camel = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      const known = GEMINI_NAMES.has(camel) ? camel : name;
      return [known, FREE.test(known) ? inner : camelCased(inner)];
    }),
  );
}
