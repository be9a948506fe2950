import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { request as secureRequest } from "node:https";
import { isIP, type Socket } from "node:net";

const TIMEOUT_MS = 10_000;

/** A proxy that did not let a connection through. The message names the proxy's host, and never its user or password. */
export class ProxyError extends Error {
  override readonly name = "ProxyError";
  readonly code: string;

  constructor(code: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }

  /** The proxy could not be reached. @param cause what the connection to it failed with */
  static unreachable(proxy: URL, cause: unknown): ProxyError {
    const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "";
    const why = code === "" ? "" : ` (${code})`;
    return new ProxyError("PROXY_UNREACHABLE", `the proxy ${proxy.host} could not be reached${why}`, cause);
  }

  /** The proxy answered with a status of its own. */
  static refused(proxy: URL, status: number): ProxyError {
    return status === 407
      ? new ProxyError("PROXY_AUTHENTICATION", `the proxy ${proxy.host} does not take the user and password (407)`)
      : new ProxyError("PROXY_REFUSED", `the proxy ${proxy.host} refused the connection (${status})`);
  }
}

/** The header that gives a proxy the user and password of its URL; empty without any. */
export function proxyAuthorization({ username, password }: URL): { readonly "proxy-authorization"?: string } {
  if (username === "" && password === "") return {};
  const credentials = `${decoded(username)}:${decoded(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/** A `%` that begins no escape stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * Connects to `host:port` through a proxy, by `CONNECT` (RFC 9110, 9.3.6). TLS with the target is the caller's.
 * @param timeoutMs for the connection to the proxy and its answer together
 * @throws ProxyError
 */
export function openTunnel(proxy: URL, target: string, timeoutMs = TIMEOUT_MS): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const send = proxy.protocol === "https:" ? secureRequest : request;
    const req: ClientRequest = send({
      host: proxy.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: proxy.port || (proxy.protocol === "https:" ? 443 : 80),
      method: "CONNECT",
      path: target,
      headers: { host: target, ...proxyAuthorization(proxy) },
      agent: false,
      ...(proxy.protocol === "https:" && tlsOf(proxy)),
    });
    const fail = (error: ProxyError): void => {
      clearTimeout(timer);
      reject(error);
      req.destroy();
    };
    const timer = setTimeout(
      () => fail(new ProxyError("PROXY_TIMEOUT", `the proxy ${proxy.host} did not connect in time`)),
      timeoutMs,
    );
    // It stays: destroying the request is an error, too.
    req.on("error", (error) => fail(ProxyError.unreachable(proxy, error)));
    // Node takes an answer to CONNECT for a tunnel whatever its status.
    req.on("connect", ({ statusCode = 0 }: IncomingMessage, socket: Socket, head: Buffer) => {
      if (statusCode < 200 || statusCode > 299) {
        socket.on("error", () => undefined);
        socket.destroy();
        return fail(ProxyError.refused(proxy, statusCode));
      }
      clearTimeout(timer);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    req.end();
  });
}

/** For TLS with the proxy itself. */
export function tlsOf({ hostname }: URL): { readonly rejectUnauthorized: true; readonly servername: string } {
  // Both explicit: NODE_TLS_REJECT_UNAUTHORIZED can turn verification off for the whole process, and Node takes the name
  // from the Host header, which is the target's. An address has no name to send.
  return { rejectUnauthorized: true, servername: isIP(hostname.replace(/^\[(.*)\]$/, "$1")) === 0 ? hostname : "" };
}

/** `host:port` as `CONNECT` takes it. */
export function targetOf({ protocol, hostname, port }: Pick<URL, "protocol" | "hostname" | "port">): string {
  return `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
}
