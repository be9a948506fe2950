import {
  type Grant,
  type GrantPage,
  invalidRequest,
  type NewGrant,
  type NewUser,
  type Principal,
  storeUnavailable,
  type User,
  type UserPage,
  type UserQuery,
} from "../../kit/index.ts";
import { isWanted, LAST_CHARACTER, pageOfUsers } from "../user-pages.ts";
import { USERS_PER_PAGE } from "../windows.ts";
import type { Connection } from "./connection.ts";
import { inBatches, type Keys, loadScript, lowerCase } from "./scripts.ts";

/** Fields of the user's hash in the order that `toUser` and the scripts have them. */
const FIELDS = [
  "email",
  "tier",
  "balance",
  "available",
  "granted",
  "created",
  "charged",
  "disabled",
  "sessions",
] as const;

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
const END_SESSIONS = loadScript("user-sessions");
const SET_DISABLED = loadScript("user-disable", "clock");

/**
 * Users: who they are and what they own.
 * @param now Unix milliseconds; 0 means the server's clock.
 * @param latest server's milliseconds after which nobody waits for what is sent now; 0 when they are not known.
 */
export function userMethods(connection: Connection, keys: Keys, now: () => number, latest: () => number) {
  async function userById(id: string): Promise<User | null> {
    return toUser(id, await connection.call("HMGET", keys.user(id), ...FIELDS));
  }

  async function userByAddress(email: string): Promise<User | null> {
    const id = (await connection.call("GET", keys.address(lowerCase(email)))) as string | null;
    return id === null ? null : userById(id);
  }

  const addresses = new AddressIndex(connection, keys, userById);

  /** A user whose address is claimed, though whoever claimed it may have died right after. */
  async function complete(id: string): Promise<boolean> {
    // In the list before it is there: the list leaves out whom it does not find.
    await connection.call("SADD", keys.users, id);
    if ((await connection.run(CONFIRM_USER, [keys.user(id), keys.newUser(id)], [])) !== 1) return false;
    await addresses.add(id);
    return true;
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
      const fields = ["tier", "version", "disabled", "sessions"] as const;
      const [tier, version, disabled, sessions] = (await connection.read(
        "HMGET",
        keys.user(userId),
        ...fields,
      )) as UserReply;
      return typeof tier === "string" && disabled === null
        ? { userId, tier, keyId: null, version: Number(version), ...sessionsOf(sessions) }
        : null;
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

    findUsers: (query: UserQuery) => addresses.find(query),

    async setDisabled(id: string, disabled: boolean): Promise<User | null> {
      const args = [now(), Number(disabled), id, keys.changes, keys.stops];
      return toUser(id, await connection.run(SET_DISABLED, [keys.user(id)], args));
    },

    async endSessions(id: string): Promise<User | null> {
      return toUser(id, await connection.run(END_SESSIONS, [keys.user(id)], []));
    },

    async setTier(id: string, tier: string): Promise<User | null> {
      return toUser(id, await connection.run(SET_TIER, [keys.user(id)], [tier, id, keys.changes]));
    },

    async grant(id: string, amount: bigint): Promise<User | null> {
      return toUser(id, await credit([keys.user(id)], [String(within(amount, 2n ** 62n)), latest()]));
    },

    async addGrant({ idempotencyKey, ...grant }: NewGrant): Promise<Grant | null> {
      const { userId } = grant;
      const amount = String(within(grant.amount, 2n ** 62n));
      const own = [keys.user(userId), keys.grants(userId), keys.grantKeys(userId)];
      const kept: StoredGrant = { ...grant, amount, idempotencyKey };
      const reply = await credit(own, [amount, latest(), now(), JSON.stringify(kept), idempotencyKey ?? ""]);
      return typeof reply === "string" ? toGrant(reply) : null;
    },

    /** Grants are added at the end and never taken away: their places stay the same. */
    async listGrants(userId: string, { limit, after }: { readonly limit: number; readonly after: number | null }) {
      const key = keys.grants(userId);
      const end = after ?? Number(await connection.call("LLEN", key));
      const start = Math.max(0, end - limit);
      const texts = end === 0 ? [] : ((await connection.call("LRANGE", key, start, end - 1)) as string[]);
      return { grants: texts.map(toGrant).toReversed(), next: start > 0 ? start : null } satisfies GrantPage;
    },
  };

  async function credit(own: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const reply = await connection.run(GRANT, own, args);
    if (reply === 1) throw tooMuch();
    if (reply === 2) throw storeUnavailable(new Error("redis: the grant came too late"));
    return reply;
  }
}

/** As JSON, behind "<created> <balance> ". */
interface StoredGrant extends Omit<NewGrant, "amount"> {
  readonly amount: string;
}

function toGrant(text: string): Grant {
  const [created = "", balance = ""] = text.split(" ", 2);
  const grant = JSON.parse(text.slice(created.length + balance.length + 2)) as StoredGrant;
  return { ...grant, amount: BigInt(grant.amount), balance: BigInt(balance), createdAt: Number(created) };
}

/**
 * The users in the order of their addresses, made for searches: a member of the sorted set is "<address> <id>". Users of
 * an earlier version, or of a process that died in between, are taken up by a sweep before the next search.
 */
class AddressIndex {
  readonly #connection: Connection;
  readonly #keys: Keys;
  readonly #userById: (id: string) => Promise<User | null>;
  /** Ids without a user that the last sweep has met: they need no other one. */
  #nobodies = 0;

  constructor(connection: Connection, keys: Keys, userById: (id: string) => Promise<User | null>) {
    this.#connection = connection;
    this.#keys = keys;
    this.#userById = userById;
  }

  async add(id: string): Promise<void> {
    const email = (await this.#connection.call("HGET", this.#keys.user(id), "email")) as string | null;
    if (email !== null) await this.#connection.call("ZADD", this.#keys.addresses, 0, `${lowerCase(email)} ${id}`);
  }

  async find(query: UserQuery): Promise<UserPage> {
    const { search = "", after } = query;
    const byId = search === "" ? null : await this.#userById(search);
    if (byId !== null) return { users: after === undefined && isWanted(byId, query) ? [byId] : [], next: null };
    await this.#complete();
    const prefix = lowerCase(search);
    const from = after === undefined ? `[${prefix}` : `(${lowerCase(after)} ${LAST_CHARACTER}`;
    const range = [this.#keys.addresses, from, `(${prefix}${LAST_CHARACTER}`, "LIMIT", 0, USERS_PER_PAGE + 1] as const;
    const members = (await this.#connection.call("ZRANGEBYLEX", ...range)) as string[];
    const looked = members.slice(0, USERS_PER_PAGE);
    // By the members and not by their users: an address may have none, and others follow all the same.
    const rest = members.length > USERS_PER_PAGE ? splitMember(looked.at(-1)!).address : null;
    // No more than are needed, in steps of what one page shows.
    const users: User[] = [];
    for (let at = 0; at < looked.length; at += query.limit + 1) {
      const ids = looked.slice(at, at + query.limit + 1).map((member) => splitMember(member).id);
      for (const user of await inBatches(ids, this.#userById)) if (user !== null) users.push(user);
      if (users.filter((user) => isWanted(user, query)).length > query.limit) break;
    }
    return pageOfUsers(users, rest, query);
  }

  async #complete(): Promise<void> {
    const { users, addresses } = this.#keys;
    const [all, known] = await Promise.all([
      this.#connection.call("SCARD", users),
      this.#connection.call("ZCARD", addresses),
    ]);
    if (Number(all) - Number(known) <= this.#nobodies) return;
    let cursor = "0";
    do {
      const page = (await this.#connection.call("SSCAN", users, cursor, "COUNT", USERS_PER_STEP)) as [string, string[]];
      cursor = page[0];
      await inBatches(page[1], (id) => this.add(id));
    } while (cursor !== "0");
    this.#nobodies = Math.max(0, Number(all) - Number(await this.#connection.call("ZCARD", addresses)));
  }
}

/** @param member of the index by addresses */
function splitMember(member: string): { readonly address: string; readonly id: string } {
  const space = member.lastIndexOf(" ");
  return { address: member.slice(0, space), id: member.slice(space + 1) };
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
  const [email, tier, balance, available, granted, created, charged, disabled, sessions] = Array.isArray(reply)
    ? (reply as UserReply)
    : [];
  if (typeof email !== "string" || typeof tier !== "string") return null;
  const owned = BigInt(balance ?? 0);
  const held = owned - BigInt(available ?? 0);
  const sums = { granted: BigInt(granted ?? 0), charged: BigInt(charged ?? 0) };
  const disabledAt = disabled === null || disabled === undefined ? {} : { disabledAt: Number(disabled) };
  const createdAt = Number(created);
  return { id, email, tier, balance: owned, held, ...sums, createdAt, ...disabledAt, ...sessionsOf(sessions) };
}

function sessionsOf(sessions: string | null | undefined): Pick<User, "sessions"> {
  return Number(sessions ?? 0) > 0 ? { sessions: Number(sessions) } : {};
}
