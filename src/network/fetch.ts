import type { Dispatcher } from "undici";
import { proxyFor, type ProxyRules } from "../kit/index.ts";

type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` that goes through the proxy of the environment, where one serves the address. undici's own is loaded then:
 * Node's has no way to a proxy that works on Node 22 (https://nodejs.org/api/http.html#built-in-proxy-support).
 */
export function proxiedFetch(rules: ProxyRules): Fetch {
  const dispatchers = new Map<string, Dispatcher>();
  return async (url, init) => {
    const proxy = proxyFor(new URL(url), rules);
    if (proxy === null) return fetch(url, init);
    const undici = await import("undici");
    const dispatcher = dispatchers.get(proxy.href) ?? new undici.ProxyAgent({ uri: proxy.href });
    dispatchers.set(proxy.href, dispatcher);
    // The same standard in two packages, whose types do not know each other.
    const answer = await undici.fetch(url, { ...(init as import("undici").RequestInit), dispatcher });
    return answer as unknown as Response;
  };
}
