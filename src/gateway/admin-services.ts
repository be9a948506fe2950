import type { AccessTrail } from "../accounts/access-trail.ts";
import { type ErrorCode, type ErrorDetails, GatewayError, type NewAuditEntry } from "../kit/index.ts";
import type { AdminServices, ServiceName } from "../server/admin/services.ts";
import { SERVICES } from "../server/admin/services.ts";
import { ledgerQueryOf, shownLedger, shownUsage, usageQueryOf } from "../server/ledger-view.ts";
import { type AdminUsersParts, userServices } from "./admin-users.ts";
import type { GenerationHistory } from "./generation-history.ts";
import type { UpstreamControls } from "./upstream-controls.ts";

/** Ended sessions of the console, in the store's space of small values: no plugin's name has a colon. */
const ENDED_SESSIONS = "admin:sessions";

/** Counts what was written to the audit log, for metrics. */
export type CountEntry = (entry: Pick<NewAuditEntry, "action" | "outcome">) => void;

export interface AdminServicesParts extends AdminUsersParts {
  readonly trail: Pick<AccessTrail, "operatorsFailed">;
  /** Left out: nobody counts. */
  readonly count?: CountEntry;
  readonly controls: Pick<UpstreamControls, "set" | "lift">;
  readonly history: Pick<GenerationHistory, "list" | "diff">;
}

/** What rows of the admin API need of the store, in the process that has it. */
export function adminServices({ store, controls, history, trail, count, ...parts }: AdminServicesParts): AdminServices {
  return {
    ...userServices({ store, ...parts }),
    setManual: (order) => controls.set(order),
    liftManual: (upstream) => controls.lift(upstream),
    listGenerations: () => history.list(),
    diffGenerations: (from, to) => history.diff(from, to),
    async writeAudit(entry) {
      await store.writeAudit(entry);
      count?.(entry);
      return null;
    },
    async noteFailedSignIns(failures) {
      await trail.operatorsFailed(failures);
      return null;
    },
    async endSession(sessionId, leftMs) {
      await store.setValue(ENDED_SESSIONS, sessionId, "ended", leftMs);
      return null;
    },
    isSessionEnded: async (sessionId) => (await store.getValue(ENDED_SESSIONS, sessionId)) !== null,
    listAudit: async (query) => store.listAudit(query),
    ledgerPage: async (query) => shownLedger(await store.ledgerPage(ledgerQueryOf(query))),
    usage: async (query) => shownUsage(await store.usage(usageQueryOf(query, Date.now()))),
  };
}

/** What came of a call, as it passes between processes. */
export type CallAnswer =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly code: ErrorCode;
      readonly message: string;
      readonly details: Pick<ErrorDetails, "retryAfter" | "headers" | "fields">;
    };

/** @param about `{method, args}` as JSON. @throws what is no `GatewayError`. */
export async function answerCall(services: AdminServices, about: string): Promise<CallAnswer> {
  const { method, args } = JSON.parse(about) as { readonly method: ServiceName; readonly args: readonly unknown[] };
  if (!Object.hasOwn(SERVICES, method)) throw new Error(`no such service: ${method}`);
  try {
    const call = services[method] as (...args: readonly unknown[]) => Promise<unknown>;
    return { ok: true, value: await call(...args) };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, message, details } = error;
    const { retryAfter, headers, fields } = details;
    return { ok: false, code, message, details: { retryAfter, headers, fields } };
  }
}
