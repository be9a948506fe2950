import type { LedgerPage, LedgerQuery, UsagePage, UsageQuery } from "../../../schemas/types.gen.ts";
import type { AuditEntry } from "../../kit/index.ts";

/**
 * What rows need of the store. A supervisor has none and asks one of its workers: arguments and results are JSON, and
 * `undefined` is none.
 *
 * To add a method: its signature here, its line in `SERVICES`, and its work in `src/gateway/admin-services.ts`.
 */
export interface AdminServices {
  /** Adds it, or replaces the one with its id. */
  writeAudit(entry: AuditEntry): Promise<null>;
  /** The newest first. @param query.before an id: only older ones. */
  listAudit(query: { readonly before: string | null; readonly limit: number }): Promise<readonly AuditEntry[]>;
  /** @throws GatewayError INVALID_REQUEST */
  ledgerPage(query: LedgerQuery): Promise<LedgerPage>;
  /** @throws GatewayError INVALID_REQUEST */
  usage(query: UsageQuery): Promise<UsagePage>;
}

/** A `read` whose worker ended is asked of another one; a `write` is never sent twice, unless it is `repeatable`. */
export const SERVICES: Readonly<Record<keyof AdminServices, "read" | "write" | "repeatable">> = Object.freeze({
  writeAudit: "repeatable",
  listAudit: "read",
  ledgerPage: "read",
  usage: "read",
});

export type ServiceName = keyof AdminServices;
