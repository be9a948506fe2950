import assert from "node:assert/strict";
import { onTestFinished } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { startSmtp } from "../../accounts/sign-in/smtp.ts";
import { expectConforming } from "./conforming.ts";
import { merge } from "./gateway-config.ts";
import { type Answer, eventually, send } from "./http.ts";
import { TestGateway } from "./in-process.ts";

/** What a sign-in and a refresh answer. */
export interface SessionBody {
  readonly access_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly user: { readonly id: string; readonly email: string; readonly plan_tier: string };
}

/** A POST as a program sends it: with a body as JSON, without one bare. The answer must be as the document says. */
export async function post(
  url: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const type = body === undefined ? null : { "content-type": "application/json" };
  const answer = await send(url, { body, headers: { ...type, ...headers } });
  expectConforming("POST", new URL(url).pathname, answer);
  return answer;
}

export function bearer(token: string): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` };
}

/** A mail server on loopback, closed when the test ends, and the sign-in codes that came to it. */
export class Mailbox {
  readonly #smtp: Awaited<ReturnType<typeof startSmtp>>;

  private constructor(smtp: Awaited<ReturnType<typeof startSmtp>>) {
    this.#smtp = smtp;
  }

  static async start(): Promise<Mailbox> {
    return new Mailbox(await startSmtp());
  }

  /** As `auth.email` has it. */
  get settings(): { readonly from: string; readonly smtp: string } {
    return { from: "gateway@example.com", smtp: this.#smtp.url };
  }

  get mails() {
    return this.#smtp.mails;
  }

  codesOf(email: string): readonly string[] {
    return this.mails.flatMap(({ to, raw }) => (to.includes(email) ? [/code is (\d{6})/.exec(raw)?.[1] ?? raw] : []));
  }

  /** Asks for a code and waits for its mail. */
  async ask(url: string, email: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const before = this.codesOf(email).length;
    const { status, text } = await post(`${url}/auth/login`, { email }, headers);
    assert.deepEqual([status, text], [202, '{"message":"Verification code sent"}']);
    await eventually(() => this.codesOf(email).length > before);
    return this.codesOf(email).at(-1)!;
  }

  /** Signs in with a code. */
  async signIn(url: string, email: string): Promise<SessionBody> {
    const code = await this.ask(url, email);
    const { status, text } = await post(`${url}/auth/login/verify`, { email, code });
    assert.equal(status, 200, text);
    return JSON.parse(text) as SessionBody;
  }
}

const NO_LIMITS = { day: "none", hour: "none", minute: "none", streams: "none" };

/** A plan of their own, and 2.5 credits, for those who sign up. */
export const SIGNUP = Object.freeze({ tier: "Lite", credits: 2.5 });

export interface SignInGateway {
  readonly gateway: TestGateway;
  readonly mailbox: Mailbox;
  /** `POST /auth/…`; a client's address goes in `x-forwarded-for`. */
  readonly login: (body: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
  readonly verify: (body: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
  readonly refresh: (body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
  readonly logout: (body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer>;
}

/** A gateway that people can sign in at, behind a trusted proxy on loopback; stopped when the test ends. */
export async function signInGateway(config: Json = {}): Promise<SignInGateway> {
  const mailbox = await Mailbox.start();
  const base = {
    server: { trusted_proxies: ["127.0.0.1"] },
    tiers: { Lite: { access: ["Free"], limits: NO_LIMITS } },
    auth: { signup: SIGNUP, email: mailbox.settings },
  };
  const gateway = await TestGateway.start({ config: merge(base, config) });
  onTestFinished(() => gateway.close());
  const poster =
    (path: string): SignInGateway["login"] =>
    (body, headers) =>
      post(`${gateway.url}/auth/${path}`, body, headers);
  return {
    gateway,
    mailbox,
    login: poster("login"),
    verify: poster("login/verify"),
    refresh: poster("refresh"),
    logout: poster("logout"),
  };
}
