import type { UpstreamRequest } from "../../dialects/dialect.ts";
import { AttemptError, type Awaitable, type Cancellation } from "../../kit/index.ts";
import { GoogleToken, isGoogleCredentials, TOKEN_URI, type TokenHeaders } from "./google.ts";
import { type Sending, signed } from "./aws.ts";

export interface Waiting {
  readonly signal: Cancellation;
  /** Milliseconds to wait for an access token. */
  readonly timeout: number;
  /** The proxy of an address of Google's; left out: none. */
  readonly proxyTo?: ((url: URL) => URL | null) | undefined;
}

/** Adds what a key stands for to requests, and keeps the access tokens of all credentials. */
export class Signer {
  /** By credentials, and by the proxy through which they are exchanged. */
  readonly #google = new Map<string, GoogleToken>();

  /**
   * The request with AWS's signature or Google's access token; unchanged for a plain API key.
   * @throws AttemptError when no access token can be had
   */
  sign(sending: Sending & Waiting): Awaitable<UpstreamRequest> {
    const { dialect, apiKey } = sending;
    return dialect.signing?.by === "google" && isGoogleCredentials(apiKey)
      ? this.#authorized(sending)
      : signed(sending);
  }

  #authorized({ request, apiKey, now, ...waiting }: Sending & Waiting): Awaitable<UpstreamRequest> {
    // The dialect wrote these for a plain API key.
    const { "x-goog-api-key": _key, authorization: _own, ...headers } = request.headers;
    const issued = this.#token(apiKey, now, waiting.proxyTo).headers(now);
    const complete = (token: TokenHeaders): UpstreamRequest => ({ ...request, headers: { ...headers, ...token } });
    return issued instanceof Promise ? withTimeout(issued, waiting).then(complete) : complete(issued);
  }

  #token(credentials: string, now: number, proxyTo: Waiting["proxyTo"] = () => null): GoogleToken {
    const key = `${proxyTo(new URL(TOKEN_URI))?.href ?? ""} ${credentials}`;
    const known = this.#google.get(key);
    if (known) return known;
    for (const [other, token] of this.#google) if (token.idle(now)) this.#google.delete(other);
    const token = new GoogleToken(credentials, proxyTo);
    this.#google.set(key, token);
    return token;
  }
}

/** Waits no longer than one request may; the fetch, which others share, goes on. */
async function withTimeout<T>(promise: Promise<T>, { signal, timeout }: Waiting): Promise<T> {
  const over = Promise.withResolvers<never>();
  const onAbort = (): void => over.reject(new AttemptError("aborted", "the request was given up"));
  const onTimeout = (): void => over.reject(new AttemptError("timeout", "Google's access token took too long"));
  const timer = setTimeout(onTimeout, Math.max(0, timeout));
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, over.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
