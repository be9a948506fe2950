import { expect, test } from "vitest";
import { TINY } from "../../bench/load/sizes.ts";
import { measureTable } from "../../bench/load/table.ts";

const OPTIONS = { rounds: 1, seconds: 0.5, logLevel: "info", sizes: TINY, floor: true };

/**
 * One of each kind: 2, 4, 6, 7 and 8 are other loads and proxies in the way of 1, 3 and 5. Each row starts processes of its
 * own; `BENCH_ROWS=all`, and `npm run test:long`, run more of them.
 */
const ROWS = process.env["BENCH_ROWS"] === "all" ? [1, 3, 5, 9, 10, 11, 12, 13, 14] : [1, 5, 12];

test("rows are measured, of the real processes", { timeout: 300_000 }, async () => {
  const { lines, measurements } = await measureTable({ ...OPTIONS, rows: ROWS });
  expect([...new Set(lines.map(({ row }) => row))]).toEqual(ROWS);
  expect(measurements.filter(({ result }) => result.bad > 0)).toEqual([]);
  // Of peers that are not installed it is said; everything else has figures.
  expect(lines.filter((line) => !(line.absent ?? "").startsWith("not installed") && !isWhole(line))).toEqual([]);
});

function isWhole({ reference, measured, ratio }: Awaited<ReturnType<typeof measureTable>>["lines"][number]): boolean {
  const figures = [measured?.median, ...(reference === null ? [] : [reference.median, ratio?.median])];
  return figures.every(Number.isFinite);
}
