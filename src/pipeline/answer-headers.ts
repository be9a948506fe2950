import {
  type AttemptSpan,
  type Host,
  type InferenceRequest,
  lifecycleHeaders,
  upstreamTime,
  type Windows,
  type WindowName,
} from "../kit/index.ts";

/** Characters of a header's value; the log has the whole list. */
const MAX_DROPPED_CHARACTERS = 1024;

/** A header's name each, made once: put together for every answer they are as dear as what they say. */
const WINDOWS = (["day", "hour", "minute"] as const satisfies readonly WindowName[]).map((window) => {
  const label = `${window[0]!.toUpperCase()}${window.slice(1)}`;
  return {
    window,
    limitName: `X-RateLimit-Limit-${label}`,
    remainingName: `X-RateLimit-Remaining-${label}`,
    resetName: `X-RateLimit-Reset-${label}`,
  };
});

/** `X-Gateway-Dropped`: what the upstream could not be asked. The pointers are made of names that clients chose. */
export function droppedHeader(dropped: readonly string[]): Record<string, string> {
  if (dropped.length === 0) return {};
  let value = "";
  for (const pointer of dropped) {
    // Of a hundred thousand pointers no more are written than have room.
    if (value.length > MAX_DROPPED_CHARACTERS) break;
    const text = pointer.slice(0, MAX_DROPPED_CHARACTERS).toWellFormed();
    value += (value === "" ? "" : ", ") + encodeURI(text).replaceAll(",", "%2C");
  }
  const isLong = value.length > MAX_DROPPED_CHARACTERS;
  return { "X-Gateway-Dropped": isLong ? `${value.slice(0, MAX_DROPPED_CHARACTERS)}...` : value };
}

/** `X-Gateway-Queued-Ms`. @param queued milliseconds in queues of upstreams; null: in none */
export function queuedHeader(queued: number | null): Record<string, string> {
  return queued === null ? {} : { "X-Gateway-Queued-Ms": String(Math.round(queued)) };
}

/**
 * `Server-Timing`: the time from a request's arrival to the head of its answer, without that for which its body was waited
 * for, as the gateway's and the upstreams' parts of it. Nothing where nobody asked.
 * @param elapsed milliseconds from its arrival
 */
export function serverTimingHeader(
  { serverTiming = false, waited = 0 }: Pick<InferenceRequest, "serverTiming" | "waited">,
  elapsed: number,
  attempts: readonly AttemptSpan[] = [],
): Record<string, string> {
  if (!serverTiming) return {};
  const upstream = upstreamTime(attempts, elapsed);
  const gateway = Math.max(0, elapsed - waited - upstream);
  const parts = { gateway, upstream, total: gateway + upstream };
  const text = Object.entries(parts).map(([name, duration]) => `${name};dur=${duration.toFixed(2)}`);
  return { "Server-Timing": text.join(", ") };
}

/** `X-RateLimit-*` of every window that has a limit; a reset is in seconds, rounded up. */
export function rateLimitHeaders(windows: Windows | null, now: number): Record<string, string> {
  const headers: Record<string, string> = {};
  if (windows === null) return headers;
  for (const { window, limitName, remainingName, resetName } of WINDOWS) {
    const { limit, used, resetsAt } = windows[window];
    if (limit === null) continue;
    headers[limitName] = String(limit);
    headers[remainingName] = String(Math.max(0, limit - used));
    headers[resetName] = String(Math.max(0, Math.ceil((resetsAt - now) / 1000)));
  }
  return headers;
}

/** What every answer says of the caller's limits, and of the end of the model that was asked for. */
export function standingHeaders(
  { snapshot, now }: Pick<Host, "snapshot" | "now">,
  asked: string | null,
  windows: Windows | null,
): Record<string, string> {
  const limits = rateLimitHeaders(windows, now());
  return asked === null ? limits : Object.assign(limits, lifecycleHeaders(snapshot, asked));
}
