import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import {
  type Call,
  type Hooks,
  HOOKS_BY_STAGE,
  type Plugin,
  type Stage,
  STAGES,
  type StepSettings,
  type Store,
  type Windows,
} from "../../src/kit/index.ts";
import { PluginBreach } from "../../src/kit/plugin-contract.ts";
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

/** What a plugin that returns this is refused with; a pipeline when it is taken. */
function found(returned: unknown, more: Partial<Plugin> = {}): Promise<unknown> {
  const own = { ...plugin("own", "transform", returned as Hooks), ...more };
  return build(own, relay).catch((error: unknown) => (error as Error).cause);
}

/** The rules that it breaks. */
async function rulesOf(returned: unknown, more: Partial<Plugin> = {}): Promise<readonly string[]> {
  const error = await found(returned, more);
  return error instanceof PluginBreach ? error.breaches.map(({ rule }) => rule) : [];
}

describe("hooks", () => {
  test("of every stage are refused in a plugin of every other one, and taken where `also` names it", async () => {
    for (const stage of STAGES) {
      for (const [other, names] of Object.entries(HOOKS_BY_STAGE) as [Stage, readonly string[]][]) {
        for (const name of names) {
          const returned = { relay: () => Promise.reject(new Error("unused")), [name]: () => undefined };
          const also: Stage[] = stage === "relay" ? [] : ["relay"];
          const alone = await rulesOf(returned, { stage, also });
          const isOwn = other === stage || other === "relay";
          expect([stage, name, alone]).toEqual([stage, name, isOwn ? [] : ["hook-stage"]]);
          const both = await rulesOf(returned, { stage, also: [...also, other] });
          expect([stage, name, both]).toEqual([stage, name, []]);
        }
      }
    }
  });

  test("are those of a class and its parents, with the `this` they need", async () => {
    class Parent {
      readonly #seen: string[] = [];
      transform(call: Call): Call {
        this.#seen.push("parent");
        return call;
      }
      get seen(): readonly string[] {
        return this.#seen;
      }
    }
    class Child extends Parent {
      count = 0;
      override transform(call: Call): Call {
        this.count += 1;
        return super.transform(call);
      }
    }
    const hooks = new Child();
    const pipeline = await build(plugin("own", "transform", hooks), relay);
    await pipeline.hooksFor(exchangeOf("route/a", "Free")).transform[0]!.call({} as Call, {} as never);
    expect([hooks.count, hooks.seen]).toEqual([1, ["parent"]]);
  });

  test.each<[string, () => unknown, string]>([
    ["a symbol and state", () => ({ [Symbol.toStringTag]: "Hooks", count: 3, words: new Set() }), ""],
    ["no prototype", () => Object.assign(Object.create(null), { transform: (call: Call) => call }), ""],
    ["an absent hook", () => ({ transform: undefined, event: undefined }), ""],
    ["an own constructor", () => ({ constructor: () => 1 }), "'constructor', which is not a hook"],
    ["a wrong name of a known case", () => ({ Transform: (call: Call) => call }), "did you mean 'transform'?"],
    ["a hook of a later version", () => ({ onChunk: () => 1 }), "hooks of stage transform: transform, answer"],
    ["null", () => ({ event: null }), "hook 'event' is not a function"],
    ["an async generator", () => ({ async *response() {} }), "hook 'response' is a generator"],
    ["two mistakes", () => ({ evnet: () => 1, relay: () => 1 }), "did you mean 'event'?); setup returns 'relay'"],
    ["a map", () => new Map(), "'get', which is not a hook"],
  ])("%s", async (_, returned, message) => {
    const error = await found(returned());
    expect(error instanceof Error ? error.message : "").toContain(message);
    expect(error instanceof Error).toBe(message !== "");
  });

  test("are read once: what was checked is what runs", async () => {
    let reads = 0;
    const hooks = {
      get transform() {
        reads += 1;
        return reads === 1 ? (call: Call) => call : "something else";
      },
    };
    const pipeline = await build(plugin("own", "transform", hooks as Hooks), relay);
    Reflect.set(hooks, "event", () => null);
    const plan = pipeline.hooksFor(exchangeOf("route/a", "Free"));
    expect([plan.transform.length, plan.event.length, reads]).toEqual([1, 0, 1]);
  });

  test("of a refused plugin that has begun something: dispose is called", async () => {
    const disposed: string[] = [];
    await found({ transfrom: () => 1, dispose: () => void disposed.push("own") });
    expect(disposed).toEqual(["own"]);
  });

  test("of a plugin of two stages run at its place, among the hooks of their kind", async () => {
    const both = {
      ...plugin("both", "transform", { admit: noop, transform: (call) => call }),
      also: ["admit" as const],
    };
    const pipeline = await build(
      plugin("a", "admit", { admit: noop }),
      both,
      plugin("t", "transform", { transform: (call) => call }),
      relay,
    );
    const plan = pipeline.hooksFor(exchangeOf("route/a", "Free"));
    expect(plan.admit.map(({ plugin }) => plugin)).toEqual(["a", "both"]);
    expect(plan.transform.map(({ plugin }) => plugin)).toEqual(["both", "t"]);
  });
});

describe("many models and plans", () => {
  const models = Array.from({ length: 3_000 }, (_, at) => testModel(`route/${at % 2 === 0 ? "even" : "odd"}-${at}`));
  const tiers = ["Free", "Lite", "Pro", "Max", "Team", "Trial"].map((name) => testTier(name));
  const snapshot = testSnapshot({ models, tiers });

  test("are bound when the pipeline is built, each hook once", async () => {
    const timed: string[] = [];
    const linked = [
      { plugin: plugin("a", "admit", { admit: noop }), when: { models: ["route/even-*"] } },
      { plugin: plugin("b", "admit", { admit: noop }), when: { tiers: ["Free", "Max"] } },
      { plugin: plugin("c", "transform", { transform: (call) => call }), when: { models: ["*-7"], tiers: ["Pro"] } },
      { plugin: relay, when: null },
    ].map(({ plugin: one, when }) => ({
      plugin: one,
      settings: { use: one.name, options: {}, when, fail: "closed" as const },
    }));
    const pipeline = await buildPipeline(linked, testHost({ snapshot, store }), {
      hookTimer: (name, hook) => {
        timed.push(`${name} ${hook}`);
        return () => {};
      },
    });
    expect(timed).toEqual(["a admit", "b admit", "c transform"]);
    const plans = new Set(models.flatMap((model) => tiers.map((tier) => pipeline.hooksFor({ model, tier }))));
    expect(plans.size).toBe(5);
    for (const model of models) {
      for (const tier of tiers) {
        const { admit, transform } = pipeline.hooksFor({ model, tier });
        const expected = [
          ...(model.id.startsWith("route/even-") ? ["a"] : []),
          ...(["Free", "Max"].includes(tier.name) ? ["b"] : []),
        ];
        const names = admit.map((hook) => hook.plugin).join();
        if (names !== expected.join() || transform.length !== Number(tier.name === "Pro" && model.id.endsWith("-7")))
          throw new Error(`${model.id} on ${tier.name}: ${names}`);
      }
    }
  });

  test("a user on a tier that the configuration no longer has gets what no condition excludes", async () => {
    const pipeline = await build({ plugin: plugin("a", "admit", { admit: noop }), when: { tiers: ["Max"] } }, relay);
    expect(pipeline.hooksFor(exchangeOf("route/free", "gone")).admit).toEqual([]);
  });
});

test("the guide for authors names the hooks of each stage", () => {
  const readme = readFileSync(new URL("../../plugins/README.md", import.meta.url), "utf8");
  const rows = [...readme.matchAll(/^\| (identify|admit|guard|transform|relay|account) +\| (`.*?`) +\|/gm)];
  const named = rows.flatMap(([, stage, hooks]) =>
    [...hooks!.matchAll(/`(\w+)\(/g)].map(([, hook]) => `${stage} ${hook}`),
  );
  const table = Object.entries(HOOKS_BY_STAGE).flatMap(([stage, hooks]) => hooks.map((hook) => `${stage} ${hook}`));
  expect(named.toSorted()).toEqual(table.toSorted());
});
