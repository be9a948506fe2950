import { timingSafeEqual } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { NewCode } from "../../kit/index.ts";

interface CodeRow {
  readonly client: string;
  readonly digest: Uint8Array;
}

/** Expired codes that each new one takes away: more than it adds, so that they never pile up. */
const FORGOTTEN = 2;

/** Compared with when there is no code, so that its absence does not show in the time taken. */
const NO_CODE: CodeRow = { client: "", digest: new Uint8Array(32) };

/**
 * Sign-in codes, one an address and client. Addresses are those of users: equal but for the case of ASCII letters is
 * equal.
 */
export function codeTable(db: DatabaseSync, now: () => number) {
  const put = db.prepare(
    `INSERT INTO codes VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET digest = excluded.digest,
     expires_at = excluded.expires_at, tries = excluded.tries, tries_of_others = excluded.tries_of_others`,
  );
  const forget = db.prepare(
    `DELETE FROM codes WHERE (email, client) IN
       (SELECT email, client FROM codes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
  );
  const tried = "email = ? AND expires_at > ? AND (client = ? OR tries_of_others > 0)";
  const find = db.prepare(`SELECT client, digest FROM codes WHERE ${tried}`);
  const miss = db.prepare(
    `UPDATE codes SET tries = tries - 1, tries_of_others = tries_of_others - (client <> ?) WHERE ${tried}`,
  );
  const remove = db.prepare("DELETE FROM codes WHERE email = ? AND client = ?");
  const bury = db.prepare("DELETE FROM codes WHERE email = ? AND (tries <= 0 OR expires_at <= ?)");

  return {
    /** Must run inside a transaction. */
    putCode({ email, client, digest, expiresAt, tries, triesOfOthers }: NewCode): void {
      put.run(email, client, digest, expiresAt, tries, triesOfOthers);
      forget.run(now(), FORGOTTEN);
    },

    /** Must run inside a transaction. Every comparison is made, whatever the answer. */
    takeCode(email: string, client: string, digests: readonly Uint8Array[]): boolean {
      const at = now();
      const found = find.all(email, at, client) as unknown as CodeRow[];
      const same = [...found, NO_CODE].filter(
        (code) => digests.filter((digest) => isSame(code.digest, digest)).length > 0,
      );
      const good = same.filter((code) => code !== NO_CODE);
      // All of them: six digits that were drawn twice are good once.
      for (const code of good) remove.run(email, code.client);
      if (good.length === 0) miss.run(client, email, at, client);
      bury.run(email, at);
      return good.length > 0;
    },
  };
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
