import {
  clientCode,
  clientParam,
  clientText,
  failureMessage,
  type Refused,
  refusalClass,
  refusalReason,
  statusClass,
} from "../../dialects/canonical/errors.ts";
import { isOwnField } from "../../dialects/canonical/own-field.ts";
import { AttemptError, type FailureClass, type Json } from "../../kit/index.ts";

const MIN_RETRY_AFTER_MS = 50;
const MAX_RETRY_AFTER_MS = 300_000;

/** By error code of undici and Node, once the request was sent; every other code is a reset. */
const FAILURES_BY_CODE: Readonly<Record<string, readonly [FailureClass, string]>> = {
  UND_ERR_HEADERS_OVERFLOW: ["protocol", "upstream sent too large a header"],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ["protocol", "upstream sent a body of the wrong length"],
  ETIMEDOUT: ["timeout", "upstream timed out"],
  // undici asserts parts of the protocol that its parser lets through, such as a status below 100.
  ERR_ASSERTION: ["protocol", "upstream broke the HTTP protocol"],
};

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The beginning of a response; header names are in lower case. */
export interface Head {
  readonly status: number;
  readonly headers: Headers;
}

/** The failure that a status other than 200 means. */
export function statusFailure(status: number, headers: Headers, now: number): AttemptError {
  const failure = statusClass(status);
  const message = failure === "protocol" ? unexpected(status) : failureMessage(failure, status);
  return new AttemptError(failure, message, { status, retryAfter: retryAfter(headers, now) });
}

function unexpected(status: number): string {
  if (status >= 600) return `upstream sent a status that does not exist (${status})`;
  return status < 300 ? `upstream sent no answer (${status})` : `upstream answered with a redirect (${status})`;
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
): AttemptError {
  const { status } = head;
  const { error } = refused;
  const failure = refusalClass(refused);
  const clientMessage =
    failure === "client_fault" || failure === "context_overflow" ? clientText(error.text, message) : "";
  const more = {
    status,
    retryAfter: error.retryAfter ?? head.retryAfter,
    reason: refusalReason(error),
    code: clientCode(failure, error),
    param: clientParam(error),
    ownWords: failure === "parameter" && isOwnField(refused, sent()) ? clientText(error.text, message) : "",
  };
  return new AttemptError(failure, clientMessage || failureMessage(failure, status), more);
}

/** The failure of a 200 with an unexpected media type; null when its body may be read. */
export function headFailure(headers: Headers, expected: string): AttemptError | null {
  const type = contentType(headers).split(";")[0]?.trim().toLowerCase();
  return type === expected ? null : protocolError(`upstream answered with something other than ${expected}`);
}

/** The content coding in lower case; several as they are listed. */
export function contentCoding(headers: Headers): string {
  const codings = headers["content-encoding"] ?? "identity";
  return (typeof codings === "string" ? codings : codings.join(", ")).trim().toLowerCase();
}

/** As sent, parameters included; empty when there is none. */
export function contentType(headers: Headers): string {
  return first(headers["content-type"]) ?? "";
}

export function isJsonType(headers: Headers): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(contentType(headers));
}

/** The failure that an error of the connection means; `sent` tells whether the request had been written. */
export function connectionFailure(cause: Error, sent: boolean): AttemptError {
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
  return new AttemptError("reset", "upstream broke off the connection", { cause });
}

/** The failure that an error thrown by a reader means. */
export function readFailure(error: unknown): AttemptError {
  return error instanceof AttemptError ? error : protocolError("upstream sent an answer that cannot be read", error);
}

export function protocolError(message: string, cause?: unknown): AttemptError {
  return new AttemptError("protocol", message, { cause });
}

/** Milliseconds that `retry-after-ms` or `retry-after` (seconds or HTTP date) ask for, within 50 ms to 300 s. */
export function retryAfter(headers: Headers, now: number): number | null {
  const wait = milliseconds(first(headers["retry-after-ms"]), 1) ?? dateOrSeconds(first(headers["retry-after"]), now);
  return wait === null ? null : Math.min(MAX_RETRY_AFTER_MS, Math.max(MIN_RETRY_AFTER_MS, wait));
}

function dateOrSeconds(value: string | undefined, now: number): number | null {
  // `Date.parse` reads almost anything ("-1" is a year): only the form that HTTP has is a date.
  if (value === undefined || !/^[A-Z][a-z]{2,8},? .* GMT$/.test(value)) return milliseconds(value, 1_000);
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : at - now;
}

function milliseconds(value: string | undefined, unit: number): number | null {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value) ? Number(value) * unit : null;
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return (typeof value === "string" ? value : value?.[0])?.trim();
}
