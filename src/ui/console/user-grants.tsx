import type { CreditGrant } from "#schema";
import type { Page } from "../shared/paging.ts";
import { Empty, Panel } from "../shared/parts.tsx";
import { usePages } from "../shared/resource.ts";
import { type Column, PagedTable } from "../shared/table.tsx";
import { Credits, Time } from "../shared/time.tsx";
import { admin, part } from "./client.ts";

/** Credits granted to a user, by whom and why. @param round reloads the list when it changes */
export function UserGrants({ userId, round }: { readonly userId: string; readonly round: string }) {
  const pages = usePages(`${userId} ${round}`, (cursor, signal) =>
    admin.get<Page<CreditGrant>>(`/admin/users/${part(userId)}/credits`, { query: { cursor, limit: 10 }, signal }),
  );
  return (
    <Panel flush title="Credits granted">
      <PagedTable
        caption="Credits granted"
        columns={COLUMNS}
        pages={pages}
        rowKey={({ id }) => id}
        empty={<Empty title="No grants yet">The credits that a new account starts with are not listed here.</Empty>}
      />
    </Panel>
  );
}

const COLUMNS: readonly Column<CreditGrant>[] = [
  { id: "at", title: "Time", cell: ({ created_at }) => <Time at={created_at} both /> },
  { id: "amount", title: "Amount", end: true, cell: ({ amount }) => <Credits amount={amount} bare /> },
  { id: "after", title: "Balance after", end: true, cell: ({ credits }) => <Credits amount={credits} bare /> },
  { id: "reason", title: "Reason", cell: ({ reason }) => reason },
  { id: "by", title: "Granted by", cell: ({ by }) => by },
];
