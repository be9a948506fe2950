import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { formatText as formatDiagnostics } from "../config/diagnostics.ts";
import { environmentOf } from "../config/env-file.ts";
import type { FileAccess } from "../config/files.ts";
import { workflowCommand } from "../config/report.ts";
import type { ChangeClass, Side } from "../effects/change.ts";
import { compare } from "../effects/compare.ts";
import { formatJson, formatMarkdown, formatText, type Impact } from "../effects/report.ts";
import { codeOf, compileOffline } from "../gateway/compile.ts";
import { isLoaded } from "../gateway/configuration.ts";
import { sourceAccess, type SourceBody } from "../gateway/source-view.ts";
import type { Snapshot } from "../kit/index.ts";
import { defaultFormat, EXIT, ExitError, note } from "./options.ts";
import { isRevision, openRevision } from "./revision.ts";

export interface DiffOptions {
  readonly format: "text" | "json" | "markdown";
  readonly failOn?: "breaking" | "risky";
  readonly store?: boolean;
  readonly adminToken?: string;
}

/** What it means to go from one configuration to another. @throws ExitError for a side that cannot be compiled. */
export async function diff(old: string, now: string, options: DiffOptions): Promise<void> {
  // A gateway's files are taken to lie where the other side's do: relative paths mean the same then.
  const file = [now, old].find((name) => !isAddress(name) && existsSync(name)) ?? "gateway.yaml";
  const folder = dirname(resolve(file));
  const token = options.adminToken ?? (await environmentOf(resolve(file), process.env))["GATEWAY_ADMIN_TOKEN"] ?? "";
  const before = await readSide(old, { folder, token });
  const after = await readSide(now, { folder, token });
  const changes = compare(before, after);
  const impact = options.store ? await impactOn((isAddress(now) ? before : after).snapshot) : null;
  const format = { text: formatText, json: formatJson, markdown: formatMarkdown }[options.format];
  process.stdout.write(format({ old, new: now, changes, impact }));
  const failing: readonly ChangeClass[] = options.failOn === "risky" ? ["breaking", "risky"] : ["breaking"];
  const found = changes.filter((change) => failing.includes(change.class));
  if (!options.failOn || found.length === 0) return;
  process.exitCode = EXIT.findings;
  if (defaultFormat() === "github") {
    const kinds = [...new Set(found.map(({ kind }) => kind))].join(", ");
    const message = `--fail-on ${options.failOn} is met by ${found.length} of ${changes.length} changes: ${kinds}`;
    process.stderr.write(`${workflowCommand("error", { title: "gateway diff" }, message)}\n`);
  }
}

interface SideOptions {
  readonly folder: string;
  readonly token: string;
}

/** A file, a file of a git revision, or the configuration of a running gateway. */
async function readSide(name: string, options: SideOptions): Promise<Side> {
  if (isAddress(name)) {
    const body = await askGateway(name, options.token);
    const main = resolve(options.folder, body.files[0]?.path ?? "gateway.yaml");
    const side = await compileSide(name, main, sourceAccess(body, options.folder));
    return { ...side, code: body.code };
  }
  if (existsSync(name) || !isRevision(name)) return compileSide(name, resolve(name));
  const revision = await openRevision(name);
  try {
    return await compileSide(name, revision.file, revision.access);
  } finally {
    revision.close();
  }
}

async function compileSide(name: string, file: string, access?: FileAccess): Promise<Side> {
  const result = await compileOffline({ file, env: process.env, access, tell: note });
  if (!isLoaded(result)) {
    throw new ExitError(EXIT.failed, `${name} cannot be compiled\n${formatDiagnostics(result.diagnostics).trimEnd()}`);
  }
  return { snapshot: result.snapshot, code: codeOf(result) };
}

function isAddress(name: string): boolean {
  return /^https?:\/\//i.test(name);
}

const ADMIN_TIMEOUT_MS = 10_000;

/** @throws ExitError */
async function askGateway(address: string, token: string): Promise<SourceBody> {
  const url = new URL("/admin/config/source", address);
  const headers = { authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(ADMIN_TIMEOUT_MS);
  try {
    const response = await fetch(url, { headers, signal, redirect: "error" });
    if (!response.ok) throw new Error(refusalText(response.status));
    return (await response.json()) as SourceBody;
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new ExitError(EXIT.failed, `${url.origin} ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

function refusalText(status: number): string {
  if (status === 401) return "does not take the token; give it as --admin-token or in GATEWAY_ADMIN_TOKEN";
  if (status === 404) return "shows no configuration: it is no admin address, or has no admin token";
  return `answers ${status}`;
}

/** Counts the users of the store that the configuration names, and their keys, by plan. */
async function impactOn(snapshot: Snapshot): Promise<Impact> {
  const { askStore } = await import("./existing-store.ts");
  const touched = new Map<string, { users: number; keys: number }>();
  await askStore(snapshot, async (store) => {
    for (const { id, tier } of await store.listUsers()) {
      const counts = touched.get(tier) ?? { users: 0, keys: 0 };
      counts.users += 1;
      counts.keys += (await store.listKeys(id)).length;
      touched.set(tier, counts);
    }
  });
  return (plans) => {
    const counts = plans.map((plan) => touched.get(plan) ?? { users: 0, keys: 0 });
    const sum = (name: "users" | "keys"): number => counts.reduce((total, one) => total + one[name], 0);
    return { users: sum("users"), keys: sum("keys") };
  };
}
