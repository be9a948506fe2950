import { invalidRequest, storeUnavailable } from "../../kit/index.ts";
import type { NewUser, Principal, User } from "../../kit/index.ts";
import { inBatches } from "./batches.ts";
import { type Connection, loadScript } from "./connection.ts";
import type { Keys } from "./keys.ts";
import { lowerCase } from "./text.ts";

/** Fields of the user's hash in the order that `toUser` and the scripts have them. */
const FIELDS = ["email", "tier", "balance", "available", "granted", "created", "charged"] as const;

type UserReply = readonly (string | null)[];

/** Milliseconds that a user may be written aside: longer than any call takes to claim its address. */
const ASIDE = 60_000;

/** Users that one step of a listing asks for. */
const PAGE = 500;

const ADD = loadScript("user-add", "clock");
const CLAIM = loadScript("user-claim");
const CONFIRM = loadScript("user-confirm");
const SET_TIER = loadScript("user-tier");
const GRANT = loadScript("user-grant", "clock");

/**
 * Users: who they are and what they own.
 * @param now Unix milliseconds; 0 means the server's clock.
 * @param latest server's milliseconds after which nobody waits for what is sent now; "0" when they are not known.
 */
export function userPart(connection: Connection, keys: Keys, now: () => number, latest: () => string) {
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
    return (await connection.run(CONFIRM, [keys.user(id), keys.newUser(id)], [])) === 1;
  }

  /** @returns whether the address is the user's now; not if it is somebody else's. */
  async function claim(email: string, id: string): Promise<boolean> {
    for (let nobody = ""; ;) {
      const holder = await connection.run(CLAIM, [keys.address(email)], [id, nobody]);
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
      const created = await connection.run(ADD, own, [now(), email, tier, String(storable(credits)), ASIDE]);
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
        const page = (await connection.call("SSCAN", keys.users, cursor, "COUNT", PAGE)) as [string, string[]];
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
function within(amount: bigint, most: bigint): bigint {
  if (amount > most) return most;
  return amount < -most ? -most : amount;
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
