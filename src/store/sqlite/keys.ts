import type { DatabaseSync } from "node:sqlite";
import type { ApiKey, NewKey, Principal } from "../../kit/index.ts";

type KeyRow = Record<"id" | "user_id" | "name" | "prefix", string> & {
  created_at: bigint;
  last_used_at: bigint | null;
};
type PrincipalRow = Record<"key_id" | "user_id" | "tier", string>;

const COLUMNS = "id, user_id, name, prefix, created_at, last_used_at";

/** API keys. Revoked ones stay, unlisted: the ledger names them. Methods that write must run inside a transaction. */
export function keyTable(db: DatabaseSync, now: () => number) {
  const principal = db.prepare(
    `SELECT api_keys.id AS key_id, user_id, tier FROM api_keys JOIN users ON users.id = user_id
     WHERE digest = ? AND revoked_at IS NULL`,
  );
  const touch = db.prepare("UPDATE api_keys SET last_used_at = max(ifnull(last_used_at, 0), ?) WHERE id = ?");
  const userExists = db.prepare("SELECT 1 FROM users WHERE id = ?");
  const live = db.prepare("SELECT count(*) AS live FROM api_keys WHERE user_id = ? AND revoked_at IS NULL");
  const insert = db.prepare(
    `INSERT INTO api_keys (id, user_id, digest, name, prefix, created_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING ${COLUMNS}`,
  );
  const list = db.prepare(
    `SELECT ${COLUMNS} FROM api_keys WHERE user_id = ? AND revoked_at IS NULL ORDER BY created_at, id`,
  );
  const revoke = db.prepare(
    "UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL AND user_id = ifnull(?, user_id) RETURNING user_id",
  );

  return {
    principalByDigest(digest: Uint8Array): Principal | null {
      const row = principal.get(digest) as PrincipalRow | undefined;
      return row ? { userId: row.user_id, tier: row.tier, keyId: row.key_id } : null;
    },

    touchKeys(used: ReadonlyMap<string, number>): void {
      for (const [id, at] of used) touch.run(at, id);
    },

    addKey({ id, userId, digest, name, prefix }: NewKey, maximum: number): ApiKey | null {
      if (!userExists.get(userId)) throw new Error(`cannot make a key of an unknown user: ${userId}`);
      if (Number(live.get(userId)?.["live"]) >= maximum) return null;
      return toKey(insert.get(id, userId, digest, name, prefix, now()) as KeyRow);
    },

    listKeys: (userId: string): ApiKey[] => (list.all(userId) as KeyRow[]).map(toKey),

    /** @returns the user whose key it was. */
    revokeKey(id: string, userId: string | undefined): string | null {
      const row = revoke.get(now(), id, userId ?? null);
      return row ? String(row["user_id"]) : null;
    },
  };
}

function toKey({ id, user_id, name, prefix, created_at, last_used_at }: KeyRow): ApiKey {
  const lastUsedAt = last_used_at === null ? null : Number(last_used_at);
  return { id, userId: user_id, name, prefix, createdAt: Number(created_at), lastUsedAt };
}
