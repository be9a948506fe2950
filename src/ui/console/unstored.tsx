import type { RejectedSettlement, UnstoredSettlements } from "#schema";
import { NONE, plural } from "../shared/formats.ts";
import { useResource } from "../shared/resource.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { Credits, Time } from "../shared/time.tsx";
import { admin } from "./client.ts";
import { ModelLink, UserLink } from "./state-parts.tsx";
import { decimalOf } from "./usage-sums.ts";

const EVERY_MS = 10_000;

/** Warns of charges that are not in the ledger yet. Hidden if there are none. */
export function Unstored() {
  const { data } = useResource(
    "settlements",
    (signal) => admin.get<UnstoredSettlements>("/admin/settlements", { signal }),
    { everyMs: EVERY_MS },
  );
  if (data === undefined || (data.pending === 0 && data.rejected.length === 0)) return null;
  return (
    <div class="note warn stack-s" role="status">
      {data.pending > 0 && (
        <p>
          {plural(data.pending, "charge is", "charges are")} waiting on this gateway's disk. The ledger gets{" "}
          {data.pending === 1 ? "it" : "them"} when the store responds again.
        </p>
      )}
      {data.rejected.length > 0 && (
        <details>
          <summary>
            The store rejected {plural(data.rejected.length, "charge")}. The gateway retries at each start for 90 days.
          </summary>
          <DataTable
            caption="Rejected charges"
            columns={COLUMNS}
            rows={data.rejected}
            rowKey={({ id }) => id}
            empty={null}
          />
        </details>
      )}
    </div>
  );
}

const COLUMNS: readonly Column<RejectedSettlement>[] = [
  { id: "at", title: "Time", cell: ({ rejected_at }) => <Time at={rejected_at} /> },
  { id: "user", title: "User", cell: ({ user_id }) => (user_id === null ? NONE : <UserLink id={user_id} />) },
  { id: "model", title: "Model", cell: ({ model }) => (model === null ? NONE : <ModelLink id={model} />) },
  {
    id: "charge",
    title: "Charge",
    end: true,
    cell: ({ charge }) => (charge === null ? NONE : <Credits amount={decimalOf(BigInt(charge))} bare />),
  },
  { id: "reason", title: "Reason", cell: ({ reason }) => reason },
];
