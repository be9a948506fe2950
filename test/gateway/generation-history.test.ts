import { expect, test } from "vitest";
import { GenerationHistory } from "../../src/gateway/generation-history.ts";
import type { KeptGeneration } from "../../src/gateway/kept-generations.ts";
import type { Loaded } from "../../src/gateway/configuration.ts";
import { testModel, testSnapshot } from "../support/snapshot.ts";

/** Each has so many models. */
function setup(sizes: readonly number[]) {
  const list: KeptGeneration[] = sizes.map((_, index) => ({ hash: `aaa${index}`, since: "", by: "file" }));
  const gone = new Set<string>();
  let loads = 0;
  const of = (hash: string): Loaded => {
    const models = Array.from({ length: sizes[Number(hash.at(-1))]! }, (_, model) => testModel(`route/${model}`));
    return { ok: true, hash, snapshot: testSnapshot({ models }), sources: [], files: [], steps: [] } as never;
  };
  const history = new GenerationHistory({
    kept: {
      list,
      find: (to) => list.find(({ hash }) => hash === to) ?? "there is none",
      load: async ({ hash }) => {
        loads += 1;
        return gone.has(hash) ? null : of(hash);
      },
    },
    serving: () => of("aaa0"),
  });
  return { history, gone, loads: () => loads };
}

test("each is compared with the one before, once however often it is asked for", async () => {
  const { history, loads } = setup([2, 1, 1]);
  const [latest, middle, oldest] = await history.list();
  expect(latest).toMatchObject({ serves: true, effect: { from: "aaa1", changes: [{ kind: "model-added" }] } });
  expect(middle).toMatchObject({ serves: false, effect: { from: "aaa2", changes: [] } });
  expect(oldest!.effect).toBe(null);
  const before = loads();
  await history.list();
  expect(loads()).toBe(before);
});

test("the list has the beginning of many changes, a comparison all of them", async () => {
  const { history } = setup([301, 1]);
  const [{ effect } = { effect: null }] = await history.list();
  expect(effect!.changes).toHaveLength(100);
  expect(effect!.summary.safe + effect!.summary.risky + effect!.summary.breaking).toBeGreaterThanOrEqual(300);
  expect((await history.diff("aaa1", null)).changes.length).toBeGreaterThanOrEqual(300);
});

test("one that cannot be read has no effect, until it can", async () => {
  const { history, gone } = setup([2, 1]);
  gone.add("aaa1");
  expect((await history.list())[0]!.effect).toBe(null);
  await expect(history.diff("aaa1", null)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(history.diff("ffff", null)).rejects.toMatchObject({ code: "NOT_FOUND" });
  gone.clear();
  expect((await history.list())[0]!.effect).toMatchObject({ from: "aaa1" });
});
