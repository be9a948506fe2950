import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Decision } from "#schema";
import { ERRORS } from "../../../src/kit/index.ts";
import { loadOffline } from "../../../src/offline/load.ts";
import { DecisionLog } from "../../../src/offline/replay/log.ts";
import { replay } from "../../../src/offline/replay/replay.ts";
import { FEW_RUNS, PATIENCE, RUNS } from "../../properties/runs.ts";

const START = Date.UTC(2026, 0, 10, 23, 50);
const CONFIG = join(import.meta.dirname, "../../../gateway.yaml");
const OUTCOMES = [
  "served",
  "refused",
  "failed",
  "client_fault",
  "upstream_cut",
  "gateway_error",
  "client_gone",
  "killed",
  "shutdown",
] as const;
const ENDPOINTS = [
  "chat",
  "messages",
  "responses",
  "embeddings",
  "rerank",
  "speech",
  "transcription",
  "image",
] as const;

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "replay-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const count = (max: number) =>
  fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 4, arbitrary: fc.nat(max) });
const milliseconds = fc.nat(90_000).map((thousandths) => thousandths / 10);

type Target = Pick<Decision["attempts"][number], "upstream" | "model">;

const attemptAt = (targets: readonly Target[]): fc.Arbitrary<Decision["attempts"][number]> =>
  fc
    .record({
      target: fc.constantFrom(...targets, { upstream: "gone", model: "none" }),
      outcome: fc.constantFrom("ok", "status", "timeout", "connect", "skipped", "running", "aborted", "client_fault"),
      status: fc.constantFrom(0, 400, 429, 503),
      start_ms: milliseconds,
      answered_ms: fc.option(milliseconds),
      end_ms: fc.option(milliseconds),
    })
    .map(({ target, ...rest }) => ({ ...target, ...rest }));

/** Also what no gateway would write. */
const decisionAt = (models: readonly string[], targets: readonly Target[] = []): fc.Arbitrary<Decision> =>
  fc
    .record({
      at: fc.nat(1_200_000),
      user: fc.option(fc.constantFrom("ann", "bob")),
      plan: fc.option(fc.constantFrom("Free", "Max", "gone"), { freq: 9 }),
      model: fc.option(fc.constantFrom(...models, "route/gone", "__proto__"), { freq: 9 }),
      id: fc.option(fc.uuid(), { freq: 5 }),
      endpoint: fc.constantFrom(...ENDPOINTS),
      stream: fc.boolean(),
      outcome: fc.constantFrom(...OUTCOMES),
      code: fc.option(fc.constantFrom(...Object.keys(ERRORS), "OF_THE_FUTURE")),
      attempts: fc.array(attemptAt(targets), { maxLength: 3 }),
      first: fc.option(milliseconds),
      total_ms: milliseconds,
      tokens: fc.record({ prompt: count(5_000), completion: count(900) }),
      tokens_estimated: fc.boolean(),
      given_back: fc.boolean(),
      characters: fc.option(fc.nat(500)),
    })
    .map(({ at, first, tokens, characters, ...rest }) => ({
      v: 1 as const,
      time: new Date(START + at).toISOString(),
      request_id: "r",
      config: "hash",
      key: null,
      prompt_bytes: tokens.prompt * 4,
      max_output: null,
      answers: 1,
      asked: characters === null ? {} : { characters },
      estimated: { prompt: tokens.prompt, completion: null },
      features: [],
      status: 200,
      upstream: rest.attempts.at(-1)?.upstream ?? null,
      dropped: 0,
      charge: "0.5",
      body_ms: 0.5,
      first_event_ms: first,
      upstream_ms: null,
      gateway_ms: null,
      ...rest,
      tokens: { ...tokens, cached: 0, reasoning: 0 },
    }));

async function written(decisions: readonly Decision[], files = 1): Promise<string[]> {
  const names = Array.from({ length: files }, (_, index) => join(folder, `log-${index}.jsonl`));
  const byEnd = decisions.toSorted((a, b) => endOf(a) - endOf(b));
  for (const [index, name] of names.entries()) {
    const own = byEnd.filter((_, place) => place % files === index);
    await writeFile(name, own.map((decision) => `${JSON.stringify(decision)}\n`).join(""));
  }
  return names;
}

const endOf = ({ time, total_ms }: Decision) => Date.parse(time) + total_ms;

test(
  "any log can be replayed, and between equal configurations nothing differs",
  async () => {
    const configuration = await loadOffline({ file: CONFIG, env: {} });
    const some = Object.values(configuration.snapshot.models).filter((_, index) => index % 5 === 0);
    const models = some.map(({ id }) => id);
    const targets = some.flatMap(({ chain }) => chain.flatMap((step) => step.targets));
    const named = targets.map(({ upstream, model }) => ({ upstream, model }));
    const property = fc.asyncProperty(fc.array(decisionAt(models, named), { maxLength: 25 }), async (decisions) => {
      const files = await written(decisions, 2);
      const question = { since: null, until: null, tier: null, model: null, limits: true };
      const report = await replay({ files, configuration, against: configuration, ...question });
      const passedOver = Object.values(report.log.passed_over).reduce((sum, more) => sum + more, 0);
      expect(report).toMatchObject({ same: true, results: [], upstreams: [], models_gone: [] });
      expect({ lines: report.log.lines, seen: report.compared + passedOver }).toEqual({
        lines: decisions.length,
        seen: decisions.length,
      });
      const alone = await replay({ files, configuration, against: null, ...question });
      expect(alone.compared).toBe(report.compared);
      expect([...report.results, ...alone.results].filter(({ now }) => now === "unended")).toEqual([]);
    });
    await fc.assert(property, { numRuns: FEW_RUNS });
  },
  PATIENCE,
);

test(
  "files that were written as requests ended are read in the order in which they came",
  async () => {
    const property = fc.asyncProperty(
      fc.array(decisionAt(["route/swift"]), { maxLength: 30 }),
      fc.integer({ min: 1, max: 4 }),
      async (decisions, files) => {
        const log = new DecisionLog(await written(decisions, files));
        const times: number[] = [];
        for await (const { time } of log.read()) times.push(Date.parse(time));
        expect(times).toEqual(decisions.map(({ time }) => Date.parse(time)).toSorted((a, b) => a - b));
        expect(log.facts).toMatchObject({ files, lines: decisions.length, bad: 0, late: 0 });
      },
    );
    await fc.assert(property, { numRuns: Math.ceil(RUNS / 5) });
  },
  PATIENCE,
);

const anything = fc.oneof(
  fc.constantFrom(null, "", "x", -1, 1e300, true, [], {}, [null], [{}], { prompt: "1" }, undefined),
  fc.jsonValue(),
);

test(
  "a field that holds anything else neither ends nor delays a replay",
  async () => {
    const configuration = await loadOffline({ file: CONFIG, env: {} });
    const property = fc.asyncProperty(
      decisionAt(["route/swift"], [{ upstream: "aurora", model: "swift" }]),
      fc.nat(40),
      anything,
      async (decision, place, value) => {
        const names = Object.keys(decision).filter((name) => name !== "v");
        const changed = { ...decision, [names[place % names.length]!]: value };
        const files = await written([decision]);
        await writeFile(files[0]!, `${JSON.stringify(changed)}\n${JSON.stringify(decision)}\n`);
        const question = { since: null, until: null, tier: null, model: null, limits: true };
        const { log, compared } = await replay({ files, configuration, against: null, ...question });
        const passedOver = Object.values(log.passed_over).reduce((sum, more) => sum + more, 0);
        expect({ lines: log.lines + log.bad, seen: compared + passedOver + log.bad }).toEqual({ lines: 2, seen: 2 });
      },
    );
    await fc.assert(property, { numRuns: FEW_RUNS });
  },
  PATIENCE,
);
