import type { WindowName, Windows } from "../kit/index.ts";

const NAMES: readonly (readonly [WindowName, string])[] = [
  ["day", "Day"],
  ["hour", "Hour"],
  ["minute", "Minute"],
];

/** Characters: more would only fill the head; the log has a thousand pointers. */
const LONGEST = 1024;

/** `X-Gateway-Dropped`: what the upstream could not be asked. The pointers are made of names that clients chose. */
export function droppedHeader(dropped: readonly string[]): Record<string, string> {
  if (dropped.length === 0) return {};
  let value = "";
  for (const pointer of dropped) {
    // Of a hundred thousand pointers no more are written than have room.
    if (value.length > LONGEST) break;
    const name = pointer.slice(0, LONGEST).toWellFormed();
    value += (value === "" ? "" : ", ") + encodeURI(name).replaceAll(",", "%2C");
  }
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
