import type { Location } from "../dialects/dialect.ts";
import { parseProxy, proxyFor, type ProxyRules, type Upstream } from "../kit/index.ts";
import { withLowerCaseNames } from "./send/request.ts";

/** The part of an upstream's configuration that selects its dialect variant. */
export function locationOf(base: URL, { headers, vendor, accepts, api }: Upstream): Location {
  return {
    baseUrl: base.href.replace(/\/+$/, ""),
    headers: withLowerCaseNames(headers),
    ...(vendor && { vendor }),
    ...(accepts && { accepts }),
    ...(api && { api }),
  };
}

/** The proxy by which an address is asked for an upstream, its own or another that it needs; null: directly. */
export function proxyOf(
  { baseUrl, proxy }: Pick<Upstream, "baseUrl" | "proxy">,
  url: URL,
  rules: ProxyRules,
): URL | null {
  // The simulator is part of this process.
  if (baseUrl.startsWith("sim:") || proxy === null) return null;
  return proxy === undefined ? proxyFor(url, rules) : parseProxy(proxy.reveal());
}
