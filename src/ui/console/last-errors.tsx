import type { UpstreamLastError, UpstreamState } from "#schema";
import { NONE } from "../shared/formats.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";

interface Row {
  /** Key or model. */
  readonly of: string;
  readonly error: UpstreamLastError | null;
  /** The last success of a model; absent for a key. */
  readonly succeededAt?: string | null;
}

/** Unrecovered errors first. */
function rowsOf({ keys, targets }: Pick<UpstreamState, "keys" | "targets">): readonly Row[] {
  const ofKeys = keys.flatMap(({ position, last_error }): Row[] =>
    last_error === null ? [] : [{ of: `Key ${position}`, error: last_error }],
  );
  const ofModels = Object.entries(targets).map(([model, { last_error, last_success_at }]): Row => {
    return { of: model, error: last_error, succeededAt: last_success_at };
  });
  const isOpen = ({ error }: Row): boolean => error !== null && error.recovered_at === null;
  return [...ofKeys, ...ofModels].toSorted((a, b) => Number(isOpen(b)) - Number(isOpen(a)));
}

const COLUMNS: readonly Column<Row>[] = [
  { id: "of", title: "Key or model", cell: ({ of }) => <code class="small">{of}</code> },
  { id: "at", title: "Last error", cell: ({ error }) => (error === null ? NONE : <Time at={error.at} />) },
  { id: "status", title: "Status", cell: ({ error }) => error?.status ?? NONE },
  {
    id: "cause",
    title: "Cause",
    cell: ({ error }) =>
      error && (
        <>
          {error.cause}
          {error.message !== error.cause && <div class="small muted">{error.message}</div>}
          <div class="small muted">
            Request <code>{error.request_id}</code>
          </div>
        </>
      ),
  },
  {
    id: "recovered",
    title: "Recovered",
    cell: ({ error, succeededAt }) => <Time at={error === null ? succeededAt : error.recovered_at} />,
  },
];

/** The last error of each key and model, including recovered ones. */
export function LastErrors({ of }: { readonly of: UpstreamState }) {
  return (
    <div class="stack-s">
      <h3>Last errors</h3>
      <DataTable
        caption="Last errors"
        columns={COLUMNS}
        rows={rowsOf(of)}
        rowKey={({ of: name }) => name}
        empty={<p class="muted">No request has failed since the gateway started.</p>}
      />
    </div>
  );
}
