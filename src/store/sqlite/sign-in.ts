import { hash, timingSafeEqual } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { Counter, NewCode, NewFamily, Rotated, Rotation } from "../../kit/index.ts";
import { countAt } from "../windows.ts";
import type { Transactions } from "./commits.ts";

/** The store's role of signing in. `now` is Unix milliseconds. */
export function signInMethods(db: DatabaseSync, transactions: Transactions, now: () => number) {
  return {
    ...codeMethods(db, transactions, now),
    ...familyMethods(db, transactions, now),
    ...counterMethods(db, transactions, now),
  };
}

interface CodeRow {
  readonly client: string;
  readonly digest: Uint8Array;
}

/** Expired codes that each new one takes away: more than it adds, so that they never pile up. */
const EXPIRED_CODES_PER_CALL = 2;

/** Compared with when there is no code, so that its absence does not show in the time taken. */
const NO_CODE: CodeRow = { client: "", digest: new Uint8Array(32) };

/**
 * Sign-in codes, one an address and client. Addresses are those of users: equal but for the case of ASCII letters is
 * equal.
 */
function codeMethods(db: DatabaseSync, { write }: Transactions, now: () => number) {
  const put = db.prepare(
    `INSERT INTO codes VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET digest = excluded.digest,
     expires_at = excluded.expires_at, tries = excluded.tries, tries_of_others = excluded.tries_of_others`,
  );
  const removeExpired = db.prepare(
    `DELETE FROM codes WHERE (email, client) IN
       (SELECT email, client FROM codes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
  );
  const tried = "email = ? AND expires_at > ? AND (client = ? OR tries_of_others > 0)";
  const find = db.prepare(`SELECT client, digest FROM codes WHERE ${tried}`);
  const miss = db.prepare(
    `UPDATE codes SET tries = tries - 1, tries_of_others = tries_of_others - (client <> ?) WHERE ${tried}`,
  );
  const remove = db.prepare("DELETE FROM codes WHERE email = ? AND client = ?");
  const removeDead = db.prepare("DELETE FROM codes WHERE email = ? AND (tries <= 0 OR expires_at <= ?)");

  return {
    putCode: write(({ email, client, digest, expiresAt, tries, triesOfOthers }: NewCode): void => {
      put.run(email, client, digest, expiresAt, tries, triesOfOthers);
      removeExpired.run(now(), EXPIRED_CODES_PER_CALL);
    }),

    /** Every comparison is made, whatever the answer. Not forced to the disk: the wait would tell whether there was a code. */
    takeCode: write((email: string, client: string, digests: readonly Uint8Array[]): boolean => {
      const at = now();
      const found = find.all(email, at, client) as unknown as CodeRow[];
      const same = [...found, NO_CODE].filter(
        (code) => digests.filter((digest) => isSame(code.digest, digest)).length > 0,
      );
      const good = same.filter((code) => code !== NO_CODE);
      // All of them: six digits that were drawn twice are good once.
      for (const code of good) remove.run(email, code.client);
      if (good.length === 0) miss.run(client, email, at, client);
      removeDead.run(email, at);
      return good.length > 0;
    }),
  };
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

type TokenRow = Record<"family_id" | "user_id", string> &
  Record<"expires_at" | "sessions", bigint> & { used_at: bigint | null };

/** Tokens of an expired family that one call takes away at most; a family may have thousands. */
const EXPIRED_TOKENS_PER_CALL = 100;

/**
 * Families of refresh tokens. Used ones stay until the family expires: that is how a reuse is known. A family that is
 * killed is one that has expired.
 */
function familyMethods(db: DatabaseSync, { writeDurably }: Transactions, now: () => number) {
  const userExists = db.prepare("SELECT 1 FROM users WHERE id = ?");
  const insertFamily = db.prepare("INSERT INTO families (id, user_id, expires_at, sessions) VALUES (?, ?, ?, ?)");
  const insertToken = db.prepare("INSERT INTO refresh_tokens VALUES (?, ?, NULL)");
  const find = db.prepare(
    `SELECT family_id, user_id, expires_at, used_at, sessions FROM refresh_tokens JOIN families ON families.id = family_id
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
       (SELECT digest FROM refresh_tokens WHERE family_id = ? LIMIT ${EXPIRED_TOKENS_PER_CALL})`,
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
    addFamily: writeDurably(({ id, userId, digest, expiresAt, sessions = 0 }: NewFamily): void => {
      if (!userExists.get(userId)) throw new Error(`cannot sign in an unknown user: ${userId}`);
      insertFamily.run(id, userId, expiresAt, sessions);
      insertToken.run(digest, id);
      forget(now());
    }),

    rotate: writeDurably(({ digest, successor, grace }: Rotation): Rotated | null => {
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
      const sessions = Number(token.sessions);
      return { userId: token.user_id, expiresAt, ...(sessions > 0 && { sessions }) };
    }),

    endFamily: writeDurably((digest: Uint8Array): void => {
      kill.run(digest);
    }),
  };
}

type CounterRow = Record<"ends_at" | "used", bigint>;

/** Named counters. Names come from clients: of any length and content, so rows are keyed by their digests. */
function counterMethods(db: DatabaseSync, { write }: Transactions, now: () => number) {
  const select = db.prepare("SELECT ends_at, used FROM counters WHERE digest = ? AND length = ?");
  const store = db.prepare(
    `INSERT INTO counters VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET ends_at = excluded.ends_at, used = excluded.used`,
  );
  const forget = db.prepare(
    `DELETE FROM counters WHERE (digest, length) IN
       (SELECT digest, length FROM counters WHERE ends_at <= ? ORDER BY ends_at LIMIT ?)`,
  );

  function countOf({ name, limit }: Counter, length: number, at: number) {
    const digest = hash("sha256", name, "buffer");
    const row = select.get(digest, length) as CounterRow | undefined;
    const stored = row ? { window: Number(row.ends_at) / length - 1, used: Number(row.used) } : { window: 0, used: 0 };
    const { window, used } = countAt(stored, length, at);
    const save = (count: number) => store.run(digest, length, (window + 1) * length, count);
    return { used, full: used >= limit, endsAt: (window + 1) * length, tookAlong: window < stored.window, save };
  }

  return {
    throttle: write((counters: readonly Counter[], length: number): number | null => {
      const at = now();
      const counts = counters.map((counter) => countOf(counter, length, at));
      const full = counts.filter((count) => count.full);
      if (full.length > 0) {
        // Kept, or a full count would stay full until the window that is far ahead.
        for (const { tookAlong, used, save } of full) if (tookAlong) save(used);
        return Math.max(...full.map(({ endsAt }) => endsAt)) - at;
      }
      for (const { used, save } of counts) save(used + 1);
      // More than a call adds, so that ended windows never pile up.
      forget.run(at, 2 * counts.length);
      return null;
    }),
  };
}
