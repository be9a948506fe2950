import type { UsageRow } from "#schema";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { addUp, decimalOf, groupsOf, nanoOf, seriesOf } from "../../../src/ui/console/usage-sums.ts";
import { RUNS } from "../../properties/runs.ts";

function row(start: string, model: string, cost: string, requests = 1): UsageRow {
  const tokens = { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 2, reasoning_tokens: 1 };
  return { start, model, requests, failed: 0, ...tokens, cost };
}

const [FIRST, SECOND, FOURTH] = ["2026-11-20T00:00:00.000Z", "2026-11-21T00:00:00.000Z", "2026-11-23T00:00:00.000Z"];

test("an amount is the same after it was read and written", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n }), (nano) => {
      expect(nanoOf(decimalOf(nano))).toBe(nano);
    }),
    { numRuns: RUNS },
  );
  expect(decimalOf(nanoOf("0.100"))).toBe("0.1");
  expect(decimalOf(nanoOf("-12"))).toBe("-12");
});

test("sums of money are exact, where doubles would not be", () => {
  const rows = Array.from({ length: 10 }, () => row(FIRST, "a", "0.1"));
  expect(addUp(rows)).toMatchObject({ cost: "1", requests: 10, prompt_tokens: 100, reasoning_tokens: 10 });
  expect(addUp([row(FIRST, "a", "123456789012345.000000001"), row(FIRST, "a", "0.000000001")]).cost).toBe(
    "123456789012345.000000002",
  );
});

test("what cost the most comes first, and what has no name is a group of its own", () => {
  const upstreams = [row(FIRST, "a", "1"), { ...row(FIRST, "a", "2"), upstream: "x" }, row(SECOND, "a", "0.5")];
  expect(groupsOf(upstreams, "upstream").map(({ name, cost }) => [name, cost])).toEqual([
    ["x", "2"],
    ["", "1.5"],
  ]);
});

const DAYS = { per: "day", from: Date.parse(FIRST), to: Date.parse(FOURTH) } as const;

test("a chart has every period, those without usage as 0", () => {
  const rows = [row(FIRST, "a", "1"), row(SECOND, "b", "2", 7), row(FOURTH, "a", "3")];
  const { times, series } = seriesOf(rows, groupsOf(rows, "model"), "model", "cost", DAYS);
  expect(times.map((at) => new Date(at).toISOString().slice(8, 10))).toEqual(["20", "21", "22", "23"]);
  expect(series).toEqual([
    { name: "a", values: [1, 0, 0, 3] },
    { name: "b", values: [0, 2, 0, 0] },
  ]);
  const { series: requests } = seriesOf(rows, groupsOf(rows, "model"), "model", "requests", DAYS);
  expect(requests[0]).toEqual({ name: "b", values: [0, 7, 0, 0] });
});

test("a chart has the whole time that was asked for", () => {
  const rows = [row(SECOND, "a", "1")];
  const hour = 3_600_000;
  const days = { per: "day", from: Date.parse(FIRST) + hour, to: Date.parse(FOURTH) + hour } as const;
  const { times, series } = seriesOf(rows, groupsOf(rows, "model"), "model", "cost", days);
  expect(times.map((at) => new Date(at).toISOString().slice(8, 10))).toEqual(["20", "21", "22", "23"]);
  expect(series).toEqual([{ name: "a", values: [0, 1, 0, 0] }]);
});

test("more groups than can be told apart end in one, and nothing is lost", () => {
  const rows = Array.from({ length: 30 }, (_, index) => row(FIRST, `m${index}`, String(index + 1)));
  const { series } = seriesOf(rows, groupsOf(rows, "model"), "model", "cost", DAYS);
  expect(series).toHaveLength(8);
  expect(series.at(-1)!.name).toBe("others");
  expect(series.reduce((total, { values }) => total + values[0]!, 0)).toBe(465);
});
