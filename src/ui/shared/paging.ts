/** A part of a list, as every list of the gateway's API answers it. */
export interface Page<T> {
  readonly data: readonly T[];
  /** null: there is nothing more. */
  readonly next_cursor: string | null;
}

/** The cursors of the pages up to the one that is shown; the first page has none. Never empty. */
export type Trail = readonly (string | null)[];

export const FIRST_PAGE: Trail = [null];

/** Without a cursor there is no next page, and the trail stays. */
export function nextPage(trail: Trail, cursor: string | null): Trail {
  return cursor === null || trail.at(-1) === cursor ? trail : [...trail, cursor];
}

export function previousPage(trail: Trail): Trail {
  return trail.length > 1 ? trail.slice(0, -1) : trail;
}

/**
 * The first page from `cursor` on that has something: a filter may leave pages empty that lead to others. After so many
 * calls what there is so far comes back, and its cursor goes on.
 */
export async function pageWithRows<T>(
  load: (cursor: string | null) => Promise<Page<T>>,
  cursor: string | null,
  maxCalls: number,
): Promise<Page<T>> {
  let page = await load(cursor);
  for (let calls = 1; calls < maxCalls && page.data.length === 0 && page.next_cursor !== null; calls += 1) {
    page = await load(page.next_cursor);
  }
  return page;
}

export interface Sorting {
  readonly column: string;
  readonly descending: boolean;
}

/** After a click on a column's title: first as it grows, then as it falls, then as it came. */
export function nextSorting(current: Sorting | null, column: string): Sorting | null {
  if (current?.column !== column) return { column, descending: false };
  return current.descending ? null : { column, descending: true };
}

/** Sorts rows. Rows without a value come last in both directions; equal rows keep their order. */
export function sortRows<T>(
  rows: readonly T[],
  by: (row: T) => string | number | null,
  descending: boolean,
): readonly T[] {
  return rows.toSorted((left, right) => {
    const a = by(left);
    const b = by(right);
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const order = typeof a === "number" && typeof b === "number" ? a - b : compareTexts(String(a), String(b));
    return descending ? -order : order;
  });
}

const COLLATOR = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function compareTexts(left: string, right: string): number {
  return COLLATOR.compare(left, right);
}
