import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { CountWindow } from "../../kit/index.ts";
import { EncodedWords } from "./pipeline.ts";

export interface Script {
  readonly name: string;
  readonly lua: string;
  /** The command by which it runs, with the name under which a server knows it once it has run. */
  readonly evalsha: EncodedWords;
}

/**
 * Reads `scripts/<name>.lua`. Parts, files of the same folder, are put between its first line, which names the flags,
 * and the rest.
 */
export function loadScript(name: string, ...parts: readonly string[]): Script {
  const [flags, ...body] = read(name).split("\n");
  const lua = [flags, ...parts.map(read), ...body].join("\n");
  return { name, lua, evalsha: new EncodedWords(["EVALSHA", hash("sha1", lua)]) };
}

function read(name: string): string {
  return readFileSync(new URL(`scripts/${name}.lua`, import.meta.url), "utf8");
}

/** Calls that one method has under way at once: less than what the connection lets wait, so that requests have room. */
const BATCH_CALL_COUNT = 200;

/** Works on all items, some at a time; the results are in their order. */
export async function inBatches<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += BATCH_CALL_COUNT) {
    results.push(...(await Promise.all(items.slice(at, at + BATCH_CALL_COUNT).map(work))));
  }
  return results;
}

/**
 * The names of everything in the store, `prefix` in front. Braces are the Cluster's hash tags: all keys of one user are
 * in one slot. Ids are the store's own and hold no braces.
 */
export function createKeys(prefix: string) {
  return {
    /**
     * Hash, durable: email tier balance granted charged available version stop created disabled deleted sessions
     * swept; `looked` for a while
     * (reservations.lua). Of keys with a budget `spent:<key>:<period>` and, while they run something,
     * `held:<key>:<period>`. Amounts are decimal nano-units.
     */
    user: (id: string) => `${prefix}u:{${id}}`,
    /** String: window and use of day, hour and minute. */
    windows: (id: string) => `${prefix}w:{${id}}`,
    /** Hash: request id to reservation (reservations.lua). */
    reservations: (id: string) => `${prefix}q:{${id}}`,
    /** Sorted set: request id by the end of its lease, in the server's milliseconds. */
    leases: (id: string) => `${prefix}l:{${id}}`,
    /** Sorted set of the streams among them: request id by the user's stop token at admission. */
    streams: (id: string) => `${prefix}s:{${id}}`,
    /** Hash: id of a request whose lease has ended to its record in the ledger. */
    abandoned: (id: string) => `${prefix}o:{${id}}`,
    /** List, durable: the ledger (ledger.ts), in the order in which it was written. */
    ledger: (id: string) => `${prefix}c:{${id}}`,

    /** List: what of it the sweep has not seen yet (sweep.ts). `swept` of `user` is how many entries it has. */
    unswept: (id: string) => `${prefix}cn:{${id}}`,
    /** Hash, goes with the ledger: what a user's entries of a day add up to (sums.lua), by hour, names and key. */
    usageOf: (id: string, day: number) => `${prefix}cs:{${id}}:${day}`,
    /**
     * Of a day, go with the ledger: list of all users' entries, "<user> <entry>"; hash of the number of each user's last
     * one; hash of what they add up to, by hour and names, which stays longer; sorted set of the users.
     */
    ledgerDay: (day: number) => {
      const tag = `{day ${day}}`;
      return [`${prefix}dc:${tag}`, `${prefix}dn:${tag}`, `${prefix}ds:${tag}`, `${prefix}du:${tag}`] as const;
    },
    /** String, goes by itself: some process sweeps all users. */
    sweeping: `${prefix}sweeping`,

    /** Hash, goes by itself: what `user` will be once its address is claimed. */
    newUser: (id: string) => `${prefix}n:{${id}}`,
    /** Hash, durable: id of a live key to what is kept of it (keys.ts). A key that is not here is none. */
    apiKeys: (id: string) => `${prefix}ks:{${id}}`,
    /** Hash, durable: id of a live key to its last use in Unix milliseconds. */
    keyUses: (id: string) => `${prefix}kt:{${id}}`,

    /** List, durable: grants of credits, as they came (users.ts). */
    grants: (id: string) => `${prefix}g:{${id}}`,
    /** Hash, durable: idempotency key to the grant that it was sent with. */
    grantKeys: (id: string) => `${prefix}gk:{${id}}`,

    /** Hash and two sorted sets (idempotency.lua), go with their last key: requests with idempotency keys. */
    idempotency: (id: string) => [`${prefix}ik:{${id}}`, `${prefix}ix:{${id}}`, `${prefix}ia:{${id}}`] as const,
    /** String, goes by itself: what the request with a key was answered, by the key's digest. */
    keptAnswer: (id: string, digest: string) => `${prefix}ib:{${id}}:${digest}`,

    /** Sorted set, durable: "<address> <user>" in the order of addresses (users.ts). */
    addresses: `${prefix}addresses`,
    /** Set, durable: the ids of all users. */
    users: `${prefix}users`,
    /** String, durable: the user of an address in lower case. */
    address: (email: string) => `${prefix}e:${email}`,
    /** String, durable: user and key by the key's digest. Means nothing unless the key is in `apiKeys`. */
    keyByDigest: (digest: string) => `${prefix}k:${digest}`,
    /** String, durable: user and digest by the key's id. Means nothing unless the key is in `apiKeys`. */
    keyById: (id: string) => `${prefix}kid:${id}`,
    /** String, durable: the user of an identity provider's subject, by their digest. */
    identity: (digest: string) => `${prefix}i:${digest}`,
    /** Set, durable: the keys of `identity` that are a user's. */
    identitiesOf: (id: string) => `${prefix}is:{${id}}`,
    /** String, durable. */
    remembered: (name: string) => `${prefix}m:${name}`,

    /** Hash, goes with its last code: client to the code it asked for (code-put.lua). By the digest of the address. */
    codes: (digest: string) => `${prefix}codes:${digest}`,
    /** Hash, goes with its family: user live at expires sessions. */
    family: (id: string) => `${prefix}fam:{${id}}`,
    /** String, goes with its family: the family of a refresh token, by the token's digest. */
    token: (digest: string) => `${prefix}f:${digest}`,
    /** String, goes with its window. All in one slot, so that one script counts in several. */
    counter: (digest: string, length: number) => `${prefix}t:{throttle}:${digest}:${length}`,
    /** Hash, goes with its window: name to count. Windows follow one another through the slots of a Cluster. */
    counts: ({ name, length, endsAt }: CountWindow) => `${prefix}counts:{${name} ${length} ${endsAt}}`,
    /** Hash and sorted set (values.lua), go with their last value. A plugin's values are spread over `shard`s. */
    values: (space: string, shard: string) => {
      const tag = `{${space} ${shard}}`;
      return [`${prefix}v:${tag}`, `${prefix}vx:${tag}`] as const;
    },
    /**
     * Sorted set and hash, go when nothing was added for long: the ids of the audit log in order, its entries by id. Hash,
     * durable: the ends of its chain (audit-chain.lua).
     */
    audit: [`${prefix}audit:{log}`, `${prefix}audit:{log}:entries`, `${prefix}audit:{log}:chain`] as const,
    /** Hash: instance to the state it publishes. */
    instances: `${prefix}fleet`,
    /** Channel: "<user id> <stop token>" as tokens are raised. */
    stops: `${prefix}stops`,
    /** Channel: what processes say to each other. */
    broadcasts: `${prefix}broadcasts`,
    /** Channel: ids of users as their tier or keys change. */
    changes: `${prefix}changes`,

    /** Sorted set: instance by the time (server's milliseconds) at which it was marked dead. */
    dead: `${prefix}dead`,
    /** Channel of one instance: ids of users of whom others want to know what it runs. */
    confirmations: (instance: string) => `${prefix}doubts:${instance}`,
    /** Channel: instances as they are marked dead. */
    deaths: `${prefix}burials`,
  };
}

export type Keys = ReturnType<typeof createKeys>;

/** Addresses are equal but for the case of ASCII letters. */
export function lowerCase(email: string): string {
  return email.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Digests as names of keys and arguments of scripts have them. */
export function hexOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString("hex");
}
