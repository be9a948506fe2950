import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { openStore } from "../../../src/store/open.ts";
import { Journal } from "../../../src/store/resilient/journal.ts";
import { DAY, OPEN, START, temporaryFolder } from "../support.ts";

const CHILD = new URL("crash-child.ts", import.meta.url).pathname;
const ROUNDS = 2;

type Line = readonly [string, ...(readonly unknown[])];

/** Runs a child, and kills it `delay` milliseconds after its first line; null: lets it end. */
async function run(argv: readonly string[], delay: number | null): Promise<Line[]> {
  const child = spawn(argv[0]!, argv.slice(1), {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), "gateway-compile-cache") },
  });
  const lines: Line[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => {
    // The last line may have been cut by the kill.
    if (line.endsWith("]")) lines.push(JSON.parse(line) as Line);
    if (lines.length === 1 && delay !== null) setTimeout(() => child.kill("SIGKILL"), delay);
  });
  await Promise.all([once(child, "close"), once(reader, "close")]);
  if (delay === null && child.exitCode !== 0) throw new Error(`ended with ${child.exitCode ?? child.signalCode}`);
  return lines;
}

test("kill -9 between journal and replay, and while replaying: what was settled is charged once", async () => {
  const folder = temporaryFolder();
  const [file, journal, userId] = [join(folder, "gateway.db"), join(folder, "settlements.db"), "user_1"];
  const open = () => openStore(`sqlite:${file}`, { serving: false, now: () => START });
  const first = await open();
  await first.addUser({ id: userId, email: "a@example.com", tier: "Free", credits: 1_000_000n });
  await first.close();
  const child = (mode: string) => [process.execPath, CHILD, mode, file, journal, userId];

  const acknowledged: string[] = [];
  let brokenOff = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const lines = await run(child("write"), 20 + Math.random() * 80);
    acknowledged.push(...lines.map(([, id]) => String(id)));
    // Two at the same time; one of them is killed at the first opportunity.
    const [killed] = await Promise.all([
      run(child("replay"), Math.random() * 5),
      run(child("replay"), Math.random() * 30),
    ]);
    if (!killed.some(([what]) => what === "done")) brokenOff++;
  }
  await Promise.all([run(child("replay"), null), run(child("replay"), null)]);

  const store = await open();
  const entries = await store.ledger(userId);
  const ids = new Set(entries.map(({ id }) => id));
  expect(ids.size, "each once").toBe(entries.length);
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
  expect(acknowledged.length).toBeGreaterThan(ROUNDS * 10);
  // Three lanes a round may have been killed between the commit and the line.
  expect(entries.length).toBeLessThanOrEqual(acknowledged.length + ROUNDS * 3);
  const user = (await store.findUser(userId))!;
  expect(user).toMatchObject({ granted: 1_000_000n, balance: 1_000_000n - 7n * BigInt(entries.length) });
  const running = await store.running(userId);
  expect(running.requests, "killed between admission and settlement").toBeLessThanOrEqual(ROUNDS * 3);
  const { used } = (await store.windows(userId, OPEN)).day;
  expect(used, "each counted once, or killed before it was written").toBeLessThanOrEqual(
    entries.length + running.requests,
  );
  await store.close();
  expect(brokenOff, "replays that were killed").toBeGreaterThan(0);
});

test("a full disk: what does not fit waits in memory, and everything is charged once", async () => {
  const journal = join(temporaryFolder(), "settlements.db");
  // Blocks of 512 bytes or of 1 KiB, as the shell has it.
  const limited = 'ulimit -f 128 && exec "$@"';
  const argv = ["/bin/sh", "-c", limited, "sh", process.execPath, CHILD, "full", "", journal, "user_1"];
  const [line] = await run(argv, null);
  expect(line).toEqual(["full", expect.any(Number), expect.stringMatching(/^journal not writable/), 300, 300]);
  const left = new Journal(journal);
  expect(
    left.oldest(DAY, 0).every(({ entry }) => !(entry instanceof Error)),
    "and the file is whole",
  ).toBe(true);
  left.close();
});
