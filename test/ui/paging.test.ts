import { expect, test } from "vitest";
import { FIRST_PAGE, nextPage, nextSorting, pageWithRows, previousPage, sortRows } from "../../src/ui/shared/paging.ts";

test("a trail of pages goes forward by cursors and back to where it began", () => {
  const second = nextPage(FIRST_PAGE, "b");
  const third = nextPage(second, "c");
  expect(third).toEqual([null, "b", "c"]);
  expect(previousPage(third)).toEqual(second);
  expect(previousPage(FIRST_PAGE)).toEqual(FIRST_PAGE);
  expect(nextPage(third, null), "the last page").toEqual(third);
  expect(nextPage(third, "c"), "a second click before the page has come").toEqual(third);
});

test("a column sorts up, down, and not at all", () => {
  const up = nextSorting(null, "cost");
  const down = nextSorting(up, "cost");
  expect([up, down, nextSorting(down, "cost")]).toEqual([
    { column: "cost", descending: false },
    { column: "cost", descending: true },
    null,
  ]);
  expect(nextSorting(down, "name")).toEqual({ column: "name", descending: false });
});

test("rows are sorted by number or text, those without a value last in both directions", () => {
  const rows = [{ n: 10 }, { n: null }, { n: 9 }, { n: 100 }];
  expect(sortRows(rows, ({ n }) => n, false).map(({ n }) => n)).toEqual([9, 10, 100, null]);
  expect(sortRows(rows, ({ n }) => n, true).map(({ n }) => n)).toEqual([100, 10, 9, null]);
  const names = ["route/b10", "route/B2", "route/a"];
  expect(sortRows(names, (name) => name, false)).toEqual(["route/a", "route/B2", "route/b10"]);
});

/** Six pages, of which one has a row. */
function load(cursor: string | null) {
  const page = Number(cursor ?? "0");
  return Promise.resolve({ data: page === 3 ? ["row"] : [], next_cursor: page < 5 ? String(page + 1) : null });
}

test("pages without rows are passed over, up to so many", async () => {
  expect(await pageWithRows(load, null, 10)).toEqual({ data: ["row"], next_cursor: "4" });
  expect(await pageWithRows(load, null, 2), "goes on from there").toEqual({ data: [], next_cursor: "2" });
  expect(await pageWithRows(load, "4", 10), "the end").toEqual({ data: [], next_cursor: null });
});
