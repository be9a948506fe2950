import type {
  AdminKey,
  AdminSchemas,
  AdminUser,
  AdminUserDetail,
  CreatedAdminKey,
  CreditGrant,
  LedgerPage,
  LedgerQuery,
  RolledAdminKey,
  UsagePage,
  UsageQuery,
} from "../../../schemas/types.gen.ts";
import type { FailedSignIns } from "../../accounts/access-trail.ts";
import type { AuditEntry, NewAuditEntry, UserQuery } from "../../kit/index.ts";

/**
 * What rows need of the store. A supervisor has none and asks one of its workers: arguments and results are JSON, and
 * `undefined` is none.
 *
 * To add a method: its signature here, its line in `SERVICES`, and its work in `src/gateway/admin-services.ts`.
 */
export interface AdminServices extends UserServices {
  /** Notes an entry that has begun; any other one joins the chain. */
  writeAudit(entry: NewAuditEntry): Promise<null>;
  /** Counts failed sign-ins at the admin listener and writes them to the audit log, within bounds. */
  noteFailedSignIns(failures: readonly FailedSignIns[]): Promise<null>;
  /** Ends a session of the console on all instances, for the milliseconds that it had left. */
  endSession(sessionId: string, leftMs: number): Promise<null>;
  isSessionEnded(sessionId: string): Promise<boolean>;
  /** Sets something of an upstream, on all instances. @throws GatewayError NOT_FOUND, STORE_UNAVAILABLE */
  setManual(order: ManualOrder): Promise<{ readonly until: string; readonly cooldowns_ended?: number }>;
  /** @returns null: nothing was set, and nothing was cooling down. @throws GatewayError NOT_FOUND, STORE_UNAVAILABLE */
  liftManual(upstream: string): Promise<{ readonly cooldowns_ended?: number } | null>;
  /** The latest first. */
  listGenerations(): Promise<readonly unknown[]>;
  /** @param to the one in force when null. @throws GatewayError NOT_FOUND */
  diffGenerations(from: string, to: string | null): Promise<unknown>;
  /** The newest first. @param query.before an id: only older ones. */
  listAudit(query: { readonly before: string | null; readonly limit: number }): Promise<readonly AuditEntry[]>;
  /** @throws GatewayError INVALID_REQUEST */
  ledgerPage(query: LedgerQuery): Promise<LedgerPage>;
  /** @throws GatewayError INVALID_REQUEST */
  usage(query: UsageQuery): Promise<UsagePage>;
}

export interface ManualOrder extends Pick<AdminSchemas["UpstreamManualRequest"], "mode" | "reason"> {
  readonly upstream: string;
  readonly expiresInSeconds: number;
  /** Who. */
  readonly by: string;
}

/** Users, their credits and their keys. What is no user's id, or no live key's, is a NOT_FOUND. */
export interface UserServices {
  findUsers(query: UserQuery): Promise<{ readonly users: readonly AdminUser[]; readonly next: string | null }>;
  addUser(user: AdminSchemas["NewUserRequest"]): Promise<AdminUser>;
  getUser(id: string): Promise<AdminUserDetail>;
  changeUser(id: string, change: AdminSchemas["UserChangeRequest"]): Promise<AdminUser>;
  deleteUser(id: string): Promise<null>;
  grantCredits(order: CreditsOrder): Promise<CreditGrant>;
  listGrants(
    userId: string,
    page: { readonly limit: number; readonly after: number | null },
  ): Promise<{ readonly grants: readonly CreditGrant[]; readonly next: number | null }>;
  listKeys(userId: string): Promise<readonly AdminKey[]>;
  addKey(userId: string, key: AdminSchemas["AdminKeyRequest"]): Promise<CreatedAdminKey>;
  changeKey(id: string, change: AdminSchemas["AdminKeyChangeRequest"]): Promise<AdminKey>;
  rollKey(id: string, roll: AdminSchemas["AdminKeyRollRequest"]): Promise<RolledAdminKey>;
  revokeKey(id: string): Promise<null>;
  /** Voids the user's refresh tokens and access tokens. */
  endUserSessions(userId: string): Promise<null>;
}

export interface CreditsOrder extends Pick<AdminSchemas["CreditsRequest"], "amount" | "reason"> {
  readonly userId: string;
  /** Who. */
  readonly by: string;
  readonly idempotencyKey: string;
}

/** A `read` whose worker ended is asked of another one; a `write` is never sent twice, unless it is `repeatable`. */
export const SERVICES: Readonly<Record<keyof AdminServices, "read" | "write" | "repeatable">> = Object.freeze({
  setManual: "repeatable",
  liftManual: "repeatable",
  listGenerations: "read",
  diffGenerations: "read",
  findUsers: "read",
  addUser: "write",
  getUser: "read",
  changeUser: "repeatable",
  deleteUser: "write",
  grantCredits: "repeatable",
  listGrants: "read",
  listKeys: "read",
  addKey: "write",
  changeKey: "repeatable",
  rollKey: "write",
  revokeKey: "write",
  endUserSessions: "repeatable",
  writeAudit: "repeatable",
  noteFailedSignIns: "write",
  endSession: "repeatable",
  isSessionEnded: "read",
  listAudit: "read",
  ledgerPage: "read",
  usage: "read",
});

export type ServiceName = keyof AdminServices;
