import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { loadOffline } from "../../../src/offline/load.ts";
import { replay, type ReplayReport } from "../../../src/offline/replay/replay.ts";
import { readDecisions } from "../../../src/telemetry/decision-reader.ts";
import { FEW_RUNS, PATIENCE } from "../../properties/runs.ts";
import { poll } from "../support/child.ts";
import { tier } from "../support/gateway-config.ts";
import { CHAT, MESSAGES, TestGateway, type TestUser } from "../support/in-process.ts";

/** Answers itself, or refuses, by what the request says, of which the log knows nothing. */
const CANNED = `
import { definePlugin, GatewayError, replay } from "#kit";
export default definePlugin({
  name: "canned",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({
    answer({ body, stream }) {
      if (body.user === "forbidden") throw new GatewayError("INVALID_REQUEST", "Invalid request: forbidden");
      if (body.user !== "canned") return null;
      const usage = { prompt: 7, completion: 3, cached: 0, reasoning: 0 };
      const choice = { index: 0, finish_reason: "stop" };
      const message = { role: "assistant", content: "Well." };
      if (!stream) return { type: "answer", body: { choices: [{ ...choice, message }] }, usage };
      const data = { object: "chat.completion.chunk", choices: [{ ...choice, delta: message }] };
      return { type: "events", source: replay([{ data, text: "Well." }]), usage };
    },
  }),
});
`;
const folder = join(tmpdir(), `gateway-replayed-${randomUUID()}`);
const file = join(folder, "log.jsonl");
const MODELS = {
  "route/failover": ["?status=503", "?chunks=3"],
  "route/failing": ["?status=500", "?close_after=0"],
  "route/slow": ["?chunks=3&chunk_delay=30ms"],
  "route/cut": ["?close_after=2"],
  "route/uncounted": ["?no_usage&chunks=4"],
  "route/refused": ["?status=400"],
  "route/stalled": ["?stall_after=2"],
  "route/silent": ["?first_byte=1s"],
  "route/cached": ["?usage.prompt=900&usage.cached=600"],
  "route/limited": ["?status=429&retry_after=60", "-"],
  "route/pro": { scripts: ["-"], tier: "Max" },
  "route/balanced": { scripts: ["-", "-", "?status=503"], chain: [] },
  "route/vectors": { scripts: ["-"], kind: "embedding" },
  "route/picture": { scripts: ["-"], kind: "image" },
  "route/voice": { scripts: ["-"], kind: "speech" },
};

let gateway: TestGateway;

beforeAll(async () => {
  const weighted = ["balanced-1", "balanced-2", "balanced-3"].map((upstream) => ({ upstream, model: "m", weight: 1 }));
  gateway = await TestGateway.start({
    chains: MODELS,
    files: {
      "canned.ts": CANNED,
      "none.schema.json": JSON.stringify({ type: "object", additionalProperties: false }),
    },
    config: {
      pipeline: ["auth", "plan-check", "quota", "breaker", { use: "./canned.ts" }, "stream-relay", "meter"],
      telemetry: { decision_log: { file } },
      defaults: { upstream: { breaker: { consecutive: 3, minimum: 1000, open_for: "200ms", max_open_for: "1s" } } },
      tiers: { Tight: tier({ day: 12, minute: 4, streams: 1 }), Max: tier({}) },
      models: { "route/balanced": { chain: [{ balance: "weighted", targets: weighted }] } },
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await rm(folder, { recursive: true, force: true });
});

interface Step {
  readonly model: string;
  readonly stream: boolean;
  readonly max_tokens: number | null;
  readonly user: number;
  /** Milliseconds after which the client leaves. */
  readonly leaves: number | null;
  /** Its user ends it instead, of a stream. */
  readonly kills: boolean;
  readonly says: "" | "canned" | "forbidden";
  /** Whether the next one waits for its end. */
  readonly waits: boolean;
}

const MODEL_NAMES = [...Object.keys(MODELS), "route/one", "route/none"];
const HANGING: ReadonlySet<string> = new Set(["route/stalled", "route/silent"]);

const step: fc.Arbitrary<Step> = fc
  .record({
    model: fc.constantFrom(...MODEL_NAMES),
    stream: fc.boolean(),
    max_tokens: fc.option(fc.integer({ min: 1, max: 500 })),
    user: fc.nat(2),
    leaves: fc.option(fc.integer({ min: 1, max: 60 }), { freq: 5 }),
    kills: fc.boolean(),
    says: fc.constantFrom("", "", "", "canned", "forbidden"),
    waits: fc.boolean(),
  })
  .map((one) => ({ ...one, leaves: HANGING.has(one.model) ? (one.leaves ?? 40) : one.leaves }));

const PATHS: Readonly<Record<string, readonly [path: string, body: Json]>> = {
  "route/vectors": ["/v1/embeddings", { input: "two words" }],
  "route/picture": ["/v1/images/generations", { prompt: "a door" }],
  "route/voice": ["/v1/audio/speech", { input: "Well then", voice: "alloy" }],
};

async function take({ model, stream, max_tokens, leaves, kills, says }: Step, { key }: TestUser): Promise<void> {
  const [path, body] = PATHS[model] ?? [
    CHAT,
    { messages: MESSAGES, stream, user: says, ...(max_tokens !== null && { max_tokens }) },
  ];
  const requestId = `${leaves === null ? "stays" : "leaves"}-${randomUUID()}`;
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", "x-request-id": requestId };
  const exchange = gateway.request(path, { headers, body: { model, ...body } });
  if (leaves === null) {
    await exchange.whole();
    return;
  }
  const whole = exchange.whole().catch(() => undefined);
  await Promise.race([whole, sleep(leaves)]);
  if (kills && stream) {
    await gateway.send("/v1/user/streams/kill", { headers: { "x-api-key": key } });
    await Promise.race([whole, sleep(100)]);
  }
  exchange.leave();
  await whole;
}

async function replayed(): Promise<ReplayReport> {
  const configuration = await loadOffline({ file: gateway.file });
  const question = { since: null, until: null, tier: null, model: null, limits: true, against: null };
  return replay({ files: [file], configuration, ...question });
}

/** Of requests whose client stayed: another's line is there or not. */
async function answered(): Promise<number> {
  let count = 0;
  for await (const { request_id } of readDecisions(file, () => {})) count += Number(request_id.startsWith("stays"));
  return count;
}

const calm: Step = {
  model: "route/one",
  stream: false,
  max_tokens: null,
  user: 2,
  leaves: null,
  kills: false,
  says: "",
  waits: true,
};
const EVERYTHING: Step[] = MODEL_NAMES.flatMap((model) =>
  [true, false].map((stream) => ({ ...calm, model, stream, leaves: HANGING.has(model) ? 40 : null })),
);
const BY_ITSELF: Step[] = [true, false].flatMap((stream) => [
  { ...calm, stream, says: "canned" },
  { ...calm, stream, says: "forbidden" },
  { ...calm, stream: true, model: "route/stalled", kills: true, leaves: 60 },
]);
/** More than windows and slots of a plan allow, and than a breaker stands. */
const TOO_MUCH: Step[] = [
  { ...calm, user: 0, model: "route/slow", stream: true, waits: false },
  { ...calm, user: 0, model: "route/slow", stream: true, waits: false },
  ...Array.from({ length: 6 }, () => ({ ...calm, user: 0 })),
  { ...calm, user: 1, model: "route/pro" },
  ...Array.from({ length: 6 }, () => ({ ...calm, model: "route/failing" })),
];
const ENDS = [
  "served null",
  "upstream_cut null",
  "client_gone null",
  "client_fault INVALID_REQUEST",
  "failed PROVIDER_ERROR",
  "killed null",
  "refused INVALID_REQUEST",
  "refused INVALID_MODEL",
  "refused MODEL_NOT_ALLOWED",
  "refused RATE_LIMIT_ERROR",
  "refused CIRCUIT_BREAKER_OPEN",
  "status",
  "skipped",
  "rate_limited",
];

test(
  "what a gateway has decided it would decide again",
  async () => {
    let sent = 0;
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      const users = [
        await gateway.user({ tier: "Tight" }),
        await gateway.user({ tier: "Free" }),
        await gateway.user({ tier: "Max" }),
      ];
      const running: Promise<void>[] = [];
      for (const one of steps) {
        running.push(take(one, users[one.user]!));
        if (one.waits) await Promise.all(running);
        // Who came first is told by a clock of milliseconds.
        else await sleep(15);
      }
      await Promise.all(running);
      // One that leaves at once may not have been read.
      sent += steps.filter(({ leaves }) => leaves === null).length;
      await gateway.audit();
      await poll(async () => (await answered().catch(() => 0)) >= sent);
      const { results, upstreams, cost, log, compared, changed } = await replayed();
      expect({ results, upstreams, cost: cost.changed, bad: log.bad_lines, changed }).toEqual({
        results: [],
        upstreams: [],
        cost: [],
        bad: [],
        changed: { requests: 0, users: 0 },
      });
      expect(compared).toBeGreaterThanOrEqual(sent);
    });
    await fc.assert(property, { numRuns: FEW_RUNS, examples: [[EVERYTHING], [BY_ITSELF], [TOO_MUCH]] });
    const ends = new Set<string>();
    for await (const { outcome, code, attempts } of readDecisions(file)) {
      ends.add(`${outcome} ${code}`);
      for (const attempt of attempts) ends.add(attempt.outcome);
    }
    expect([...ends]).toEqual(expect.arrayContaining(ENDS));
  },
  PATIENCE + 60_000,
);
