import type { AuthClient } from "google-auth-library";
import { AttemptError, isJson, type Json } from "../../kit/index.ts";
import { agentFor } from "../../network/agents.ts";

/** The key that stands for the machine's own credentials: a variable, the gcloud user, the metadata server. */
const APPLICATION_DEFAULT = "application-default";
/** Every API of Google Cloud that the account's roles allow, and the Gemini API. */
const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
export const TOKEN_URI = "https://oauth2.googleapis.com/token";
/** So long before its end a token is replaced in the background. */
const RENEWAL_MS = 5 * 60_000;
/** So long a request may take until the upstream checks its token. */
const MARGIN_MS = 30_000;
const FETCH_TIMEOUT_MS = 10_000;
/** The form of OAuth's error codes; any other text could quote what was sent. */
const OAUTH_ERROR = /^[a-z_]{1,40}$/;

/** Whether a key is the text of a service account's key file, or stands for the machine's own credentials. */
export function isGoogleCredentials(apiKey: string): boolean {
  return apiKey === APPLICATION_DEFAULT || apiKey.trimStart().startsWith("{");
}

/** Request headers with an access token. Names are in lower case. */
export type TokenHeaders = Readonly<Record<string, string>>;

/** The proxy by which an address is asked; null: directly. */
type ProxyTo = (url: URL) => URL | null;

interface Token {
  readonly headers: TokenHeaders;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** The access token of one set of credentials: one fetch at a time, kept until shortly before it ends. */
export class GoogleToken {
  readonly #credentials: string;
  readonly #proxyTo: ProxyTo;
  #client: Promise<AuthClient> | null = null;
  #token: Token | null = null;
  #pending: Promise<Token> | null = null;

  constructor(credentials: string, proxyTo: ProxyTo) {
    this.#credentials = credentials;
    this.#proxyTo = proxyTo;
  }

  /**
   * Synchronous while there is a good token: no promise per request. @throws AttemptError, which quotes neither what
   * was sent nor what was answered.
   */
  headers(now: number): TokenHeaders | Promise<TokenHeaders> {
    const token = this.#token;
    if (token !== null && now < token.expiresAt - RENEWAL_MS) return token.headers;
    this.#pending ??= this.#fetch().finally(() => {
      this.#pending = null;
    });
    if (token === null || now >= token.expiresAt - MARGIN_MS) return this.#pending.then(({ headers }) => headers);
    this.#pending.catch(() => undefined);
    return token.headers;
  }

  /** Holds no token that is still good, and fetches none. */
  idle(now: number): boolean {
    return this.#pending === null && now >= (this.#token?.expiresAt ?? 0);
  }

  async #fetch(): Promise<Token> {
    try {
      this.#client ??= clientOf(this.#credentials, this.#proxyTo);
      const client = await this.#client;
      const headers = await client.getRequestHeaders();
      const { access_token: issued, expiry_date: end } = client.credentials;
      if (typeof issued !== "string" || issued === "") throw new Error("no access token was issued");
      this.#token = { headers: Object.fromEntries(headers), expiresAt: end ?? 0 };
      return this.#token;
    } catch (error) {
      // Reads the credentials again next time: the machine's own may appear later.
      this.#client = null;
      throw failureOf(error);
    }
  }
}

/** @throws what the library throws, or Error for what is no service account's key file. */
async function clientOf(credentials: string, proxyTo: ProxyTo): Promise<AuthClient> {
  const { GoogleAuth, JWT } = await import("google-auth-library");
  const options = { eagerRefreshThresholdMillis: RENEWAL_MS, transporterOptions: { timeout: FETCH_TIMEOUT_MS } };
  const account = credentials === APPLICATION_DEFAULT ? null : readAccount(credentials);
  const client = account
    ? new JWT({
        ...options,
        email: account.client_email,
        key: account.private_key,
        scopes: [SCOPE],
        quotaProjectId: account.quota_project_id,
        // The library uses one fixed endpoint; the key file may name another.
        additionalClaims: { aud: account.token_uri },
      })
    : await new GoogleAuth({ scopes: [SCOPE], clientOptions: options }).getClient();
  client.transporter.interceptors.request.add({
    resolved: (request) => {
      if (account) request.url = new URL(account.token_uri);
      // Always its own: the library would choose a proxy by rules that differ from ours.
      request.agent = agentFor(request.url, proxyTo(request.url));
      // No retries here: the chain retries.
      request.retryConfig = { ...request.retryConfig, retry: 0 };
      return Promise.resolve(request);
    },
  });
  return client;
}

interface ServiceAccount {
  readonly client_email: string;
  /** PEM. */
  readonly private_key: string;
  /** Where its assertions are exchanged. */
  readonly token_uri: string;
  readonly quota_project_id?: string;
}

function readAccount(text: string): ServiceAccount {
  const { type, client_email, private_key, token_uri = TOKEN_URI, quota_project_id } = JSON.parse(text) as Json;
  if (type !== "service_account" || typeof client_email !== "string" || typeof private_key !== "string") {
    throw new Error("not a service account's key file");
  }
  const project = typeof quota_project_id === "string" ? { quota_project_id } : {};
  return { client_email, private_key, token_uri: String(token_uri), ...project };
}

/** Without its cause: the library's errors hold the request, and with it the assertion or the secret. */
function failureOf(error: unknown): AttemptError {
  const { config, response, code, name } = isJson(error) ? error : {};
  if (!isJson(response)) {
    if (config === undefined) return new AttemptError("credentials", "the gateway's Google credentials cannot be used");
    const timedOut = code === "TimeoutError" || name === "TimeoutError";
    return timedOut
      ? new AttemptError("timeout", "Google's token endpoint timed out")
      : new AttemptError("connect", "Google's token endpoint could not be reached");
  }
  const { status, data } = response;
  if (typeof status === "number" && (status >= 500 || status === 429 || status === 408)) {
    return new AttemptError("status", `Google's token endpoint answered ${status}`);
  }
  const oauthCode = isJson(data) ? data["error"] : undefined;
  const reason = typeof oauthCode === "string" && OAUTH_ERROR.test(oauthCode) ? ` (${oauthCode})` : "";
  return new AttemptError("credentials", `Google refused the gateway's credentials${reason}`);
}
