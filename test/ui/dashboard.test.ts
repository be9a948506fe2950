import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { allPages, type UsageRow } from "../../src/ui/shared/api.ts";
import { csvText } from "../../src/ui/shared/csv.ts";
import { readEvents } from "../../src/ui/shared/http.ts";
import { addAmounts, DAY_MS, spread, totalsByModel } from "../../src/ui/dashboard/spending.ts";
import { shell, snippets } from "../../src/ui/dashboard/snippets.ts";
import { RUNS } from "../properties/runs.ts";

const FIRST = Date.UTC(2026, 10, 1);

function text(nano: bigint): string {
  const digits = (nano < 0n ? -nano : nano).toString().padStart(10, "0");
  return `${nano < 0n ? "-" : ""}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function bodyOf(parts: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

/** One of five pages, each with its number. */
function load(cursor: string | null) {
  const page = Number(cursor ?? "0");
  return Promise.resolve({ data: [page], next_cursor: page < 4 ? String(page + 1) : null });
}

function usage(day: number, model: string, cost: string, requests = 1): UsageRow {
  const tokens = { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 0, reasoning_tokens: 0 };
  return { start: new Date(FIRST + day * DAY_MS).toISOString(), model, requests, failed: 0, cost, ...tokens };
}

describe("usage", () => {
  const rows = [
    usage(0, "route/a", "0.1"),
    usage(2, "route/a", "0.3"),
    usage(2, "route/b", "2"),
    usage(9, "route/c", "7"),
  ];
  const range = { from: FIRST, to: FIRST + 3 * DAY_MS, stepMs: DAY_MS };

  test("is spread over time without gaps, the dearest model first", () => {
    const { times, series } = spread(rows.slice(0, 3), ({ cost }) => Number(cost), { ...range, maxSeries: 8 });
    expect(times).toEqual([0, 1, 2].map((day) => FIRST + day * DAY_MS));
    expect(series).toEqual([
      { name: "route/b", values: [0, 0, 2] },
      { name: "route/a", values: [0.1, 0, 0.3] },
    ]);
  });

  test("of many models is put together, and nothing outside of the time counts", () => {
    const { series } = spread(rows, ({ requests }) => requests, { ...range, maxSeries: 2 });
    expect(series).toEqual([
      { name: "route/a", values: [1, 0, 1] },
      { name: "others", values: [0, 0, 1] },
    ]);
  });

  test("is added up by model", () => {
    expect(totalsByModel(rows).map(({ model, cost, requests }) => [model, cost, requests])).toEqual([
      ["route/c", "7", 1],
      ["route/b", "2", 1],
      ["route/a", "0.4", 2],
    ]);
  });

  test("amounts are added exactly", () => {
    const nano = fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n });
    fc.assert(
      fc.property(fc.array(nano, { minLength: 1 }), (amounts) => {
        expect(addAmounts(amounts.map(text))).toBe(text(amounts.reduce((sum, one) => sum + one, 0n)));
      }),
      { numRuns: RUNS },
    );
    expect([addAmounts([]), addAmounts(["1", "0.25"])]).toEqual(["0", "1.25"]);
  });
});

test("a list is read to its end, or to so many pages", async () => {
  const seen: number[] = [];
  expect(await allPages(load, 100, (rows) => seen.push(rows))).toEqual([0, 1, 2, 3, 4]);
  expect(seen).toEqual([1, 2, 3, 4, 5]);
  expect(await allPages(load, 2)).toEqual([0, 1]);
});

test("a file of values quotes what it must, and has no formulas", () => {
  const text = csvText(
    ["a", "b"],
    [
      ['x,"y"', '=HYPERLINK("http://x")'],
      ["-0.5", "+1 or -"],
      [null, 3],
      ["@x", "l\nm"],
    ],
  );
  expect(text).toBe('a,b\r\n"x,""y""","\'=HYPERLINK(""http://x"")"\r\n-0.5,\'+1 or -\r\n,3\r\n\'@x,"l\nm"\r\n');
});

describe("events", () => {
  test("are the same however the answer is cut", async () => {
    const text = ': hello\n\ndata: {"a":"ü€😀"}\n\nevent: x\ndata: one\ndata: two\r\n\r\ndata:[DONE]\n\ndata: cut off';
    const whole = bytes(text);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: whole.length }), { maxLength: 8 }), async (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
        const parts = places.slice(1).map((end, index) => whole.slice(places[index], end));
        expect(await Array.fromAsync(readEvents(bodyOf(parts)))).toEqual(['{"a":"ü€😀"}', "one\ntwo", "[DONE]"]);
      }),
      { numRuns: RUNS },
    );
  });

  test("end the answer when nobody reads on", async () => {
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(bytes("data: x\n\n")),
      cancel: () => {
        cancelled = true;
      },
    });
    for await (const event of readEvents(endless)) if (event === "x") break;
    expect(cancelled).toBe(true);
  });
});

describe("ready lines", () => {
  const parts = { origin: "https://gateway.example", key: "rk_secret", model: "route/it's" };

  test("have address, key and model in place", () => {
    const all = snippets(parts);
    expect(all.map(({ id }) => id)).toEqual(["curl", "openai", "anthropic", "claude-code", "codex", "opencode"]);
    for (const { text } of all) {
      expect(text).toContain("https://gateway.example");
      expect(text).toContain("rk_secret");
      expect(text).toMatch(/route\/it('|'\\'')s/);
    }
    expect(JSON.parse(all.at(-1)!.text)).toMatchObject({
      provider: { gateway: { options: { baseURL: "https://gateway.example/v1", apiKey: "rk_secret" } } },
    });
  });

  test("are one word each to a shell, whatever is in them", () => {
    expect(shell("https://a/v1")).toBe("https://a/v1");
    expect(shell("a'; rm -rf ~ #")).toBe("'a'\\''; rm -rf ~ #'");
  });
});
