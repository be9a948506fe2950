import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Json, LedgerEntry } from "../../../src/kit/index.ts";
import type { LedgerEntry as Truth } from "../../../src/simulator/server.ts";
import { RUNS } from "../../properties/runs.ts";
import { file, wav } from "../support/form.ts";
import { tier } from "../support/gateway-config.ts";
import type { Answer } from "../support/http.ts";
import { TestGateway } from "../support/in-process.ts";
import { type KindEndpoint, chains, ENDPOINTS, MEDIA, openKind, PLACES } from "../support/kinds.ts";

const SEED = 20_260_121;
const REQUESTS = 2 * RUNS;
const LANES = 25;
/** Of chat, in nano-units a token. */
const INPUT = 3_000n;
const CACHED = 1_000n;
const OUTPUT = 7_000n;
const CHAT_PRICE = { input_per_million: 3, output_per_million: 7, cached_input_per_million: 1 };

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
const counts = fc
  .tuple(fc.nat(5_000), fc.nat(5_000))
  .map(([prompt, completion]) => `?usage.prompt=${prompt}&usage.completion=${completion}&usage.cached=${prompt >> 1}`);
/** No 401: refused for two users, the upstream's key rests, and so do all that come after. */
const FAULTS = [
  "?status=500",
  "?status=429",
  "?status=404",
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
];
/** Of events. */
const STREAM_FAULTS = [
  "?end_after=3",
  "?error_after=2",
  "?malformed_after=4",
  "?no_done",
  "?chunk_delay=2ms&chunks=30",
];
const SILENCES = ["?stall_after=0", "?stall_after=2", "?first_byte=1h", "?drip=20/5ms"];
const often = fc.constantFrom(...ENDPOINTS, "chat" as const, "chat" as const, "chat" as const);
const plan: fc.Arbitrary<Plan> = often.chain((endpoint) => {
  const isChat = endpoint === "chat";
  const common = {
    endpoint: fc.constant(endpoint),
    changes: CHANGES[endpoint],
    suffix: fc.constantFrom("" as const, "-chain" as const),
  };
  const fault = fc.constantFrom(...FAULTS, ...(isChat ? STREAM_FAULTS : []));
  const script = fc.oneof(isChat ? counts : fc.constant("-"), fault);
  const staying = fc.record({ ...common, script, patience: fc.constant(null) });
  const leaving = fc.record({
    ...common,
    script: fc.oneof({ arbitrary: fault, weight: 1 }, { arbitrary: fc.constantFrom(...SILENCES), weight: 2 }),
    patience: fc.nat(120),
  });
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
    config: {
      tiers: { Counted: tier({ day: 1_000_000 }) },
      models: { "route/one": { price: CHAT_PRICE }, "route/one-chain": { price: CHAT_PRICE } },
    },
  });
  const users = await Promise.all(Array.from({ length: 4 }, () => gateway.user({ tier: "Counted", credits: "1000" })));
  const plans = fc.sample(plan, { numRuns: REQUESTS, seed: SEED });
  const seen = new Map<number, Seen>();
  // One queue for all lanes: each takes the next request when it is through with one.
  const queue = plans.entries();
  const lane = async (): Promise<void> => {
    for (const [index, { endpoint, changes, suffix, script, patience }] of queue) {
      const body = { ...changes, model: PLACES[endpoint].model + suffix, sim: script };
      const headers = { "x-request-id": `book-${index}` };
      const call = openKind(gateway, users[index % users.length]!, endpoint, body, { headers });
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
    const units = ledger.reduce((sum, entry) => sum + unitsOf(plans, entry), 0);
    expect([used.day, used.hour]).toEqual([units, ledger.length]);
    for (const entry of ledger) entries.set(entry.requestId, entry);
  }
  const asked = Map.groupBy(gateway.simulator.ledger(), ({ requestId }) => requestId);
  const wrong = [...seen].flatMap(([index, saw]) => {
    const id = `book-${index}`;
    const [entry, truth] = [entries.get(id), asked.get(id) ?? []];
    return agrees(plans[index]!, saw, entry, truth) ? [] : [{ id, saw, plan: plans[index], entry, truth }];
  });
  expect(wrong).toEqual([]);
  // The plans reach every kind of end.
  const outcomes = new Set([...entries.values()].map(({ outcome }) => outcome));
  expect(outcomes).toEqual(new Set(["served", "upstream_cut", "client_fault", "client_gone"]));
  expect(new Set(seen.values())).toEqual(new Set(["whole", "cut", "left", 400, 502]));
  await gateway.close();
});

function unitsOf(plans: readonly Plan[], { requestId }: LedgerEntry): number {
  const { endpoint } = plans[Number(requestId.slice("book-".length))]!;
  return (MEDIA as readonly KindEndpoint[]).includes(endpoint) ? 5 : 1;
}

function agrees(plan: Plan, saw: Seen, entry: LedgerEntry | undefined, truth: readonly Truth[]): boolean {
  const last = truth.at(-1);
  const isExact = entry !== undefined && entry.charge === owed(plan, entry, last);
  switch (saw) {
    case "whole":
      return entry?.outcome === "served" && isExact && isCounted(plan, entry, last);
    case "cut":
      // All of it: what a whole answer would have cost. Of a chat what came.
      return entry?.outcome === "upstream_cut" && isExact && entry.charge > 0n;
    case "left":
      // Nothing else ends a silence than its client, and who leaves an upstream that was asked is counted.
      if (entry === undefined) return last === undefined || !SILENCES.includes(plan.script);
      // It may have been too late to go, or what was done for it was refused.
      if (entry.outcome === "client_fault") return entry.charge === 0n;
      if (entry.outcome === "client_gone" && entry.charge === 0n) return true;
      return isExact && ["client_gone", "served", "upstream_cut"].includes(entry.outcome);
    case 400:
      return entry?.outcome === "client_fault" && entry.charge === 0n;
    default:
      return saw === 502 && entry === undefined && truth.length > 0;
  }
}

/** What a chat's upstream claims is what is in the ledger; where it claims nothing, the ledger says that it estimates. */
function isCounted({ endpoint }: Plan, { usage, estimated }: LedgerEntry, truth: Truth | undefined): boolean {
  if (endpoint !== "chat") return truth !== undefined;
  const claimed = truth?.claimed;
  if (!claimed) return estimated;
  return usage.prompt === claimed.prompt && usage.completion === claimed.completion && usage.cached === claimed.cached;
}

/** By the prices, in nano-units; where the upstream counts nothing, what the gateway estimated. */
function owed({ endpoint, changes }: Plan, { usage, estimated }: LedgerEntry, truth: Truth | undefined): bigint {
  const units = estimated || truth === undefined ? { ...usage, milliseconds: usage.milliseconds ?? 0 } : truth.units;
  switch (endpoint) {
    case "chat":
      return (
        BigInt(usage.prompt - usage.cached) * INPUT + BigInt(usage.cached) * CACHED + BigInt(usage.completion) * OUTPUT
      );
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
