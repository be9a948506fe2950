import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { type Hooks, type Plugin, type StepSettings, type Store, type Windows } from "../../src/kit/index.ts";
import { buildPipeline, type Pipeline } from "../../src/pipeline/build.ts";
import { rateLimitHeaders } from "../../src/pipeline/answer-headers.ts";
import { openStore } from "../../src/store/open.ts";
import { testHost } from "../support/host.ts";
import { testModel, testSnapshot, testTier } from "../support/snapshot.ts";
import { plugin } from "../support/spy.ts";
import { RUNS } from "../properties/runs.ts";

let store: Store;
beforeAll(async () => {
  store = await openStore("memory:", { serving: true, now: Date.now });
});

const relay = plugin("relay", "relay", { relay: () => Promise.reject(new Error("unused")) });

type Step = Plugin | (Partial<StepSettings> & { readonly plugin: Plugin });

async function build(...steps: readonly Step[]): Promise<Pipeline> {
  const linked = steps.map((entry) => {
    const { plugin, ...settings } = "plugin" in entry ? entry : { plugin: entry };
    return { plugin, settings: { use: plugin.name, options: {}, when: null, fail: "closed" as const, ...settings } };
  });
  return buildPipeline(linked, testHost({ snapshot: testSnapshot(), store }));
}

const noop: NonNullable<Hooks["admit"]> = () => undefined;
const exchangeOf = (model: string, tier: string) => ({ model: testModel(model), tier: testTier(tier) });

describe("plans", () => {
  test("hold the hooks in the order of the configuration, absent ones cost nothing", async () => {
    const pipeline = await build(
      plugin("a", "admit", { admit: noop }),
      plugin("b", "admit", {}),
      plugin("c", "admit", { admit: noop }),
      relay,
    );
    const plan = pipeline.hooksFor(exchangeOf("route/a", "Free"));
    expect(plan.admit.map(({ plugin }) => plugin)).toEqual(["a", "c"]);
    expect(plan.event).toEqual([]);
  });

  test("are made once where nothing is conditional, else once for each tier and model", async () => {
    const plain = await build(relay);
    expect(plain.hooksFor(exchangeOf("route/a", "Free"))).toBe(plain.hooksFor(exchangeOf("route/b", "Max")));
    const conditional = await build({ plugin: plugin("a", "admit", { admit: noop }), when: { tiers: ["Max"] } }, relay);
    const [free, max] = [
      conditional.hooksFor(exchangeOf("route/a", "Free")),
      conditional.hooksFor(exchangeOf("route/a", "Max")),
    ];
    expect([free.admit.length, max.admit.length]).toEqual([0, 1]);
    expect(conditional.hooksFor(exchangeOf("route/a", "Max"))).toBe(max);
  });

  test("are not mixed up by blanks in the names of tiers and models", async () => {
    const conditional = await build({ plugin: plugin("a", "admit", { admit: noop }), when: { tiers: ["A"] } }, relay);
    expect(conditional.hooksFor(exchangeOf("B route/c", "A")).admit).toHaveLength(1);
    expect(conditional.hooksFor(exchangeOf("route/c", "A B")).admit).toHaveLength(0);
  });

  test("hooks keep their `this`", async () => {
    const hooks = {
      seen: 0,
      admit(): undefined {
        this.seen += 1;
      },
    };
    const pipeline = await build(plugin("a", "admit", hooks), relay);
    await pipeline.hooksFor(exchangeOf("route/a", "Free")).admit[0]?.call({} as never);
    expect(hooks.seen).toBe(1);
  });

  test("without a relay there is no pipeline, whichever tier and model lacks it", async () => {
    const disposed: string[] = [];
    await expect(build(disposing("a", disposed))).rejects.toThrow("add stream-relay");
    await expect(build({ plugin: relay, when: { tiers: ["Max"] } })).rejects.toThrow("add stream-relay");
    await expect(build({ plugin: relay, when: { models: ["route/none"] } })).rejects.toThrow("add stream-relay");
    expect(disposed).toEqual(["a"]);
  });
});

const applies = async (when: StepSettings["when"], model: string, tier: string): Promise<boolean> => {
  const pipeline = await build({ plugin: plugin("a", "admit", { admit: noop }), when }, relay);
  return pipeline.hooksFor(exchangeOf(model, tier)).admit.length === 1;
};

describe("when", () => {
  test.each([
    [null, "route/a", "Free", true],
    [{}, "route/a", "Free", true],
    [{ tiers: ["Free", "Lite"] }, "route/a", "Free", true],
    [{ tiers: ["Free"] }, "route/a", "Max", false],
    [{ tiers: [] }, "route/a", "Free", false],
    [{ models: ["route/a"] }, "route/a", "Free", true],
    [{ models: ["route/a"] }, "route/ab", "Free", false],
    [{ models: ["route/swift-*"] }, "route/swift-mini", "Free", true],
    [{ models: ["route/swift-*"] }, "route/swift", "Free", false],
    [{ models: ["*-mini"] }, "route/swift-mini", "Free", true],
    [{ models: ["*"] }, "route/a", "Free", true],
    [{ models: ["route/*/b"] }, "route/x/y/b", "Free", true],
    [{ models: ["route/a.b"] }, "route/axb", "Free", false],
    [{ models: ["route/[a]"] }, "route/a", "Free", false],
    [{ models: ["x", "route/a"] }, "route/a", "Free", true],
    [{ models: ["route/a"], tiers: ["Max"] }, "route/a", "Free", false],
    [{ models: ["route/b"], tiers: ["Free"] }, "route/a", "Free", false],
  ])("%j for %s on %s: %s", async (when, model, tier, expected) => {
    expect(await applies(when, model, tier)).toBe(expected);
  });

  test("a glob without a star is the id itself, whatever characters it has", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string().filter((id) => !id.includes("*")),
        async (id) => {
          expect(await applies({ models: [id] }, id, "Free")).toBe(true);
          expect(await applies({ models: [id] }, `${id}x`, "Free")).toBe(false);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

const disposing = (name: string, disposed: string[]) =>
  plugin(name, "admit", { dispose: () => void disposed.push(name) });
const failing = (setup: () => unknown): Plugin => ({
  name: "bad",
  stage: "admit",
  schema: new URL("file:///x"),
  setup: setup as never,
});

describe("setup", () => {
  test.each([
    [
      "throws",
      () => {
        throw new TypeError("no");
      },
      "no",
    ],
    ["rejects", () => Promise.reject(new Error("no")), "no"],
    [
      "throws what is no Error",
      () => {
        throw "no";
      },
      "no",
    ], // oxlint-disable-line no-throw-literal -- plugins do
    ["returns nothing", () => undefined, "setup must return the plugin's hooks"],
  ])("that %s names the plugin and disposes of those before it", async (_, setup, message) => {
    const disposed: string[] = [];
    const built = build(disposing("first", disposed), failing(setup), disposing("later", disposed), relay);
    await expect(built).rejects.toThrow(`plugin bad failed in setup: ${message}`);
    expect(disposed).toEqual(["first"]);
  });

  test("dispose reaches every plugin, also after one that throws", async () => {
    const disposed: string[] = [];
    const bad = plugin("bad", "admit", {
      dispose: () => {
        throw new Error("no");
      },
    });
    const pipeline = await build(bad, disposing("a", disposed), relay, disposing("b", disposed));
    await pipeline.dispose();
    expect(disposed).toEqual(["a", "b"]);
  });
});

const window = (used: number, limit: number | null, resetsAt: number) => ({ used, limit, resetsAt });

const windows = (used: number, resetsAt: number): Windows => ({
  day: window(used, 10, resetsAt),
  hour: window(used, null, resetsAt),
  minute: window(used, 5, resetsAt),
});

describe("rateLimitHeaders", () => {
  test("never below zero, seconds rounded up, no header without a limit", () => {
    expect(rateLimitHeaders(windows(7, 1_001), 0)).toEqual({
      "X-RateLimit-Limit-Day": "10",
      "X-RateLimit-Remaining-Day": "3",
      "X-RateLimit-Reset-Day": "2",
      "X-RateLimit-Limit-Minute": "5",
      "X-RateLimit-Remaining-Minute": "0",
      "X-RateLimit-Reset-Minute": "2",
    });
    expect(rateLimitHeaders(windows(0, 0), 5_000)).toMatchObject({ "X-RateLimit-Reset-Day": "0" });
    expect(rateLimitHeaders(null, 0)).toEqual({});
  });
});
