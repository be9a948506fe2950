import { hash, randomBytes } from "node:crypto";
import { type ApiKey, GatewayError, invalidRequest, type KeyChange, type KeyLimits, type Store } from "../kit/index.ts";
import { isUsableName, keyLimitsBody, type KeyLimitsBody, parseGrace, unusableName } from "./key-limits.ts";
import { newId } from "./users.ts";

const MAX_LIVE_KEYS = 50;
const PREFIX_CHARACTERS = 11;
const SECRET = /^rk_[0-9a-f]{64}$/;

/** A key as the API shows it. Timestamps are ISO 8601. */
export interface KeyBody extends KeyLimitsBody {
  readonly id: string;
  readonly key_prefix: string;
  readonly name: string;
  readonly plan_tier: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

/** The answer to a creation: the only place where the secret is ever shown. */
export interface CreatedKeyBody extends KeyBody {
  readonly key: string;
}

/** The answer to a roll. */
export interface RolledKeyBody extends CreatedKeyBody {
  /** The old key, and when it ends. */
  readonly previous: { readonly id: string; readonly expires_at: string };
}

/** Whether a secret has the form of a key; nothing else is looked up in the store. */
export function isKeyShaped(secret: string): boolean {
  return SECRET.test(secret);
}

/** SHA-256. A key has 256 random bits: a slow hash would add nothing but load. */
export function digest(secret: string): Uint8Array {
  return hash("sha256", secret, "buffer");
}

/**
 * Makes a key and stores its digest.
 * @throws GatewayError INVALID_REQUEST for an unusable name or too many live keys, NOT_FOUND for an unknown user.
 */
export async function createKey(
  store: Store,
  {
    userId,
    name,
    limits,
  }: { readonly userId: string; readonly name: unknown; readonly limits?: KeyLimits | undefined },
): Promise<{ readonly body: CreatedKeyBody; readonly key: ApiKey }> {
  if (!isUsableName(name)) throw unusableName();
  const user = await store.findUser(userId);
  if (user?.id !== userId) throw new GatewayError("NOT_FOUND", "User not found");
  const { secret, ...made } = newSecret();
  const key = await store.addKey({ ...made, userId, name, ...(limits && { limits }) }, MAX_LIVE_KEYS);
  if (!key) throw tooManyKeys();
  return { body: { key: secret, ...keyBody(key, user.tier) }, key };
}

function newSecret() {
  const secret = `rk_${randomBytes(32).toString("hex")}`;
  return { id: newId("key"), prefix: secret.slice(0, PREFIX_CHARACTERS), digest: digest(secret), secret };
}

function tooManyKeys(): GatewayError {
  return invalidRequest("/", `the user has ${MAX_LIVE_KEYS} live keys: revoke one first`);
}

/** Which key, and, unless an operator asks, whose it has to be. */
interface OwnedKey {
  readonly keyId: string;
  readonly userId?: string;
}

/** @throws GatewayError NOT_FOUND unless it is a live key, of this user. */
export async function changeKey(store: Store, { keyId, userId }: OwnedKey, change: KeyChange): Promise<ApiKey> {
  const key = await store.changeKey(keyId, change, userId);
  if (key === null) throw noKey();
  return key;
}

/**
 * Makes a key that takes the place of another, with its name and limits.
 * @param grace as it came: for how long the old key still serves.
 * @param now Unix milliseconds.
 * @returns the secret, the new key, and when the old one ends in Unix milliseconds.
 * @throws GatewayError INVALID_REQUEST for an invalid grace time, too many live keys, or a key that was rolled before;
 * NOT_FOUND unless it is a live key, of this user.
 */
export async function rollKey(
  store: Store,
  { keyId, userId, grace }: OwnedKey & { readonly grace: unknown },
  now: number,
): Promise<{ readonly secret: string; readonly key: ApiKey; readonly until: number }> {
  const graceMs = parseGrace(grace);
  const { secret, ...next } = newSecret();
  const roll = { next, graceEndsAt: graceMs === null ? null : now + graceMs, maximum: MAX_LIVE_KEYS };
  const result = await store.rollKey(keyId, roll, userId);
  if (result.ok) return { secret, key: result.key, until: result.until };
  if (result.reason === "full") throw tooManyKeys();
  if (result.reason === "unknown") throw noKey();
  throw invalidRequest("/", `the key was rolled before: roll ${result.replacedBy}, which took its place`);
}

/** The answer to a roll. `tier` is that of the key's user. */
export function rolledBody(keyId: string, rolled: Awaited<ReturnType<typeof rollKey>>, tier: string): RolledKeyBody {
  const { secret, key, until } = rolled;
  return { key: secret, ...keyBody(key, tier), previous: { id: keyId, expires_at: new Date(until).toISOString() } };
}

function noKey(): GatewayError {
  return new GatewayError("NOT_FOUND", "API key not found");
}

/** A user's live keys, oldest first; without secrets. */
export async function listKeys(
  store: Store,
  { userId, tier }: { readonly userId: string; readonly tier: string },
): Promise<readonly KeyBody[]> {
  return (await store.listKeys(userId)).map((key) => keyBody(key, tier));
}

/** @throws GatewayError NOT_FOUND unless it is a live key of this user. */
export async function revokeKey(
  store: Store,
  { userId, keyId }: { readonly userId: string; readonly keyId: string },
): Promise<void> {
  if (!(await store.revokeKey(keyId, userId))) throw noKey();
}

/** `tier` is that of the key's user. */
export function keyBody(key: ApiKey, tier: string): KeyBody {
  return {
    id: key.id,
    key_prefix: key.prefix,
    name: key.name,
    plan_tier: tier,
    created_at: new Date(key.createdAt).toISOString(),
    last_used_at: key.lastUsedAt === null ? null : new Date(key.lastUsedAt).toISOString(),
    ...keyLimitsBody(key),
  };
}
