import { GatewayError, type ServerSettings } from "../kit/index.ts";
import { limitKey } from "./ip-address.ts";

/** Beyond this many addresses in one window the oldest is forgotten: a flood of addresses must not fill the memory. */
const MAX_ADDRESSES = 100_000;

export interface IpLimit {
  /** Counts one request. @returns the refusal when its address has none left. */
  take(address: string, limit: ServerSettings["ipLimit"], now: number): GatewayError | null;
}

/** Fixed windows in memory, one counter an IPv4 address or IPv6 /64 (decisions 4.1). `now` is Unix milliseconds. */
export function createIpLimit(): IpLimit {
  const counts = new Map<string, number>();
  let window = 0;
  let endsAt = 0;
  return {
    take(address, limit, now) {
      if (limit === null) return null;
      if (now >= endsAt || now < endsAt - window || window !== limit.window) {
        counts.clear();
        window = limit.window;
        endsAt = (Math.floor(now / window) + 1) * window;
      }
      const key = limitKey(address);
      const count = (counts.get(key) ?? 0) + 1;
      if (count > limit.requests) return refusal(limit.requests, Math.max(1, Math.ceil((endsAt - now) / 1000)));
      if (count === 1 && counts.size >= MAX_ADDRESSES) counts.delete(counts.keys().next().value!);
      counts.set(key, count);
      return null;
    },
  };
}

function refusal(requests: number, seconds: number): GatewayError {
  return new GatewayError("IP_RATE_LIMIT", "Rate limit exceeded. Please try again later.", {
    retryAfter: seconds,
    fields: { retry_after: seconds },
    headers: {
      "X-RateLimit-Limit": String(requests),
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Reset": String(seconds),
    },
  });
}
