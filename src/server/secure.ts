import { createServer, type Server } from "node:https";
import type { RequestListener } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContextOptions, TLSSocket } from "node:tls";

/** What a listener proves itself with, as PEM texts. */
export interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
  /** Authorities of client certificates; null: none is asked for. */
  readonly clientCa: string | null;
}

/** A handshake that came to nothing, in words for the log: neither the client's address nor its bytes. */
export interface FailedHandshake {
  readonly code: string;
  readonly reason: string;
}

/**
 * An HTTPS server. listhen makes some too, but takes neither authorities of clients nor a bound for handshakes.
 * @param handshakeMs after which a client is cut that has not finished its handshake.
 */
export function secureServer(handler: RequestListener, material: TlsMaterial, handshakeMs: number): Server {
  return createServer(
    {
      ...contextOf(material),
      handshakeTimeout: handshakeMs,
      requestCert: material.clientCa !== null,
      // Explicit, because NODE_TLS_REJECT_UNAUTHORIZED can turn verification off for the whole process.
      rejectUnauthorized: true,
    },
    handler,
  );
}

/** Uses other files for connections that begin from now on; those that are open stay. @throws Error for what OpenSSL refuses */
export function renew(server: Server, material: TlsMaterial): void {
  server.setSecureContext(contextOf(material));
}

function contextOf({ cert, key, clientCa }: TlsMaterial): SecureContextOptions {
  return { cert, key, minVersion: "TLSv1.2", ...(clientCa !== null && { ca: clientCa }) };
}

const PLAIN_HTTP = "This port speaks HTTPS: use an address that begins with https://";

/** Why a handshake failed, by code of OpenSSL and Node. https://nodejs.org/api/errors.html#openssl-error-codes */
const REASONS: Readonly<Record<string, string>> = {
  ERR_SSL_HTTP_REQUEST: "the client spoke HTTP without TLS",
  ERR_TLS_HANDSHAKE_TIMEOUT: "the client did not finish its handshake in time",
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: "the client sent no certificate",
  ERR_SSL_UNSUPPORTED_PROTOCOL: "the client speaks no TLS as new as 1.2",
  ERR_SSL_NO_SHARED_CIPHER: "the client has no cipher in common",
  ERR_SSL_WRONG_VERSION_NUMBER: "the client did not speak TLS",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "the client did not speak TLS",
  ECONNRESET: "the client closed the connection",
};

/** The connections of one HTTPS server, from their first packet on: Node's list begins when a handshake has ended. */
export class SecureConnections {
  /** The TCP connection below each TLS connection, by the client's end. */
  readonly #open = new Map<string, Socket>();
  readonly #secured = new WeakSet<Duplex>();
  readonly #shaking = new Set<Socket>();

  constructor(server: Server) {
    server.on("connection", (socket: Socket) => {
      const key = keyOf(socket);
      this.#open.set(key, socket);
      this.#shaking.add(socket);
      socket.on("close", () => {
        this.#open.delete(key);
        this.#shaking.delete(socket);
      });
    });
    server.prependListener("secureConnection", (socket: TLSSocket) => {
      this.#secured.add(socket);
      const below = this.below(socket);
      if (below) this.#shaking.delete(below);
    });
  }

  below(socket: Socket): Socket | undefined {
    return this.#open.get(keyOf(socket));
  }

  /** Ends handshakes under way: an HTTP server that closes would wait for them. */
  endHandshakes(): void {
    for (const socket of this.#shaking) socket.destroy();
  }

  /**
   * Ends a connection that failed before its handshake had ended, and tells a client that speaks plain HTTP what to do.
   * @returns what happened; null for a failure after the handshake, which is HTTP's.
   */
  endFailed(error: Error & { readonly code?: string }, socket: Duplex): FailedHandshake | null {
    if (this.#secured.has(socket)) return null;
    const { code = "" } = error;
    const { authorizationError } = socket as Partial<TLSSocket>;
    const below = this.below(socket as Socket);
    if (code === "ERR_SSL_HTTP_REQUEST" && below?.writable) {
      below.end(
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n" +
          `Content-Length: ${PLAIN_HTTP.length}\r\nConnection: close\r\n\r\n${PLAIN_HTTP}`,
        () => socket.destroy(),
      );
    } else socket.destroy();
    if (authorizationError) {
      return { code: String(authorizationError), reason: "the client's certificate is none of client_ca" };
    }
    return { code, reason: REASONS[code] ?? "the client and this listener did not agree on TLS" };
  }
}

function keyOf({ remoteAddress = "", remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
