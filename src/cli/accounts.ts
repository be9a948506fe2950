import { didYouMean, formatText } from "../config/diagnostics.ts";
import { loadForAccounts } from "../gateway/configuration.ts";
import { GatewayError, nanoToNumber, nanoToString, type Snapshot, type Store, type User } from "../kit/index.ts";
import { openConfigured } from "../store/open.ts";
import { createLog, prettyLines } from "../telemetry/log.ts";
import { EXIT, ExitError } from "./options.ts";

/** What account commands share: they work on the store itself, also while a gateway serves from it. */
export interface AccountsOnStore {
  readonly store: Store;
  readonly snapshot: Snapshot;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Called once a command, which closes the store. */
export type OpenAccounts = () => Promise<AccountsOnStore>;

export interface OutputOptions {
  readonly json?: boolean;
}

/** The result of a command: `json` with `--json`, else `text`. */
export interface Result {
  readonly json: unknown;
  readonly text: string;
}

export async function openConfiguredAccounts(file: string): Promise<AccountsOnStore> {
  const log = createLog({ level: "warn", pretty: await prettyLines() });
  const { loaded, rejected } = await loadForAccounts({ file, env: process.env, log });
  const { snapshot } = loaded;
  if (rejected !== null) {
    process.stderr.write(
      `gateway: ${file} does not pass: this command uses the last good configuration\n${formatText(rejected)}`,
    );
  }
  const now = Date.now;
  const store = await openConfigured(snapshot.store, { serving: false, now });
  return { store, snapshot, now };
}

/** Prints the result of `work` on stdout, once the store is closed and the result is safe. @throws ExitError */
export async function runOnAccounts(
  open: OpenAccounts,
  { json }: OutputOptions,
  work: (accounts: AccountsOnStore) => Promise<Result>,
): Promise<void> {
  const accounts = await open();
  let result: Result;
  try {
    result = await work(accounts);
  } catch (error) {
    throw error instanceof GatewayError ? exitErrorOf(error) : error;
  } finally {
    await accounts.store.close();
  }
  process.stdout.write(`${json ? JSON.stringify(result.json) : result.text}\n`);
}

function exitErrorOf(error: GatewayError): ExitError {
  if (error.code !== "STORE_UNAVAILABLE") {
    return new ExitError(EXIT.findings, error.message.replace(/^Invalid request: \/ ?/, ""));
  }
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return new ExitError(EXIT.failed, `the store does not answer${cause}`);
}

/** @param name id or address. @throws ExitError when there is no such user. */
export async function userOf(store: Store, name: string): Promise<User> {
  return found(await store.findUser(name), name);
}

/** @throws ExitError for a user that is not there, or no longer. */
export function found(user: User | null, name: string): User {
  if (!user) throw new ExitError(EXIT.findings, `there is no user ${name}`);
  return user;
}

/** @throws ExitError that names the nearest tier when the configuration has no such one. */
export function tierOf({ tiers }: Snapshot, name: string): string {
  if (Object.hasOwn(tiers, name)) return name;
  const names = Object.keys(tiers);
  const hint = didYouMean(name, names) ?? `the configuration has ${names.join(", ")}`;
  throw new ExitError(EXIT.usage, `there is no tier ${name}: ${hint}`);
}

export function userBody({ id, email, tier, balance }: User) {
  return { id, email, plan_tier: tier, credits: nanoToNumber(balance) };
}

/** @param done what was done to the user, as the first word of a sentence. */
export function describeUser(done: string, user: User): Result {
  const text = `${done} ${user.email} (${user.id}): tier ${user.tier}, credits ${nanoToString(user.balance)}`;
  return { json: userBody(user), text };
}

/** Text that cannot move the cursor, colour the terminal or forge a line. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, "\uFFFD");
}

/** Columns as wide as their widest cell, two blanks apart. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [head, ...rows].map(line).join("\n");
}
