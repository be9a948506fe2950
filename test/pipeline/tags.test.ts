import { describe, expect, test } from "vitest";
import type { Exchange, Tag } from "../../src/kit/index.ts";
import { Bench } from "../support/bench.ts";
import { plugin } from "../support/spy.ts";
import { garbage } from "./faults.ts";

async function marking(
  ...tags: readonly (readonly Tag[])[]
): Promise<{ readonly bench: Bench; readonly seen: Exchange[] }> {
  const seen: Exchange[] = [];
  const plugins = tags.map((own, at) => plugin(`tags-${at}`, "admit", { admit: () => ({ tags: own }) }));
  const last = plugin("last", "transform", { transform: (call, exchange) => (seen.push(exchange), call) });
  const pipeline = ["auth", ...plugins.map(({ name }) => name), "quota", "breaker", "last", "stream-relay", "meter"];
  return { bench: await Bench.create({ plugins: [...plugins, last], pipeline }), seen };
}

describe("tags", () => {
  test("of admit hooks are seen by later hooks, and are in the ledger", async () => {
    const { bench, seen } = await marking(
      [{ name: "team", value: "blue" }],
      [
        { name: "team", value: "red", measured: true },
        { name: "app", value: "a" },
      ],
    );
    await bench.stream().done;
    expect(seen[0]?.tags).toEqual([
      { name: "team", value: "red", measured: true },
      { name: "app", value: "a", measured: false },
    ]);
    expect(Object.isFrozen(seen[0]?.tags)).toBe(true);
    expect(await bench.store.ledger("ann")).toMatchObject([{ tags: { team: "red", app: "a" } }]);
    await bench.audit();
  });

  test("nothing is there without any", async () => {
    const { bench, seen } = await marking([]);
    await bench.stream().done;
    expect(seen[0]?.tags).toBeUndefined();
    expect((await bench.store.ledger("ann"))[0]).not.toHaveProperty("tags");
  });

  test("are few, short and of one line, whatever a client sends", async () => {
    const { bench, seen } = await marking(
      Array.from({ length: 20 }, (_, index) => ({ name: `t${index}`, value: `${"x".repeat(200)}\n` })),
      [{ name: "t0", value: "a\u0000\u009f\r\nb\ud800" }],
    );
    await bench.stream().done;
    const tags = seen[0]?.tags ?? [];
    expect(tags).toHaveLength(16);
    expect(tags[0]?.value).toBe("a    b\ufffd");
    expect(tags[1]?.value).toBe("x".repeat(128));
    await bench.audit();
  });

  test.each([
    ["a name in capitals", [{ name: "Team", value: "x" }]],
    ["no name", [{ name: "", value: "x" }]],
    ["a long name", [{ name: "x".repeat(33), value: "x" }]],
    ["a value that is no text", [{ name: "a", value: 7 as never }]],
    ["no list", garbage(7)()],
  ])("%s is the plugin's fault, and what it has reserved is given back", async (_, tags) => {
    const bad = plugin("bad", "admit", { admit: () => ({ tags }) });
    const bench = await Bench.create({
      plugins: [bad],
      pipeline: ["auth", "quota", "bad", "breaker", "stream-relay", "meter"],
    });
    expect((await bench.serve()).refused?.error).toMatchObject({ code: "INTERNAL" });
    expect(bench.observer.pluginFailures.map(({ name }) => name)).toEqual(["bad"]);
    expect(await bench.used()).toEqual({ day: 0, hour: 0, minute: 0 });
    await bench.audit();
  });
});

describe("storage", () => {
  test("is a plugin's own, and outlives a pipeline", async () => {
    const keep: (string | null)[] = [];
    const counting = (name: string) => ({
      ...plugin(name, "transform", {}),
      setup: (_: unknown, { storage }: Parameters<ReturnType<typeof plugin>["setup"]>[1]) => ({
        transform: async (call: Exchange["call"]) => {
          keep.push(`${name} ${await storage.add("n", 1n, 1_000)}`);
          return call;
        },
      }),
    });
    const plugins = [counting("one"), counting("two")];
    const bench = await Bench.create({ plugins, pipeline: ["auth", "breaker", "one", "two", "stream-relay", "meter"] });
    await bench.stream().done;
    await bench.stream().done;
    expect(keep).toEqual(["one 1", "two 1", "one 2", "two 2"]);
  });
});
