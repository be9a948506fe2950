/**
 * A process whose store is away, for tests that kill it. Arguments: mode, the store's file, the journal's, the user. It
 * prints one JSON array a line. Modes: `write` admits and settles until it is killed; `replay` ends when the journal is
 * empty; `full` fills a disk that is too small for the journal.
 */
import { writeSync } from "node:fs";
import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import type { LedgerRecord } from "../../../src/kit/index.ts";
import { openMemory } from "../../../src/store/sqlite/database.ts";
import { openStore } from "../../../src/store/open.ts";
import { withResilience } from "../../../src/store/resilient/store.ts";
import { sqliteStore } from "../../../src/store/sqlite/store.ts";
import { collectingLog, type Fate, flaky } from "./flaky.ts";

const START = Date.UTC(2027, 0, 15, 8);
const OPEN = { day: null, hour: null, minute: null, streams: null };
const RECORD: LedgerRecord = {
  requestId: "req-1",
  keyId: null,
  model: "route/swift",
  upstream: "alpha",
  outcome: "served",
  usage: { prompt: 1, completion: 2, cached: 0, reasoning: 0 },
  estimated: false,
  receivedAt: START,
  endedAt: START,
};

const [mode = "", file = "", journal = "", userId = ""] = process.argv.slice(2);
const now = () => START + Math.floor(performance.now());
const inner =
  mode === "full" ? sqliteStore(openMemory(), now) : await openStore(`sqlite:${file}`, { serving: false, now });
const proxy = flaky(inner);
const { log, lines } = collectingLog();
const store = withResilience(proxy.store, { onFailure: () => "open", journal, log, now });

const say = (...line: unknown[]) => writeSync(1, `${JSON.stringify(line)}\n`);

function request(id: string) {
  const common = { userId, units: 1, model: "route/swift", limits: OPEN, enforceCredits: false };
  return {
    admission: { ...common, id, stream: true, hold: 5n },
    settlement: { id, userId, giveBack: false, charge: 7n, record: RECORD },
  };
}

if (mode === "write") {
  await Promise.all(
    [1, 2, 3].map(async (lane) => {
      for (let round = 0; ; round++) {
        const { admission, settlement } = request(`${process.pid}-${lane}-${round}`);
        // Every other one is admitted here, some after the store lost its answer.
        const fates: readonly Fate[] = ["answer", "away", "answer", "lost"];
        proxy.fate = () => fates[round % 4]!;
        await store.admit(admission);
        proxy.fate = () => "away";
        await store.settle(settlement);
        say("settled", admission.id);
      }
    }),
  );
}

if (mode === "replay") {
  say("begins", store.pending);
  while (store.pending > 0) await pause(5);
  say("done", store.pending);
  await store.close();
}

if (mode === "full") {
  await inner.addUser({ id: userId, email: "a@example.com", tier: "Free", credits: 0n });
  const requests = Array.from({ length: 300 }, (_, index) => request(`ex_${index}`));
  for (const { admission } of requests) await store.admit(admission);
  proxy.fate = () => "away";
  const settled = Promise.all(
    requests.map(async ({ settlement }, index) => {
      for (let turns = 0; turns < index; turns++) await turn();
      await store.settle(settlement);
    }),
  );
  const errors = () => lines.filter(({ level }) => level === "error");
  while (errors().length === 0 || store.pending < 300) await pause(5);
  proxy.fate = () => "answer";
  await settled;
  // No row can be removed from the journal, and yet all of them reach the store.
  while ((await store.ledger(userId)).length < 300) await pause(5);
  await pause(100);
  const ledger = await store.ledger(userId);
  say("full", errors().length, errors()[0]?.message, ledger.length, new Set(ledger.map(({ id }) => id)).size);
  process.exit();
}
