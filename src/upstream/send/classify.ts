import {
  clientCode,
  clientParam,
  clientText,
  failureMessage,
  publicMessage,
  isFiltered,
  type Refused,
  refusalClass,
  refusalReason,
  statusClass,
} from "../../dialects/canonical/errors.ts";
import {
  boundedWait,
  explicitWait,
  type HeaderValues,
  limitsAccount,
  waitFrom,
  windowWait,
} from "../../dialects/canonical/limits.ts";
import { isOwnField } from "../../dialects/canonical/own-field.ts";
import { AttemptError, escapeRegExp, type FailureClass, type Json, type Upstream } from "../../kit/index.ts";

import { ProxyError } from "../../network/tunnel.ts";

/**
 * Agents decide by words in the error of a stream whether to try again: opencode by "connection lost" and "stream timed out",
 * Continue by "connection reset" and "premature end".
 */
const CONNECTION_LOST = "upstream connection lost (connection reset)";

/** By error code of undici and Node, once the request was sent; every other code is a reset. */
const FAILURES_BY_CODE: Readonly<Record<string, readonly [FailureClass, string]>> = {
  UND_ERR_HEADERS_OVERFLOW: ["protocol", "upstream sent too large a header"],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ["protocol", "upstream sent a body of the wrong length"],
  ETIMEDOUT: ["timeout", "upstream timed out"],
  // undici asserts parts of the protocol that its parser lets through, such as a status below 100.
  ERR_ASSERTION: ["protocol", "upstream broke the HTTP protocol"],
};

/** The beginning of a response; header names are in lower case. */
export interface Head {
  readonly status: number;
  readonly headers: HeaderValues;
}

/** The failure that a status other than 200 means. */
export function statusFailure(status: number, headers: HeaderValues, now: number): AttemptError {
  const failure = statusClass(status);
  const message = failure === "protocol" ? unexpected(status) : failureMessage(failure, status);
  const told = retryAfter(headers, now);
  // The windows of a provider's limits are told with every answer, and mean something where one of them refused.
  const wait = told ?? (failure === "rate_limited" ? boundedWait(windowWait(headers, now)) : null);
  return new AttemptError(failure, message, { status, retryAfter: wait });
}

function unexpected(status: number): string {
  if (status >= 600) return `upstream sent a status that does not exist (${status})`;
  return status < 300 ? `upstream sent no answer (${status})` : `upstream answered with a redirect (${status})`;
}

/** What the head of a refusal tells of when to come back. */
interface HeadTold {
  /** By a header that says nothing else; null without one. */
  readonly wait: number | null;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * The failure that an error response with a body means, with as much of the upstream's text as a client may see.
 * @param sent the body that was refused; asked only where the refusal is of a field.
 */
export function refusalFailure(
  refused: Refused,
  head: AttemptError,
  message: string,
  sent: () => Json | null = () => null,
  told?: HeadTold,
): AttemptError {
  const { status } = head;
  const { error } = refused;
  const failure = refusalClass(refused);
  const clientMessage =
    failure === "client_fault" || failure === "context_overflow" ? clientText(error.text, message) : "";
  const filtered = isFiltered(refused);
  const code = clientCode(failure, error) || (filtered ? "content_filter" : "");
  const reset = { wait: error.retryAfter, at: error.resetsAt };
  const more = {
    status,
    retryAfter: told?.wait ?? boundedWait(waitFrom(reset, told?.now ?? Infinity)) ?? head.retryAfter,
    reason: refusalReason(error),
    filtered,
    words: publicMessage(error.text),
    code,
    param: clientParam(error),
    ownWords: failure === "parameter" && isOwnField(refused, sent()) ? clientText(error.text, message) : "",
    ofAccount: failure === "rate_limited" && limitsAccount(error.codes, error.text),
  };
  return new AttemptError(failure, clientMessage || failureMessage(failure, status), more);
}

/** The failure of a 200 with an unexpected media type; null when its body may be read. */
export function headFailure(headers: HeaderValues, expected: string): AttemptError | null {
  const type = contentType(headers).split(";")[0]?.trim().toLowerCase();
  return type === expected ? null : protocolError(`upstream answered with something other than ${expected}`);
}

/** The content coding in lower case; several as they are listed. */
export function contentCoding(headers: HeaderValues): string {
  const codings = headers["content-encoding"] ?? "identity";
  return (typeof codings === "string" ? codings : codings.join(", ")).trim().toLowerCase();
}

/** As sent, parameters included; empty when there is none. */
export function contentType(headers: HeaderValues): string {
  return first(headers["content-type"]) ?? "";
}

export function isJsonType(headers: HeaderValues): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(contentType(headers));
}

/** The failure that an error of the connection means; `sent` tells whether the request had been written. */
export function connectionFailure(cause: Error, sent: boolean): AttemptError {
  // Also a proxy's refusal of a request that was written: nothing of it has reached the upstream.
  if (cause instanceof ProxyError) return new AttemptError("connect", "upstream could not be reached", { cause });
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED") {
    return new AttemptError("credentials", "upstream's configured headers or key cannot be sent", { cause });
  }
  if (code === "UND_ERR_CONNECT_TIMEOUT" || (!sent && code === "ETIMEDOUT")) {
    return new AttemptError("timeout", "upstream timed out while connecting", { cause });
  }
  if (!sent) return new AttemptError("connect", "upstream could not be reached", { cause });
  const known = FAILURES_BY_CODE[code];
  if (known) return new AttemptError(known[0], known[1], { cause });
  // undici's messages for an unsolicited 100 or 101; both have the code of a reset.
  if (cause.name === "HTTPParserError" || cause.message === "bad response" || cause.message === "bad upgrade") {
    return new AttemptError("protocol", "upstream broke the HTTP protocol", { cause });
  }
  return new AttemptError("reset", CONNECTION_LOST, { cause });
}

/** The failure that an error thrown by a reader means. */
export function readFailure(error: unknown): AttemptError {
  return error instanceof AttemptError ? error : protocolError("upstream sent an answer that cannot be read", error);
}

export function protocolError(message: string, cause?: unknown): AttemptError {
  return new AttemptError("protocol", message, { cause });
}

/** Milliseconds that a header asks to wait, within 50 ms to 300 s; null when none does. */
export function retryAfter(headers: HeaderValues, now: number): number | null {
  return boundedWait(explicitWait(headers, now));
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return (typeof value === "string" ? value : value?.[0])?.trim();
}

/** A shorter key is a dummy, as local servers take: a word of it stands in many a sentence. */
const MIN_SECRET_CHARACTERS = 8;
const SECRET_HEADER = /authorization|key|token|secret|cookie|password/i;

/** Takes the key of a request, and secrets in the upstream's configured headers, out of what a failure says: providers quote them. */
export function withoutSecrets(error: AttemptError, key: string, { headers }: Pick<Upstream, "headers">): AttemptError {
  const values = [key, ...Object.entries(headers).flatMap(([name, value]) => (SECRET_HEADER.test(name) ? value : []))];
  const redact = (text: string): string => values.reduce(withoutSecret, text);
  const [message, ownWords, words] = [redact(error.message), redact(error.ownWords), redact(error.words)];
  const isSame = message === error.message && ownWords === error.ownWords && words === error.words;
  return isSame ? error : error.as({ message, ownWords, words });
}

/** The text without a secret of at least 8 characters, where it stands as a word of its own. */
function withoutSecret(text: string, secret: string): string {
  // Credentials of two parts, as AWS's, and a scheme before a token: each part is quoted alone.
  const parts = [secret, ...secret.split(/[:\s]+/)].filter((part) => part.length >= MIN_SECRET_CHARACTERS);
  return parts.reduce((left, part) => {
    if (!left.includes(part)) return left;
    return left.replaceAll(new RegExp(`(?<![\\w-])${escapeRegExp(part)}(?![\\w-])`, "g"), "[redacted]");
  }, text);
}
