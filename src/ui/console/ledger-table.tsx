import type { LedgerEntry } from "#schema";
import { formatCount, formatDuration, NONE } from "../shared/formats.ts";
import type { Page } from "../shared/paging.ts";
import { Empty } from "../shared/parts.tsx";
import type { Query } from "../shared/http.ts";
import { usePages } from "../shared/resource.ts";
import { linkTo } from "../shared/router.ts";
import { type Column, PagedTable } from "../shared/table.tsx";
import { Credits, Time } from "../shared/time.tsx";
import { admin } from "./client.ts";
import { Id, ModelLink, OutcomeBadge, UpstreamLink, UserLink } from "./state-parts.tsx";

interface Props {
  readonly filters: Query;
  readonly withUser?: boolean;
  readonly limit?: number;
  /** Default: the list is loaded once. */
  readonly everyMs?: number;
}

/** Ledger entries, newest first. */
export function LedgerTable({ filters, withUser = true, limit = 50, everyMs }: Props) {
  const pages = usePages(
    JSON.stringify([filters, limit]),
    (cursor, signal) => admin.get<Page<LedgerEntry>>("/admin/ledger", { query: { ...filters, limit, cursor }, signal }),
    { everyMs },
  );
  // On a user's own page the user is not a filter that can be cleared.
  const isFiltered = Object.entries(filters).some(([name, value]) => Boolean(value) && (withUser || name !== "user"));
  return (
    <PagedTable
      caption="Ledger"
      columns={withUser ? COLUMNS : COLUMNS.filter(({ id }) => id !== "user")}
      pages={pages}
      rowKey={({ id }) => id}
      empty={
        isFiltered ? (
          <Empty title="No matching entries">Clear a filter, or choose a longer period.</Empty>
        ) : (
          <Empty title="No requests yet">Every accepted request is recorded here when it ends.</Empty>
        )
      }
    />
  );
}

const COLUMNS: readonly Column<LedgerEntry>[] = [
  {
    id: "at",
    title: "Ended",
    cell: ({ ended_at, received_at }) => <Time at={ended_at ?? received_at} />,
    sortBy: ({ ended_at }) => ended_at,
  },
  { id: "user", title: "User", cell: ({ user_id }) => <UserLink id={user_id} /> },
  { id: "model", title: "Model", cell: ({ model }) => <ModelLink id={model} />, sortBy: ({ model }) => model },
  { id: "upstream", title: "Upstream", cell: ({ upstream }) => <UpstreamLink name={upstream} /> },
  { id: "outcome", title: "Outcome", cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  { id: "usage", title: "Usage", cell: (entry) => <Usage entry={entry} /> },
  {
    id: "duration",
    title: "Duration",
    end: true,
    cell: ({ duration_ms }) => formatDuration(duration_ms),
    sortBy: ({ duration_ms }) => duration_ms,
  },
  {
    id: "cost",
    title: "Cost",
    end: true,
    cell: ({ cost, estimated }) => (
      <>
        {estimated && (
          <span class="muted small" title="Estimated by the gateway: the upstream reported no usage">
            estimated{" "}
          </span>
        )}
        <Credits amount={cost} bare />
      </>
    ),
    sortBy: ({ cost }) => Number(cost),
  },
  {
    id: "request",
    title: "Request",
    cell: ({ request_id, tags }) => (
      <span class="details">
        <a href={linkTo("/explain", { request: request_id })} title={`${request_id}: explain this request`}>
          <Id of={request_id} />
        </a>
        {Object.entries(tags).map(([name, value]) => (
          <span key={name} class="muted small">
            {name}: {value}
          </span>
        ))}
      </span>
    ),
  },
];

const SHORT: Readonly<Record<string, string>> = {
  prompt_tokens: "in",
  completion_tokens: "out",
  cached_tokens: "cached",
  reasoning_tokens: "reasoning",
};

function Usage({ entry: { usage } }: { readonly entry: LedgerEntry }) {
  const counted = Object.entries(usage).filter(([, count]) => count > 0);
  if (counted.length === 0) return <>{NONE}</>;
  const text = counted.map(([name, count]) => `${formatCount(count)} ${name.replaceAll("_", " ")}`).join(", ");
  return (
    <span title={text}>
      {counted.map(([name, count]) => `${formatCount(count)} ${SHORT[name] ?? name.replaceAll("_", " ")}`).join(", ")}
    </span>
  );
}
