import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { digest } from "../../../src/accounts/api-keys.ts";
import { openStore } from "../../../src/store/open.ts";
import { OPEN, START, temporaryFolder } from "../support.ts";

const CHILD = new URL("crash-child.ts", import.meta.url).pathname;
/** In an ordinary run; `KILLS=50` is the long form. */
const KILLS = Number(process.env["KILLS"] ?? 12);
const LANES = 2;
/** Requests that a child has under way at the same time. */
const REQUEST_LANES = 4;
/** Half of what a child takes to its first line is spent on stripping types, which is remembered there. */
const NODE_COMPILE_CACHE = join(tmpdir(), "gateway-compile-cache");

type Line = readonly ["try" | "ok", string, ...(readonly (string | number)[])];

function start(
  file: string,
  userId: string,
  mode: "work" | "idle" | "command",
): ChildProcessByStdio<null, Readable, null> {
  return spawn(process.execPath, [CHILD, file, userId, mode], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_COMPILE_CACHE },
  });
}

/** Runs a child, kills it `delay` milliseconds after its first acknowledged operation, and gives what it printed. */
async function runAndKill(file: string, userId: string, delay: number): Promise<Line[]> {
  const child = start(file, userId, "work");
  const lines: Line[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => {
    // The last line may have been cut by the kill.
    if (line.endsWith("]")) lines.push(JSON.parse(line) as Line);
    if (lines.length === 1) setTimeout(() => child.kill("SIGKILL"), delay);
  });
  await Promise.all([once(child, "close"), once(reader, "close")]);
  expect(child.signalCode, "the child worked until it was killed").toBe("SIGKILL");
  return lines;
}

function acknowledged(
  lines: readonly Line[],
  what: string,
  state: "ok" | "try" = "ok",
): (readonly (string | number)[])[] {
  return lines.filter(([how, name]) => how === state && name === what).map(([, , ...rest]) => rest);
}

function sum(lines: readonly (readonly (string | number)[])[]): number {
  return lines.reduce((all, [amount]) => all + Number(amount), 0);
}

/** Everything acknowledged is there exactly once, and the sums hold. */
async function verify(file: string, userId: string, lines: readonly Line[]): Promise<void> {
  const store = await openStore(`sqlite:${file}`, { serving: true, now: () => START });
  const user = (await store.findUser(userId))!;
  const entries = await store.ledger(userId);
  const ledger = new Map(entries.map((entry) => [entry.id, entry]));
  expect(ledger.size, "no entry is there twice").toBe(entries.length);

  for (const [id, charge] of acknowledged(lines, "settle")) {
    expect(ledger.get(String(id)), `settled ${id}`).toMatchObject({ charge: BigInt(charge!), outcome: "served" });
  }
  for (const [id] of acknowledged(lines, "back")) expect(ledger.has(String(id)), `given back ${id}`).toBe(false);
  for (const entry of entries.filter(({ outcome }) => outcome === "shutdown")) {
    expect(entry).toMatchObject({ charge: 0n, estimated: true, model: "route/swift", requestId: entry.id });
  }

  const grants = acknowledged(lines, "grant");
  const tried = acknowledged(lines, "grant", "try");
  const granted = Number(user.granted) - 1_000_000_000;
  expect([sum(grants), sum(tried)], "the last grant may not have been acknowledged").toContain(granted);
  expect(user.granted).toBe(user.balance + entries.reduce((all, { charge }) => all + charge, 0n));

  expect(await store.running(userId)).toEqual({ requests: 0, streams: 0, held: 0n });
  expect(user.held).toBe(0n);
  // What is settled is counted in the same commit; of what ran the counts may be there or not.
  const { used } = (await store.windows(userId, OPEN)).day;
  expect(used).toBeGreaterThanOrEqual(entries.filter(({ outcome }) => outcome === "served").length);
  const admitted = acknowledged(lines, "admit").length - acknowledged(lines, "back").length;
  expect(used).toBeLessThanOrEqual(admitted + REQUEST_LANES);

  const live = new Set((await store.listKeys(userId)).map(({ id }) => id));
  const made = acknowledged(lines, "key").map(([id, secret]) => [String(id), String(secret)] as const);
  const maybeRevoked = new Set(acknowledged(lines, "revoke", "try").map(([id]) => String(id)));
  const revoked = acknowledged(lines, "revoke").map(([id]) => String(id));
  expect(made.filter(([id]) => !live.has(id) && !maybeRevoked.has(id))).toEqual([]);
  expect(revoked.filter((id) => live.has(id))).toEqual([]);
  for (const [id, secret] of made) {
    const expected = live.has(id) ? { userId, tier: "Free", keyId: id } : null;
    expect(await store.principalByDigest(digest(secret)), `key ${id}`).toEqual(expected);
  }

  // Whether or not the last try was done before the kill, whoever asks again goes on from there.
  const refreshed = acknowledged(lines, "refresh").length;
  const asked = acknowledged(lines, "refresh", "try").length;
  expect(asked - refreshed).toBeOneOf([0, 1]);
  const token = (turn: number) => digest(`${userId} ${turn}`);
  const again = await store.rotate({ digest: token(refreshed), successor: token(refreshed + 1), grace: 0 });
  // Before the first there may have been no family.
  expect(asked === 0 || again?.userId === userId, `refresh ${refreshed}`).toBe(true);

  await store.close();
  const db = new DatabaseSync(file);
  expect(db.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  const drift = db.prepare("SELECT count(*) AS users FROM users WHERE streams <> 0 OR held <> 0").get();
  expect(drift).toEqual({ users: 0 });
  db.close();
}

test(`${KILLS} times kill -9: what was acknowledged is there exactly once`, { timeout: 120_000 }, async () => {
  const folder = temporaryFolder();
  let operations = 0;
  const lane = async (number: number) => {
    const file = join(folder, `lane-${number}.db`);
    for (let round = 0; round < KILLS / LANES; round++) {
      const userId = `user${number}x${round}`;
      const lines = await runAndKill(file, userId, Math.random() * 100);
      operations += lines.length;
      await verify(file, userId, lines);
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)));
  expect(operations, "the children did work").toBeGreaterThan(KILLS * 10);
});

test("a file that is served is refused to a second process, until the first is killed", async () => {
  const file = join(temporaryFolder(), "gateway.db");
  const child = start(file, "user_child", "idle");
  await once(child.stdout, "data");
  const serve = () => openStore(`sqlite:${file}`, { serving: true, now: () => START });
  try {
    await expect(serve()).rejects.toThrow(`cannot open the store ${file}: another process is serving it`);
    const command = await openStore(`sqlite:${file}`, { serving: false, now: () => START });
    expect(await command.findUser("user_child")).toMatchObject({ tier: "Free" });
    expect(await command.grant("user_child", 5n)).toMatchObject({ granted: 1_000_000_005n });
    await command.close();
    await expect(serve(), "a command does not release the lock").rejects.toThrow("another process is serving it");
  } finally {
    child.kill("SIGKILL");
    await once(child, "close");
  }
  const store = await serve();
  expect(await store.findUser("user_child")).toMatchObject({ granted: 1_000_000_005n });
  await store.close();
});

test("processes that make one new file at the same time all find it usable", async () => {
  const folder = temporaryFolder();
  for (let round = 0; round < 3; round++) {
    const file = join(folder, String(round), "gateway.db");
    const server = start(file, "user_0", "idle");
    const commands = ["user_1", "user_2"].map((userId) => start(file, userId, "command"));
    const exits = commands.map(async (child) => (await once(child, "exit"))[0] as number);
    await once(server.stdout, "data");
    expect(await Promise.all(exits)).toEqual([0, 0]);
    server.kill("SIGKILL");
    await once(server, "close");
    const store = await openStore(`sqlite:${file}`, { serving: true, now: () => START });
    expect((await store.listUsers()).map(({ id }) => id)).toEqual(["user_0", "user_1", "user_2"]);
    await store.close();
  }
});
