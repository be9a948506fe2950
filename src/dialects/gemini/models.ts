import type { Json } from "../../kit/index.ts";
import { bearer, type JsonRequest, postJson } from "../canonical/requests.ts";
import type { UpstreamRequest } from "../dialect.ts";

/** What of a model shows in its name and changes how it is asked. */
export interface Family {
  /** Version of the family: 2.5, 3, 3.1; null for a model that is no Gemini. */
  readonly version: number | null;
  /** How much it thinks is said in tokens, as a level, or not at all. */
  readonly thinking: "none" | "budget" | "level";
  readonly pro: boolean;
  readonly lite: boolean;
  /** The most output tokens (https://ai.google.dev/gemini-api/docs/models); null: not known. */
  readonly maxOutput: number | null;
}

const NAME = /^gemini-(\d+(?:\.\d+)?)?/;
/** Names without a version, such as `gemini-flash-latest`, stand for models of this one or later. */
const LATEST = 3;
const FIRST_LEVELS = 3;
const FIRST_BUDGETS = 2.5;
/** Specialised models of the versions with budgets do not think. */
const SPECIAL = /-(?:image|tts|audio|live)/;

export function familyOf(model: string): Family {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  const match = NAME.exec(name);
  const version = match && Number(match[1] ?? LATEST);
  return {
    version,
    thinking: thinkingBy(version, SPECIAL.test(name)),
    pro: name.includes("-pro"),
    lite: name.includes("-lite"),
    maxOutput: maxOutputBy(version, SPECIAL.test(name)),
  };
}

/** Specialised models have limits of their own. */
function maxOutputBy(version: number | null, special: boolean): number | null {
  if (version === null || special) return null;
  return version < FIRST_BUDGETS ? 8_192 : 65_536;
}

function thinkingBy(version: number | null, special: boolean): Family["thinking"] {
  if (version === null || version < FIRST_BUDGETS) return "none";
  if (version >= FIRST_LEVELS) return "level";
  return special ? "none" : "budget";
}

/**
 * From version 3 on a function call of the current turn must come back with a signature, and a function's response may
 * hold images (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
export function isSigned({ version }: Family): boolean {
  return version !== null && version >= FIRST_LEVELS;
}

/**
 * Before version 3 a request with functions may not name a media type: "Function calling with a response mime type:
 * 'application/json' is unsupported" (https://github.com/googleapis/python-genai/issues/867).
 */
export function answersFormattedWithTools({ version }: Family): boolean {
  return version === null || version >= FIRST_LEVELS;
}

/*
 * Signatures outside of function calls travel in `reasoning_details`, marked as Gemini's: another provider's must never be
 * sent here, nor these elsewhere. The letter says what they were found on: a thought (h), a text (t), a part of their own
 * (e, an empty text).
 */
const MARK = /^gemini1\.([hte])\./;

export type Bearer = "thought" | "text" | "empty";

const LETTERS: Readonly<Record<Bearer, string>> = { thought: "h", text: "t", empty: "e" };
const BEARERS: Readonly<Record<string, Bearer>> = { h: "thought", t: "text", e: "empty" };

export function markSignature(bearer: Bearer, signature: string): string {
  return `gemini1.${LETTERS[bearer]}.${signature}`;
}

/** null for what is no marked signature. */
export function readSignature(value: unknown): { readonly bearer: Bearer; readonly signature: string } | null {
  if (typeof value !== "string") return null;
  const match = MARK.exec(value);
  const bearer = match && BEARERS[match[1] ?? ""];
  return match && bearer ? { bearer, signature: value.slice(match[0].length) } : null;
}

/**
 * What Google documents for a function call that another model made, or whose signature is lost
 * (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
export const UNSIGNED = "skip_thought_signature_validator";

const VERSION = "/v1beta";
/** How an OAuth access token of Google begins; anything else is an API key. */
const ACCESS_TOKEN = "ya29.";

/** No header for an empty key. */
function credentials(apiKey: string): Readonly<Record<string, string>> {
  if (apiKey === "" || apiKey.startsWith(ACCESS_TOKEN)) return bearer(apiKey);
  return { "x-goog-api-key": apiKey };
}

/** The full resource name of a model: `models/…` unless it names its collection, as `tunedModels/…` does. */
export function resourceOf(model: string): string {
  return model.includes("/") ? model : `models/${model}`;
}

/** @param method of the model, with its query: `generateContent`. */
export function post(model: string, method: string, apiKey: string, body: Json, accept?: string): JsonRequest {
  const path = resourceOf(model).split("/").map(encodeURIComponent).join("/");
  const request = postJson(`${VERSION}/${path}:${method}`, "", body, accept);
  return { ...request, headers: { ...credentials(apiKey), ...request.headers } };
}

export function get(path: string, apiKey: string): UpstreamRequest {
  const headers = { ...credentials(apiKey), accept: "application/json" };
  return { method: "GET", path: `${VERSION}${path}`, headers, body: null };
}
