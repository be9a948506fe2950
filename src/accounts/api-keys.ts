import { hash, randomBytes } from "node:crypto";
import { type ApiKey, GatewayError, invalidRequest, type KeyLimits, type Store } from "../kit/index.ts";
import { keyLimitsBody, type KeyLimitsBody } from "./key-limits.ts";
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
  if (!isUsableName(name)) throw invalidRequest("/name", "must be a string of 1 to 100 characters");
  const user = await store.findUser(userId);
  if (user?.id !== userId) throw new GatewayError("NOT_FOUND", "User not found");
  const secret = `rk_${randomBytes(32).toString("hex")}`;
  const prefix = secret.slice(0, PREFIX_CHARACTERS);
  const stored = { id: newId("key"), userId, name, prefix, digest: digest(secret), ...(limits && { limits }) };
  const key = await store.addKey(stored, MAX_LIVE_KEYS);
  if (!key) throw invalidRequest("/", `the user has ${MAX_LIVE_KEYS} live keys: revoke one first`);
  return { body: { key: secret, ...keyBody(key, user.tier) }, key };
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
  if (!(await store.revokeKey(keyId, userId))) throw new GatewayError("NOT_FOUND", "API key not found");
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

/** Not blank, 1 to 100 code points, well-formed. */
export function isUsableName(name: unknown): name is string {
  if (typeof name !== "string" || name.length > 200) return false;
  return name.trim() !== "" && name.isWellFormed() && Array.from(name).length <= 100;
}
