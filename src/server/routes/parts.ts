import type { Json, Log, Snapshot, Store } from "../../kit/index.ts";
import type { Callers } from "../credentials.ts";

/** What the routes beside inference are made of. */
export interface RouteParts {
  /** Of the configuration in force. */
  readonly snapshot: () => Snapshot;
  readonly store: Store;
  readonly identities: Callers;
  readonly signIn: SignIn;
  readonly health: (upstream: string) => UpstreamHealth;
  /** Ends the user's streams. @returns how many. */
  readonly kill: (userId: string) => Promise<number>;
  /** The first thing that is wrong with a body of `count_tokens`; null when nothing is. */
  readonly validateTokenCount: (body: Json) => { readonly pointer: string; readonly what: string } | null;
  /** Tokens of a text, by tokenizer. */
  readonly tokensIn: (text: string) => Promise<number>;
  /** The OpenAPI document as JSON. */
  readonly openApi: () => string;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
}

/** How an upstream does. */
export interface UpstreamHealth {
  readonly state: "healthy" | "degraded" | "unknown";
  /** 0 without data. */
  readonly latencyMs: number;
  readonly canServe: boolean;
}

/** Who has signed in, until when. */
export interface Session {
  /** The answer. */
  readonly body: object;
  /** The one in `body`, for the cookie. */
  readonly refreshToken: string;
  /** Unix milliseconds. */
  readonly refreshExpiresAt: number;
}

/** Signing in by mail code and OpenID Connect; what comes from a client comes as it is, and is checked there. */
export interface SignIn {
  /** @throws GatewayError INVALID_REQUEST, TOO_MANY_REQUESTS */
  requestCode(request: { readonly email: unknown; readonly ip: string }): Promise<void>;
  /** @throws GatewayError INVALID_REQUEST, TOO_MANY_REQUESTS, INVALID_CODE */
  verifyCode(request: { readonly email: unknown; readonly code: unknown; readonly ip: string }): Promise<Session>;
  /** @throws GatewayError INVALID_TOKEN */
  refresh(token: unknown): Promise<Session>;
  /** Ends the session of a refresh token; anything else is ignored. */
  logout(token: unknown): Promise<void>;
  /**
   * @param request.origin scheme, host and port under which the client sees the gateway.
   * @returns where to send the browser, and a sealed state for a cookie that lives `maxAge` seconds.
   * @throws GatewayError UNKNOWN_PATH for a provider that is none, PROVIDER_ERROR
   */
  begin(request: {
    readonly provider: string;
    readonly redirectTo: string | null;
    readonly origin: string;
  }): Promise<{ readonly location: string; readonly state: string; readonly maxAge: number }>;
  /**
   * @param request.url path and query of the callback.
   * @param request.state from the cookie; null without one.
   * @throws GatewayError UNKNOWN_PATH, SIGN_IN_FAILED
   */
  complete(request: {
    readonly provider: string;
    readonly url: string;
    readonly state: string | null;
  }): Promise<{ readonly session: Session; readonly redirectTo: string }>;
}
