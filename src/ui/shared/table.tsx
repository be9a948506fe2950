import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { NONE } from "./formats.ts";
import { Empty, Loading, ProblemNote } from "./parts.tsx";
import { nextSorting, type Sorting, sortRows } from "./paging.ts";
import type { PagedResource } from "./resource.ts";

export interface Column<T> {
  readonly id: string;
  /** Empty: what the column has are buttons. */
  readonly title: string;
  /** Numbers stand at the end of their column. */
  readonly end?: boolean;
  readonly cell: (row: T) => ComponentChildren;
  /** Makes the column's title a button that sorts the rows that are shown. */
  readonly sortBy?: (row: T) => string | number | null;
}

interface TableProps<T> {
  /** Description of the table for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string;
  /** Instead of a table without rows. */
  readonly empty: ComponentChildren;
}

/** The first column names its row. */
export function DataTable<T>({ caption, columns, rows, rowKey, empty }: TableProps<T>) {
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const by = columns.find(({ id }) => id === sorting?.column)?.sortBy;
  const shown = sorting !== null && by !== undefined ? sortRows(rows, by, sorting.descending) : rows;
  if (rows.length === 0) return <>{empty}</>;
  return (
    <div class="table-wrap" role="group" aria-label={caption} tabIndex={0}>
      {/* Roles are named, since a style that lays rows out as cards takes them away. */}
      <table class="table cards" role="table">
        <caption class="visually-hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <Heading
                key={column.id}
                column={column}
                sorting={sorting}
                onSort={() => setSorting(nextSorting(sorting, column.id))}
              />
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {shown.map((row) => (
            <tr key={rowKey(row)} role="row">
              {columns.map((column, index) => (
                <Cell key={column.id} column={column} row={row} isFirst={index === 0} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell<T>(props: { readonly column: Column<T>; readonly row: T; readonly isFirst: boolean }) {
  const { title, end, cell } = props.column;
  const content = cell(props.row);
  if (props.isFirst) {
    return (
      <th scope="row" role="rowheader" data-label={title}>
        <span>{content}</span>
      </th>
    );
  }
  return (
    <td role="cell" data-label={title} class={`${end ? "end" : ""} ${content === NONE ? "none" : ""}`}>
      <span>{content}</span>
    </td>
  );
}

const ARROWS = { none: "", ascending: " ↑", descending: " ↓" } as const;

function Heading<T>(props: {
  readonly column: Column<T>;
  readonly sorting: Sorting | null;
  readonly onSort: () => void;
}) {
  const { column, sorting } = props;
  const className = column.end ? "end" : "";
  if (column.sortBy === undefined) {
    return (
      <th scope="col" role="columnheader" class={className}>
        {column.title === "" ? <span class="visually-hidden">Actions</span> : column.title}
      </th>
    );
  }
  const direction = sorting?.column !== column.id ? "none" : sorting.descending ? "descending" : "ascending";
  return (
    <th scope="col" role="columnheader" class={className} aria-sort={direction}>
      <button type="button" class="sort" onClick={props.onSort}>
        {column.title}
        <span aria-hidden="true">{ARROWS[direction]}</span>
      </button>
    </th>
  );
}

/** A list of the API, a page at a time. */
export function PagedTable<T>(props: Omit<TableProps<T>, "rows"> & { readonly pages: PagedResource<T> }) {
  const { pages, ...table } = props;
  const { data, problem, loading, trail } = pages;
  return (
    <>
      {problem && (
        <div class="panel-body">
          <ProblemNote problem={problem} retry={pages.reload} />
        </div>
      )}
      {data === undefined ? (
        problem === null && <Loading />
      ) : (
        <DataTable {...table} rows={data.data} empty={data.next_cursor === null ? table.empty : <SoFar />} />
      )}
      {(trail.length > 1 || (data?.next_cursor ?? null) !== null) && (
        <nav class="pager" aria-label={`Pages of ${props.caption}`}>
          <span class="muted" role="status">
            {loading ? <span class="loading">Loading…</span> : `Page ${trail.length}`}
          </span>
          <div class="row">
            <button type="button" class="button small" disabled={trail.length === 1} onClick={pages.previous}>
              ← Previous
            </button>
            <button
              type="button"
              class="button small"
              disabled={loading || (data?.next_cursor ?? null) === null}
              onClick={pages.next}
            >
              Next →
            </button>
          </div>
        </nav>
      )}
    </>
  );
}

function SoFar() {
  return (
    <Empty title="No matches on this page">
      <span>Go to the next page to search older entries.</span>
    </Empty>
  );
}
