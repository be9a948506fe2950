import { errorBody } from "./openai-answer.ts";
import { SimError } from "./error.ts";
import type { Part } from "./part.ts";
import type { Script } from "./script.ts";

/** An HTTP answer in parts, before anything is done to its transport. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Events; otherwise `parts` is one body, sent with its length. */
  readonly stream: boolean;
  readonly parts: Iterable<Part>;
}

const MALFORMED = '{"id":"chatcmpl-sim-malformed","choices":[{"index":0,';
const HTML = "<!DOCTYPE html><html><head><title>Simulated</title></head><body><h1>Simulated page</h1></body></html>\n";

export function jsonReply(status: number, body: Part): Reply {
  return { status, headers: { "content-type": "application/json" }, stream: false, parts: [body] };
}

export function streamReply(parts: Iterable<Part>): Reply {
  const headers = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };
  return { status: 200, headers, stream: true, parts };
}

export function errorReply(error: SimError): Reply {
  return jsonReply(error.status, { text: errorBody(error), tokens: 0 });
}

/** Puts the script's faults of content into a healthy reply: another status or body, bad or missing events. */
export function disturb(healthy: Reply, script: Script): Reply {
  const reply = script.status === undefined ? withBadEvents(healthy, script) : failure(script.status, healthy, script);
  const headers: Record<string, string> = { ...reply.headers };
  if (script.retry_after !== undefined) headers["retry-after"] = script.retry_after;
  if (!script.html) return { ...reply, headers };
  headers["content-type"] = "text/html; charset=utf-8";
  return { ...reply, headers, stream: false, parts: [{ text: HTML, tokens: 0 }] };
}

/** A status alone: with an error body from 300 on, else with the healthy one. */
function failure(status: number, healthy: Reply, script: Script): Reply {
  if (status < 300) return { ...withBadEvents(healthy, script), status };
  const reply = errorReply(new SimError(status, messageOf(script)));
  return status < 400 ? { ...reply, headers: { ...reply.headers, location: "/redirected" } } : reply;
}

function withBadEvents(reply: Reply, script: Script): Reply {
  const failsAt = script.error_first ? 0 : script.error_after;
  const error = errorBody(new SimError(500, messageOf(script)));
  if (reply.stream) return { ...reply, parts: badEvents(reply.parts, script, failsAt, error) };
  if (failsAt !== undefined) return { ...reply, parts: [{ text: error, tokens: 0 }] };
  return script.malformed_after === undefined ? reply : { ...reply, parts: [{ text: MALFORMED, tokens: 0 }] };
}

function* badEvents(
  parts: Iterable<Part>,
  script: Script,
  failsAt: number | undefined,
  error: string,
): Generator<Part> {
  let at = 0;
  for (const part of parts) {
    if (at === script.end_after) return;
    if (at === script.malformed_after) yield { text: `data: ${MALFORMED}\n\n`, tokens: 0 };
    if (at === failsAt) return yield { text: `data: ${error}\n\n`, tokens: 0 };
    yield part;
    at++;
  }
}

function messageOf(script: Script): string {
  return script.message ?? "Simulated failure";
}
