import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import schema from "../../schemas/gateway.schema.json" with { type: "json" };
import {
  isIncluded,
  type KnownLists,
  modelChanges,
  routeId,
  type WithListed,
  withListed,
} from "../../src/config/listed-models.ts";
import { decimal, inTurns, type Kind, type ListedModel, type Publishing, type Snapshot } from "../../src/kit/index.ts";
import { snapshot, TIMEOUTS, upstream } from "../upstream/support/build.ts";

const [PATTERN] = Object.keys(schema.properties.models.patternProperties);
const ID = new RegExp(PATTERN!);

const common = {
  tier: "Open",
  price: {},
  multipliers: { requests: 1, cost: decimal(1) },
  deadline: 1,
  timeouts: TIMEOUTS,
};

/** An upstream that publishes, with prices for these kinds. */
function publishing(name: string, changes: Partial<Publishing> = {}, kinds: readonly Kind[] = ["chat", "embedding"]) {
  const publishes: Publishing = {
    include: ["*"],
    exclude: [],
    served: ["chat", "embedding", "speech"],
    kinds: Object.fromEntries(kinds.map((kind) => [kind, common])),
    ...changes,
  };
  return { ...upstream(`https://${name}.example/v1`), name, publishes };
}

function list(...ids: readonly (string | ListedModel)[]): readonly ListedModel[] {
  return ids.map((id) => (typeof id === "string" ? { id, kind: "chat" } : id));
}

function publish(of: Snapshot, lists: Readonly<Record<string, readonly ListedModel[]>>): Promise<WithListed> {
  const known: KnownLists = ({ name }) => lists[name] ?? null;
  return inTurns(withListed(of, known));
}

describe("the id of a listed model", () => {
  test.each([
    ["gpt-4o", "route/gpt-4o"],
    ["meta-llama/Llama-3.3-70B", "route/meta-llama-Llama-3.3-70B"],
    ["llama3.2:latest", "route/llama3.2:latest"],
    ["claude-sonnet-4-5@20250929", "route/claude-sonnet-4-5@20250929"],
    ["hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M", "route/hf.co-unsloth-Qwen3-8B-GGUF:Q4_K_M"],
    ["../models/m.gguf", "route/models-m.gguf"],
    ["~local model+", "route/local-model-"],
    ["é", "route/"],
    ["x".repeat(200), `route/${"x".repeat(128)}`],
  ])("%s is %s", (listed, id) => expect(routeId(listed)).toBe(id));

  test("is one that may be written out, whatever a provider lists, or none", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme-composite", maxLength: 150 }), (listed) => {
        const id = routeId(listed);
        expect(id === "route/" || ID.test(id)).toBe(true);
      }),
    );
  });

  test("keeps a name that needs no change", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,127}$/), (listed) => {
        expect(routeId(listed)).toBe(`route/${listed}`);
      }),
    );
  });
});

/** `matchesGlob` by a regular expression. */
function matches(glob: string, text: string): boolean {
  const parts = glob.split("*").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join("[^]*")}$`).test(text);
}

describe("patterns", () => {
  test("include what an expression with the same stars does, less what exclude has", () => {
    const glob = fc.array(fc.constantFrom("*", "a", "b", "-", ".", "/"), { minLength: 1, maxLength: 6 });
    const globs = fc.array(
      glob.map((parts) => parts.join("")),
      { maxLength: 3 },
    );
    const name = fc.array(fc.constantFrom("a", "b", "-", ".", "/"), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(globs, globs, name, (include, exclude, parts) => {
        const id = parts.join("");
        const expected = include.some((one) => matches(one, id)) && !exclude.some((one) => matches(one, id));
        expect(isIncluded({ include, exclude }, id)).toBe(expected);
      }),
    );
  });
});

describe("a configuration with lists", () => {
  test("that publishes none is itself", async () => {
    const of = snapshot(upstream("https://alpha.example/v1"));
    expect((await publish(of, {})).snapshot).toBe(of);
  });

  test("has what a provider says of a model, as far as its kind has it", async () => {
    const of = snapshot(publishing("alpha"));
    const told = { displayName: "M", ownedBy: "maker", contextWindow: 1_000, maxOutput: 100, created: 7 };
    const { snapshot: after, findings } = await publish(of, {
      alpha: list(
        { id: "org/m", kind: "chat", ...told },
        { id: "e", kind: "embedding", ...told },
        { id: "wide", kind: "chat", contextWindow: 10, maxOutput: 100 },
        { id: "t", kind: "transcription", ...told },
        { id: "live", kind: "other" },
      ),
    });
    expect(findings).toEqual([]);
    expect(Object.keys(after.models)).toEqual(["route/org-m", "route/e", "route/wide"]);
    expect(after.models["route/org-m"]).toMatchObject({
      ...told,
      tier: "Open",
      listedBy: "alpha",
      chain: [{ balance: "single", targets: [{ upstream: "alpha", model: "org/m" }] }],
    });
    expect(after.models["route/e"]).toMatchObject({ contextWindow: 1_000, maxOutput: null });
    expect(after.models["route/wide"]).toMatchObject({ contextWindow: 10, maxOutput: null, ownedBy: "alpha" });
    expect(Object.isFrozen(after.models["route/org-m"])).toBe(true);
  });

  test("with another list has nothing of the former one", async () => {
    const of = snapshot(publishing("alpha"));
    const before = (await publish(of, { alpha: list("a", "b") })).snapshot;
    const after = (await publish(before, { alpha: list("b", "c") })).snapshot;
    expect(Object.keys(after.models)).toEqual(["route/b", "route/c"]);
    expect(modelChanges(before.models, after.models)).toEqual({
      added: ["route/c"],
      removed: ["route/a"],
      updated: [],
    });
    const wider = list("b", { id: "c", kind: "chat", contextWindow: 5 });
    const again = (await publish(after, { alpha: wider })).snapshot;
    expect(modelChanges(after.models, again.models)).toEqual({ added: [], removed: [], updated: ["route/c"] });
  });

  test("names of a prototype are names like any other", async () => {
    const of = snapshot(publishing("alpha"));
    const { snapshot: after } = await publish(of, { alpha: list("__proto__", "constructor", "toString") });
    expect(Object.keys(after.models)).toEqual(["route/proto__", "route/constructor", "route/toString"]);
  });

  test("what is not published is counted, and named up to three", async () => {
    const of = snapshot(publishing("alpha"), publishing("beta"), publishing("gamma", { include: ["z*"] }));
    const many = list("a", "b", "c", "d", { id: "s1", kind: "speech" });
    const { findings } = await publish(of, { alpha: many, beta: many, gamma: many });
    expect(findings.map(({ message }) => message)).toEqual([
      "alpha lists 1 model (s1) of kind speech, which has no price here: not published",
      "beta lists 4 models (a, b, c, …) that alpha publishes: not published again",
      "beta lists 1 model (s1) of kind speech, which has no price here: not published",
      "none of the 5 models that gamma lists is included",
    ]);
  });

  test("whatever providers list, every model has an id of its own, by which its target is called", async () => {
    const name = fc.string({ unit: fc.constantFrom("a", "/", "-", ".", "é", "_"), minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(name, { maxLength: 12 }), fc.array(name, { maxLength: 12 }), async (one, other) => {
        const of = snapshot(publishing("alpha"), publishing("beta"));
        const { snapshot: after } = await publish(of, { alpha: list(...one), beta: list(...other) });
        for (const [id, model] of Object.entries(after.models)) {
          const called = model.chain[0]!.targets[0]!;
          expect([model.id, routeId(called.model), called.upstream]).toEqual([id, id, model.listedBy]);
          expect((called.upstream === "alpha" ? one : other).includes(called.model)).toBe(true);
        }
        const ids = new Set([...one, ...other].map(routeId).filter((id) => id !== "route/"));
        expect(new Set(Object.keys(after.models))).toEqual(ids);
      }),
    );
  });

  test("of 3,000 models takes a moment, and lets others have turns", async () => {
    const of = snapshot(publishing("alpha"));
    const ids = Array.from({ length: 3_000 }, (_, index) => `maker/model-${index}`);
    const steps = withListed(of, () => list(...ids));
    let turns = 0;
    let result = steps.next();
    for (; result.done !== true; result = steps.next()) turns += 1;
    expect(Object.keys(result.value.snapshot.models)).toHaveLength(3_000);
    expect(turns).toBeGreaterThan(10);
  });
});
