import type { ApiKey, KeyChange, KeyRoll, KeyRollResult, NewKey } from "./api-keys.ts";
import type { AuditStore } from "./audit.ts";
import type { IdempotencyStore } from "./idempotency.ts";
import type { Awaitable, Principal } from "./request.ts";
import type { RequestBudget } from "./key-limits.ts";
import type { LedgerEntry, LedgerStore, Settlement } from "./ledger.ts";
import type { Limits } from "./snapshot.ts";
import type { Grant, GrantPage, NewGrant, NewUser, User, UserPage, UserQuery } from "./users.ts";

export type WindowName = "day" | "hour" | "minute";

/** A calendar window in UTC. */
export interface WindowState {
  readonly used: number;
  /** null: this tier has no such limit. */
  readonly limit: number | null;
  /** Unix milliseconds of the window's end. */
  readonly resetsAt: number;
}

export type Windows = Readonly<Record<WindowName, WindowState>>;

export interface Admission {
  /** The exchange's id. */
  readonly id: string;
  readonly userId: string;
  readonly limits: Limits;
  /** Units of the daily count; hour and minute count 1. */
  readonly units: number;
  /** Takes a stream slot. */
  readonly stream: boolean;
  /** Nano-units to hold; 0n holds nothing and needs no credits. */
  readonly hold: bigint;
  /**
   * Nano-units of the longest answer that the model can write. While less than this is left, the request holds all that is
   * left, so that one such request runs at a time. Left out: nobody knows how long answers can be.
   */
  readonly fullHold?: bigint;
  /** false: the hold is recorded, nobody is refused for credits. */
  readonly enforceCredits: boolean;
  /** For the record that a crash leaves behind. */
  readonly model: string;
  /** The principal's: refused as `principal` when the store has another by now. */
  readonly version?: number;
  /** Of the key that it came with: the hold has to fit into it, too. A charge belongs to the period of its admission. */
  readonly budget?: RequestBudget;
}

export type Refusal = "principal" | "credits" | "budget" | "day" | "hour" | "minute" | "streams";

export type AdmissionResult =
  /** `stopToken`: the user's at this very moment; of a repeated admission, the one it was first admitted under. */
  | { readonly ok: true; readonly windows: Windows; readonly stopToken: number }
  | { readonly ok: false; readonly refusal: Refusal; readonly windows: Windows };

/** A sign-in code on its way; of the code itself only a keyed digest. */
export interface NewCode {
  readonly email: string;
  /** Who asked for it: what is limited as one client. */
  readonly client: string;
  readonly digest: Uint8Array;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** Wrong ones after which it is dead. */
  readonly tries: number;
  /** Those of them that other clients may use up: the rest is left to the one that asked. */
  readonly triesOfOthers: number;
}

/** One sign-in: the chain of refresh tokens that follow one another. */
export interface NewFamily {
  readonly id: string;
  readonly userId: string;
  /** Of the first token, SHA-256. */
  readonly digest: Uint8Array;
  /** Unix milliseconds; the same for every token of the family. */
  readonly expiresAt: number;
  /** The user's `sessions` when the family began. Absent: 0. */
  readonly sessions?: number;
}

/** What a refresh token stands for. */
export interface Rotated extends Pick<NewFamily, "userId" | "expiresAt" | "sessions"> {}

export interface Rotation {
  /** Of the token that is used up, SHA-256. */
  readonly digest: Uint8Array;
  /** Of the one that follows it. The same token always has the same successor. */
  readonly successor: Uint8Array;
  /** Milliseconds after a rotation within which the same token is a parallel refresh, not a reuse. */
  readonly grace: number;
}

export interface Counter {
  readonly name: string;
  readonly limit: number;
}

/** A fixed window in which several processes count together. */
export interface CountWindow {
  /** What is counted. */
  readonly name: string;
  /** Milliseconds. */
  readonly length: number;
  /** Unix milliseconds. */
  readonly endsAt: number;
}

export interface Uses {
  readonly name: string;
  /** At least 1. */
  readonly uses: number;
}

/** Called with a user whose stop token was raised. */
export type OnStop = (userId: string, token: number) => void;

/** Called with a user whose tier or keys were changed; with null when changes of any user may have been missed. */
export type OnChange = (userId: string | null) => void;

/** Requests: what they may take, what they have taken and what they were charged. */
export interface AdmissionStore {
  /** All windows, the stream slot and the credit hold in one step; a refusal changes nothing. May throw at once. */
  admit(admission: Admission): Awaitable<AdmissionResult>;
  /**
   * Releases slot and hold and writes the charge, once per id: a repeated call changes nothing, and neither does one of
   * a request that nobody admitted. Resolves when durable. A request whose slot and hold were given up meanwhile,
   * because its process seemed dead, is charged all the same.
   * @returns whether it changed something: false when it had been settled before, or nobody admitted it.
   */
  settle(settlement: Settlement): Awaitable<boolean>;
  /**
   * Frees slot and hold of a request that its client has left while its charge is still to be found out. It counts as
   * running until it is settled, and a crash before that leaves the record of one. Does nothing for a request that is not
   * running, and nothing the second time.
   */
  release(running: Pick<Admission, "id" | "userId">): Awaitable<void>;
  windows(userId: string, limits: Limits): Awaitable<Windows>;
  /** Running reservations of a user: stream slots taken and nano-units held. */
  running(userId: string): Awaitable<{ readonly requests: number; readonly streams: number; readonly held: bigint }>;
  /** What is kept of it, the oldest first. */
  ledger(userId: string): Awaitable<readonly LedgerEntry[]>;
  /** Which of these ids the user's ledger has. */
  recorded(userId: string, ids: readonly string[]): Awaitable<ReadonlySet<string>>;
  /** Raises the user's stop token. @returns it, and how many of the user's streams it is the first to stop. */
  stopStreams(userId: string): Awaitable<{ readonly token: number; readonly streams: number }>;
  /** The stop tokens of these users; 0 for one that was never raised. */
  stopTokens(userIds: readonly string[]): Awaitable<ReadonlyMap<string, number>>;
  /**
   * Subscribes to the stops of other processes, as far as the store pushes them: `stopTokens` has to be polled as well.
   * @param onCertain called when it becomes certain, or uncertain, that pushes arrive; before the first call they may not.
   * When it changes some may have been missed. @returns unsubscribes.
   */
  onStop(listener: OnStop, onCertain?: (is: boolean) => void): () => void;
}

/** Users, their API keys and the identities they sign in as. */
export interface AccountStore {
  /** The user and live key behind a SHA-256 digest. */
  principalByDigest(digest: Uint8Array): Awaitable<Principal | null>;
  /** The principal that a user's access token stands for. */
  principalOf(userId: string): Awaitable<Principal | null>;
  /** Notes use of keys: id to Unix milliseconds. */
  touchKeys(used: ReadonlyMap<string, number>): Awaitable<void>;
  /** @returns null when the address is taken. */
  addUser(user: NewUser): Awaitable<User | null>;
  /** By id or address. */
  findUser(idOrEmail: string): Awaitable<User | null>;
  listUsers(): Awaitable<readonly User[]>;
  /** One page; its work is bounded however many users there are. */
  findUsers(query: UserQuery): Awaitable<UserPage>;
  /** @returns null when there is no such user. */
  setTier(userId: string, tier: string): Awaitable<User | null>;
  /** Disabled: there is no principal of the user any more. Streams that run are stopped. @returns null when there is no such user. */
  setDisabled(userId: string, disabled: boolean): Awaitable<User | null>;
  /**
   * Removes what tells who a user is: address, identities, codes, keys, sessions. Balance and ledger stay under the id, and
   * what runs is settled. A call that failed half-way is repeated. @returns false when there is no such user.
   */
  deleteUser(userId: string): Awaitable<boolean>;
  /** Adds (or with a negative amount takes) nano-units. */
  grant(userId: string, amount: bigint): Awaitable<User | null>;
  /**
   * As `grant`, and keeps who did it and why. With an idempotency key that the user has a grant of already it changes
   * nothing. @returns that one then; null when there is no such user.
   */
  addGrant(grant: NewGrant): Awaitable<Grant | null>;
  listGrants(userId: string, page: { readonly limit: number; readonly after: number | null }): Awaitable<GrantPage>;
  /** @returns null when the user has `maximum` live keys. */
  addKey(key: NewKey, maximum: number): Awaitable<ApiKey | null>;
  listKeys(userId: string): Awaitable<readonly ApiKey[]>;
  /** @returns null when there is no such live key; with `userId`, of that user. */
  changeKey(keyId: string, change: KeyChange, userId?: string): Awaitable<ApiKey | null>;
  /** Refused for a key that was rolled before: its successor can be. */
  rollKey(keyId: string, roll: KeyRoll, userId?: string): Awaitable<KeyRollResult>;
  /** @returns false when there is no such live key; with `userId`, of that user. */
  revokeKey(keyId: string, userId?: string): Awaitable<boolean>;
  /** The user that an identity provider's subject signs in as. */
  findIdentity(issuer: string, subject: string): Awaitable<User | null>;
  /** Makes the subject sign in as this user, unless it does as another. @returns the user in force. */
  linkIdentity(issuer: string, subject: string, userId: string): Awaitable<User | null>;
  /** Pushes users whose tier or keys this process, or another one, has changed, as far as the store can. @returns unsubscribes. */
  onChange(listener: OnChange): () => void;
  /**
   * Another number after each change of an account that `onChange` does not push: as long as it stays, principals are as
   * they were looked up. Absent where the store has to be asked for that.
   */
  accountsVersion?(): number;
}

/** Sign-in codes, the refresh tokens that follow, and the counters that limit who asks. */
export interface SignInStore {
  /**
   * Replaces the code that the same client has asked for, for the same address; addresses are those of `findUser`,
   * without regard to ASCII case.
   */
  putCode(code: NewCode): Awaitable<void>;
  /**
   * Uses up the code of the address that one of `digests` belongs to, whoever asked for it; without one, a try of every
   * code that this client may still try. @returns whether there was one.
   */
  takeCode(email: string, client: string, digests: readonly Uint8Array[]): Awaitable<boolean>;
  addFamily(family: NewFamily): Awaitable<void>;
  /**
   * Makes the successor the family's only live token. A token that was followed before, beyond the grace, kills its
   * family. @returns null unless `successor` is the live token now.
   */
  rotate(rotation: Rotation): Awaitable<Rotated | null>;
  /** Kills the family of a token, live or used up. */
  endFamily(digest: Uint8Array): Awaitable<void>;
  /** Raises the user's `sessions`: tokens issued before are void on every instance. @returns null without such a user. */
  endSessions(userId: string): Awaitable<User | null>;
  /**
   * Counts 1 in every counter, or, when one of them is full, in none. Windows are fixed, `window` milliseconds long.
   * @returns null, or the milliseconds until every full counter has room.
   */
  throttle(counters: readonly Counter[], window: number): Awaitable<number | null>;
}

/** What the processes of one store share. */
export interface InstanceStore {
  /** Publishes the state of this instance to every process of the store, for `ttl` milliseconds. */
  publishInstance(instance: string, state: string, ttl: number): Awaitable<void>;
  /** The instances' states by name; one whose `ttl` has passed is not among them. */
  listInstances(): Awaitable<ReadonlyMap<string, string>>;
  /** Sends a text to every process of the store that listens now, this one included; it may be lost. */
  broadcast(text: string): Awaitable<void>;
  /** @returns unsubscribes. */
  onBroadcast(listener: (text: string) => void): () => void;
  /** Frees slots and holds of an instance that is known to be dead, sooner than they expire. */
  markInstanceDead(instance: string): Awaitable<void>;
  /**
   * Adds to the counts of a window, all at once. Counts go with their window, and of a window 100,000 are kept.
   * @returns each count afterwards, of all processes, in the order of `uses`; null for one that is not kept.
   */
  addCounts(window: CountWindow, uses: readonly Uses[]): Awaitable<readonly (number | null)[]>;
  /** Small named values that outlive restarts, such as a made secret. @returns the value in force: the first one written. */
  remember(name: string, value: string): Awaitable<string>;
  /** Whether the store answers. */
  ping(): Awaitable<void>;
}

/**
 * Small values that plugins keep, each plugin in a space of its own. Of a space 64 MiB are kept: beyond, what would expire
 * soonest goes first, so a plugin can do without each of them. Keys are of any length and content.
 */
export interface ValueStore {
  /** null for one that is not there, or has expired. */
  getValue(space: string, key: string): Awaitable<string | null>;
  /** In the place of the one before. @param ttl milliseconds */
  setValue(space: string, key: string, value: string, ttl: number): Awaitable<void>;
  /**
   * Adds to a value that is a whole number; one that is not there is 0 and begins to live for `ttl` milliseconds.
   * @returns what it is afterwards. @throws RangeError for another value, and beyond 64 bits.
   */
  addToValue(space: string, key: string, amount: bigint, ttl: number): Awaitable<bigint>;
  deleteValue(space: string, key: string): Awaitable<void>;
}

/** What a plugin keeps beyond a request, shared by all processes of the store: `ValueStore` in a space of its own. */
export interface PluginStorage {
  get(key: string): Promise<string | null>;
  /** @throws RangeError for a value of more than `MAX_VALUE_BYTES`, or a time of more than 400 days. @param ttl milliseconds */
  set(key: string, value: string, ttl: number): Promise<void>;
  /** Adds to a whole number, which begins at 0 and lives for `ttl` milliseconds from then. @returns what it is afterwards. */
  add(key: string, amount: bigint, ttl: number): Promise<bigint>;
  delete(key: string): Promise<void>;
}

export const MAX_VALUE_BYTES = 1024 * 1024;
const MAX_VALUE_TTL_MS = 400 * 86_400_000;

/** @param space the plugin's name. Its methods throw `storeUnavailable` when the store is away. */
export function pluginStorage(store: ValueStore, space: string): PluginStorage {
  return {
    get: async (key) => store.getValue(space, key),
    async set(key, value, ttl) {
      if (Buffer.byteLength(value) > MAX_VALUE_BYTES)
        throw new RangeError(`a value has at most ${MAX_VALUE_BYTES} bytes`);
      return store.setValue(space, key, value, checkedTtl(ttl));
    },
    add: async (key, amount, ttl) => store.addToValue(space, key, amount, checkedTtl(ttl)),
    delete: async (key) => store.deleteValue(space, key),
  };
}

function checkedTtl(ttl: number): number {
  if (ttl >= 1 && ttl <= MAX_VALUE_TTL_MS) return Math.ceil(ttl);
  throw new RangeError(`a value lives for 1 to ${MAX_VALUE_TTL_MS} ms, not for ${ttl}`);
}

/**
 * State that outlives a request. Every method is atomic, and none depends on `this`. A store that cannot answer throws
 * `storeUnavailable`.
 */
export interface Store
  extends
    AdmissionStore,
    LedgerStore,
    AccountStore,
    SignInStore,
    InstanceStore,
    AuditStore,
    ValueStore,
    IdempotencyStore {
  close(): Awaitable<void>;
}
