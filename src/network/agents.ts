import { Agent, type AgentOptions, type ClientRequest } from "node:http";
import { Agent as SecureAgent } from "node:https";
import type { Duplex } from "node:stream";
import { connect, type ConnectionOptions } from "node:tls";
import type { Dispatcher, RequestInit as UndiciInit } from "undici";
import { proxyFor, type ProxyRules } from "../kit/index.ts";
import { openTunnel, proxyAuthorization, type ProxyError, targetOf, tlsOf } from "./tunnel.ts";

type OnConnected = (error: Error | null, stream?: Duplex) => void;
/** What Node gives an agent of a request. */
type RequestOptions = AgentOptions & ConnectionOptions & { host?: string; port?: number | string };

/** For requests to this address: through the proxy, or with connections of their own without one. */
export function agentFor({ protocol }: URL, proxy: URL | null, options: AgentOptions = {}): Agent {
  if (protocol === "https:") return proxy === null ? new SecureAgent(options) : new TunnelAgent(proxy, options);
  return proxy === null ? new Agent(options) : new ForwardAgent(proxy, options);
}

/** HTTPS by `CONNECT`. */
class TunnelAgent extends SecureAgent {
  readonly #proxy: URL;

  constructor(proxy: URL, options: AgentOptions) {
    super(options);
    this.#proxy = proxy;
  }

  override createConnection(options: RequestOptions, connected: OnConnected): undefined {
    const { host = "localhost", port = 443 } = options;
    const hostname = host.includes(":") ? `[${host}]` : host;
    openTunnel(this.#proxy, targetOf({ protocol: "https:", hostname, port: String(port) })).then(
      (socket) => connected(null, connect({ ...options, socket, ALPNProtocols: ["http/1.1"] })),
      (error: unknown) => connected(error as ProxyError),
    );
  }
}

/** Plain HTTP: the proxy is asked with the whole address (RFC 9112, 3.2.2), as few let `CONNECT` to other ports than 443. */
class ForwardAgent extends Agent {
  readonly #proxy: URL;

  constructor(proxy: URL, options: AgentOptions) {
    super(options);
    this.#proxy = proxy;
  }

  // Node's own hook, by which each request gets its connection. https://github.com/nodejs/node/blob/main/lib/_http_agent.js
  addRequest(req: ClientRequest, options: RequestOptions): void {
    const { hostname, port, protocol } = this.#proxy;
    const { host = "localhost", port: ofTarget = 80 } = options;
    req.path = `http://${host.includes(":") ? `[${host}]` : host}:${ofTarget}${req.path}`;
    for (const [name, value] of Object.entries(proxyAuthorization(this.#proxy))) req.setHeader(name, value);
    const place = {
      host: hostname.replace(/^\[(.*)\]$/, "$1"),
      port: Number(port) || (protocol === "https:" ? 443 : 80),
    };
    const base = Agent.prototype as unknown as { addRequest(req: ClientRequest, options: RequestOptions): void };
    base.addRequest.call(this, req, { ...options, ...place });
  }

  override createConnection(options: RequestOptions, connected: OnConnected): Duplex | null | undefined {
    if (this.#proxy.protocol === "http:") return super.createConnection(options, connected);
    return connect({ ...options, ...tlsOf(this.#proxy) });
  }
}

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
    const answer = await undici.fetch(url, { ...(init as UndiciInit), dispatcher });
    return answer;
  };
}
