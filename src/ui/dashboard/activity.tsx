import { useState } from "preact/hooks";
import { allPages, type LedgerEntry, OUTCOMES } from "../shared/api.ts";
import { CopyButton } from "../shared/copy.tsx";
import { csvText, download } from "../shared/csv.ts";
import { SelectField, TextField } from "../shared/fields.tsx";
import { formatCount, formatDuration, NONE, plural } from "../shared/formats.ts";
import type { Query } from "../shared/http.ts";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Empty, Panel, ProblemNote, type Tone } from "../shared/parts.tsx";
import { useAction, usePages, useResource } from "../shared/resource.ts";
import { type Column, PagedTable } from "../shared/table.tsx";
import { Credits, Time } from "../shared/time.tsx";
import { toast } from "../shared/toast.tsx";
import { filter, router } from "./place.ts";
import { api } from "./session.ts";

const FILTERS = ["model", "outcome", "key", "request_id", "from", "to"] as const;
const PAGE_ROWS = 50;
const CSV_PAGE_ROWS = 1000;
const CSV_PAGES = 100;

/** Filters as API parameters. Days in the reader's time zone become timestamps. */
function query(): Query {
  const chosen: Record<string, string> = {};
  for (const name of FILTERS) {
    const value = filter(name);
    if (value === "") continue;
    if (name === "from" || name === "to") {
      const day = new Date(`${value}T00:00:00`);
      if (Number.isNaN(day.getTime())) continue;
      if (name === "to") day.setDate(day.getDate() + 1);
      chosen[name] = day.toISOString();
    } else {
      chosen[name] = value;
    }
  }
  return chosen;
}

export function Activity() {
  const filters = query();
  const pages = usePages(JSON.stringify(filters), (cursor, signal) =>
    api.ledger({ ...filters, limit: PAGE_ROWS, cursor }, signal),
  );
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <PageHead title="Activity" actions={<Export filters={filters} />} />
      <Filters />
      <Panel
        title="Requests"
        flush
        actions={
          <button type="button" class="button small" disabled={pages.loading} onClick={pages.reload}>
            {pages.loading ? "Loading…" : "Refresh"}
          </button>
        }
      >
        <PagedTable
          caption="Requests"
          columns={COLUMNS}
          pages={pages}
          rowKey={({ id }) => id}
          empty={
            isFiltered ? (
              <Empty title="No matching requests">
                <button
                  type="button"
                  class="button small"
                  onClick={() => router.setQuery(Object.fromEntries(FILTERS.map((name) => [name, null])))}
                >
                  Clear filters
                </button>
              </Empty>
            ) : (
              <Empty title="No requests yet">
                <span>
                  Send one from the <a href="#/playground">playground</a>, or with an <a href="#/keys">API key</a>.
                </span>
              </Empty>
            )
          }
        />
      </Panel>
    </>
  );
}

const set = (name: string) => (value: string) => router.setQuery({ [name]: value });

function Filters() {
  const models = useResource("models", (signal) => api.models(signal));
  const keys = useResource("keys", (signal) => api.keys(signal));
  return (
    <div class="filters" role="search">
      <SelectField
        label="Model"
        value={filter("model")}
        choices={[
          { value: "", title: "All models" },
          ...(models.data ?? []).map(({ id }) => ({ value: id, title: id })),
        ]}
        onValue={set("model")}
      />
      <SelectField
        label="Outcome"
        value={filter("outcome")}
        choices={[
          { value: "", title: "All outcomes" },
          ...Object.entries(OUTCOMES).map(([value, title]) => ({ value, title })),
        ]}
        onValue={set("outcome")}
      />
      <SelectField
        label="API key"
        value={filter("key")}
        choices={[
          { value: "", title: "All keys" },
          ...(keys.data ?? []).map(({ id, name }) => ({ value: id, title: name })),
        ]}
        onValue={set("key")}
      />
      <TextField label="From" type="date" value={filter("from")} onValue={set("from")} />
      <TextField label="To" type="date" value={filter("to")} onValue={set("to")} />
      <TextField
        label="Request id"
        type="search"
        spellcheck={false}
        value={filter("request_id")}
        onValue={set("request_id")}
      />
    </div>
  );
}

const HEAD = [
  "received_at",
  "model",
  "upstream",
  "outcome",
  "prompt_tokens",
  "completion_tokens",
  "cached_tokens",
  "reasoning_tokens",
  "cost",
  "estimated",
  "duration_ms",
  "request_id",
  "key_id",
];

function csvRow(entry: LedgerEntry): readonly (string | number | null)[] {
  const { usage } = entry;
  return [
    entry.received_at,
    entry.model,
    entry.upstream,
    entry.outcome,
    usage.prompt_tokens ?? 0,
    usage.completion_tokens ?? 0,
    usage.cached_tokens ?? 0,
    usage.reasoning_tokens ?? 0,
    entry.cost,
    entry.estimated ? "yes" : "no",
    entry.duration_ms,
    entry.request_id,
    entry.key_id,
  ];
}

/** Downloads all requests that match the filters. */
function Export({ filters }: { readonly filters: Query }) {
  const [rows, setRows] = useState(0);
  const { busy, problem, start } = useAction(async () => {
    setRows(0);
    const entries = await allPages(
      (cursor) => api.ledger({ ...filters, limit: CSV_PAGE_ROWS, cursor }),
      CSV_PAGES,
      setRows,
    );
    download("activity.csv", "text/csv", csvText(HEAD, entries.map(csvRow)));
    const isCut = entries.length >= CSV_PAGE_ROWS * CSV_PAGES;
    toast(`${plural(entries.length, "request")} downloaded${isCut ? ". Choose dates to get older ones." : ""}`);
  });
  return (
    <>
      {problem && <ProblemNote problem={problem} />}
      <button type="button" class="button" disabled={busy} onClick={() => start()}>
        {busy ? `${formatCount(rows)} so far…` : "Download CSV"}
      </button>
    </>
  );
}

export function outcomeTone(outcome: string): Tone {
  if (outcome === "served") return "good";
  return outcome === "client_gone" || outcome === "killed" ? "warn" : "bad";
}

const COLUMNS: readonly Column<LedgerEntry>[] = [
  { id: "time", title: "Time", cell: (entry) => <Time at={entry.received_at} /> },
  { id: "model", title: "Model", cell: ({ model }) => <code>{model}</code> },
  { id: "provider", title: "Provider", cell: ({ upstream }) => upstream ?? NONE },
  {
    id: "outcome",
    title: "Outcome",
    cell: ({ outcome }) => <Badge tone={outcomeTone(outcome)}>{OUTCOMES[outcome] ?? outcome}</Badge>,
  },
  {
    id: "in",
    title: "Input tokens",
    end: true,
    cell: ({ usage }) => (
      <span title={usage.cached_tokens ? `${formatCount(usage.cached_tokens)} cached` : undefined}>
        {formatCount(usage.prompt_tokens ?? 0)}
      </span>
    ),
  },
  { id: "out", title: "Output tokens", end: true, cell: ({ usage }) => formatCount(usage.completion_tokens ?? 0) },
  {
    id: "cost",
    title: "Credits",
    end: true,
    cell: ({ cost, estimated }) => (
      <>
        <Credits amount={cost} bare />
        {estimated && <span title="Estimated: the provider did not report token usage"> ≈</span>}
      </>
    ),
  },
  { id: "latency", title: "Duration", end: true, cell: (entry) => formatDuration(entry.duration_ms) },
  {
    id: "request",
    title: "Request id",
    cell: ({ request_id: id }) => <CopyButton text={id} what={`request id ${id}`} />,
  },
];
