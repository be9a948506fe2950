import * as fc from "fast-check";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { formatText } from "../../src/config/diagnostics.ts";
import { loadConfig } from "../../src/config/load.ts";
import { CAPABILITIES } from "../../src/dialects/capabilities.ts";
import type { Model, Snapshot } from "../../src/kit/index.ts";
import { parseDocument, visit } from "yaml";
import { options } from "./support.ts";

const NUM_RUNS = Number(process.env["NUM_RUNS"] ?? 300);

const FILE = resolve(import.meta.dirname, "../../gateway.yaml");
const TEXT = readFileSync(FILE, "utf8");

describe("the shipped catalogue", () => {
  let snapshot: Snapshot;
  let models: readonly Model[];

  beforeAll(async () => {
    const result = await loadConfig(options(FILE, { strict: true }));
    if (!result.snapshot) throw new Error(formatText(result.diagnostics));
    ({ snapshot } = result);
    models = Object.values(snapshot.models);
  });

  test("serves as it is", async () => {
    expect((await loadConfig(options(FILE, { mode: "serve" }))).ok).toBe(true);
  });

  test("names nothing that this build does not speak", async () => {
    const result = await loadConfig(options(FILE, { strict: true, dialects: CAPABILITIES }));
    expect(result.diagnostics.map(({ message }) => message)).toEqual([]);
  });

  test("starts with the line that editors look for", () => {
    expect(TEXT.split("\n", 1)[0]).toBe("# yaml-language-server: $schema=./schemas/gateway.schema.json");
  });

  test("has the plans of the API", () => {
    const rows = Object.values(snapshot.tiers).map(({ name, access, limits: { day, hour, minute, streams } }) => [
      name,
      access,
      day,
      hour,
      minute,
      streams,
    ]);
    expect(rows).toEqual([
      ["Free", ["Free"], 50, 50, 100, 50],
      ["Lite", ["Free", "Lite"], 500, null, 100, 50],
      ["Weekly", ["Free", "Lite"], 1800, 500, 100, 50],
      ["Premium", ["Free", "Lite", "Premium"], 1500, 500, 100, 50],
      ["Max", "all", 3000, 1000, 100, 50],
      ["Ultra", "all", 10_000, 1500, 100, 50],
    ]);
  });

  test("has the models of the API", () => {
    const chat = models.filter(({ kind }) => kind === "chat");
    const count = (tier: string): number => chat.filter((model) => model.tier === tier).length;
    expect([count("Free"), count("Lite"), count("Max"), count("Premium")]).toEqual([6, 7, 9, 3]);
    expect(chat.filter(({ published }) => published)).toHaveLength(11);
    const kinds = Object.entries(
      Object.groupBy(
        models.filter(({ kind }) => kind !== "chat"),
        ({ kind }) => kind,
      ),
    );
    expect(kinds.map(([kind, all]) => `${kind} ${all?.length}`).sort()).toEqual([
      "embedding 3",
      "image 4",
      "rerank 1",
      "speech 4",
      "transcription 4",
    ]);
    expect(models.filter(({ kind, tier, published }) => kind !== "chat" && (tier !== "Premium" || !published))).toEqual(
      [],
    );
    const families = new Set(chat.filter(({ tier }) => tier === "Premium").map(({ ownedBy }) => ownedBy));
    const others = new Set(chat.filter(({ tier }) => tier !== "Premium").map(({ ownedBy }) => ownedBy));
    expect([families.size, [...families].some((family) => others.has(family))]).toEqual([1, false]);
  });

  test("has windows between 100k and 200k, three chat models leaving theirs out", () => {
    const chat = models.filter(({ kind }) => kind === "chat");
    const windows = chat.map(({ contextWindow }) => contextWindow);
    expect(windows.filter((window) => window === null)).toHaveLength(3);
    expect(windows.filter((window) => window !== null && (window < 100_000 || window > 200_000))).toEqual([]);
  });

  test("has chains of at least two upstreams, voices, and one live model", () => {
    const single = models.filter(
      ({ chain }) => new Set(chain.flatMap(({ targets }) => targets.map(({ upstream }) => upstream))).size < 2,
    );
    expect(single.map(({ id }) => id)).toEqual([]);
    expect(new Set(models.flatMap(({ voices }) => voices)).size).toBe(2);
    expect(models.filter(({ realtime }) => realtime)).toHaveLength(1);
    expect(
      models
        .filter(({ kind }) => ["speech", "transcription", "image"].includes(kind))
        .every(({ multipliers }) => multipliers.requests === 5),
    ).toBe(true);
  });

  test("has the two sample incidents", () => {
    expect(snapshot.incidents.map(({ severity, status, resolved_at: at }) => [severity, status, at === null])).toEqual([
      ["warning", "ongoing", true],
      ["error", "resolved", false],
    ]);
  });

  test("takes every upstream's address and key from the environment", async () => {
    const env = Object.fromEntries(
      Object.keys(snapshot.upstreams).flatMap((name) => [
        [`${name.toUpperCase()}_URL`, `https://${name}.example.com/v1/`],
        [`${name.toUpperCase()}_KEY`, `key-of-${name}`],
      ]),
    );
    const { snapshot: real } = await loadConfig(options(FILE, { strict: true, env }));
    for (const [name, { baseUrl, apiKeys }] of Object.entries(real?.upstreams ?? {})) {
      expect([baseUrl, apiKeys.map((key) => key.reveal())]).toEqual([
        `https://${name}.example.com/v1`,
        [`key-of-${name}`],
      ]);
    }
  });
});

/** What went wrong with loading a text: nothing, whatever the text. Every refusal has a reason, every finding a place. */
async function faults(text: string): Promise<string[]> {
  const result = await loadConfig(options(FILE, { mode: "serve", read: async () => text }));
  const { ok, snapshot, diagnostics } = result;
  const lines = text.split(/\r\n|\n|\r/).length;
  const misplaced = diagnostics.filter(({ line, column }) => line < 1 || line > lines || column < 1);
  return [
    ...(ok === (snapshot !== null) ? [] : ["ok without a snapshot, or the reverse"]),
    ...(ok || diagnostics.length > 0 ? [] : ["refused without a reason"]),
    ...misplaced.map(({ line, column, message }) => `${line}:${column} ${message}`),
  ];
}

describe("a damaged file never throws and never hangs", () => {
  test("cut anywhere", async () => {
    const step = Math.floor(TEXT.length / 350);
    for (let at = 0; at < TEXT.length; at += step) expect(await faults(TEXT.slice(0, at))).toEqual([]);
  }, 60_000);

  test("changed anywhere", async () => {
    const piece = fc.constantFrom(
      "",
      "x",
      "0",
      ":",
      ": ",
      "\n",
      "  ",
      "{",
      "}",
      "[",
      "]",
      "- ",
      '"',
      "'",
      "&a ",
      "*a",
      "!t ",
      "|",
      ">",
      "#",
      "\t",
      "\0",
      "${",
      "${env:X}",
      "${file:x}",
      "~",
      "\u2028",
      "<<: ",
      "null",
      "-1",
      "1e999",
    );
    const change = fc.record({ at: fc.nat(TEXT.length - 1), cut: fc.nat(30), put: piece });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        expect(
          await faults(
            changes.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), TEXT),
          ),
        ).toEqual([]);
      }),
      { numRuns: NUM_RUNS },
    );
  }, 60_000);

  test("hostile shapes", async () => {
    const many = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1`).join("\n");
    for (const text of [
      "[".repeat(20_000),
      "{a: ".repeat(5000),
      "- ".repeat(5000),
      many,
      "? ".repeat(2000),
      `a: ${"&a ".repeat(50)}x`,
      "a: *a\n".repeat(1),
      `models: {${"x: {".repeat(200)}`,
    ]) {
      expect(await faults(text)).toEqual([]);
    }
  }, 60_000);
});

test("a value that a variable brings is in no finding, wherever it stands", async () => {
  const ranges: (readonly [number, number])[] = [];
  visit(parseDocument(TEXT), {
    Scalar(key, { range }) {
      if (key !== "key" && range) ranges.push([range[0], range[1]]);
    },
  });
  const env = { PLANTED: "planted-secret" };
  const told: string[] = [];
  for (const [from, to] of ranges.filter((_, index) => index < 120 || index % 20 === 0)) {
    const text = `${TEXT.slice(0, from)}"\${env:PLANTED}"${TEXT.slice(to)}`;
    const { diagnostics } = await loadConfig(options(FILE, { mode: "serve", env, read: async () => text }));
    told.push(formatText(diagnostics));
  }
  expect(told.filter((text) => text.includes("planted-secret"))).toEqual([]);
  expect(told.filter((text) => text.includes("error")).length).toBeGreaterThan(50);
});

test("a key in text that is not YAML is not quoted", async () => {
  const text = TEXT.replace("api_keys: [", () => "api_keys: ] sk-planted-secret [");
  const { diagnostics } = await loadConfig(options(FILE, { read: async () => text }));
  expect(diagnostics.map(({ rule }) => rule)).toEqual(["yaml-syntax"]);
  expect(formatText(diagnostics)).not.toContain("planted");
});
