import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Json, LedgerEntry } from "../../../src/kit/index.ts";
import type { LedgerEntry as Truth } from "../../../src/simulator/server.ts";
import { file, wav } from "../support/form.ts";
import { tier } from "../support/gateway-config.ts";
import type { Answer } from "../support/http.ts";
import { TestGateway } from "../support/in-process.ts";
import { type KindEndpoint, chains, ENDPOINTS, MEDIA, openKind, PLACES } from "../support/kinds.ts";

const SEED = 20_260_121;
const REQUESTS = 400;
const LANES = 20;

interface Plan {
  readonly endpoint: KindEndpoint;
  readonly changes: Json;
  readonly suffix: "" | "-chain";
  readonly script: string;
  /** Milliseconds after which the client goes away; null: it stays. */
  readonly patience: number | null;
}

const word = fc.constantFrom("tea", "漢字", "😀", "two words");
const CHANGES: Readonly<Record<KindEndpoint, fc.Arbitrary<Json>>> = {
  chat: fc.record({ stream: fc.boolean(), max_tokens: fc.integer({ min: 1, max: 50 }) }),
  embeddings: fc.record({ input: fc.array(word, { minLength: 1, maxLength: 20 }) }),
  rerank: fc.record({
    documents: fc.array(word, { minLength: 1, maxLength: 20 }),
    top_n: fc.integer({ min: 1, max: 9 }),
  }),
  speech: fc.record({ input: fc.array(word, { minLength: 1, maxLength: 50 }).map((words) => words.join(" ")) }),
  transcription: fc.record({ file: fc.integer({ min: 1, max: 3_000 }).map((length) => file(wav(length))) }),
  image: fc.record({ n: fc.integer({ min: 1, max: 5 }), size: fc.constant("8x8") }),
};
const fault = fc.constantFrom(
  "?status=500",
  "?status=429",
  "?status=401",
  "?status=422",
  "?reset_after=0",
  "?reset_after=2",
  "?close_after=2",
  "?wrong_length",
  "?error_first",
  "?html",
  "?no_usage",
  "?first_byte=30ms",
  "?drip=100/1ms",
);
const SILENCES = ["?stall_after=0", "?stall_after=2", "?first_byte=1h", "?drip=20/5ms"];
const silence = fc.constantFrom(...SILENCES);
const plan: fc.Arbitrary<Plan> = fc.constantFrom(...ENDPOINTS).chain((endpoint) => {
  const common = {
    endpoint: fc.constant(endpoint),
    changes: CHANGES[endpoint],
    suffix: fc.constantFrom("" as const, "-chain" as const),
  };
  const staying = fc.record({ ...common, script: fc.oneof(fc.constant("-"), fault), patience: fc.constant(null) });
  const leaving = fc.record({ ...common, script: fc.oneof(fault, silence), patience: fc.nat(120) });
  return fc.oneof({ arbitrary: staying, weight: 4 }, { arbitrary: leaving, weight: 1 });
});

/** What one client saw of its request. */
type Seen = "left" | "whole" | "cut" | number;

function outcomeOf({ status, whole, text }: Answer): Seen {
  if (status !== 200) return status;
  return whole && !text.includes('data: {"error":') ? "whole" : "cut";
}

test(`${REQUESTS} requests of every kind with faults of every kind: client, ledger and upstream tell the same story`, async () => {
  const gateway = await TestGateway.start({
    chains: { ...chains("", ["-"]), ...chains("-chain", ["?fail_ratio=0.5&status=503", "-"]) },
    config: { tiers: { Counted: tier({ day: 1_000_000 }) } },
  });
  const users = await Promise.all(Array.from({ length: 4 }, () => gateway.user({ tier: "Counted", credits: "1000" })));
  const plans = fc.sample(plan, { numRuns: REQUESTS, seed: SEED });
  const seen = new Map<number, Seen>();
  // One queue for all lanes: each takes the next request when it is through with one.
  const queue = plans.entries();
  const lane = async (): Promise<void> => {
    for (const [index, { endpoint, changes, suffix, script, patience }] of queue) {
      const body = { ...changes, model: PLACES[endpoint].model + suffix, sim: script };
      const call = openKind(gateway, users[index % users.length]!, endpoint, body, {
        headers: { "x-request-id": `kind-${index}` },
      });
      const leaves = patience === null ? new Promise<"left">(() => undefined) : sleep(patience, "left" as const);
      const answer = await Promise.race([call.whole(), leaves]);
      if (answer === "left") call.leave();
      seen.set(index, answer === "left" ? answer : outcomeOf(answer));
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  await gateway.audit();

  const entries = new Map<string, LedgerEntry>();
  for (const user of users) {
    const { ledger, used } = await gateway.books(user);
    expect([used.day, used.hour]).toEqual([
      ledger.reduce((sum, entry) => sum + unitsOf(plans, entry), 0),
      ledger.length,
    ]);
    for (const entry of ledger) entries.set(entry.requestId, entry);
  }
  const asked = Map.groupBy(gateway.simulator.ledger(), ({ requestId }) => requestId);
  const wrong = [...seen].flatMap(([index, saw]) => {
    const id = `kind-${index}`;
    const [entry, truth] = [entries.get(id), asked.get(id) ?? []];
    return agrees(plans[index]!, saw, entry, truth) ? [] : [{ id, saw, plan: plans[index], entry, truth }];
  });
  expect(wrong).toEqual([]);
  // The plans reach every kind of end, on every endpoint.
  const met = (outcome: string) => [...entries].filter(([, entry]) => entry.outcome === outcome).length;
  expect([met("served") > 150, met("upstream_cut") > 5, met("client_fault") > 5]).toEqual([true, true, true]);
  expect([...seen.values()].filter((saw) => saw === 502).length).toBeGreaterThan(20);
  await gateway.close();
});

function unitsOf(plans: readonly Plan[], { requestId }: LedgerEntry): number {
  const { endpoint } = plans[Number(requestId.slice("kind-".length))]!;
  return (MEDIA as readonly KindEndpoint[]).includes(endpoint) ? 5 : 1;
}

function agrees(plan: Plan, saw: Seen, entry: LedgerEntry | undefined, truth: readonly Truth[]): boolean {
  const last = truth.at(-1);
  switch (saw) {
    case "whole":
      return entry?.outcome === "served" && last !== undefined && entry.charge === owed(plan, entry, last);
    case "cut":
      // All of it: what a whole answer would have cost.
      return (
        entry?.outcome === "upstream_cut" && (plan.endpoint === "chat" || entry.charge === owed(plan, entry, last))
      );
    case "left":
      // It may have been too late to go, or what was done for it was refused.
      if (entry !== undefined) return ["client_fault", "client_gone", "served", "upstream_cut"].includes(entry.outcome);
      // Nothing else ends a silence than its client, and who leaves an upstream that was asked is counted.
      return last === undefined || !SILENCES.includes(plan.script);
    case 400:
      return entry?.outcome === "client_fault" && entry.charge === 0n;
    default:
      return saw === 502 && entry === undefined && truth.length > 0;
  }
}

/** By the prices of `chainConfig`, in nano-units; where the upstream counts nothing, what the gateway estimated. */
function owed({ endpoint, changes }: Plan, { usage, estimated }: LedgerEntry, truth: Truth | undefined): bigint {
  const units = estimated || truth === undefined ? { ...usage, milliseconds: usage.milliseconds ?? 0 } : truth.units;
  switch (endpoint) {
    case "chat":
      return BigInt(units.prompt) * 1_000n + BigInt(estimated ? usage.completion : (truth?.tokens ?? 0)) * 2_000n;
    case "embeddings":
      return BigInt(units.prompt) * 1_000n;
    case "rerank":
      return 1_000_000n;
    case "speech":
      return BigInt(Array.from(String(changes["input"])).length) * 10_000n;
    case "transcription":
      return BigInt(units.milliseconds) * 1_000n;
    case "image":
      return BigInt(Number(changes["n"])) * 20_000_000n;
  }
}
