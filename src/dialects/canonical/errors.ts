import { AttemptError, isJson, type Json } from "../../kit/index.ts";
import { parseJson } from "./json.ts";

/**
 * The words of `{error: {message}}`, `{error}`, `{message}` or `{detail}`, fit for a client; empty when there are none.
 * As an array `detail` holds one `{loc, msg}` a mistake (FastAPI).
 */
export function errorMessage(bytes: Uint8Array): string {
  const body = parseJson(bytes);
  if (!isJson(body)) return "";
  const { error, message, detail } = body;
  const words = isJson(error) ? error["message"] : (error ?? message ?? firstOf(detail));
  return typeof words === "string" ? publicMessage(words) : "";
}

function firstOf(detail: unknown): unknown {
  if (!Array.isArray(detail)) return detail;
  const [mistake] = detail as readonly unknown[];
  if (!isJson(mistake)) return undefined;
  const { loc, msg } = mistake;
  const place = Array.isArray(loc) ? loc.filter((step) => typeof step === "string" || typeof step === "number") : [];
  return place.length > 0 && typeof msg === "string" ? `${place.join(".")}: ${msg}` : msg;
}

/** An answer that is not what the dialect promises. */
export function malformed(what: string): AttemptError {
  return new AttemptError("protocol", `upstream sent ${what}`);
}

/** An upstream's own words, made fit for a client: no markup, URLs or key-shaped words, one line, at most 300 characters. */
export function publicMessage(text: string): string {
  const plain = text
    .slice(0, 4096)
    .replace(MARKUP, " ")
    .replace(URLS, "[url]")
    .replace(SECRETS, "[redacted]")
    .replace(/[\s\p{C}]+/gu, " ")
    .trim();
  // A cut through a surrogate pair would leave half a character.
  return plain.length > 300 ? `${plain.slice(0, 299).replace(/[\uD800-\uDBFF]$/, "")}…` : plain;
}

const MARKUP = /<[^>]*>/g;

const URLS = /[a-z][a-z0-9+.-]*:\/\/\S+/gi;

/** Key-shaped words (`sk-…`, `Bearer …`, long tokens): providers echo keys in their errors. */
const SECRETS = new RegExp(
  [
    String.raw`bearer\s+\S+`,
    String.raw`(?<![a-z0-9])(?:sk|rk|pk|xai|gsk)[-_][\w*.-]{6,}`,
    // "api_requests" is a word, "api_1x9…" is a key.
    String.raw`(?<![a-z0-9])(?:key|api)[-_](?=[\w*.-]*[\d*])[\w*.-]{6,}`,
    String.raw`AIza[\w-]{16,}`,
    String.raw`(?<![\w-])(?=[a-z_-]*\d)[\w-]{32,}`,
    String.raw`[\w-]{40,}`,
  ].join("|"),
  "gi",
);

/** What the body of a refusal, or an error inside a 200, says; every field is the provider's own and fit for nobody else. */
export interface ErrorBody {
  /** What kind of mistake it is, in the provider's identifiers (`code`, `type`, `status`, `reason`), in lower case. */
  readonly codes: readonly string[];
  /** The HTTP status that the body names; 0 without one. */
  readonly status: number;
  /** At most 4,096 characters. */
  readonly text: string;
  /** The field of the request that is named; empty without one. */
  readonly parameter: string;
  /** Milliseconds to wait; null when it does not say. */
  readonly retryAfter: number | null;
}

export const NO_ERROR_BODY: ErrorBody = { codes: [], status: 0, text: "", parameter: "", retryAfter: null };

const MAX_TEXT = 4_096;
/** Fields that hold an identifier, in whichever object of the error they stand. */
const CODES = ["code", "type", "status", "reason", "error_type", "err_code", "category", "__type"];
/** A protobuf duration in JSON. */
const DURATION = /^(\d{1,9}(?:\.\d{1,9})?)s$/;
/** How providers that name no field in a place of its own quote it in their words. */
const QUOTED =
  /(?:parameter|argument|property|field|value|name|key|invalid)s?(?: supplied)?:? ?[`'"]([\w.[\]-]{1,100})[`'"]|\bparameter ([\w.]{1,100}\w)|^([\w.[\]]{1,100}): extra inputs|argument supplied: ([\w.]{1,100})|not supported on this model: (\w{1,100})/i;

/** The error of a refusal's body; of one that is no JSON nothing is known. */
export function readError(bytes: Uint8Array): ErrorBody {
  return errorOf(parseJson(bytes));
}

/**
 * Reads every shape that is seen: `{error: {message, code, type, status, details}}`, `{error: "…", code}`,
 * `{message, type, code}`, `{detail: "…" | [{type, loc, msg}] | {status, message}}`, Mistral's `{message: {detail: […]}}`,
 * Deepgram's `{err_code, err_msg}`, AWS's `{Message}`, each also in a list of one. Behind OpenRouter's general words stand
 * the provider's own in `metadata.raw`.
 */
export function errorOf(value: unknown): ErrorBody {
  const body: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof body === "string") return { ...NO_ERROR_BODY, text: body.slice(0, MAX_TEXT) };
  if (!isJson(body)) return NO_ERROR_BODY;
  const error = isJson(body["error"]) ? body["error"] : body;
  const mistakes = mistakesOf(error, body);
  const details = jsonOf(error["details"]);
  const places: readonly Json[] = [
    error,
    ...(error === body ? [] : [body]),
    ...mistakes,
    ...details,
    ...jsonOf(error["innererror"]),
    ...jsonOf(error["metadata"]),
  ];
  const raw = rawOf(error);
  const words = [textOf(error) || textOf(body) || mistakes.map(textOf).join("; "), raw.text].filter(Boolean).join(" ");
  const text = words.slice(0, MAX_TEXT);
  const codes = places
    .flatMap((place) => CODES.map((field) => place[field]))
    .filter((code) => typeof code === "string");
  return {
    codes: [...new Set([...codes.map((code) => code.toLowerCase()), ...flagged(error), ...raw.codes])],
    status: statusOf(error, body),
    text,
    parameter: parameterOf(error, mistakes, text) || raw.parameter,
    retryAfter: waitOf(details),
  };
}

/** One object a mistake of the request, as FastAPI lists them. */
function mistakesOf(error: Json, body: Json): readonly Json[] {
  for (const list of [error["detail"], error["message"], body["detail"]]) {
    const found = jsonOf(isJson(list) && list["detail"] !== undefined ? list["detail"] : list);
    if (found.length > 0) return found;
  }
  return [];
}

function jsonOf(value: unknown): readonly Json[] {
  if (isJson(value)) return [value];
  return Array.isArray(value) ? value.filter(isJson) : [];
}

function textOf(place: Json): string {
  const { message, detail, details, title, error, err_msg, msg } = place;
  const words = [message ?? err_msg ?? place["Message"] ?? msg, detail ?? details, title].filter(
    (part) => typeof part === "string",
  );
  return words.length > 0 ? words.join(" ") : typeof error === "string" ? error : "";
}

/** OpenRouter's moderation has no identifier but the field with what it objects to. */
function flagged({ metadata }: Json): readonly string[] {
  return isJson(metadata) && metadata["flagged_input"] !== undefined ? ["flagged_input"] : [];
}

function rawOf({ metadata }: Json): ErrorBody {
  const raw = isJson(metadata) ? metadata["raw"] : undefined;
  if (typeof raw !== "string") return NO_ERROR_BODY;
  const parsed = parseJson(raw.slice(0, 16 * MAX_TEXT));
  return errorOf(parsed === undefined ? raw : parsed);
}

function statusOf(error: Json, body: Json): number {
  for (const status of [error["code"], error["status"], body["code"], body["status"]]) {
    if (typeof status === "number" && Number.isInteger(status) && status >= 400 && status <= 599) return status;
  }
  return 0;
}

function parameterOf({ param }: Json, mistakes: readonly Json[], text: string): string {
  if (typeof param === "string" && param !== "") return param;
  for (const { loc } of mistakes) {
    // FastAPI's places begin with where in the request: `["body", "n"]`.
    if (Array.isArray(loc)) return loc.slice(Number(loc[0] === "body")).join(".");
  }
  return QUOTED.exec(text)?.slice(1).find(Boolean) ?? "";
}

/** `google.rpc.RetryInfo`, which Google sends instead of a header. */
function waitOf(details: readonly Json[]): number | null {
  for (const { retryDelay } of details) {
    const match = typeof retryDelay === "string" ? DURATION.exec(retryDelay) : null;
    if (match) return Math.ceil(Number(match[1]) * 1000);
  }
  return null;
}
