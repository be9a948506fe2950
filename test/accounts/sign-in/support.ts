import { onTestFinished } from "vitest";
import { createSignIn, type Session, type SignIn, type SignInOptions } from "../../../src/accounts/sign-in/sign-in.ts";
import { createTokens, type Tokens } from "../../../src/accounts/tokens.ts";
import { type AuthSettings, decimal, type GatewayError, Secret, type Store } from "../../../src/kit/index.ts";
import { limitKey } from "../../../src/server/client-address.ts";
import { createLog, type GatewayLog } from "../../../src/telemetry/log.ts";
import { START, storeWithUser, tokenSettings } from "../support.ts";

export const SECRET = "0123456789abcdef0123456789abcdef";
export const OTHER_SECRET = "fedcba9876543210fedcba9876543210";

export function authSettings(parts: Partial<AuthSettings> = {}): AuthSettings {
  return {
    tokens: tokenSettings({ a: SECRET }),
    signup: { tier: "Lite", credits: decimal("1.5") },
    email: { from: "gateway@example.com", smtp: new Secret("") },
    oauth: {},
    ...parts,
  };
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** The gateway's own log, all of it. */
export function testLog() {
  const text: string[] = [];
  const log: GatewayLog = createLog({
    level: "debug",
    pretty: false,
    destination: { write: (line) => text.push(line) },
  });
  return {
    log,
    get text() {
      return text.join("");
    },
    get lines(): readonly LogLine[] {
      return text.map((line) => JSON.parse(line) as LogLine);
    },
  };
}

export interface SignInBench {
  readonly signIn: SignIn;
  readonly store: Store;
  readonly tokens: Tokens;
  readonly clock: { now: number };
  readonly log: ReturnType<typeof testLog>;
  /** Replaces settings, as a reload does. */
  readonly reload: (parts: Partial<AuthSettings>) => void;
  /** The code last sent to an address; it is in the log while no mail server is configured. */
  readonly codeOf: (email: string) => string;
  /** Asks for a code and brings it back. */
  readonly viaMail: (email: string, ip?: string) => ReturnType<SignIn["verifyCode"]>;
}

/** The whole sign-in service on a store in memory and a clock that stands still; sleeping moves it on. */
export async function signInBench(
  parts: Partial<AuthSettings> = {},
  { store: given, ...more }: Partial<Pick<SignInOptions, "sleep" | "now" | "store" | "links">> = {},
): Promise<SignInBench> {
  const clock = { now: START };
  const now = more.now ?? (() => clock.now);
  const store = given ?? (await storeWithUser(now)).store;
  const log = testLog();
  let settings = authSettings(parts);
  const remember = (name: string, value: string) => store.remember(name, value);
  const tokens = await createTokens({ settings: () => settings.tokens, now, remember });
  const sleep = async (milliseconds: number) => {
    clock.now += milliseconds;
  };
  const signIn = createSignIn({ settings: () => settings, store, tokens, limitKey, now, log: log.log, sleep, ...more });
  onTestFinished(() => signIn.close());

  const codeOf = (email: string): string => {
    const line = log.lines.findLast((line) => line["email"] === email);
    if (typeof line?.["code"] !== "string") throw new Error(`no code was sent to ${email}`);
    return line["code"];
  };
  return {
    signIn,
    store,
    tokens,
    clock,
    log,
    codeOf,
    reload: (next) => {
      settings = { ...settings, ...next };
    },
    viaMail: async (email, ip = "192.0.2.1") => {
      await signIn.requestCode({ email, ip });
      return signIn.verifyCode({ email, code: codeOf(email), ip });
    },
  };
}

/** "session", or the code of the error. */
export async function outcome(session: Promise<Session | void>): Promise<string> {
  return session.then(
    () => "session",
    (error: GatewayError) => error.code,
  );
}

export const INVALID_CODE = { code: "INVALID_CODE", message: "Invalid or expired code", status: 401 };
export const INVALID_TOKEN = { code: "INVALID_TOKEN", message: "Invalid or expired token", status: 401 };
export const SIGN_IN_FAILED = { code: "SIGN_IN_FAILED", message: "Sign-in failed", status: 401 };
