import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Command } from "commander";
import { expect, test, vi } from "vitest";
import { ExitError } from "../../src/cli/options.ts";
import { createProgram } from "../../src/cli/program.ts";
import { decimal, type Snapshot } from "../../src/kit/index.ts";
import { openStore } from "../../src/store/open.ts";
import { START, tokenSettings } from "../accounts/support.ts";
import { TestGateway } from "../e2e/support/in-process.ts";
import { temporaryFolder } from "../store/support.ts";

const LIMITS = { day: null, hour: null, minute: null, streams: null };
const SNAPSHOT = {
  tiers: { Free: { name: "Free", access: "all", limits: LIMITS } },
  auth: { tokens: tokenSettings({ a: "" }), signup: { tier: "Free", credits: decimal("1") } },
} as unknown as Snapshot;

/** Arguments of a run that changes something; USER and KEY stand for ids. */
type Change = readonly [action: string, ...args: readonly string[]];

/**
 * Every command: what its change is called in the audit log, or why it is not there. A new command fails the test until it
 * has a row.
 */
const COMMANDS: Readonly<Record<string, Change | "reads" | "writes files" | "is audited where it is tested">> = {
  "users add": ["addUser", "--email", "new@example.com"],
  "users list": "reads",
  "users disable": ["disableUser", "USER"],
  "users enable": ["enableUser", "ada@example.com"],
  "users set": ["changeUser", "USER", "--tier", "Free"],
  "keys add": ["addKey", "--user", "USER", "--name", "laptop", "--expires-in", "30d"],
  "keys set": ["changeKey", "KEY", "--name", "desktop"],
  "keys roll": ["rollKey", "KEY", "--grace", "1h"],
  "keys list": "reads",
  "keys revoke": ["revokeKey", "KEY"],
  "credits add": ["grantCredits", "USER", "5", "--reason", "goodwill"],
  token: ["issueToken", "USER"],
  "sessions end": ["endUserSessions", "USER"],
  "audit verify": "reads",
  rollback: "is audited where it is tested",
  dev: "is audited where it is tested",
  serve: "reads",
  check: "reads",
  diff: "reads",
  explain: "reads",
  replay: "reads",
  test: "reads",
  schema: "reads",
  connect: "writes files",
  sim: "reads",
  init: "writes files",
  "plugin new": "writes files",
  import: "writes files",
  // The last: it takes away what the others are about.
  "users delete": ["deleteUser", "USER", "--yes"],
};

function pathsOf(command: Command, path: readonly string[] = []): readonly string[] {
  if (command.commands.length === 0) return [path.join(" ")];
  return command.commands.flatMap((child) => pathsOf(child, [...path, child.name()]));
}

async function run(
  program: Command,
  args: readonly string[],
): Promise<{ readonly code: number; readonly text: string }> {
  let text = "";
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((more) => {
    text += String(more);
    return true;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return { code: 0, text };
  } catch (error) {
    if (error instanceof ExitError) return { code: error.exitCode, text: error.message };
    throw error;
  } finally {
    spy.mockRestore();
  }
}

test("every command that changes something is in the audit log, under its own action, as cli", async () => {
  const file = join(temporaryFolder(), "gateway.db");
  const openFile = () => openStore(`sqlite:${file}`, { serving: false, now: () => START });
  const program = () => createProgram(async () => ({ store: await openFile(), snapshot: SNAPSHOT, now: () => START }));
  expect(pathsOf(program()).toSorted()).toEqual(Object.keys(COMMANDS).toSorted());

  const store = await openFile();
  const { id } = (await store.addUser({ id: "user_ada", email: "ada@example.com", tier: "Free", credits: 0n }))!;
  const digest = new Uint8Array(32);
  await store.addKey({ id: "key_1", userId: id, digest, name: "k", prefix: "rk_01234567" }, 50);
  const expected: string[] = [];
  for (const [path, change] of Object.entries(COMMANDS)) {
    if (typeof change === "string") continue;
    const [action, ...args] = change;
    const given = args.map((arg) => (arg === "USER" ? id : arg === "KEY" ? "key_1" : arg));
    const { code } = await run(program(), [...path.split(" "), ...given, "--json"]);
    const [entry] = await store.listAudit({ before: null, limit: 1 });
    const told = { path, code: 0, name: "cli", role: "operator", action, outcome: "done", address: null };
    expect({ path, code, ...entry }).toMatchObject(told);
    expect(entry?.target).toMatch(/^(user|key)_/);
    expect(entry?.digest).toMatch(/^[0-9a-f]{64}$/);
    expected.push(action);
  }
  expect(await run(program(), ["users", "disable", "nobody@example.com"])).toMatchObject({ code: 1 });
  expect(await run(program(), ["keys", "revoke", "key_0"])).toMatchObject({ code: 1 });
  const all = await store.listAudit({ before: null, limit: 100 });
  expect(all.map(({ action, outcome }) => [action, outcome]).toReversed()).toEqual([
    ...expected.map((action) => [action, "done"]),
    ["disableUser", "refused"],
    ["revokeKey", "refused"],
  ]);
  const text = JSON.stringify(all);
  expect(text).not.toMatch(/rk_[0-9a-f]{64}|eyJ/);
  expect(await store.verifyAudit()).toMatchObject({ bad: null, begun: 0 });
  await store.close();
});

test("gateway audit verify tells whether the log is whole, and exits with 1 where it is not", async () => {
  const gateway = await TestGateway.start();
  try {
    const { store } = gateway.gateway;
    const url = gateway.gateway.generation.snapshot.store.url.reveal();
    for (let turn = 0; turn < 3; turn++) await gateway.admin("/admin/reload", { method: "POST" });
    const head = (await store.verifyAudit()).head!;
    const verify = (...args: readonly string[]) =>
      run(createProgram(), ["audit", "verify", "--config", gateway.file, ...args]);
    expect(await verify()).toEqual({ code: 0, text: `The audit log is whole: 3 entries.\nNewest digest: ${head}\n` });
    expect(await verify("--contains", head)).toMatchObject({ code: 0 });
    expect((await verify("--contains", "0".repeat(64))).code).toBe(1);
    expect(JSON.parse((await verify("--json")).text)).toMatchObject({ ok: true, entries: 3, bad: null });

    const [, middle] = await store.listAudit({ before: null, limit: 3 });
    const db = new DatabaseSync(url.slice("sqlite:".length));
    db.prepare("UPDATE audit SET entry = json_set(entry, '$.name', 'mallory') WHERE id = ?").run(middle!.id);
    db.close();
    const { code, text } = await verify();
    expect(code).toBe(1);
    expect(text).toContain(`at entry ${middle!.id} (reload)`);
    expect(text).toContain("its digest does not match");
  } finally {
    await gateway.close();
  }
});
