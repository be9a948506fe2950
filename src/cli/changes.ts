import { auditStamps, GatewayError, type Json, type NewAuditEntry, type Store } from "../kit/index.ts";
import { type AccountsOnStore, type OpenAccounts, type OutputOptions, type Result, runOnAccounts } from "./accounts.ts";
import { ExitError } from "./options.ts";

/** A change that a command makes, as the audit log names it. */
export interface CliChange {
  readonly action: string;
  /** As it was asked for, until `note` says more: an id or an address. */
  readonly target?: string;
  /** Without secrets. */
  readonly details?: Json;
}

/** Says more about a change once it is known. */
export type NoteChange = (more: Pick<CliChange, "target" | "details">) => void;

/**
 * As `runOnAccounts`, for a command that changes something: its entry is in the audit log before the change is made, and
 * again with what came of it.
 */
export function changeOnAccounts(
  open: OpenAccounts,
  options: OutputOptions,
  change: CliChange,
  work: (accounts: AccountsOnStore, note: NoteChange) => Promise<Result>,
): Promise<void> {
  return runOnAccounts(open, options, (accounts) => auditedChange(accounts, change, (note) => work(accounts, note)));
}

/** Makes a change by the command line, with its entry in the audit log. */
export async function auditedChange<T>(
  { store, now }: { readonly store: Pick<Store, "writeAudit">; readonly now: () => number },
  change: CliChange,
  work: (note: NoteChange) => Promise<T>,
): Promise<T> {
  const stamp = auditStamps(now)();
  let noted: CliChange = change;
  const write = async (outcome: NewAuditEntry["outcome"]): Promise<void> => {
    const { action, target = null, details = {} } = noted;
    const entry = { ...stamp, name: "cli", role: "operator", action, target, details, outcome } as const;
    await store.writeAudit({ ...entry, status: null, address: null });
  };
  const end = async (outcome: NewAuditEntry["outcome"]): Promise<void> => {
    try {
      await write(outcome);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      process.stderr.write(`gateway: the audit log has no end of ${change.action} (${outcome}): ${reason}\n`);
    }
  };
  await write("begun");
  let result: T;
  try {
    result = await work((more) => {
      noted = { ...noted, ...more };
    });
  } catch (error) {
    const isRefused = error instanceof ExitError || (error instanceof GatewayError && error.status < 500);
    await end(isRefused ? "refused" : "failed");
    throw error;
  }
  await end("done");
  return result;
}
