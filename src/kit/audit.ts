import type { Json } from "./json.ts";
import type { Awaitable } from "./request.ts";
import type { AdminToken } from "./snapshot.ts";

/** A call over the admin API that changed something, or was to. */
export interface AuditEntry {
  /** In the order of time: `Uuids.timed` of `at`. */
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** Of the token. */
  readonly name: string;
  readonly role: AdminToken["role"];
  /** The operation. */
  readonly action: string;
  /** An id or a name. */
  readonly target: string | null;
  /** What was asked for, without secrets; of a few kilobytes at most. */
  readonly details: Json;
  /** begun: its end was not written. */
  readonly outcome: "begun" | "done" | "refused" | "failed";
  /** Of the answer; null before there is one. */
  readonly status: number | null;
}

/** What was changed over the admin API. Kept as long as the ledger; of a shared store the latest 50,000. */
export interface AuditStore {
  /** Adds the entry, or puts it in the place of the one with its id. */
  writeAudit(entry: AuditEntry): Awaitable<void>;
  /** The newest first. @param query.before an id: only what is older. */
  listAudit(query: { readonly before: string | null; readonly limit: number }): Awaitable<readonly AuditEntry[]>;
}
