import type { UpstreamRequest } from "../../dialects/dialect.ts";
import { AttemptError, type Awaitable } from "../../kit/index.ts";
import { GoogleToken, isGoogleCredentials, type TokenHeaders } from "./google.ts";
import { type Sending, signed } from "./signed.ts";

export interface Waiting {
  readonly signal: AbortSignal;
  /** Milliseconds to wait for an access token. */
  readonly patience: number;
}

/** Signs requests, and keeps the access tokens of those that carry one. */
export class Signer {
  /** By credentials. */
  readonly #google = new Map<string, GoogleToken>();

  /**
   * The request as it is sent, with what its key stands for: AWS's signature, Google's access token, or itself.
   * @throws AttemptError when no access token is to be had
   */
  sign(sending: Sending & Waiting): Awaitable<UpstreamRequest> {
    const { dialect, apiKey } = sending;
    return dialect.signing?.by === "google" && isGoogleCredentials(apiKey)
      ? this.#authorized(sending)
      : signed(sending);
  }

  #authorized({ request, apiKey, now, ...waiting }: Sending & Waiting): Awaitable<UpstreamRequest> {
    // Written for a plain key, which the credentials are not.
    const { "x-goog-api-key": _key, authorization: _own, ...headers } = request.headers;
    const issued = this.#token(apiKey, now).headers(now);
    const complete = (token: TokenHeaders): UpstreamRequest => ({ ...request, headers: { ...headers, ...token } });
    return issued instanceof Promise ? patient(issued, waiting).then(complete) : complete(issued);
  }

  #token(credentials: string, now: number): GoogleToken {
    const known = this.#google.get(credentials);
    if (known) return known;
    for (const [other, token] of this.#google) if (token.idle(now)) this.#google.delete(other);
    const token = new GoogleToken(credentials);
    this.#google.set(credentials, token);
    return token;
  }
}

/** What others wait for too goes on when one of them stops waiting. */
async function patient<T>(promise: Promise<T>, { signal, patience }: Waiting): Promise<T> {
  const over = Promise.withResolvers<never>();
  const onAbort = (): void => over.reject(new AttemptError("aborted", "the request was given up"));
  const onTimeout = (): void => over.reject(new AttemptError("timeout", "Google's access token took too long"));
  const timer = setTimeout(onTimeout, Math.max(0, patience));
  signal.addEventListener("abort", onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, over.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
