import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { overloaded, type ServerSettings } from "../kit/index.ts";
import { errorFormOf } from "./error-form.ts";
import { refusalOf, requestIdOf, respond } from "./respond.ts";

const MAX_FIELDS = 100;
const SLASH = 0x2f;
const ABSOLUTE = /^https?:\/\/([^/?#]+)([/?][^#]*)?$/i;
/** What a URL would take for the end of its host, or for something before it. */
const NO_HOST = /[\s/?#@\\]/;

/** Called for a request that was refused before anything of the gateway saw it. */
export type OnMalformed = (status: number, requestId: string) => void;

type HostCheck = (text: string) => boolean;

/**
 * The status for a request that Node's parser accepts and two HTTP implementations could read differently, or 0.
 * Looks at the raw header list: `req.headers` has dropped repeated fields already.
 */
function faultOf(req: IncomingMessage, isHost: HostCheck): number {
  const { rawHeaders, headers, url = "" } = req;
  if (rawHeaders.length > 2 * MAX_FIELDS) return 431;
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1;
  }
  if (hosts > 1 || (hosts === 0 && req.httpVersion !== "1.0")) return 400;
  if (!isHost(headers.host ?? "")) return 400;
  if (url.charCodeAt(0) !== SLASH && url !== "*" && !ABSOLUTE.test(url)) return 400;
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && (coding.toLowerCase() !== "chunked" || req.httpVersion === "1.0")) return 400;
  return 0;
}

/**
 * Empty where the target names no host (RFC 9110, 7.2). What no URL can be made of would fail in every route. The last good
 * one is remembered: clients of a gateway ask for the same, and finding out takes as long as all else about a request's head.
 */
function hostCheck(): HostCheck {
  let last = "";
  return (text) => {
    if (text === last) return true;
    const isHost = text === "" || (!NO_HOST.test(text) && URL.canParse(`http://${text}`));
    if (isHost) last = text;
    return isHost;
  };
}

/**
 * A target in absolute form, as clients send it that take the gateway for a proxy, becomes one in origin form; its host
 * stands in place of the header's (RFC 9112, 3.2.2). @returns whether it could.
 */
function inOriginForm(req: IncomingMessage, isHost: HostCheck): boolean {
  const url = req.url ?? "";
  if (url.charCodeAt(0) === SLASH) return true;
  const [, host, rest = "/"] = ABSOLUTE.exec(url) ?? [];
  if (host === undefined) return true;
  if (!isHost(host)) return false;
  req.url = rest.startsWith("?") ? `/${rest}` : rest;
  req.headers.host = host;
  return true;
}

/** How requests are refused before anything of the gateway sees them. */
export interface EarlyRefusal {
  readonly onMalformed: OnMalformed;
  readonly errorFormat: () => ServerSettings["errorFormat"];
}

/** Refuses what `faultOf` names, and returns whether it did. */
export function malformedGuard(early: EarlyRefusal): (req: IncomingMessage, res: ServerResponse) => boolean {
  const isHost = hostCheck();
  return (req, res) => {
    const status = faultOf(req, isHost) || (inOriginForm(req, isHost) ? 0 : 400);
    if (status === 0) return false;
    refuseStatus(req, res, status, early);
    return true;
  };
}

/** Answers with a bare status and closes: what follows on such a connection cannot be trusted to be a request. */
export function refuseStatus(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  { onMalformed, errorFormat: formatOf }: EarlyRefusal,
): void {
  const requestId = requestIdOf(req.headers["x-request-id"]);
  const errorFormat = formatOf();
  const http = { req, res, requestId, always: [], errorStyle: null, errorFormat, closing: () => true };
  const message = STATUS_CODES[status]!;
  if (errorFormat === "text" || errorFormOf(req.headers) === "text") {
    respond(http, status, "text/plain; charset=utf-8", {}, message);
  } else {
    const error = { message, type: "invalid_request_error", code: null, param: null };
    respond(http, status, "application/json", {}, JSON.stringify({ error }));
  }
  onMalformed(status, requestId);
}

/**
 * Refuses a connection that is one too many, before anything of it is read.
 * @param isPlain false for TLS: an answer would need the handshake, which costs more than the request.
 */
export function refuseConnection(socket: Duplex, onMalformed: OnMalformed, isPlain: boolean): void {
  const requestId = requestIdOf(undefined);
  const { status, headers, body, contentType } = refusalOf(overloaded());
  if (!isPlain) {
    socket.destroy();
    onMalformed(status, requestId);
    return;
  }
  const fields = { "X-Request-Id": requestId, "Content-Type": contentType, ...headers, "Content-Length": body.length };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join("")}Connection: close\r\n\r\n${body}`;
  socket.on("error", () => socket.destroy());
  socket.end(text, () => socket.destroy());
  onMalformed(status, requestId);
}

const STATUS_OF_FAULT: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers bytes that are no HTTP request, or one that takes too long, and closes the connection. */
export function answerClientError(error: Error & { code?: string }, socket: Duplex, onMalformed: OnMalformed): void {
  // Bytes written into an answer that has begun would be read as part of it.
  const { _httpMessage: answer } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  if (!socket.writable || error.code === "ECONNRESET" || answer?.headersSent) {
    socket.destroy();
    return;
  }
  const status = STATUS_OF_FAULT[error.code ?? ""] ?? 400;
  const requestId = requestIdOf(undefined);
  const text = STATUS_CODES[status]!;
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\nX-Request-Id: ${requestId}\r\nContent-Type: text/plain; charset=utf-8\r\n` +
      `Content-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
    () => socket.destroy(),
  );
  onMalformed(status, requestId);
}
