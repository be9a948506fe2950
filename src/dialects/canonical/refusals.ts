import { AttemptError, type Call, type DialectName, type FailureClass, isJson, type Vendor } from "../../kit/index.ts";
import { type ErrorBody, errorOf, publicMessage } from "./errors.ts";
import { type RefusalRow, REFUSALS } from "./refusals-table.ts";

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

/** Statuses of the errors that come inside a 200 and name none. */
const TYPES: readonly (readonly [RegExp, number])[] = [
  [/^(invalid_request_error|badrequesterror|validationexception|invalid_argument)$/, 400],
  [/^(authentication_error|unrecognizedclientexception|expiredtokenexception)$/, 401],
  [/^billing_error$/, 402],
  [/^(permission_error|permission_denied|accessdeniedexception)$/, 403],
  [/^(not_found_error|resourcenotfoundexception)$/, 404],
  [/^request_too_large$/, 413],
  [/^(rate_limit_(error|exceeded|reached_error)|resource_exhausted|throttlingexception|too_many_requests)$/, 429],
  [/^(overloaded_error|api_error|server_error|internal(_server)?_error|timeout_error|unavailable)$/, 500],
];

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

/** The gateway's own words for a class; `status` 0 is not told. */
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
  const row = REFUSALS.find((each) => holds(each, refused));
  // An error inside a 200 that neither it nor the table explains: the upstream could not serve.
  const failure = row?.failure ?? (refused.status === 0 ? "status" : statusClass(refused.status));
  if (failure === "parameter" && isClientsOwn(refused)) return "client_fault";
  // What one user's request provoked must not rest a key for all: these statuses wait for a second user.
  return failure === "quota" && [401, 402, 403].includes(refused.status) ? "credentials" : failure;
}

function holds({ failure: _failure, source: _source, ...row }: RefusalRow, refused: Refused): boolean {
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
  const words = [...codes.slice(0, 3), parameter].map(publicMessage);
  return words.filter((word) => /^[\w.[\]:-]{1,100}$/.test(word)).join(" ");
}

/**
 * A provider's words, fit for a client; empty when they are about the gateway's account.
 * @param words the same as the dialect tells them.
 */
export function clientText(text: string, words = ""): string {
  if (ACCOUNT.test(text)) return "";
  return words !== "" && !text.startsWith(words) ? words : publicMessage(text);
}

/** What an error inside a 200 amounts to. */
export function reported(error: ErrorBody, dialect?: DialectName): AttemptError {
  const implied = TYPES.find(([type]) => error.codes.some((code) => type.test(code)))?.[1] ?? 0;
  const status = error.status || implied;
  const failure = refusalClass({ dialect, status, error });
  const words = clientText(error.text);
  const reason = refusalReason(error);
  const { retryAfter } = error;
  if (failure === "client_fault" || failure === "context_overflow") {
    return new AttemptError(failure, words || failureMessage(failure, 0), { reason });
  }
  if (failure !== "status" && failure !== "rate_limited" && failure !== "timeout") {
    return new AttemptError(failure, failureMessage(failure, 0), { reason, status });
  }
  const message = words ? `upstream reported an error: ${words}` : "upstream reported an error";
  return new AttemptError(failure, message, { reason, retryAfter });
}

/** What an error inside a 200 amounts to: mostly that the upstream could not serve. */
export function reportedError(error: unknown): AttemptError {
  return reported(errorOf(error));
}
