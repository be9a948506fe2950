import type { DatabaseSync } from "node:sqlite";
import type { NewFamily, Rotation } from "../../kit/index.ts";

type TokenRow = Record<"family_id" | "user_id", string> & { expires_at: bigint; used_at: bigint | null };

/** Tokens of an expired family that one call takes away at most; a family may have thousands. */
const FORGOTTEN = 100;

/**
 * Families of refresh tokens. Used ones stay until the family expires: that is how a reuse is known. A family that is
 * killed is one that has expired. All methods must run inside a transaction.
 */
export function familyTables(db: DatabaseSync, now: () => number) {
  const userExists = db.prepare("SELECT 1 FROM users WHERE id = ?");
  const insertFamily = db.prepare("INSERT INTO families VALUES (?, ?, ?)");
  const insertToken = db.prepare("INSERT INTO refresh_tokens VALUES (?, ?, NULL)");
  const find = db.prepare(
    `SELECT family_id, user_id, expires_at, used_at FROM refresh_tokens JOIN families ON families.id = family_id
     WHERE digest = ?`,
  );
  const useUp = db.prepare("UPDATE refresh_tokens SET used_at = ? WHERE digest = ?");
  const isLive = db.prepare("SELECT 1 FROM refresh_tokens WHERE digest = ? AND family_id = ? AND used_at IS NULL");
  const kill = db.prepare(
    "UPDATE families SET expires_at = 0 WHERE id = (SELECT family_id FROM refresh_tokens WHERE digest = ?)",
  );
  const expired = db.prepare("SELECT id FROM families WHERE expires_at <= ? ORDER BY expires_at LIMIT 1");
  const forgetTokens = db.prepare(
    `DELETE FROM refresh_tokens WHERE digest IN
       (SELECT digest FROM refresh_tokens WHERE family_id = ? LIMIT ${FORGOTTEN})`,
  );
  const forgetFamily = db.prepare(
    "DELETE FROM families WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM refresh_tokens WHERE family_id = ?1)",
  );

  /** At least as much as the call it belongs to has added, so that the dead never pile up. */
  function forget(at: number): void {
    const family = expired.get(at)?.["id"];
    if (family === undefined) return;
    forgetTokens.run(family);
    forgetFamily.run(family);
  }

  return {
    addFamily({ id, userId, digest, expiresAt }: NewFamily): void {
      if (!userExists.get(userId)) throw new Error(`cannot sign in an unknown user: ${userId}`);
      insertFamily.run(id, userId, expiresAt);
      insertToken.run(digest, id);
      forget(now());
    },

    rotate({ digest, successor, grace }: Rotation) {
      const at = now();
      const token = find.get(digest) as TokenRow | undefined;
      const expiresAt = Number(token?.expires_at);
      if (!token || expiresAt <= at) return null;
      if (token.used_at === null) {
        useUp.run(at, digest);
        insertToken.run(successor, token.family_id);
        forget(at);
      } else if (at - Number(token.used_at) > grace || !isLive.get(successor, token.family_id)) {
        kill.run(digest);
        return null;
      }
      return { userId: token.user_id, expiresAt };
    },

    endFamily(digest: Uint8Array): void {
      kill.run(digest);
    },
  };
}
