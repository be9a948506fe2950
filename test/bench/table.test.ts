import { expect, test } from "vitest";
import { ALL_ROWS } from "../../bench/load/options.ts";
import { TINY } from "../../bench/load/sizes.ts";
import { measureTable } from "../../bench/load/table.ts";

const OPTIONS = { rounds: 1, seconds: 1, logLevel: "info", sizes: TINY };

test("every row is measured, of the real processes", { timeout: 300_000 }, async () => {
  const { lines, measurements } = await measureTable({ ...OPTIONS, rows: ALL_ROWS });
  expect([...new Set(lines.map(({ row }) => row))]).toEqual(ALL_ROWS);
  expect(measurements.filter(({ result }) => result.bad > 0)).toEqual([]);
  // Of peers that are not installed it is said; everything else has figures.
  expect(lines.filter((line) => !(line.absent ?? "").startsWith("not installed") && !isWhole(line))).toEqual([]);
});

function isWhole({ reference, measured, ratio }: Awaited<ReturnType<typeof measureTable>>["lines"][number]): boolean {
  const figures = [measured?.median, ...(reference === null ? [] : [reference.median, ratio?.median])];
  return figures.every(Number.isFinite);
}
