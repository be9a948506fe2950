import {
  AttemptError,
  type Call,
  type DialectName,
  type FailureClass,
  isJson,
  type Json,
  standardCode,
  type Vendor,
} from "../../kit/index.ts";
import { parseJson } from "./json.ts";
import { CONTENT_FILTERS } from "./content-filters.ts";
import { bodyReset, boundedWait, limitsAccount } from "./limits.ts";
import { type RefusalRow, REFUSALS, TYPES } from "./refusals-table.ts";

/**
 * The message of `{error: {message}}`, `{error}`, `{message}` or `{detail}`, fit for a client; empty when there is none.
 * Google sends it in a list of one where a stream was asked for.
 * As an array `detail` holds one `{loc, msg}` a mistake (FastAPI).
 */
export function errorMessage(bytes: Uint8Array): string {
  const parsed = parseJson(bytes);
  const body: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isJson(body)) return "";
  const { error, message, detail } = body;
  const text = isJson(error) ? error["message"] : (error ?? message ?? firstOf(detail));
  return typeof text === "string" ? publicMessage(text) : "";
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
interface ErrorBody {
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
  /** Unix milliseconds at which the limit ends; null when it does not say. */
  readonly resetsAt: number | null;
}

export const NO_ERROR_BODY: ErrorBody = {
  codes: [],
  status: 0,
  text: "",
  parameter: "",
  retryAfter: null,
  resetsAt: null,
};

const MAX_TEXT_CHARACTERS = 4_096;
/** Fields that hold an identifier, in whichever object of the error they stand. */
const CODES = ["code", "type", "status", "reason", "error_type", "err_code", "category", "__type"];
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
 * Deepgram's `{err_code, err_msg}`, AWS's `{Message}`, each also in a list of one. Behind OpenRouter's general message stands
 * the provider's own in `metadata.raw`.
 */
export function errorOf(value: unknown): ErrorBody {
  const body: unknown = Array.isArray(value) ? value[0] : value;
  if (typeof body === "string") return { ...NO_ERROR_BODY, text: body.slice(0, MAX_TEXT_CHARACTERS) };
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
  const messages = [textOf(error) || textOf(body) || mistakes.map(textOf).join("; "), raw.text].filter(Boolean);
  const text = messages.join(" ").slice(0, MAX_TEXT_CHARACTERS);
  const codes = places
    .flatMap((place) => CODES.map((field) => place[field]))
    .filter((code) => typeof code === "string");
  const { wait, at } = bodyReset(places, text);
  return {
    codes: [...new Set([...codes.map((code) => code.toLowerCase()), ...flagged(error), ...raw.codes])],
    status: statusOf(error, body),
    text,
    parameter: parameterOf(error, mistakes, text) || raw.parameter,
    retryAfter: wait,
    resetsAt: at,
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
  const texts = [message ?? err_msg ?? place["Message"] ?? msg, detail ?? details, title].filter(
    (part) => typeof part === "string",
  );
  return texts.length > 0 ? texts.join(" ") : typeof error === "string" ? error : "";
}

/** OpenRouter's moderation has no identifier but the field with what it objects to. */
function flagged({ metadata }: Json): readonly string[] {
  return isJson(metadata) && metadata["flagged_input"] !== undefined ? ["flagged_input"] : [];
}

function rawOf({ metadata }: Json): ErrorBody {
  const raw = isJson(metadata) ? metadata["raw"] : undefined;
  if (typeof raw !== "string") return NO_ERROR_BODY;
  const parsed = parseJson(raw.slice(0, 16 * MAX_TEXT_CHARACTERS));
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

/** Classes of single statuses; a body may say otherwise, by the table. */
const STATUSES: Readonly<Record<number, FailureClass>> = {
  401: "credentials",
  402: "credentials",
  403: "credentials",
  404: "declined",
  407: "declined",
  408: "status",
  410: "declined",
  // Bedrock's: the model itself failed.
  424: "status",
  429: "rate_limited",
};
const HUNDREDS: Readonly<Record<number, FailureClass>> = {
  2: "protocol",
  3: "protocol",
  4: "client_fault",
  5: "status",
};

/** What the gateway says of a class itself: none of these shows a provider's words. */
const MESSAGES: Readonly<Partial<Record<FailureClass, string>>> = {
  credentials: "upstream refused the gateway's credentials",
  quota: "upstream refused the gateway's credentials",
  declined: "upstream does not serve this model or request",
  parameter: "upstream does not take the request as the gateway wrote it",
  context_overflow: "the prompt is too long for the model",
  rate_limited: "upstream limits the gateway's rate",
  client_fault: "upstream refused the request",
  timeout: "upstream timed out",
};

/** Words about the account behind a key, which are the operator's business alone. */
const ACCOUNT =
  /\b(billing|credits?|balance|quotas?|organi[sz]ation|org-|accounts?\b|subscription|payment|spend(ing)?|api[- ]keys?|workspace|arn:|your (plan|team|project))|余额/i;

/** Request fields that every API of a client dialect documents: whoever sent one, mapping it is the gateway's task. */
const DOCUMENTED =
  /^(messages|input|instructions|prompt|system|model|models|stream|stream_options|tools?|tool_choice|parallel_tool_calls|functions?|function_call|temperature|top_[pk]|max_(completion_|output_)?tokens|stop|stop_sequences|seed|n|logprobs|top_logprobs|logit_bias|(frequency|presence)_penalty|response_format|output_config|output_format|text|reasoning|reasoning_effort|thinking|verbosity|user|metadata|service_tier|store|prompt_cache_key|prompt_cache_retention|safety_identifier|modalities|audio|prediction|web_search_options|context_management|container|mcp_servers|include|truncation|background|cache_control|dimensions|encoding_format)$/;

/** A refusal by an upstream, and what it was that it refused. */
export interface Refused {
  readonly dialect?: DialectName | undefined;
  readonly vendor?: Vendor | undefined;
  /** 0: an error inside a 200 that names none. */
  readonly status: number;
  readonly error: ErrorBody;
  readonly call?: Call | undefined;
}

/** What the status alone means; for a status other than 200. */
export function statusClass(status: number): FailureClass {
  return STATUSES[status] ?? HUNDREDS[Math.floor(status / 100)] ?? "protocol";
}

/** The gateway's own message for a class; a `status` of 0 is left out. */
export function failureMessage(failure: FailureClass, status: number): string {
  const text = MESSAGES[failure];
  if (text === undefined) return status === 0 ? "upstream could not serve" : `upstream answered ${status}`;
  return status === 0 ? text : `${text} (${status})`;
}

/**
 * The class of a refusal: by the table, else by its status.
 *
 * Whose fault a refused parameter is hangs on the kind of error. "Out of range", "wrong type", "missing" are the client's
 * own mistakes, which every upstream would refuse. "Unknown", "unsupported", "too long for this API" say that this model
 * does not take what others take: the gateway should have known, so another target is tried. Except for an unknown field
 * of the body that no API documents and that the client wrote itself: such fields travel as they are.
 */
export function refusalClass(refused: Refused): FailureClass {
  if (isFiltered(refused)) return "client_fault";
  const row = REFUSALS.find((each) => holds(each, refused));
  // An error inside a 200 that neither it nor the table explains: the upstream could not serve.
  const failure = row?.failure ?? (refused.status === 0 ? "status" : statusClass(refused.status));
  if (failure === "parameter" && isClientsOwn(refused)) return "client_fault";
  // What one user's request provoked must not rest a key for all: these statuses wait for a second user.
  return failure === "quota" && [401, 402, 403].includes(refused.status) ? "credentials" : failure;
}

/** Whether it was the provider's content filter that refused. */
export function isFiltered(refused: Refused): boolean {
  return CONTENT_FILTERS.some((row) => holds(row, refused));
}

function holds(row: Omit<RefusalRow, "failure" | "source">, refused: Refused): boolean {
  const { status, error } = refused;
  return (
    (row.dialect === undefined || row.dialect === refused.dialect) &&
    (row.vendor === undefined || row.vendor === refused.vendor) &&
    (row.status === undefined || status === 0 || row.status.includes(status)) &&
    (row.code === undefined || error.codes.some((code) => row.code?.test(code))) &&
    (row.parameter === undefined || row.parameter.test(error.parameter)) &&
    (row.text === undefined || row.text.test(error.text))
  );
}

function isClientsOwn({ error: { parameter }, call }: Refused): boolean {
  if (call === undefined || parameter === "" || DOCUMENTED.test(parameter)) return false;
  return Object.hasOwn(call.body, parameter) || (isJson(call.native) && Object.hasOwn(call.native, parameter));
}

/** Identifiers of a refusal, for the log: nothing that could be a key, a name or a sentence. */
export function refusalReason({ codes, parameter }: ErrorBody): string {
  const identifiers = [...codes.slice(0, 3), parameter].map(publicMessage);
  return identifiers.filter((identifier) => /^[\w.[\]:-]{1,100}$/.test(identifier)).join(" ");
}

/**
 * A provider's message, fit for a client; empty when it is about the gateway's account.
 * @param message the same as the dialect reads it.
 */
export function clientText(text: string, message = ""): string {
  if (ACCOUNT.test(text)) return "";
  return message !== "" && !text.startsWith(message) ? message : publicMessage(text);
}

/** The code that clients may see; empty without one. */
export const clientCode = (failure: FailureClass, { codes }: ErrorBody): string =>
  standardCode(failure === "context_overflow" ? ["context_length_exceeded"] : codes);
/** The field that the error names, as an identifier; empty without one. */
export function clientParam({ parameter }: ErrorBody): string {
  return /^[\w.[\]-]{1,100}$/.test(parameter) ? publicMessage(parameter) : "";
}

/** What an error inside a 200 amounts to. */
export function reported(error: ErrorBody, dialect?: DialectName): AttemptError {
  const implied = TYPES.find(([type]) => error.codes.some((code) => type.test(code)))?.[1] ?? 0;
  const status = error.status || implied;
  const failure = refusalClass({ dialect, status, error });
  const text = clientText(error.text);
  const [code, words] = [clientCode(failure, error), publicMessage(error.text)];
  const told = { reason: refusalReason(error), code, param: clientParam(error), words };
  const retryAfter = boundedWait(error.retryAfter);
  if (failure === "client_fault" || failure === "context_overflow") {
    const more = isFiltered({ dialect, status, error }) ? { filtered: true, code: code || "content_filter" } : {};
    return new AttemptError(failure, text || failureMessage(failure, 0), { ...told, ...more });
  }
  if (failure !== "status" && failure !== "rate_limited" && failure !== "timeout") {
    return new AttemptError(failure, failureMessage(failure, 0), { ...told, status, retryAfter });
  }
  const message = text ? `upstream reported an error: ${text}` : "upstream reported an error";
  const ofAccount = failure === "rate_limited" && limitsAccount(error.codes, error.text);
  // The status that the body names itself: an implied one is a guess.
  return new AttemptError(failure, message, { ...told, retryAfter, ofAccount, status: error.status });
}

/** What an error inside a 200 amounts to: mostly that the upstream could not serve. */
export function reportedError(error: unknown): AttemptError {
  return reported(errorOf(error));
}
