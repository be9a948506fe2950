import { isInNetworks, isLoopback, parseAddress, parseNetwork } from "./networks.ts";

/** The proxy of the environment: which one serves an address. */
export interface ProxyRules {
  /** For `https:` and `http:` addresses; null: none. */
  readonly https: URL | null;
  readonly http: URL | null;
  /** Entries of NO_PROXY. */
  readonly bypass: readonly string[];
  /** Names of variables that hold no URL of a proxy. */
  readonly unusable: readonly string[];
}

export const NO_PROXIES: ProxyRules = Object.freeze({ https: null, http: null, bypass: [], unusable: [] });

/**
 * The rules of `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. The lower-case form of a variable wins, as in curl:
 * https://everything.curl.dev/usingcurl/proxies/env.html
 */
export function proxyRules(env: Readonly<Record<string, string | undefined>>): ProxyRules {
  const unusable: string[] = [];
  const proxy = (name: string): URL | null => {
    const used = [name.toLowerCase(), name].find((one) => (env[one] ?? "") !== "");
    if (used === undefined) return null;
    const found = parseProxy(env[used]!);
    if (found === null) unusable.push(used);
    return found;
  };
  const bypass = (env["no_proxy"] || env["NO_PROXY"] || "").split(/[\s,]+/).filter((entry) => entry !== "");
  return { https: proxy("HTTPS_PROXY"), http: proxy("HTTP_PROXY"), bypass, unusable };
}

/** The URL of an HTTP proxy, `http://` where no scheme is written; null for anything else. */
export function parseProxy(text: string): URL | null {
  const written = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.parse(written);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "") return null;
  return url.pathname === "/" && url.search === "" && url.hash === "" && !/\s/.test(text) ? url : null;
}

/** The proxy that serves an address, or null: it is asked directly. Loopback always is. */
export function proxyFor({ protocol, hostname, port }: URL, rules: ProxyRules): URL | null {
  const proxy = protocol === "https:" ? rules.https : rules.http;
  if (proxy === null || isLoopback(hostname) || /(?:^|\.)localhost\.?$/i.test(hostname)) return null;
  const number = port === "" ? (protocol === "https:" ? "443" : "80") : port;
  const host = bare(hostname);
  return rules.bypass.some((entry) => covers(entry, host, number)) ? null : proxy;
}

/**
 * Whether an entry of NO_PROXY names a host: `*`, a name with all its subdomains (with or without a dot or `*.` before
 * it), an address, a CIDR; each may end in a port.
 */
function covers(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  if (typeof parseNetwork(entry) !== "string" && isInNetworks(host, [entry])) return true;
  const [, inBrackets, plain = "", ofPort] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  if (ofPort !== undefined && ofPort !== port) return false;
  const name = bare(inBrackets ?? plain);
  if (name === "") return false;
  const network = parseNetwork(name);
  if (typeof network !== "string") return isInNetworks(host, [name]);
  const suffix = name.replace(/^\*?\./, "");
  return suffix !== "" && parseAddress(host) === null && (host === suffix || host.endsWith(`.${suffix}`));
}

/** In lower case, without brackets and without the dot at the end of a whole name. */
function bare(host: string): string {
  return host
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
}
