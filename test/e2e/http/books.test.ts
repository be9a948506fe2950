import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { LedgerEntry } from "../../../src/kit/index.ts";
import type { LedgerEntry as Truth } from "../../../src/simulator/server.ts";
import { TestGateway } from "../support/in-process.ts";

const SEED = 20_260_120;
const REQUESTS = 500;
const LANES = 25;

interface Plan {
  readonly model: string;
  readonly stream: boolean;
  readonly script: string;
  /** Milliseconds after which the client goes away; null: it stays. */
  readonly patience: number | null;
}

const counts = fc
  .tuple(fc.nat(5_000), fc.nat(5_000))
  .map(([prompt, completion]) => `?usage.prompt=${prompt}&usage.completion=${completion}&usage.cached=${prompt >> 1}`);
const fault = fc.constantFrom(
  "?status=500",
  "?status=429",
  "?status=401",
  "?status=422",
  "?reset_after=0",
  "?reset_after=3",
  "?end_after=3",
  "?error_after=2",
  "?error_first",
  "?malformed_after=4",
  "?html",
  "?no_usage",
  "?no_done",
  "?chunk_delay=2ms&chunks=30",
  "?first_byte=30ms",
);
const SILENCES = ["?stall_after=3", "?stall_after=0", "?first_byte=1h", "?chunk_delay=4ms&chunks=400"];
const silence = fc.constantFrom(...SILENCES);
const model = fc.constantFrom("route/one", "route/chain");
const staying = fc.record<Plan>({
  model,
  stream: fc.boolean(),
  script: fc.oneof({ arbitrary: counts, weight: 3 }, { arbitrary: fault, weight: 2 }),
  patience: fc.constant(null),
});
const leaving = fc.record<Plan>({
  model,
  stream: fc.boolean(),
  script: fc.oneof({ arbitrary: fault, weight: 1 }, { arbitrary: silence, weight: 3 }),
  patience: fc.nat(150),
});
const plan = fc.oneof({ arbitrary: staying, weight: 4 }, { arbitrary: leaving, weight: 1 });

/** What one client saw of its request. */
type Seen = "left" | "whole" | "cut" | number;

test(`${REQUESTS} requests with faults of every kind: client, ledger and upstream tell the same story`, async () => {
  const price = { input_per_million: 3, output_per_million: 7, cached_input_per_million: 1 };
  const gateway = await TestGateway.start({
    chains: { "route/chain": ["?fail_ratio=0.5&status=503", "-"] },
    config: { models: { "route/one": { price }, "route/chain": { price } } },
  });
  const users = await Promise.all(Array.from({ length: 5 }, () => gateway.user()));
  const plans = fc.sample(plan, { numRuns: REQUESTS, seed: SEED });
  const seen = new Map<string, Seen>();
  // One queue for all lanes: each takes the next request when it is through with one.
  const queue = plans.entries();
  const lane = async (): Promise<void> => {
    for (const [index, { model, stream, script, patience }] of queue) {
      const requestId = `book-${index}`;
      const user = users[index % users.length]!;
      const call = gateway.open(user, { model, stream, sim: script }, { headers: { "x-request-id": requestId } });
      const leaves = patience === null ? new Promise<"left">(() => undefined) : sleep(patience, "left" as const);
      const answer = await Promise.race([call.whole(), leaves]);
      if (answer === "left") call.leave();
      seen.set(requestId, answer === "left" ? answer : outcomeOf(answer));
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  await gateway.audit();

  const entries = new Map<string, LedgerEntry>();
  for (const user of users) {
    const { ledger, used } = await gateway.books(user);
    expect(used.day).toBe(ledger.length);
    for (const entry of ledger) entries.set(entry.requestId, entry);
  }
  const asked = Map.groupBy(gateway.simulator.ledger(), ({ requestId }) => requestId);
  const planOf = (id: string): Plan => plans[Number(id.slice("book-".length))]!;
  const wrong = [...seen].filter(([id, saw]) => !agrees(saw, entries.get(id), asked.get(id) ?? [], price));
  // Nothing else ends a silence than its client, and who leaves an upstream that was asked is counted.
  const unanswered = [...seen].filter(([id, saw]) => saw === "left" && SILENCES.includes(planOf(id).script));
  expect(unanswered.filter(([id]) => asked.has(id) && !entries.has(id))).toEqual([]);
  expect(unanswered.filter(([id]) => entries.get(id)?.charge === 0n).length).toBeGreaterThan(0);
  expect(
    wrong.map(([id, saw]) => ({
      id,
      saw,
      plan: planOf(id),
      entry: entries.get(id),
      asked: asked.get(id),
    })),
  ).toEqual([]);
  // The plans reach every kind of end.
  const kinds = [...entries.values()].map(({ outcome }) => outcome);
  expect(kinds).toEqual(expect.arrayContaining(["served", "upstream_cut", "client_fault"]));
  expect([...seen.values()].filter((saw) => saw === 502).length).toBeGreaterThan(0);
  await gateway.close();
});

function outcomeOf({ status, text }: { readonly status: number; readonly text: string }): Seen {
  if (status !== 200) return status;
  return text.includes('data: {"error":') ? "cut" : "whole";
}

function agrees(
  saw: Seen,
  entry: LedgerEntry | undefined,
  asked: readonly Truth[],
  price: Record<string, number>,
): boolean {
  const exact = entry && chargeOf(entry, price) === entry.charge;
  const claimed = asked.at(-1)?.claimed;
  const counted = claimed
    ? entry?.usage.prompt === claimed.prompt && entry?.usage.completion === claimed.completion
    : entry?.estimated;
  switch (saw) {
    case "whole":
      return entry?.outcome === "served" && exact === true && counted === true;
    case "cut":
      return entry?.outcome === "upstream_cut" && exact === true && entry.charge > 0n;
    case "left":
      // It may have been too late to go, or what was done for it was refused.
      return (
        entry === undefined ||
        entry.outcome === "client_fault" ||
        (exact === true && ["client_gone", "served", "upstream_cut"].includes(entry.outcome))
      );
    case 400:
      return entry?.outcome === "client_fault" && entry.charge === 0n;
    default:
      return entry === undefined && asked.every(({ claimed: none }) => none === null);
  }
}

/** Prices of whole units a million are whole nano-units a token, times 1,000. */
function chargeOf({ usage }: LedgerEntry, price: Record<string, number>): bigint {
  const fresh = (usage.prompt - usage.cached) * price["input_per_million"]!;
  return (
    1_000n *
    BigInt(fresh + usage.cached * price["cached_input_per_million"]! + usage.completion * price["output_per_million"]!)
  );
}
