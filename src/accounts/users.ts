import { randomBytes } from "node:crypto";
import {
  type AuthSettings,
  GatewayError,
  invalidRequest,
  nanoToString,
  type Store,
  toNano,
  type User,
  type WindowName,
  type Windows,
  type WindowState,
} from "../kit/index.ts";

/**
 * The e-mail addresses of HTML's input fields: ASCII only, so that no two look alike and no mail header can be
 * injected.
 */
const EMAIL =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i;

/** The address in lower case. @throws GatewayError INVALID_REQUEST */
export function parseEmail(value: unknown): string {
  if (typeof value !== "string" || value.length > 254 || !EMAIL.test(value)) {
    throw invalidRequest("/email", "must be an e-mail address");
  }
  return value.toLowerCase();
}

/**
 * Makes a user who owns `credits` nano-units.
 * @throws GatewayError INVALID_REQUEST for an address that is not valid or taken.
 */
export async function createUser(
  store: Store,
  { email, tier, credits }: { readonly email: string; readonly tier: string; readonly credits: bigint },
): Promise<User> {
  const address = parseEmail(email);
  const user = await store.addUser({ id: newId("user"), email: address, tier, credits });
  if (!user) throw new GatewayError("INVALID_REQUEST", `Invalid request: /email ${address} belongs to a user already`);
  return user;
}

/** A user as the API shows it. Amounts are exact decimals, timestamps ISO 8601. */
export interface UserBody {
  readonly id: string;
  readonly email: string;
  readonly plan_tier: string;
  readonly credits: string;
  readonly held: string;
}

export function userBody({ id, email, tier, balance, held }: User): UserBody {
  return { id, email, plan_tier: tier, credits: nanoToString(balance), held: nanoToString(held) };
}

/** What a user has used of the plan. */
export interface UserUse {
  readonly windows: Readonly<Record<WindowName, WindowBody>>;
  readonly streams: { readonly running: number; readonly limit: number | null };
}

interface WindowBody {
  readonly used: number;
  /** null: the plan has none. */
  readonly limit: number | null;
  readonly resets_at: string;
}

export function userUse({ day, hour, minute }: Windows, running: number, limit: number | null): UserUse {
  const windows = { day: windowBody(day), hour: windowBody(hour), minute: windowBody(minute) };
  return { windows, streams: { running, limit } };
}

function windowBody({ used, limit, resetsAt }: WindowState): WindowBody {
  return { used, limit, resets_at: new Date(resetsAt).toISOString() };
}

type Signup = AuthSettings["signup"];

/** A subject as an identity provider describes it. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  /** Verified by the provider, in lower case; null when not verified. */
  readonly email: string | null;
}

/** Whether somebody with this address, in lower case, may become a user. Subdomains are other domains. */
export function maySignUp({ domains }: Signup, email: string): boolean {
  return domains === undefined || domains.includes(email.slice(email.lastIndexOf("@") + 1));
}

/**
 * The user of a verified address in lower case; created at the first sign-in, as `signup` says. @returns null for a
 * newcomer who may not sign up.
 */
export async function userOfEmail(store: Store, email: string, signup: Signup): Promise<User | null> {
  if (!maySignUp(signup, email)) return store.findUser(email);
  const make = () => store.addUser({ id: newId("user"), email, tier: signup.tier, credits: toNano(signup.credits) });
  // The second look-up: a concurrent sign-in of the same address created the user.
  const user = (await store.findUser(email)) ?? (await make()) ?? (await store.findUser(email));
  if (!user) throw new Error("an address is taken by nobody");
  return user;
}

/**
 * The user that an identity is linked to, else the one of its address. @returns null without either.
 * @throws GatewayError SIGN_UP_CLOSED for a newcomer who may not sign up.
 */
export async function userOfIdentity(store: Store, identity: Identity, signup: Signup): Promise<User | null> {
  const { issuer, subject, email } = identity;
  const linked = await store.findIdentity(issuer, subject);
  if (linked || email === null) return linked;
  const user = await userOfEmail(store, email, signup);
  if (user === null) throw new GatewayError("SIGN_UP_CLOSED", "This address has no account here and may not sign up");
  return store.linkIdentity(issuer, subject, user.id);
}

/** `<prefix>_` and 24 url-safe characters, 144 random bits. */
export function newId(prefix: "user" | "key" | "family" | "grant"): string {
  return `${prefix}_${randomBytes(18).toString("base64url")}`;
}
