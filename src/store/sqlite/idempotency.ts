import type { DatabaseSync } from "node:sqlite";
import type { KeptOutcome, KeyClaim, KeyState, OutcomeKind } from "../../kit/index.ts";
import { EXPIRED_KEYS_PER_CALL, MAX_USER_ANSWER_BYTES } from "../windows.ts";
import type { CommitQueue, Transactions } from "./commits.ts";

/** Expired keys that one commit deletes. */
const KEYS_PER_TRIM = 100;

interface RunningKey {
  readonly claim: KeyClaim;
  /** Unix milliseconds. */
  readonly until: number;
}

type KeyRow = Record<"id" | "fingerprint" | "request_id" | "outcome", string> & { answer: string | null };

/**
 * The store's role of idempotency keys. Running claims are in memory: one process serves a file, and a dead process runs
 * nothing. Outcomes are written in the same commit as the settlements of their requests.
 * @param now Unix milliseconds.
 */
export function idempotencyMethods(
  db: DatabaseSync,
  { read, write }: Transactions,
  queue: Pick<CommitQueue, "add">,
  now: () => number,
) {
  const find = db.prepare("SELECT * FROM idempotency_keys WHERE user_id = ? AND digest = ? AND expires_at > ?");
  const remove = db.prepare("DELETE FROM idempotency_keys WHERE user_id = ? AND digest = ?");
  const insert = db.prepare(
    `INSERT INTO idempotency_keys (user_id, digest, fingerprint, id, request_id, outcome, expires_at, answer, bytes, total)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const total = db.prepare("SELECT max(total) AS total FROM idempotency_keys WHERE user_id = ? AND bytes > 0");
  const drop = db.prepare(
    "UPDATE idempotency_keys SET answer = NULL, bytes = 0 WHERE user_id = ? AND bytes > 0 AND total <= ?",
  );
  const trim = db.prepare(
    `DELETE FROM idempotency_keys
     WHERE seq IN (SELECT seq FROM idempotency_keys WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
  );
  const forget = db.prepare("DELETE FROM idempotency_keys WHERE user_id = ?");
  /** Keyed by user and digest; the oldest claim is first. */
  const running = new Map<string, RunningKey>();

  const keptAs = ({ userId, digest }: KeyClaim): KeyRow | null =>
    (find.get(userId, digest, now()) as KeyRow | undefined) ?? null;

  /** The claim of another request that has the key now; null if there is none. */
  function otherOf(claim: KeyClaim): KeyClaim | null {
    const held = running.get(nameOf(claim));
    return held === undefined || held.until <= now() || held.claim.id === claim.id ? null : held.claim;
  }

  function hold(claim: KeyClaim, lease: number): void {
    const name = nameOf(claim);
    const at = now();
    for (const [key, { until }] of running) {
      if (until > at) break;
      running.delete(key);
    }
    // Moves to the end: its lease ends last.
    running.delete(name);
    running.set(name, { claim, until: at + lease });
  }

  function keep(claim: KeyClaim, { outcome, answer }: KeptOutcome, ttl: number): boolean {
    const { userId, digest, fingerprint, id, requestId } = claim;
    const before = keptAs(claim);
    if (before !== null || otherOf(claim) !== null) return before?.id === id;
    const at = now();
    trim.run(at, EXPIRED_KEYS_PER_CALL);
    remove.run(userId, digest);
    const bytes = answer === null ? 0 : Buffer.byteLength(answer);
    // A running total: rows beyond the bound are found by comparing with it.
    const sum = Number(total.get(userId)?.["total"] ?? 0) + bytes;
    drop.run(userId, sum - MAX_USER_ANSWER_BYTES);
    insert.run(userId, digest, fingerprint, id, requestId, outcome, at + ttl, answer, bytes, sum);
    return true;
  }

  return {
    methods: {
      claimKey: read((claim: KeyClaim, lease: number): KeyState => {
        const kept = keptAs(claim);
        if (kept !== null) return stateOf(kept, claim);
        const other = otherOf(claim);
        if (other === null) {
          hold(claim, lease);
          return { state: "claimed" };
        }
        const { requestId } = other;
        return { state: other.fingerprint === claim.fingerprint ? "running" : "mismatch", requestId };
      }),

      renewKey: read((claim: KeyClaim, lease: number): boolean => {
        if (otherOf(claim) !== null || keptAs(claim) !== null) return false;
        hold(claim, lease);
        return true;
      }),

      keepKey: (claim: KeyClaim, kept: KeptOutcome, ttl: number): Promise<boolean> =>
        queue
          .add(() => keep(claim, kept, ttl))
          .then((isKept) => {
            end(claim);
            return isKept;
          }),

      freeKey: read((claim: KeyClaim): void => end(claim)),

      forgetKeys: write((userId: string): void => {
        forget.run(userId);
        for (const [name, { claim }] of running) if (claim.userId === userId) running.delete(name);
      }),
    },

    /** Deletes some expired keys. @returns true if there may be more. */
    trim: write((): boolean => Number(trim.run(now(), KEYS_PER_TRIM).changes) === KEYS_PER_TRIM),
  };

  function end(claim: KeyClaim): void {
    if (running.get(nameOf(claim))?.claim.id === claim.id) running.delete(nameOf(claim));
  }
}

function nameOf({ userId, digest }: KeyClaim): string {
  return `${userId} ${digest}`;
}

function stateOf({ fingerprint, request_id: requestId, outcome, answer }: KeyRow, claim: KeyClaim): KeyState {
  if (fingerprint !== claim.fingerprint) return { state: "mismatch", requestId };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `keep`
  return { state: "answered", requestId, outcome: outcome as OutcomeKind, answer };
}
