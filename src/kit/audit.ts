import { Uuids } from "./ids.ts";
import type { Json } from "./json.ts";
import type { Awaitable } from "./request.ts";
import type { AdminToken } from "./snapshot.ts";

/** A change of the gateway's state, a sign-in or an export, as whoever makes it writes it down. */
export interface NewAuditEntry {
  /** In the order of time: `Uuids.timed` of `at`. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** The name of the token; `cli` for the command line, `user` for a user, empty where nobody is known. */
  readonly name: string;
  /** user: a user of the public API; none: whoever failed to sign in. */
  readonly role: AdminToken["role"] | "user" | "none";
  /** The operation. */
  readonly action: string;
  /** An id or a name. */
  readonly target: string | null;
  /** What was asked for, without secrets; at most a few kilobytes. */
  readonly details: Json;
  /** begun: its end was not written. */
  readonly outcome: "begun" | "done" | "refused" | "failed";
  /** Of the answer; null before there is one, and for a command. */
  readonly status: number | null;
  /** The client's IP address; null for a command, and for several clients together. */
  readonly address: string | null;
}

/** When something happened, and the id of its entry. */
export type AuditStamp = () => Pick<NewAuditEntry, "at" | "id">;

/** Stamps of one process: of two in one millisecond, the later one has the later id. @param now Unix milliseconds. */
export function auditStamps(now: () => number): AuditStamp {
  const ids = new Uuids();
  let last = 0;
  return () => {
    const at = now();
    last = Math.max(at, last + 1);
    return { at, id: ids.timed(last) };
  };
}

/** An entry in the chain: each one names the digest of the one before. */
export interface AuditEntry extends NewAuditEntry {
  /** SHA-256 over the entry and `previous`, hexadecimal; null until its end is written. */
  readonly digest: string | null;
  /** `digest` of the entry before; null for the first one. */
  readonly previous: string | null;
  /** Target and details were removed with an account. */
  readonly erased?: true;
}

/** The first entry that does not fit into the chain. */
export interface BadAuditEntry {
  /** null: the newest entries are missing. */
  readonly id: string | null;
  /** Unix milliseconds. */
  readonly at: number | null;
  readonly action: string | null;
  readonly why: string;
}

export interface AuditVerdict {
  /** Entries in the chain that were checked. */
  readonly entries: number;
  /** Entries whose end is not written yet; they are not in the chain. */
  readonly begun: number;
  /** Entries that a former version of the gateway wrote, without digests. */
  readonly unchained: number;
  /** Entries in the chain whose personal data was removed. */
  readonly erased: number;
  /** The digest of the newest entry. Kept elsewhere, it proves later that everything up to it is unchanged. */
  readonly head: string | null;
  readonly bad: BadAuditEntry | null;
  /** Whether the digest that was asked for is in the chain; null where none was asked for. */
  readonly found: boolean | null;
}

/** The audit log. Entries are kept as long as the ledger, and the latest 50,000 at most. */
export interface AuditStore {
  /**
   * An entry with the outcome `begun` is noted; any other one takes its place at the end of the chain. An entry that is
   * in the chain is not changed by a repeated call.
   */
  writeAudit(entry: NewAuditEntry): Awaitable<void>;
  /** Those that have begun, then the chain from its end. @param query.before an id: only what is older. */
  listAudit(query: { readonly before: string | null; readonly limit: number }): Awaitable<readonly AuditEntry[]>;
  /** Checks every entry of the chain. @param digest looked for in it. */
  verifyAudit(digest?: string): Awaitable<AuditVerdict>;
  /**
   * Removes target and details of every entry that names one of these ids or addresses; of a user's own entries the
   * client's address, too. The chain still verifies. @returns how many entries were changed.
   */
  eraseAudit(names: readonly string[]): Awaitable<number>;
}
