import type { buildConnector, Dispatcher, Pool } from "undici";
// @ts-expect-error -- it declares the types of its parts as one
import undiciConnector from "undici/lib/core/connect.js";
import { openTunnel, proxyAuthorization, ProxyError, targetOf, tlsOf } from "../../network/tunnel.ts";

/** What one request needs of a connection pool. */
export type RequestPool = Pick<Pool, "dispatch" | "stats">;

const connectorOf: typeof buildConnector = undiciConnector;

/** How undici's connectors are made for one pool. */
export type ConnectorOptions = buildConnector.BuildOptions & { readonly timeout: number };

/** Of the time for a connection: the sweeper, which does not know of the proxy, would end a wait with other words. */
const TUNNEL_SHARE = 0.9;

/** Connects to an https:// address by a tunnel through the proxy. */
export function tunnelConnector(proxy: URL, options: ConnectorOptions): buildConnector.connector {
  const secure = connectorOf(options);
  return (place, callback) => {
    // undici's connectors answer by a callback, and nothing waits for the promise.
    openTunnel(proxy, targetOf(place), options.timeout * TUNNEL_SHARE).then(
      (httpSocket) => secure({ ...place, httpSocket }, callback),
      // oxlint-disable-next-line promise/no-callback-in-promise -- see above
      (error: unknown) => callback(error as ProxyError, null),
    );
  };
}

/** Connects to the proxy itself, which is asked for http:// addresses. */
export function proxyConnector(proxy: URL, options: ConnectorOptions): buildConnector.connector {
  const connect = connectorOf(options);
  return (place, callback) => {
    connect(place, (...[error, socket]) => {
      if (error === null) callback(null, socket);
      else callback(ProxyError.unreachable(proxy, error), null);
    });
  };
}

/** A pool of connections to a proxy as one to the origin: requests are in absolute form (RFC 9112, 3.2.2). */
export class ForwardPool implements RequestPool {
  readonly #pool: Pool;
  readonly #proxy: URL;
  readonly #origin: URL;
  readonly #authorization: ReturnType<typeof proxyAuthorization>;

  constructor(pool: Pool, proxy: URL, origin: string) {
    this.#pool = pool;
    this.#proxy = proxy;
    this.#origin = new URL(origin);
    this.#authorization = proxyAuthorization(proxy);
  }

  get stats(): Pool["stats"] {
    return this.#pool.stats;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const headers = { host: this.#origin.host, ...(options.headers as object), ...this.#authorization };
    // Changed in place: whoever gives the request up empties its body.
    const request = Object.assign(options, {
      path: this.#origin.origin + options.path,
      headers,
      // undici takes the name in a proxy's certificate from the Host header, which is the origin's.
      ...(this.#proxy.protocol === "https:" && { servername: tlsOf(this.#proxy).servername }),
    });
    return this.#pool.dispatch(request, new ProxiedAnswer(handler, this.#proxy));
  }
}

/** Tells a proxy's demand for a password from an answer of the origin, which never has this status. */
class ProxiedAnswer implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #proxy: URL;

  constructor(handler: Dispatcher.DispatchHandler, proxy: URL) {
    this.#handler = handler;
    this.#proxy = proxy;
  }

  onRequestStart(...args: Parameters<NonNullable<Dispatcher.DispatchHandler["onRequestStart"]>>): void {
    this.#handler.onRequestStart?.(...args);
  }

  onBodySent(...args: Parameters<NonNullable<Dispatcher.DispatchHandler["onBodySent"]>>): void {
    this.#handler.onBodySent?.(...args);
  }

  onRequestSent(): void {
    this.#handler.onRequestSent?.();
  }

  onResponseStart(...args: Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>): void {
    const [controller, status] = args;
    if (status !== 407) this.#handler.onResponseStart?.(...args);
    else this.#handler.onResponseError?.(controller, ProxyError.refused(this.#proxy, status));
  }

  onResponseData(...args: Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseData"]>>): void {
    this.#handler.onResponseData?.(...args);
  }

  onResponseEnd(...args: Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseEnd"]>>): void {
    this.#handler.onResponseEnd?.(...args);
  }

  onResponseError(...args: Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseError"]>>): void {
    this.#handler.onResponseError?.(...args);
  }
}
