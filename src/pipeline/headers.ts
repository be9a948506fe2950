import type { WindowName, Windows } from "../kit/index.ts";

const NAMES: readonly (readonly [WindowName, string])[] = [
  ["day", "Day"],
  ["hour", "Hour"],
  ["minute", "Minute"],
];

/** More would only fill the head; the log has all of them. */
const LONGEST = 1024;

/** `X-Gateway-Dropped`: what the upstream could not be asked. The pointers are made of names that clients chose. */
export function droppedHeader(dropped: readonly string[]): Record<string, string> {
  if (dropped.length === 0) return {};
  const value = dropped.map((pointer) => encodeURI(pointer.toWellFormed()).replaceAll(",", "%2C")).join(", ");
  return { "X-Gateway-Dropped": value.length > LONGEST ? `${value.slice(0, LONGEST)}...` : value };
}

/** `X-RateLimit-*` of every window that has a limit (decisions 1.8). */
export function rateLimitHeaders(windows: Windows | null, now: number): Record<string, string> {
  const headers: Record<string, string> = {};
  if (windows === null) return headers;
  for (const [name, label] of NAMES) {
    const { limit, used, resetsAt } = windows[name];
    if (limit === null) continue;
    headers[`X-RateLimit-Limit-${label}`] = String(limit);
    headers[`X-RateLimit-Remaining-${label}`] = String(Math.max(0, limit - used));
    headers[`X-RateLimit-Reset-${label}`] = String(Math.max(0, Math.ceil((resetsAt - now) / 1000)));
  }
  return headers;
}
