import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { messagesRefusal } from "../dialects/messages/client/errors.ts";
import { type ErrorCode, ERRORS, GatewayError, jsonError, type ServerSettings } from "../kit/index.ts";
import { type ErrorForm, errorFormOf } from "./error-form.ts";

const TEXT = "text/plain; charset=utf-8";
const JSON_TYPE = "application/json";
/** Unread bytes of a request that are cheaper to read over than a new connection is. */
const KEEP_ALIVE_BYTES = 64 * 1024;
/** How much, and for how long, a client may go on sending after it was refused. */
const LINGER_BYTES = 16 * 1024 * 1024;
const LINGER_MS = 5000;

/** An error's body in a format of the client's own. */
export interface RefusalBody {
  readonly contentType: string;
  readonly body: string;
}

/** What the clients of some paths expect of errors. */
export interface ErrorStyle {
  /** The body for an error; null for the one of the error table. */
  readonly refusal?: (error: GatewayError, request: RefusedRequest) => RefusalBody | null;
  /** Another name under which the request's id is sent as well. */
  readonly requestIdHeader?: string;
}

/** What an error's body may depend on. */
export interface RefusedRequest {
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  readonly form: ErrorForm;
}

/** One request with what every answer to it carries. */
export interface HttpExchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
  /** Headers of every answer, such as those of CORS: names and values, alternating. */
  readonly always: readonly string[];
  readonly errorStyle: ErrorStyle | null;
  /** Whether errors are JSON for clients that ask for it. */
  readonly errorFormat: ServerSettings["errorFormat"];
  /** Whether the connection is to be closed after the answer. */
  readonly closing: () => boolean;
}

/** The head of an answer: names and values, alternating. */
export function headOf(http: HttpExchange, contentType: string, headers: Readonly<Record<string, string>>): string[] {
  const head = ["X-Request-Id", http.requestId, ...http.always];
  if (contentType !== "") head.push("Content-Type", contentType);
  for (const name in headers) head.push(name, headers[name]!);
  if (http.closing()) head.push("Connection", "close");
  return head;
}

/** A complete answer, also to a request whose body has not been read to its end. Nothing when one was begun before. */
export function respond(
  http: HttpExchange,
  status: number,
  contentType: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array,
): void {
  const { req, res } = http;
  if (res.headersSent || res.destroyed) return;
  const head = headOf(http, contentType, headers);
  if (status !== 204 && status !== 304) head.push("Content-Length", String(Buffer.byteLength(body)));
  if (!req.complete && isLongUnread(req)) {
    if (!http.closing()) head.push("Connection", "close");
    res.writeHead(status, head);
    lingeringClose(req, res, body);
    return;
  }
  res.writeHead(status, head);
  res.end(body);
  // A body that was read in part has no reader left: without this the connection would stand still.
  if (!req.complete) req.resume();
}

/** Whether a body is coming that nobody has announced as short. */
function isLongUnread(req: IncomingMessage): boolean {
  if (req.headers["transfer-encoding"] !== undefined || req.headers.expect !== undefined) return true;
  return Number(req.headers["content-length"] ?? 0) > KEEP_ALIVE_BYTES;
}

/**
 * Sends the whole answer but ends the response only when the client has stopped sending: closing on unread bytes makes
 * the kernel reset the connection, and the client loses the answer it has not read yet.
 */
function lingeringClose(req: IncomingMessage, res: ServerResponse, body: string | Uint8Array): void {
  let left = LINGER_BYTES;
  const cut = (): void => {
    res.destroy();
  };
  const timer = setTimeout(cut, LINGER_MS).unref();
  req.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) cut();
  });
  req.once("end", () => res.end());
  res.once("close", () => clearTimeout(timer));
  res.flushHeaders();
  res.write(body);
  req.resume();
}

/** For answers whose end is not ours: a body that still comes long after the answer is cut off. */
export function limitUnreadBody(req: IncomingMessage, res: ServerResponse): void {
  res.once("finish", () => {
    if (req.complete) return;
    setTimeout(() => {
      if (!req.complete) req.socket.destroy();
    }, LINGER_MS).unref();
  });
}

/** Lets a client that waits for it send the body that it has announced, unless that is too long. */
export function sendContinue({ req, res }: HttpExchange, limit: number): void {
  if (req.headers.expect !== undefined && Number(req.headers["content-length"] ?? 0) <= limit) res.writeContinue();
}

/** An error as it leaves the gateway. */
interface Refusal extends RefusalBody {
  readonly status: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Writes an error down by the table; what is no GatewayError is a 500 that says nothing.
 * @param http the request, whose paths' clients may have a body of their own for an error.
 */
export function refusalOf(error: unknown, http: HttpExchange | null = null): Refusal {
  const known =
    error instanceof GatewayError && error.code !== "INTERNAL"
      ? error
      : new GatewayError("INTERNAL", "Internal server error");
  const { code, details } = known;
  const row = ERRORS[code];
  const headers: Record<string, string> = { ...details.headers };
  if (row.coded) headers["X-Error-Code"] = code;
  if (details.permanent) headers["X-Should-Retry"] = "false";
  if (details.retryAfter !== undefined || row.status === 429 || row.status === 503) {
    headers["Retry-After"] = String(wholeSeconds(details.retryAfter));
  }
  return { status: known.status, code, headers, ...bodyOf(known, http) };
}

function bodyOf(error: GatewayError, http: HttpExchange | null): RefusalBody {
  if (http === null) return tableBody(error, "text");
  const { requestId, req, errorStyle, errorFormat } = http;
  const { headers } = req;
  const form = errorFormat === "text" ? "text" : errorFormOf(headers);
  const own = errorStyle?.refusal?.(error, { requestId, headers, form });
  if (own) return own;
  const isMessages = form !== "text" && headers["anthropic-version"] !== undefined;
  return isMessages && ERRORS[error.code].body === "text" ? messagesRefusal(error, requestId) : tableBody(error, form);
}

/** An error that is JSON by the specification keeps its form; SDKs find the words in `error` beside it. */
function tableBody(error: GatewayError, form: ErrorForm): RefusalBody {
  const { code, message, details } = error;
  const row = ERRORS[code].body;
  if (row === "text" && form === "text") return { contentType: TEXT, body: message };
  const own = row === "text" ? {} : { [row]: message, ...details.fields };
  const told = row === "text" || (row === "message" && form === "sdk") ? { error: jsonError(error) } : {};
  return { contentType: JSON_TYPE, body: JSON.stringify({ ...own, ...told }) };
}

/** A `Retry-After` of 0 or NaN would be an invitation to hammer. */
function wholeSeconds(seconds: number | undefined): number {
  return Math.max(1, Math.ceil(seconds ?? 1) || 1);
}

const VISIBLE_ASCII = /^[\x21-\x7e]{1,128}$/;

/** The client's own `X-Request-Id` if it is at most 128 visible ASCII characters, else a new one. */
export function requestIdOf(header: string | string[] | undefined, newId: () => string = randomUUID): string {
  return typeof header === "string" && VISIBLE_ASCII.test(header) ? header : newId();
}

/** Of a request, without its query. */
export function pathOf(url: string): string {
  const query = url.indexOf("?");
  return query < 0 ? url : url.slice(0, query);
}
