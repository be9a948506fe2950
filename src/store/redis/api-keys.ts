import type { ApiKey, NewKey, Principal } from "../../kit/index.ts";
import { inBatches } from "./batches.ts";
import { type Connection, loadScript } from "./connection.ts";
import type { Keys } from "./keys.ts";
import { hexOf } from "./text.ts";

/** What is kept of a key in its user's slot: "<createdAt> " and this as JSON. */
interface Kept {
  readonly name: string;
  readonly prefix: string;
  /** Hexadecimal. */
  readonly digest: string;
}

const ADD = loadScript("key-add", "clock");
const LIST = loadScript("key-list");
const REVOKE = loadScript("key-revoke");
const TOUCH = loadScript("key-touch");
const PRINCIPAL = loadScript("principal");

/**
 * API keys. A key is live while its user's slot has it; what leads there from its digest and from its id is written
 * before and removed after, so that what a crash leaves behind means nothing.
 * @param now Unix milliseconds; 0 means the server's clock.
 */
export function keyPart(connection: Connection, keys: Keys, now: () => number) {
  /** Two strings that lead to a key, or null. */
  async function follow(pointer: string): Promise<readonly [string, string] | null> {
    const text = (await connection.read("GET", pointer)) as string | null;
    return text === null ? null : (JSON.parse(text) as [string, string]);
  }

  async function point(pointer: string, userId: string, to: string): Promise<void> {
    const text = JSON.stringify([userId, to]);
    const before = await connection.call("SET", pointer, text, "NX", "GET");
    if (before !== null && before !== text) throw new Error(`cannot make a key of ${userId}: there is one like it`);
  }

  const unpoint = (id: string, digest: string) =>
    Promise.all([connection.call("DEL", keys.keyByDigest(digest)), connection.call("DEL", keys.keyById(id))]);

  async function touch(userId: string, uses: readonly (string | number)[]): Promise<void> {
    await connection.run(TOUCH, [keys.apiKeys(userId), keys.keyUses(userId)], uses);
  }

  return {
    async principalByDigest(digest: Uint8Array): Promise<Principal | null> {
      const hex = hexOf(digest);
      const pointer = await follow(keys.keyByDigest(hex));
      if (!pointer) return null;
      const [userId, keyId] = pointer;
      const own = [keys.user(userId), keys.apiKeys(userId)];
      // A key that is not known yet waits for a slow server as long as its admission would.
      const reply = await connection.run(PRINCIPAL, own, [keyId], () => [keyId]);
      if (reply === null) return null;
      const [tier, version, key] = reply as [string, string, string];
      return keptOf(key).digest === hex ? { userId, tier, keyId, version: Number(version) } : null;
    },

    async touchKeys(used: ReadonlyMap<string, number>): Promise<void> {
      const uses = new Map<string, (string | number)[]>();
      await inBatches([...used], async ([id, at]) => {
        const pointer = await follow(keys.keyById(id));
        if (!pointer) return;
        const ofUser = uses.get(pointer[0]) ?? [];
        ofUser.push(id, at);
        uses.set(pointer[0], ofUser);
      });
      await inBatches([...uses], ([userId, ofUser]) => touch(userId, ofUser));
    },

    async addKey({ id, userId, digest, name, prefix }: NewKey, maximum: number): Promise<ApiKey | null> {
      const hex = hexOf(digest);
      await Promise.all([point(keys.keyByDigest(hex), userId, id), point(keys.keyById(id), userId, hex)]);
      const kept: Kept = { name, prefix, digest: hex };
      const own = [keys.user(userId), keys.apiKeys(userId)];
      const reply = await connection.run(ADD, own, [now(), id, JSON.stringify(kept), maximum]);
      if (reply !== "full" && reply !== "unknown") return toKey(id, userId, String(reply), null);
      await unpoint(id, hex);
      if (reply === "unknown") throw new Error(`cannot make a key of an unknown user: ${userId}`);
      return null;
    },

    async listKeys(userId: string): Promise<ApiKey[]> {
      const reply = await connection.run(LIST, [keys.apiKeys(userId), keys.keyUses(userId)], []);
      const [kept, uses] = (reply as [string[], string[]]).map(pairs) as [[string, string][], [string, string][]];
      const lastUses = new Map(uses);
      return kept
        .map(([id, key]) => toKey(id, userId, key, lastUses.get(id) ?? null))
        .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    },

    async revokeKey(id: string, userId?: string): Promise<boolean> {
      const pointer = await follow(keys.keyById(id));
      if (!pointer) return false;
      const [owner, digest] = pointer;
      if (userId !== undefined && userId !== owner) return false;
      const own = [keys.user(owner), keys.apiKeys(owner), keys.keyUses(owner)];
      const revoked = await connection.run(REVOKE, own, [id, owner, keys.changes]);
      await unpoint(id, digest);
      return revoked === 1;
    },
  };
}

function pairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((key, index) => (index % 2 === 0 ? [[key, flat[index + 1] ?? ""]] : []));
}

function keptOf(key: string): Kept {
  return JSON.parse(key.slice(key.indexOf(" "))) as Kept;
}

function toKey(id: string, userId: string, key: string, lastUsedAt: string | null): ApiKey {
  const { name, prefix } = keptOf(key);
  const createdAt = Number.parseInt(key, 10);
  return { id, userId, name, prefix, createdAt, lastUsedAt: lastUsedAt === null ? null : Number(lastUsedAt) };
}
