import { createHmac, randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import {
  type AuthSettings,
  type Awaitable,
  GatewayError,
  type Log,
  NO_PROXIES,
  type ProxyRules,
  type Store,
  type User,
} from "../../kit/index.ts";
import { digest } from "../api-keys.ts";
import { type AccessToken, createKeyring, deriveKey, type Keyring, type Tokens } from "../tokens.ts";
import { maySignUp, newId, userOfEmail, userOfIdentity } from "../users.ts";
import { type CodeOptions, type CodeRequest, createCodes } from "./codes.ts";
import { createDevices } from "./devices.ts";
import type { SignInLinks } from "./links.ts";
import { createMailer } from "./mail.ts";
import { type Beginning, type BeginRequest, type CompleteRequest, createOAuth, signInFailed } from "./oauth.ts";

export interface SignInOptions {
  /** Of the configuration in force. */
  readonly settings: () => AuthSettings;
  readonly store: Store;
  readonly tokens: Pick<Tokens, "issue">;
  readonly limitKey: CodeOptions["limitKey"];
  /** Whose codes are taken in place of a mailed one; none unless given. */
  readonly links?: SignInLinks | null;
  /** The proxies of the environment, for identity providers; none unless given. */
  readonly proxies?: ProxyRules;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
  readonly sleep?: (milliseconds: number) => Promise<unknown>;
}

/** The ways to an access token. Every method may also throw STORE_UNAVAILABLE. */
export interface SignIn {
  /** Mails a code. @throws GatewayError INVALID_REQUEST, TOO_MANY_REQUESTS */
  requestCode(request: CodeRequest): Promise<void>;
  /** @throws GatewayError INVALID_REQUEST, TOO_MANY_REQUESTS, INVALID_CODE */
  verifyCode(request: CodeRequest & { readonly code: unknown }): Promise<Session>;
  /** @throws GatewayError UNKNOWN_PATH, PROVIDER_ERROR */
  begin(request: BeginRequest): Promise<Beginning>;
  /** @throws GatewayError UNKNOWN_PATH, SIGN_IN_FAILED, SIGN_UP_CLOSED */
  complete(request: CompleteRequest): Promise<{ readonly session: Session; readonly redirectTo: string }>;
  /** @throws GatewayError INVALID_TOKEN */
  refresh(token: unknown): Promise<Session>;
  /** Ends the session that a refresh token belongs to; anything else is ignored. */
  logout(token: unknown): Promise<void>;
  /** The cookie of a browser from which this user has signed in just now. @param device the one before. */
  markDevice(device: string | undefined, email: string): Promise<string>;
  /** Waits for mails under way, a few seconds at most. */
  close(): Promise<void>;
}

export function createSignIn(options: SignInOptions): SignIn {
  const { settings, store, tokens, limitKey, links = null, proxies = NO_PROXIES, now, log, sleep = pause } = options;
  const keyring = createKeyring({
    settings: () => settings().tokens,
    remember: (name, value) => store.remember(name, value),
  });
  const mailer = createMailer({ settings: () => settings().email, log });
  const devices = createDevices(keyring, now);

  /** A newcomer who may not sign up gets no mail. Who that is, is found out after the answer: its timing must not tell. */
  function send(email: string, code: string): void {
    if (maySignUp(settings().signup, email)) return mailer.sendCode(email, code);
    setImmediate(() => {
      sendToUser(email, code).catch((err: unknown) => log.error({ err }, "sign-in code could not be sent"));
    });
  }

  async function sendToUser(email: string, code: string): Promise<void> {
    if ((await store.findUser(email)) !== null) mailer.sendCode(email, code);
  }

  const codes = createCodes({
    store,
    devices,
    keyring,
    send,
    limitKey,
    now,
  });
  const oauth = createOAuth({ settings: () => settings().oauth, keyring, now, log, proxies });
  const sessions = createSessions({ settings, store, tokens, keyring, now, sleep });

  return {
    requestCode: (request) => codes.request(request),

    async verifyCode(request) {
      // A link's code cannot be guessed. A wrong one counts like any wrong code.
      const linked = links?.redeem("user", request.code, request.ip) ?? null;
      const user =
        linked === null
          ? await userOfEmail(store, await codes.verify(request), settings().signup)
          : await store.findUser(linked);
      if (user === null) throw new GatewayError("INVALID_CODE", "Invalid or expired code");
      if (user.disabledAt !== undefined) throw new GatewayError("INVALID_CODE", DISABLED);
      return sessions.begin(user);
    },

    begin: (request) => oauth.begin(request),

    async complete(request) {
      const { identity, redirectTo } = await oauth.complete(request);
      const user = await userOfIdentity(store, identity, settings().signup);
      if (!user) {
        log.warn({ provider: request.provider }, "sign-in failed: the provider confirms no email address");
        throw signInFailed();
      }
      if (user.disabledAt !== undefined) throw new GatewayError("SIGN_IN_FAILED", DISABLED);
      return { session: await sessions.begin(user), redirectTo };
    },

    refresh: (token) => sessions.refresh(token),
    logout: (token) => sessions.end(token),
    markDevice: (device, email) => devices.mark(device, email.toLowerCase()),
    close: () => mailer.close(),
  };
}

/** Within this time one refresh token may come again: parallel refreshes of one client. */
const GRACE_MS = 250;
/** Longer than the grace, because timers may be early and clocks are coarse. */
const HOLD_MS = GRACE_MS + 10;
const REFRESH_TOKEN = /^rt_[A-Za-z0-9_-]{43}$/;

/** The response to a sign-in or refresh. */
interface SessionBody extends AccessToken {
  readonly token_type: "Bearer";
  readonly refresh_token: string;
  readonly user: { readonly id: string; readonly email: string; readonly plan_tier: string };
}

export interface Session {
  readonly body: SessionBody;
  /** The refresh token of `body`, for a cookie. */
  readonly refreshToken: string;
  /** Unix milliseconds. */
  readonly refreshExpiresAt: number;
}

interface SessionOptions {
  readonly settings: () => AuthSettings;
  readonly store: Store;
  readonly tokens: Pick<Tokens, "issue">;
  readonly keyring: () => Awaitable<Keyring>;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly sleep: (milliseconds: number) => Promise<unknown>;
}

/** Said to whom has proven to be the user. */
const DISABLED = "This account is disabled";

interface Sessions {
  begin(user: User): Promise<Session>;
  /** @throws GatewayError INVALID_TOKEN */
  refresh(token: unknown): Promise<Session>;
  /** Ends the session of a token, used up or not; anything else is ignored. */
  end(token: unknown): Promise<void>;
}

/**
 * Refresh tokens: 256 bits each, stored as SHA-256, rotated with every use. One used again after the grace ends its
 * family: the session with all its tokens.
 */
function createSessions({ settings, store, tokens, keyring, now, sleep }: SessionOptions): Sessions {
  async function sessionOf(user: User, refreshToken: string, refreshExpiresAt: number): Promise<Session> {
    const { access_token, expires_in } = await tokens.issue(user);
    const { id, email, tier } = user;
    return {
      body: {
        access_token,
        token_type: "Bearer",
        expires_in,
        refresh_token: refreshToken,
        user: { id, email, plan_tier: tier },
      },
      refreshToken,
      refreshExpiresAt,
    };
  }

  return {
    async begin(user) {
      const token = tokenOf(randomBytes(32));
      const expiresAt = now() + settings().tokens.refreshTtl;
      const family = { id: newId("family"), userId: user.id, digest: digest(token), expiresAt };
      await store.addFamily({ ...family, ...(user.sessions !== undefined && { sessions: user.sessions }) });
      return sessionOf(user, token, expiresAt);
    },

    async refresh(token) {
      if (typeof token !== "string" || !REFRESH_TOKEN.test(token)) throw invalidToken();
      // Derived from the token, so that parallel refreshes give the same successor without it being stored in clear.
      const key = deriveKey((await keyring()).key, "refresh token");
      const successor = tokenOf(createHmac("sha256", key).update(token).digest());
      const rotation = { digest: digest(token), successor: digest(successor), grace: GRACE_MS };
      const rotated = await store.rotate(rotation);
      const user = rotated && (await store.findUser(rotated.userId));
      if (!user) throw invalidToken();
      // Ended everywhere since this session began. The token is issued by the number that was looked at here, so that one
      // that is issued while sessions are ended is void.
      if ((rotated.sessions ?? 0) !== (user.sessions ?? 0)) throw invalidToken();
      if (user.disabledAt !== undefined) throw new GatewayError("INVALID_TOKEN", DISABLED);
      const session = await sessionOf(user, successor, rotated.expiresAt);
      // Nobody gets the successor before the grace is over: an old token that comes after its successor was used is no
      // parallel refresh.
      await sleep(HOLD_MS);
      return session;
    },

    async end(token) {
      if (typeof token === "string" && REFRESH_TOKEN.test(token)) await store.endFamily(digest(token));
    },
  };
}

function tokenOf(bytes: Buffer): string {
  return `rt_${bytes.toString("base64url")}`;
}

function invalidToken(): GatewayError {
  return new GatewayError("INVALID_TOKEN", "Invalid or expired token");
}
