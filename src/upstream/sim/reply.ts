import { errorBody, SimError } from "./error.ts";
import type { Part } from "./part.ts";
import type { Script } from "./script.ts";
import type { Shape } from "./shape.ts";

/** An HTTP answer in parts, before anything is done to its transport. */
export interface Reply<Data extends string | Uint8Array = string | Uint8Array> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** One body, sent with its length; or as they are made, without one: events, pieces of audio. */
  readonly type: "answer" | "events" | "bytes";
  readonly parts: Iterable<Part<Data>>;
}

const MALFORMED = '{"id":"chatcmpl-sim-malformed","choices":[{"index":0,';
const HTML = "<!DOCTYPE html><html><head><title>Simulated</title></head><body><h1>Simulated page</h1></body></html>\n";

export function jsonReply(status: number, body: Part<string>): Reply<string> {
  return { status, headers: { "content-type": "application/json" }, type: "answer", parts: [body] };
}

export function textReply(body: Part<string>): Reply<string> {
  return { status: 200, headers: { "content-type": "text/plain; charset=utf-8" }, type: "answer", parts: [body] };
}

export function streamReply(parts: Iterable<Part<string>>): Reply<string> {
  const headers = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };
  return { status: 200, headers, type: "events", parts };
}

export function byteReply(contentType: string, parts: Iterable<Part<Uint8Array>>): Reply<Uint8Array> {
  return { status: 200, headers: { "content-type": contentType }, type: "bytes", parts };
}

export function errorReply(error: SimError, shape?: Shape): Reply<string> {
  return jsonReply(error.status, { data: errorBody(error, shape) });
}

/** Puts the script's faults of content into a healthy reply: another status or body, bad or missing parts. */
export function disturb(healthy: Reply, script: Script, shape?: Shape): Reply {
  const { status = healthy.status, message = "Simulated failure" } = script;
  const failed = status >= 300;
  const error = new SimError(failed ? status : 500, message);
  const reply = failed ? failure(error, shape) : withBadParts(healthy, script, errorBody(error, shape));
  const headers: Record<string, string> = { ...reply.headers };
  if (script.retry_after !== undefined) headers["retry-after"] = script.retry_after;
  if (!script.html) return { ...reply, status, headers };
  headers["content-type"] = "text/html; charset=utf-8";
  return { status, headers, type: "answer", parts: [{ data: HTML }] };
}

function failure(error: SimError, shape: Shape | undefined): Reply {
  const reply = errorReply(error, shape);
  return error.status < 400 ? { ...reply, headers: { ...reply.headers, location: "/redirected" } } : reply;
}

/** `error` is its body. A body of audio that would begin with one is a JSON answer. */
function withBadParts(reply: Reply, script: Script, error: string): Reply {
  const failsAt = script.error_first ? 0 : script.error_after;
  if (reply.type === "events" || (reply.type === "bytes" && failsAt !== 0)) {
    const framed = (text: string): Part => ({ data: reply.type === "events" ? `data: ${text}\n\n` : text });
    return { ...reply, parts: badParts(reply.parts, script, failsAt, framed(MALFORMED), framed(error)) };
  }
  if (failsAt !== undefined) return jsonReply(reply.status, { data: error });
  return script.malformed_after === undefined ? reply : { ...reply, parts: [{ data: MALFORMED }] };
}

function* badParts(
  parts: Iterable<Part>,
  script: Script,
  failsAt: number | undefined,
  malformed: Part,
  error: Part,
): Generator<Part> {
  let at = 0;
  for (const part of parts) {
    if (at === script.end_after) return;
    if (at === script.malformed_after) yield malformed;
    if (at === failsAt) return yield error;
    yield part;
    at++;
  }
}
