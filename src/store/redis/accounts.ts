import { hash } from "node:crypto";
import {
  type ApiKey,
  budgetPeriodOf,
  budgetResetsAt,
  isExpired,
  type KeyLimits,
  type NewKey,
  type OnChange,
  type Principal,
  type User,
} from "../../kit/index.ts";
import { packLimits, type StoredLimits, unpackLimits } from "../key-limits.ts";
import type { Connection } from "./connection.ts";
import { hexOf, inBatches, type Keys, loadScript } from "./scripts.ts";
import { userMethods } from "./users.ts";

/**
 * The store's role of accounts.
 * @param now Unix milliseconds; 0 means the server's clock.
 * @param latest server's milliseconds after which nobody waits for what is sent now; 0 when they are not known.
 */
export function accountMethods(connection: Connection, keys: Keys, now: () => number, latest: () => number) {
  const { userById, ...users } = userMethods(connection, keys, now, latest);
  return {
    ...users,
    ...keyMethods(connection, keys, now),
    ...identityMethods(connection, keys, userById),

    /** Pushes what the scripts publish that change a user's tier or keys. */
    onChange: (listener: OnChange) => connection.subscribe(keys.changes, listener, () => listener(null)),
  };
}

/** What is kept of a key in its user's slot: "<createdAt> " and this as JSON. */
interface StoredKey {
  readonly name: string;
  readonly prefix: string;
  /** Hexadecimal. */
  readonly digest: string;
  readonly limits?: StoredLimits;
}

/** Milliseconds for which what leads to a key stays after its expiry: clocks differ. */
const EXPIRED_KEY_TTL_MS = 60_000;

const ADD_KEY = loadScript("key-add", "clock", "key-budgets");
const LIST_KEYS = loadScript("key-list", "clock");
const REVOKE_KEY = loadScript("key-revoke", "clock", "key-budgets");
const TOUCH_KEYS = loadScript("key-touch");
const FIND_PRINCIPAL = loadScript("principal", "clock");

/**
 * API keys. A key is live while its user's slot has it; what leads there from its digest and from its id is written
 * before and removed after, so that what a crash leaves behind means nothing.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
function keyMethods(connection: Connection, keys: Keys, now: () => number) {
  /** Two strings that lead to a key, or null. */
  async function readPointer(pointer: string): Promise<readonly [string, string] | null> {
    const text = (await connection.read("GET", pointer)) as string | null;
    return text === null ? null : (JSON.parse(text) as [string, string]);
  }

  async function writePointer(pointer: string, userId: string, to: string, expiresAt?: number): Promise<void> {
    const text = JSON.stringify([userId, to]);
    const ttl = expiresAt === undefined ? [] : ["PXAT", expiresAt + EXPIRED_KEY_TTL_MS];
    const before = await connection.call("SET", pointer, text, "NX", "GET", ...ttl);
    if (before !== null && before !== text) throw new Error(`cannot make a key of ${userId}: there is one like it`);
  }

  const deletePointers = (id: string, digest: string) =>
    Promise.all([connection.call("DEL", keys.keyByDigest(digest)), connection.call("DEL", keys.keyById(id))]);

  async function touch(userId: string, uses: readonly (string | number)[]): Promise<void> {
    await connection.run(TOUCH_KEYS, [keys.apiKeys(userId), keys.keyUses(userId)], uses);
  }

  return {
    async principalByDigest(digest: Uint8Array): Promise<Principal | null> {
      const hex = hexOf(digest);
      const pointer = await readPointer(keys.keyByDigest(hex));
      if (!pointer) return null;
      const [userId, keyId] = pointer;
      const own = [keys.user(userId), keys.apiKeys(userId)];
      // A key that is not known yet waits for a slow server as long as its admission would.
      const reply = await connection.run(FIND_PRINCIPAL, own, [now(), keyId], () => [now(), keyId]);
      if (reply === null) return null;
      const [tier, version, key, at] = reply as [string, string, string, number];
      const { digest: stored, ...rest } = storedKeyOf(key);
      const limits = limitsOf(rest);
      if (stored !== hex || isExpired(limits, at)) return null;
      return { userId, tier, keyId, version: Number(version), ...(limits && { keyLimits: limits }) };
    },

    async touchKeys(used: ReadonlyMap<string, number>): Promise<void> {
      const uses = new Map<string, (string | number)[]>();
      await inBatches([...used], async ([id, at]) => {
        const pointer = await readPointer(keys.keyById(id));
        if (!pointer) return;
        const ofUser = uses.get(pointer[0]) ?? [];
        ofUser.push(id, at);
        uses.set(pointer[0], ofUser);
      });
      await inBatches([...uses], ([userId, ofUser]) => touch(userId, ofUser));
    },

    async addKey({ id, userId, digest, name, prefix, limits }: NewKey, maximum: number): Promise<ApiKey | null> {
      const hex = hexOf(digest);
      const expiresAt = limits?.expiresAt;
      await Promise.all([
        writePointer(keys.keyByDigest(hex), userId, id, expiresAt),
        writePointer(keys.keyById(id), userId, hex, expiresAt),
      ]);
      const kept: StoredKey = { name, prefix, digest: hex, ...(limits && { limits: packLimits(limits) }) };
      const own = [keys.user(userId), keys.apiKeys(userId), keys.keyUses(userId)];
      const reply = await connection.run(ADD_KEY, own, [now(), id, JSON.stringify(kept), maximum]);
      if (reply !== "full" && reply !== "unknown")
        return withBudget(toKey(id, userId, String(reply), null), Number.parseInt(String(reply), 10), new Map());
      await deletePointers(id, hex);
      if (reply === "unknown") throw new Error(`cannot make a key of an unknown user: ${userId}`);
      return null;
    },

    async listKeys(userId: string): Promise<ApiKey[]> {
      const own = [keys.apiKeys(userId), keys.keyUses(userId), keys.user(userId)];
      const [at, kept, uses, user] = (await connection.run(LIST_KEYS, own, [now()])) as ListReply;
      const [lastUses, fields] = [new Map(pairs(uses)), new Map(pairs(user))];
      return pairs(kept)
        .map(([id, key]) => toKey(id, userId, key, lastUses.get(id) ?? null))
        .filter(({ limits }) => !isExpired(limits, at))
        .map((key) => withBudget(key, at, fields))
        .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    },

    async revokeKey(id: string, userId?: string): Promise<boolean> {
      const pointer = await readPointer(keys.keyById(id));
      if (!pointer) return false;
      const [owner, digest] = pointer;
      if (userId !== undefined && userId !== owner) return false;
      const own = [keys.user(owner), keys.apiKeys(owner), keys.keyUses(owner)];
      const revoked = await connection.run(REVOKE_KEY, own, [now(), id, owner, keys.changes]);
      await deletePointers(id, digest);
      return revoked === 1;
    },
  };
}

function pairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((key, index) => (index % 2 === 0 ? [[key, flat[index + 1] ?? ""]] : []));
}

function storedKeyOf(key: string): StoredKey {
  return JSON.parse(key.slice(key.indexOf(" "))) as StoredKey;
}

type ListReply = readonly [at: number, keys: string[], uses: string[], user: string[]];

/** @param user the fields of its user. */
function withBudget(key: ApiKey, at: number, user: ReadonlyMap<string, string>): ApiKey {
  const per = key.limits?.budget?.per;
  if (per === undefined) return key;
  const name = `${key.id}:${budgetPeriodOf(per, at)}`;
  const [spent, held] = [BigInt(user.get(`spent:${name}`) ?? 0), BigInt(user.get(`held:${name}`) ?? 0)];
  return { ...key, budget: { spent, held, resetsAt: budgetResetsAt(per, at) } };
}

function limitsOf({ limits }: Pick<StoredKey, "limits">): KeyLimits | undefined {
  return limits && unpackLimits(limits);
}

function toKey(id: string, userId: string, key: string, usedAt: string | null): ApiKey {
  const { name, prefix, ...rest } = storedKeyOf(key);
  const lastUsedAt = usedAt === null ? null : Number(usedAt);
  const limits = limitsOf(rest);
  const createdAt = Number.parseInt(key, 10);
  return { id, userId, name, prefix, createdAt, lastUsedAt, ...(limits && { limits }) };
}

/** Who an identity provider's subjects sign in as. `userById` is the users' (users.ts). */
function identityMethods(connection: Connection, keys: Keys, userById: (id: string) => Promise<User | null>) {
  const keyOf = (issuer: string, subject: string) => keys.identity(hash("sha256", JSON.stringify([issuer, subject])));

  async function findIdentity(issuer: string, subject: string): Promise<User | null> {
    const id = (await connection.call("GET", keyOf(issuer, subject))) as string | null;
    return id === null ? null : userById(id);
  }

  return {
    findIdentity,

    /** @returns null when there is no such user and the subject has none. */
    async linkIdentity(issuer: string, subject: string, userId: string): Promise<User | null> {
      const user = await userById(userId);
      if (!user) return findIdentity(issuer, subject);
      const before = (await connection.call("SET", keyOf(issuer, subject), userId, "NX", "GET")) as string | null;
      return before === null || before === userId ? user : userById(before);
    },
  };
}
