import { PageHead } from "../shared/layout.tsx";
import { withQuery } from "../shared/http.ts";
import { Panel } from "../shared/parts.tsx";
import { ClearFilters, MoreFilters, queries, query, SelectFilter, TextFilter, TimeFilter } from "./filters.tsx";
import { LedgerTable } from "./ledger-table.tsx";
import { OUTCOMES } from "./state-parts.tsx";

const FILTERS = ["user", "key", "model", "upstream", "outcome", "tag", "request_id", "from", "to"] as const;
const MORE = ["key", "tag", "request_id", "from", "to"] as const;
const CHOICES = [
  { value: "", title: "All" },
  ...OUTCOMES.map((value) => ({ value, title: value.replaceAll("_", " ") })),
];

const UPDATES = [
  { value: "", title: "Off" },
  { value: "yes", title: "Every 3 s" },
];
const LIVE_MS = 3_000;

/** Charges by user, model and request. */
export function LedgerPage() {
  const filters = queries(FILTERS);
  const exported = (format: string): string => withQuery("/admin/ledger/export", { format, ...filters });
  return (
    <>
      <PageHead
        title="Ledger"
        actions={
          <>
            <a class="button" href={exported("csv")} download="ledger.csv">
              Export CSV
            </a>
            <a class="button" href={exported("ndjson")} download="ledger.ndjson">
              Export NDJSON
            </a>
          </>
        }
      />
      <div class="filters">
        <TextFilter name="user" label="User id" />
        <TextFilter name="model" label="Model" placeholder="route/swift" />
        <TextFilter name="upstream" label="Upstream" />
        <SelectFilter name="outcome" label="Outcome" choices={CHOICES} />
        <SelectFilter name="live" label="Auto-refresh" choices={UPDATES} />
        <ClearFilters names={FILTERS} />
      </div>
      <MoreFilters names={MORE}>
        <TextFilter name="key" label="Key id" />
        <TextFilter name="tag" label="Tag" placeholder="team:blue" />
        <TextFilter name="request_id" label="Request id" />
        <TimeFilter name="from" label="From" />
        <TimeFilter name="to" label="To" />
      </MoreFilters>
      <Panel flush title="Entries">
        <LedgerTable filters={filters} {...(query("live") === "" ? null : { everyMs: LIVE_MS })} />
      </Panel>
      <p class="muted small">Exports include every entry that matches the filters, not only this page.</p>
    </>
  );
}
