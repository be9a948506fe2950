import { expect, test } from "vitest";
import type { Plugin } from "../../src/kit/index.ts";
import { buildPipeline } from "../../src/pipeline/build.ts";
import { dryRun } from "../../src/gateway/configuration.ts";
import { testSnapshot } from "../support/snapshot.ts";

const SETTINGS = { use: "hangs", options: {}, when: null, fail: "closed" } as const;

function plugin(dispose: () => Promise<void>, name = "hangs"): Plugin {
  return { name, stage: "transform", options: {}, setup: () => ({ dispose }) } as unknown as Plugin;
}

test("a dispose that does not end is told and not waited for", async () => {
  const told: unknown[] = [];
  const log = { warn: (fields: unknown, text?: string) => told.push([fields, text]) };
  const never = plugin(() => new Promise(() => {}));
  await dryRun({ plugin: never, settings: SETTINGS }, testSnapshot(), log, 20);
  expect(told).toEqual([[{ plugin: "hangs", after_ms: 20 }, "plugin dispose timed out"]]);
});

test("one that ends, or fails, is no news", async () => {
  const told: unknown[] = [];
  const log = { warn: (...line: unknown[]) => told.push(line) };
  await dryRun({ plugin: plugin(() => Promise.resolve()), settings: SETTINGS }, testSnapshot(), log);
  await dryRun({ plugin: plugin(() => Promise.reject(new Error("no"))), settings: SETTINGS }, testSnapshot(), log);
  expect(told).toEqual([]);
});

test("a setup that fails behind a plugin whose dispose hangs is still told", async () => {
  const told: unknown[] = [];
  const fails = { ...plugin(() => Promise.resolve(), "fails"), setup: () => Promise.reject(new Error("no door")) };
  const steps = [
    { plugin: plugin(() => new Promise(() => {})), settings: SETTINGS },
    { plugin: fails as unknown as Plugin, settings: { ...SETTINGS, use: "fails" } },
  ];
  const host = {
    log: { error: (fields: unknown) => told.push(fields) },
    now: () => 1_000,
    schedule: (at: number, late: () => void) => {
      expect(at).toBe(4_000);
      setImmediate(late);
      return () => {};
    },
  };
  await expect(buildPipeline(steps, host as never)).rejects.toThrow("no door");
  expect(told).toEqual([{ plugins: ["hangs"], after_ms: 3_000 }]);
});
