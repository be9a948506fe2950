import { expect, test } from "vitest";
import { FIRST_PAGE, nextPage, nextSorting, previousPage, sortRows } from "../../src/ui/shared/paging.ts";

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
