import type { CreditGrant } from "#schema";
import type { Page } from "../shared/paging.ts";
import { Empty, Panel } from "../shared/parts.tsx";
import { usePages } from "../shared/resource.ts";
import { type Column, PagedTable } from "../shared/table.tsx";
import { Credits, Time } from "../shared/time.tsx";
import { admin, part } from "./client.ts";

/** What a user was granted, by whom and why. @param round another one reads it again */
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
        empty={
          <Empty title="Nothing was granted by an operator">
            What a user begins with, and what <code>gateway credits add</code> gave, is not listed here.
          </Empty>
        }
      />
    </Panel>
  );
}

const COLUMNS: readonly Column<CreditGrant>[] = [
  { id: "at", title: "When", cell: ({ created_at }) => <Time at={created_at} both /> },
  { id: "amount", title: "Amount", end: true, cell: ({ amount }) => <Credits amount={amount} bare /> },
  { id: "after", title: "Owned afterwards", end: true, cell: ({ credits }) => <Credits amount={credits} bare /> },
  { id: "reason", title: "Why", cell: ({ reason }) => reason },
  { id: "by", title: "By", cell: ({ by }) => by },
];
