import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { formatText, totalsOf } from "../../src/config-tests/report.ts";
import { runTests, type TestOptions } from "../../src/config-tests/run.ts";

const TESTS = "test/gateway.test.yaml";
const TEXT = await readFile("gateway.yaml", "utf8");
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "config-tests-"));
});
afterAll(() => rm(folder, { recursive: true }));

const run = (options: Partial<TestOptions> = {}) =>
  runTests([TESTS], { env: {}, clock: () => performance.now(), ...options });
const report = (results: Awaited<ReturnType<typeof run>>) => formatText(results, (_colour, text) => text);

test("the shipped configuration keeps its promises", { timeout: 180_000 }, async () => {
  const results = await run();
  const { tests, failed, broken } = totalsOf(results);
  expect(failed + broken > 0 ? report(results) : "all pass").toBe("all pass");
  expect(tests).toBeGreaterThan(350);
});

interface Mutation {
  readonly edit: readonly [from: string | RegExp, to: string];
  /** Of the tests that are run: the others take their time for nothing. */
  readonly filter: string;
  /** What the report says, in this order. */
  readonly says: readonly string[];
}

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  "a minute's limit": {
    edit: ["day: 500, hour: none, minute: 100", "day: 500, hour: none, minute: 120"],
    filter: "requests a minute",
    says: ["✗ Lite: 100 requests a minute", "left minute", "expected 0", "actual   20"],
  },
  "an hour's limit": {
    edit: ["day: 3000, hour: 1000", "day: 3000, hour: 900"],
    filter: "an hour after",
    says: ["✗ Max: one more an hour after 999", "expected 200", "actual   429", "quota refused (RATE_LIMIT_ERROR)"],
  },
  "a day's limit": {
    edit: ["day: 1800", "day: 2000"],
    filter: "a day after",
    says: ["✗ Weekly: one more a day after 1799", "left day", "actual   200"],
  },
  "the limit of streams": {
    edit: [/(day: 1500,.*streams:) 50/, "$1 40"],
    filter: "50 streams at a time",
    says: ["✗ Premium: 50 streams at a time", "request 41 of 50", "expected 200", "actual   429"],
  },
  "a plan loses its models": {
    edit: ["Lite: { access: [Free, Lite]", "Lite: { access: [Free]"],
    filter: "Lite is served by",
    says: ["✗ Lite is served by route/swift", "actual   403", "plan-check refused (MODEL_NOT_ALLOWED)"],
  },
  "a plan gets models": {
    edit: ["Weekly: { access: [Free, Lite]", "Weekly: { access: [Free, Lite, Premium]"],
    filter: "Weekly is refused",
    says: ["✗ Weekly is refused route/ember", "expected 403", "actual   200"],
  },
  "a model changes its tier": {
    edit: [/(route\/pebble-30:\n.*\n +tier:) Lite/, "$1 Free"],
    filter: "Free is refused",
    says: ["✗ Free is refused route/pebble-30", "expected 403", "actual   200"],
  },
  "a model is gone": {
    edit: ["  route/pebble-30:", "  route/pebble-31:"],
    filter: "",
    says: ["the configuration has no model 'route/pebble-30'", "did you mean 'route/pebble-31'?"],
  },
  "a chain in another order": {
    edit: [/( +- \{ upstream: dune, model: ember-1 \}\n)( +- \{ upstream: cirrus, model: ember-1 \}\n)/, "$2$1"],
    filter: "route/ember goes to",
    says: ["✗ route/ember goes to dune", "expected dune/ember-1 served", "actual   cirrus/ember-1 served"],
  },
  "a model's name at an upstream": {
    edit: ["model: borealis-coder-4", "model: borealis-coder-5"],
    filter: "route/pebble-coder-max goes to",
    says: ["step 2 (the first is down)", "borealis/borealis-coder-4 served", "borealis/borealis-coder-5 served"],
  },
  "a share of the load": {
    edit: ["weight: 3", "weight: 1"],
    filter: "brook-medium is shared",
    says: ["expected borealis/borealis-medium-2 served", "actual   cirrus/cirrus-medium-1 served"],
  },
  "a price": {
    edit: ["input_per_million: 0.5,", "input_per_million: 0.6,"],
    filter: "tokens in",
    says: ["✗ route/swift costs 0.00125 for", "expected 0.00125", "actual   0.00135"],
  },
  "a multiplier of cost": {
    edit: ["multipliers: { cost: 1.2 }", "multipliers: { cost: 1.1 }"],
    filter: "tokens in",
    says: ["✗ route/swift-ultra costs 0.036", "actual   0.033"],
  },
  "units of the day": {
    edit: ["image: { multipliers: { requests: 5 } }", "image: { multipliers: { requests: 4 } }"],
    filter: "of the day",
    says: ["✗ route/paint-one takes 5 of the day", "used day", "expected 5", "actual   4"],
  },
  "failures until a breaker opens": {
    edit: ["consecutive: 3", "consecutive: 4"],
    filter: "three failures",
    says: ["step 2, request 1 of 5", "expected aurora skipped, borealis served", "aurora/aurora-1 status 503"],
  },
  "a timeout": {
    edit: ["first_byte: 30s", "first_byte: 45s"],
    filter: "does not begin",
    says: ["expected 30s", "actual   45000ms"],
  },
  "no check of plans": {
    edit: [/ {2}- plan-check.*\n/, ""],
    filter: "Premium is refused",
    says: ["expected 403", "actual   200", "plugins: auth → quota\n"],
  },
};

describe("an edit of the shipped configuration fails a test that says why", () => {
  test.each(Object.entries(MUTATIONS))("%s", async (_name, { edit: [from, to], filter, says }) => {
    const changed = TEXT.replace(from, to);
    expect(changed).not.toBe(TEXT);
    const config = join(folder, "gateway.yaml");
    await writeFile(config, changed);
    const results = await run({ config, filter });
    const { failed, broken } = totalsOf(results);
    expect(failed + broken).toBeGreaterThan(0);
    const text = report(results);
    let at = 0;
    for (const part of says) {
      expect(text.slice(at)).toContain(part);
      at = text.indexOf(part, at) + part.length;
    }
  });
});
