import {
  type ApiKey,
  type Awaitable,
  budgetAccount,
  budgetPeriodOf,
  budgetResetsAt,
  isExpired,
  type KeyChange,
  type KeyLimits,
  type KeyRoll,
  type KeyRollResult,
  type NewKey,
  type Principal,
  storeUnavailable,
} from "../../kit/index.ts";
import { changedKey, packLimits, rolledLimits, type StoredLimits, unpackLimits } from "../key-limits.ts";
import type { Connection } from "./connection.ts";
import { hexOf, inBatches, type Keys, loadScript } from "./scripts.ts";

/** What is kept of a key in its user's slot: "<createdAt> " and this as JSON. */
interface StoredKey {
  readonly name: string;
  readonly prefix: string;
  /** Hexadecimal. */
  readonly digest: string;
  readonly limits?: StoredLimits;
}

/** How often a change is tried again because somebody else was faster. */
const MAX_RACES = 10;

/** Milliseconds for which what leads to a key stays after its expiry: clocks differ. */
const EXPIRED_KEY_TTL_MS = 60_000;

const ADD_KEY = loadScript("key-add", "clock", "key-room", "key-budgets");
const LIST_KEYS = loadScript("key-list", "clock");
const CHANGE_KEY = loadScript("key-change", "clock", "key-room");
const REVOKE_KEY = loadScript("key-revoke", "clock", "key-budgets");
const TOUCH_KEYS = loadScript("key-touch");
const FIND_PRINCIPAL = loadScript("principal", "clock");

/**
 * API keys. A key is live while its user's slot has it; what leads there from its digest and from its id is written
 * before and removed after, so that what a crash leaves behind means nothing.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
export function keyMethods(connection: Connection, keys: Keys, now: () => number) {
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

  const ownKeys = (userId: string) => [keys.user(userId), keys.apiKeys(userId), keys.keyUses(userId)];

  async function writePointers(userId: string, id: string, digest: string, expiresAt?: number): Promise<void> {
    await Promise.all([
      writePointer(keys.keyByDigest(digest), userId, id, expiresAt),
      writePointer(keys.keyById(id), userId, digest, expiresAt),
    ]);
  }

  const ofPointers = (id: string, digest: string, command: string, ...args: readonly number[]) =>
    Promise.all([keys.keyByDigest(digest), keys.keyById(id)].map((key) => connection.call(command, key, ...args)));

  async function listKeys(userId: string): Promise<ApiKey[]> {
    const own = [keys.apiKeys(userId), keys.keyUses(userId), keys.user(userId)];
    const [at, kept, uses, user] = (await connection.run(LIST_KEYS, own, [now()])) as ListReply;
    const [lastUses, fields] = [new Map(pairs(uses)), new Map(pairs(user))];
    return pairs(kept)
      .map(([id, key]) => toKey(id, userId, key, lastUses.get(id) ?? null))
      .filter(({ limits }) => !isExpired(limits, at))
      .map((key) => withBudget(key, at, fields))
      .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  async function listed(userId: string, id: string): Promise<ApiKey | null> {
    return (await listKeys(userId)).find((key) => key.id === id) ?? null;
  }

  /**
   * Puts what `plan` makes of a live key in its place, again while somebody else is faster. What leads to the key loses its
   * time to live before, and gets that of the new expiry after, so that no order of changes makes a live key unknown.
   * @param plan `after`: null for one that goes; `args` of the script, with which it is rolled. null: it stays as it is.
   * @returns the key as it is then; null when it is no live key of the user.
   */
  async function replaceKey(
    id: string,
    userId: string | undefined,
    plan: (key: ApiKey) => Awaitable<Replacement | null>,
  ): Promise<{ readonly key: ApiKey; readonly digest: string; readonly isFull: boolean } | null> {
    const pointer = await readPointer(keys.keyById(id));
    if (!pointer || (userId !== undefined && userId !== pointer[0])) return null;
    const [owner, digest] = pointer;
    for (let races = 0; races < MAX_RACES; races += 1) {
      const before = (await connection.call("HGET", keys.apiKeys(owner), id)) as string | null;
      if (before === null) return null;
      const key = toKey(id, owner, before, null);
      const planned = await plan(key);
      if (planned === null) return { key, digest, isFull: false };
      const { after, args } = planned;
      const text = after === null ? "" : `${key.createdAt} ${textOf({ prefix: key.prefix, digest, ...after })}`;
      await ofPointers(id, digest, "PERSIST");
      const words = [now(), id, before, text, owner, keys.changes, ...args];
      const reply = (await connection.run(CHANGE_KEY, ownKeys(owner), words)) as string | null;
      if (reply === "raced") continue;
      if (reply === null) return null;
      if (reply === "full") return { key, digest, isFull: true };
      const limits = after?.limits;
      if (limits?.expiresAt !== undefined) await expirePointers(owner, id, digest, text, limits.expiresAt);
      const { limits: _, ...unlimited } = key;
      return { key: after === null ? key : { ...unlimited, ...after }, digest, isFull: false };
    }
    throw storeUnavailable(new Error("redis: the key changes faster than it can be read"));
  }

  async function expirePointers(userId: string, id: string, digest: string, text: string, at: number): Promise<void> {
    await ofPointers(id, digest, "PEXPIREAT", at + EXPIRED_KEY_TTL_MS);
    const current = await connection.call("HGET", keys.apiKeys(userId), id);
    if (current !== text) await ofPointers(id, digest, "PERSIST");
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
      await writePointers(userId, id, hex, limits?.expiresAt);
      const kept = textOf({ name, prefix, digest: hex, limits });
      const reply = await connection.run(ADD_KEY, ownKeys(userId), [now(), id, kept, maximum]);
      if (reply !== "full" && reply !== "unknown")
        return withBudget(toKey(id, userId, String(reply), null), Number.parseInt(String(reply), 10), new Map());
      await deletePointers(id, hex);
      if (reply === "unknown") throw new Error(`cannot make a key of an unknown user: ${userId}`);
      return null;
    },

    listKeys,

    async changeKey(id: string, change: KeyChange, userId?: string): Promise<ApiKey | null> {
      const changed = await replaceKey(id, userId, (key) => ({ after: changedKey(key, change), args: [] }));
      return changed === null ? null : listed(changed.key.userId, id);
    },

    async rollKey(id: string, roll: KeyRoll, userId?: string): Promise<KeyRollResult> {
      const { next, maximum } = roll;
      const digest = hexOf(next.digest);
      const rolled = await replaceKey(id, userId, async ({ name, ...key }) => {
        // An execution whose answer was lost has made it.
        if (key.limits?.replacedBy !== undefined) return null;
        const limits = rolledLimits({ name, ...key }, roll);
        await writePointers(key.userId, next.id, digest, limits.next?.expiresAt);
        const made = textOf({ name, prefix: next.prefix, digest, limits: limits.next });
        return { after: limits.old === null ? null : { name, limits: limits.old }, args: [next.id, made, maximum] };
      });
      // Not there any more: or an execution whose answer was lost has let it go.
      const owner = rolled?.key.userId ?? (await readPointer(keys.keyById(next.id)))?.[0];
      const successor = owner === undefined ? null : await listed(owner, next.id);
      if (successor === null) {
        await deletePointers(next.id, digest);
        const replacedBy = rolled?.key.limits?.replacedBy;
        if (replacedBy !== undefined) return { ok: false, reason: "rolled", replacedBy };
        return { ok: false, reason: rolled?.isFull ? "full" : "unknown" };
      }
      if (rolled !== null && roll.graceEndsAt === null) await deletePointers(id, rolled.digest);
      return { ok: true, key: successor, until: rolled?.key.limits?.expiresAt ?? successor.createdAt };
    },

    async revokeKey(id: string, userId?: string): Promise<boolean> {
      const pointer = await readPointer(keys.keyById(id));
      if (!pointer) return false;
      const [owner, digest] = pointer;
      if (userId !== undefined && userId !== owner) return false;
      const revoked = await connection.run(REVOKE_KEY, ownKeys(owner), [now(), id, owner, keys.changes]);
      await deletePointers(id, digest);
      return revoked === 1;
    },
  };
}

/** What a key is to be, and what else the script is given. */
interface Replacement {
  readonly after: Pick<ApiKey, "name" | "limits"> | null;
  readonly args: readonly (string | number)[];
}

function textOf({ limits, ...key }: Omit<StoredKey, "limits"> & { readonly limits?: KeyLimits | undefined }): string {
  const kept: StoredKey = { ...key, ...(limits && { limits: packLimits(limits) }) };
  return JSON.stringify(kept);
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
  const budget = key.limits?.budget;
  if (budget === undefined) return key;
  const { per } = budget;
  const name = `${budgetAccount(key.id, budget)}:${budgetPeriodOf(per, at)}`;
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
