import { AttemptError } from "../../kit/index.ts";
import { ProxyError } from "../../network/tunnel.ts";

/**
 * What codes of the system mean, in words for operators.
 * https://nodejs.org/api/errors.html#common-system-errors, https://nodejs.org/api/tls.html#x509-certificate-error-codes
 */
const WORDS: Readonly<Record<string, string>> = {
  ENOTFOUND: "the name does not resolve",
  EAI_AGAIN: "the name could not be looked up",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was reset",
  EPIPE: "the connection was closed",
  ETIMEDOUT: "connecting took too long",
  EHOSTUNREACH: "there is no route to the host",
  ENETUNREACH: "there is no route to the network",
  EADDRNOTAVAIL: "no local address or port is free",
  EMFILE: "this process has too many files open",
  UND_ERR_CONNECT_TIMEOUT: "connecting took too long",
  UND_ERR_SOCKET: "the other side closed the connection",
  CERT_HAS_EXPIRED: "its certificate has expired",
  CERT_NOT_YET_VALID: "its certificate is not valid yet",
  CERT_REVOKED: "its certificate was revoked",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "its certificate is signed by an authority that is not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "its certificate is signed by an authority that is not known",
  UNABLE_TO_GET_ISSUER_CERT: "the issuer of its certificate is not known",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "the issuer of its certificate is not known",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
  EPROTO: "it does not speak TLS as expected",
  ERR_SSL_WRONG_VERSION_NUMBER: "it does not speak TLS",
};
/**
 * Alerts by which a server refuses the client (RFC 8446, 6.2). What stands before them differs between versions of OpenSSL:
 * `SSLV3_ALERT_…`, `TLSV13_ALERT_…`, `SSL/TLS_ALERT_…`.
 */
const REFUSED_CLIENT =
  /^ERR_SSL_.*_ALERT_(?:CERTIFICATE_REQUIRED|UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_EXPIRED|CERTIFICATE_UNKNOWN|HANDSHAKE_FAILURE)$/;
const CLIENT_REFUSED = "it did not take the client certificate, or the lack of one";

/** What to set, by the words above: a key of the upstream's `tls`. */
const REMEDIES: readonly (readonly [words: RegExp, keys: string])[] = [
  [/^its certificate is (?:self-signed|signed by)|^the issuer of its certificate/, "ca"],
  [/^it did not take the client certificate/, "cert and key"],
];
const CODE = /^[A-Z][A-Z0-9_/]{2,60}$/;
const MAX_DEPTH = 4;
const MAX_WORDS_CHARACTERS = 300;

/** Where an upstream is. */
export interface Place {
  /** Of the upstream. */
  readonly name: string;
  /** With the port, where the address has one. */
  readonly host: string;
  readonly secure: boolean;
}

/**
 * A failure with what operators are told of it: the code that the system or the provider gave, and where. Clients are shown
 * its message alone.
 */
export function explained(error: AttemptError, place: Place): AttemptError {
  const { cause } = error;
  if (cause instanceof ProxyError)
    return error.as({ causeCode: cause.code, detail: cause.message, words: cause.message });
  const system = systemError(cause, MAX_DEPTH);
  if (system === null) {
    const [causeCode = ""] = error.reason.split(" ");
    return error.as({ causeCode, detail: causeCode });
  }
  const { code, message } = system;
  const where = whereOf(system, place);
  const known = WORDS[code] ?? (REFUSED_CLIENT.test(code) ? CLIENT_REFUSED : undefined);
  const keys = REMEDIES.find(([words]) => words.test(known ?? ""))?.[1];
  const remedy = keys === undefined ? "" : `; see upstreams.${place.name}.tls: ${keys}`;
  const detail = known === undefined ? `${code} ${where}` : `${known} (${code} ${where})${remedy}`;
  const words = message === "" ? detail : message.slice(0, MAX_WORDS_CHARACTERS);
  return error.as({ causeCode: code, detail, words });
}

interface SystemError {
  readonly code: string;
  readonly message: string;
  readonly address: string;
  readonly port: number | null;
}

/** The innermost error with a code of the system. Where several addresses were tried it is the first one's. */
function systemError(error: unknown, depth: number): SystemError | null {
  if (!(error instanceof Error) || error instanceof AttemptError || depth === 0) return null;
  const inner = error instanceof AggregateError ? (error.errors as readonly unknown[])[0] : error.cause;
  const found = systemError(inner, depth - 1);
  if (found !== null) return found;
  const { code, address, port } = error as Error & { readonly [field: string]: unknown };
  if (typeof code !== "string" || !CODE.test(code)) return null;
  // undici's and OpenSSL's own messages may hold bytes of the answer.
  const isPlain = /^(connect|getaddrinfo|read|write) [A-Z]/.test(error.message);
  return {
    code,
    message: isPlain ? error.message : "",
    address: typeof address === "string" ? address : "",
    port: typeof port === "number" ? port : null,
  };
}

/** `host:port`, and the address behind the name where the system told it. */
function whereOf({ address, port }: SystemError, { host, secure }: Place): string {
  const place = /:\d+$/.test(host) ? host : `${host}:${secure ? 443 : 80}`;
  if (address === "" || port === null) return place;
  const reached = address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
  return reached === place ? place : `${place}, ${reached}`;
}
