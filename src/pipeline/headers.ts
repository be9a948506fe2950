import type { WindowName, Windows } from "../kit/index.ts";

const NAMES: readonly (readonly [WindowName, string])[] = [
  ["day", "Day"],
  ["hour", "Hour"],
  ["minute", "Minute"],
];

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
