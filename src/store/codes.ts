import { timingSafeEqual } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { NewCode } from "../kit/index.ts";

interface CodeRow {
  readonly digest: Uint8Array;
  readonly expires_at: bigint;
  readonly tries: bigint;
}

/** Expired codes that each new one takes away: more than it adds, so that they never pile up. */
const FORGOTTEN = 2;

/** Compared with when there is no code, so that its absence does not show in the time taken. */
const NO_DIGEST = new Uint8Array(32);

/** Sign-in codes, one an address. Addresses are those of users: equal but for the case of ASCII letters is equal. */
export function codeTable(db: DatabaseSync, now: () => number) {
  const put = db.prepare(
    `INSERT INTO codes VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
     SET digest = excluded.digest, expires_at = excluded.expires_at, tries = excluded.tries`,
  );
  const forget = db.prepare(
    "DELETE FROM codes WHERE email IN (SELECT email FROM codes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)",
  );
  const find = db.prepare("SELECT digest, expires_at, tries FROM codes WHERE email = ?");
  const remove = db.prepare("DELETE FROM codes WHERE email = ?");
  const miss = db.prepare("UPDATE codes SET tries = tries - 1 WHERE email = ?");

  return {
    /** Must run inside a transaction. */
    putCode({ email, digest, expiresAt, tries }: NewCode): void {
      put.run(email, digest, expiresAt, tries);
      forget.run(now(), FORGOTTEN);
    },

    /** Must run inside a transaction. One read, every comparison and one write, whatever the answer. */
    takeCode(email: string, digests: readonly Uint8Array[]): boolean {
      const code = find.get(email) as CodeRow | undefined;
      const same = digests.filter((digest) => isSame(code?.digest ?? NO_DIGEST, digest)).length > 0;
      const alive = code !== undefined && Number(code.expires_at) > now();
      const missed = alive && !same && code.tries > 1n;
      (missed ? miss : remove).run(email);
      return alive && same;
    },
  };
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
