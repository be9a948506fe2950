import { setTimeout as pause } from "node:timers/promises";
import type { AuthSettings, Log, Store } from "../../kit/index.ts";
import { createKeyring } from "../keyring.ts";
import type { Tokens } from "../tokens.ts";
import { userOfEmail, userOfIdentity } from "../users.ts";
import { type CodeOptions, type CodeRequest, createCodes } from "./codes.ts";
import { createMailer } from "./mail.ts";
import { type Beginning, type BeginRequest, type CompleteRequest, createOAuth, signInFailed } from "./oauth.ts";
import { createSessions, type Session } from "./sessions.ts";

export interface SignInOptions {
  /** Of the configuration in force. */
  readonly settings: () => AuthSettings;
  readonly store: Store;
  readonly tokens: Pick<Tokens, "issue">;
  readonly limitKey: CodeOptions["limitKey"];
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
  /** @throws GatewayError UNKNOWN_PATH, SIGN_IN_FAILED */
  complete(request: CompleteRequest): Promise<{ readonly session: Session; readonly redirectTo: string }>;
  /** @throws GatewayError INVALID_TOKEN */
  refresh(token: unknown): Promise<Session>;
  /** Ends the session that a refresh token belongs to; anything else is ignored. */
  logout(token: unknown): Promise<void>;
  /** Waits for mails under way, a few seconds at most. */
  close(): Promise<void>;
}

export function createSignIn({ settings, store, tokens, limitKey, now, log, sleep = pause }: SignInOptions): SignIn {
  const keyring = createKeyring({
    settings: () => settings().tokens,
    remember: (name, value) => store.remember(name, value),
  });
  const mailer = createMailer({ settings: () => settings().email, log });
  const codes = createCodes({
    store,
    keyring,
    send: (email, code) => mailer.sendCode(email, code),
    limitKey,
    now,
  });
  const oauth = createOAuth({ settings: () => settings().oauth, keyring, now, log });
  const sessions = createSessions({ settings, store, tokens, keyring, now, sleep });

  return {
    requestCode: (request) => codes.request(request),

    async verifyCode(request) {
      const email = await codes.verify(request);
      return sessions.begin(await userOfEmail(store, email, settings().signup));
    },

    begin: (request) => oauth.begin(request),

    async complete(request) {
      const { identity, redirectTo } = await oauth.complete(request);
      const user = await userOfIdentity(store, identity, settings().signup);
      if (!user) {
        log.warn({ provider: request.provider }, "a sign-in failed: the provider does not vouch for an address");
        throw signInFailed();
      }
      return { session: await sessions.begin(user), redirectTo };
    },

    refresh: (token) => sessions.refresh(token),
    logout: (token) => sessions.end(token),
    close: () => mailer.close(),
  };
}
