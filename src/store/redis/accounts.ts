import { hash } from "node:crypto";
import {
  type ApiKey,
  budgetPeriodOf,
  budgetResetsAt,
  invalidRequest,
  isExpired,
  type KeyLimits,
  type NewKey,
  type NewUser,
  type OnChange,
  type Principal,
  storeUnavailable,
  type User,
} from "../../kit/index.ts";
import { packLimits, type StoredLimits, unpackLimits } from "../key-limits.ts";
import type { Connection } from "./connection.ts";
import { hexOf, inBatches, type Keys, loadScript, lowerCase } from "./scripts.ts";

/** Fields of the user's hash in the order that `toUser` and the scripts have them. */
const FIELDS = ["email", "tier", "balance", "available", "granted", "created", "charged"] as const;

type UserReply = readonly (string | null)[];

/** Milliseconds that a user may be written aside: longer than any call takes to claim its address. */
const NEW_USER_TTL_MS = 60_000;

/** Users that one step of a listing asks for. */
const USERS_PER_STEP = 500;

const ADD_USER = loadScript("user-add", "clock");
const CLAIM_ADDRESS = loadScript("user-claim");
const CONFIRM_USER = loadScript("user-confirm");
const SET_TIER = loadScript("user-tier");
const GRANT = loadScript("user-grant", "clock");

/**
 * The store's role of accounts.
 * @param now Unix milliseconds; 0 means the server's clock.
 * @param latest server's milliseconds after which nobody waits for what is sent now; "0" when they are not known.
 */
export function accountMethods(connection: Connection, keys: Keys, now: () => number, latest: () => string) {
  const { userById, ...users } = userMethods(connection, keys, now, latest);
  return {
    ...users,
    ...keyMethods(connection, keys, now),
    ...identityMethods(connection, keys, userById),

    /** Pushes what the scripts publish that change a user's tier or keys. */
    onChange: (listener: OnChange) => connection.subscribe(keys.changes, listener, () => listener(null)),
  };
}

/**
 * Users: who they are and what they own.
 * @param now Unix milliseconds; 0 means the server's clock.
 * @param latest server's milliseconds after which nobody waits for what is sent now; "0" when they are not known.
 */
function userMethods(connection: Connection, keys: Keys, now: () => number, latest: () => string) {
  async function userById(id: string): Promise<User | null> {
    return toUser(id, await connection.call("HMGET", keys.user(id), ...FIELDS));
  }

  async function userByAddress(email: string): Promise<User | null> {
    const id = (await connection.call("GET", keys.address(lowerCase(email)))) as string | null;
    return id === null ? null : userById(id);
  }

  /** A user whose address is claimed, though whoever claimed it may have died right after. */
  async function complete(id: string): Promise<boolean> {
    // In the list before it is there: the list leaves out whom it does not find.
    await connection.call("SADD", keys.users, id);
    return (await connection.run(CONFIRM_USER, [keys.user(id), keys.newUser(id)], [])) === 1;
  }

  /** @returns whether the address is the user's now; not if it is somebody else's. */
  async function claim(email: string, id: string): Promise<boolean> {
    for (let nobody = ""; ;) {
      const holder = await connection.run(CLAIM_ADDRESS, [keys.address(email)], [id, nobody]);
      if (holder === id) return true;
      if (await complete(String(holder))) return false;
      nobody = String(holder);
    }
  }

  return {
    userById,

    async findUser(idOrEmail: string): Promise<User | null> {
      const [byId, byAddress] = await Promise.all([userById(idOrEmail), userByAddress(idOrEmail)]);
      return byId ?? byAddress;
    },

    /**
     * Written aside, the address claimed, made a user. Who claims the address has it: when that one died in between,
     * the next one that wants the address completes its work, or takes the address over when there is nothing left of it.
     */
    async addUser({ id, email, tier, credits }: NewUser): Promise<User | null> {
      const own = [keys.user(id), keys.newUser(id)];
      const created = await connection.run(ADD_USER, own, [
        now(),
        email,
        tier,
        String(storable(credits)),
        NEW_USER_TTL_MS,
      ]);
      if (created === null || !(await claim(lowerCase(email), id))) return null;
      if (!(await complete(id))) throw storeUnavailable(new Error("redis: making a user took too long"));
      return { id, email, tier, balance: credits, held: 0n, granted: credits, charged: 0n, createdAt: Number(created) };
    },

    async principalOf(userId: string): Promise<Principal | null> {
      const reply = (await connection.read("HMGET", keys.user(userId), "tier", "version")) as UserReply;
      const [tier, version] = reply;
      return typeof tier === "string" ? { userId, tier, keyId: null, version: Number(version) } : null;
    },

    /** In steps: the server does something else in between. */
    async listUsers(): Promise<User[]> {
      const users = new Map<string, User>();
      let cursor = "0";
      do {
        const page = (await connection.call("SSCAN", keys.users, cursor, "COUNT", USERS_PER_STEP)) as [
          string,
          string[],
        ];
        cursor = page[0];
        for (const user of await inBatches(page[1], userById)) if (user) users.set(user.id, user);
      } while (cursor !== "0");
      return [...users.values()].toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    },

    async setTier(id: string, tier: string): Promise<User | null> {
      return toUser(id, await connection.run(SET_TIER, [keys.user(id)], [tier, id, keys.changes]));
    },

    async grant(id: string, amount: bigint): Promise<User | null> {
      const reply = await connection.run(GRANT, [keys.user(id)], [String(within(amount, 2n ** 62n)), latest()]);
      if (reply === 1) throw tooMuch();
      if (reply === 2) throw storeUnavailable(new Error("redis: the grant came too late"));
      return toUser(id, reply);
    },
  };
}

/** What is more than an account can hold stays so: the script refuses it. */
function within(amount: bigint, maximum: bigint): bigint {
  if (amount > maximum) return maximum;
  return amount < -maximum ? -maximum : amount;
}

/** The server's integers have 64 bits; this leaves room for sums. */
function storable(amount: bigint): bigint {
  if (BigInt.asIntN(62, amount) !== amount) throw tooMuch();
  return amount;
}

const tooMuch = () => invalidRequest("/credits", "are more than an account can hold");

/** `reply` is FIELDS of a user, or anything else without one. */
function toUser(id: string, reply: unknown): User | null {
  const [email, tier, balance, available, granted, created, charged] = Array.isArray(reply) ? (reply as UserReply) : [];
  if (typeof email !== "string" || typeof tier !== "string") return null;
  const owned = BigInt(balance ?? 0);
  const held = owned - BigInt(available ?? 0);
  const sums = { granted: BigInt(granted ?? 0), charged: BigInt(charged ?? 0) };
  return { id, email, tier, balance: owned, held, ...sums, createdAt: Number(created) };
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
