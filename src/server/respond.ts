import type { IncomingMessage, ServerResponse } from "node:http";

/** Unread bytes of a request that are cheaper to read over than a new connection is. */
const KEEP_ALIVE_REST = 64 * 1024;
/** How much, and for how long, a client may go on sending after it was refused. */
const LINGER_BYTES = 16 * 1024 * 1024;
const LINGER_MS = 5000;

/** One request with what every answer to it carries. */
export interface Reception {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly requestId: string;
  /** Headers of every answer, such as those of CORS: names and values, alternating. */
  readonly always: readonly string[];
  /** Whether the connection is to be closed after the answer. */
  readonly closing: () => boolean;
}

/** The head of an answer: names and values, alternating. */
export function headOf(reception: Reception, contentType: string, headers: Readonly<Record<string, string>>): string[] {
  const head = ["X-Request-Id", reception.requestId, ...reception.always];
  if (contentType !== "") head.push("Content-Type", contentType);
  for (const name in headers) head.push(name, headers[name]!);
  if (reception.closing()) head.push("Connection", "close");
  return head;
}

/** A complete answer, also to a request whose body has not been read to its end. Nothing when one was begun before. */
export function respond(
  reception: Reception,
  status: number,
  contentType: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): void {
  const { req, res } = reception;
  if (res.headersSent || res.destroyed) return;
  const head = headOf(reception, contentType, headers);
  if (status !== 204) head.push("Content-Length", String(Buffer.byteLength(body)));
  if (!req.complete && restIsLong(req)) {
    if (!reception.closing()) head.push("Connection", "close");
    res.writeHead(status, head);
    linger(req, res, body);
    return;
  }
  res.writeHead(status, head);
  res.end(body);
  // A body that was read in part has no reader left: without this the connection would stand still.
  if (!req.complete) req.resume();
}

/** Whether a body is coming that nobody has announced as short. */
function restIsLong(req: IncomingMessage): boolean {
  if (req.headers["transfer-encoding"] !== undefined || req.headers.expect !== undefined) return true;
  return Number(req.headers["content-length"] ?? 0) > KEEP_ALIVE_REST;
}

/**
 * Sends the whole answer but ends the response only when the client has stopped sending: closing on unread bytes makes
 * the kernel reset the connection, and the client loses the answer it has not read yet.
 */
function linger(req: IncomingMessage, res: ServerResponse, body: string): void {
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
export function limitRest(req: IncomingMessage, res: ServerResponse): void {
  res.once("finish", () => {
    if (req.complete) return;
    setTimeout(() => {
      if (!req.complete) req.socket.destroy();
    }, LINGER_MS).unref();
  });
}
