import type { UsageRow } from "#schema";
import { Chart } from "../shared/chart.tsx";
import {
  creditsNumber,
  creditsText,
  formatCompact,
  formatCount,
  formatCredits,
  formatPercent,
  NONE,
  plural,
} from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import type { Page } from "../shared/paging.ts";
import { Empty, Loaded, Panel } from "../shared/parts.tsx";
import { useResource } from "../shared/resource.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { Credits } from "../shared/time.tsx";
import { admin } from "./client.ts";
import { ClearFilters, MoreFilters, queries, query, SelectFilter, TextFilter, TimeFilter } from "./filters.tsx";
import { Id, ModelLink, UpstreamLink, UserLink } from "./state-parts.tsx";
import { addUp, groupsOf, type Dimension, type Measure, type Periods, seriesOf, type Total } from "./usage-sums.ts";

const FILTERS = ["user", "key", "model", "upstream", "from", "to"] as const;
const VIEW = ["per", "by", "measure"] as const;
const PERIODS = [
  { value: "", title: "Day" },
  { value: "hour", title: "Hour" },
];
const DIMENSIONS: readonly { readonly value: Dimension | ""; readonly title: string }[] = [
  { value: "", title: "Model" },
  { value: "upstream", title: "Upstream" },
  { value: "tier", title: "Plan" },
  { value: "user", title: "User" },
  { value: "key", title: "Key" },
];
const MEASURES: readonly { readonly value: Measure | ""; readonly title: string }[] = [
  { value: "", title: "Cost" },
  { value: "requests", title: "Requests" },
  { value: "failed", title: "Failed requests" },
  { value: "tokens", title: "Tokens" },
];
const DAY_MS = 86_400_000;
const DEFAULT_DAYS = { day: 30, hour: 2 } as const;
/** Asked for in pages of this size, and no more of them than this. */
const ROWS_PER_PAGE = 1_000;
const MAX_PAGES_COUNT = 20;

interface Usage {
  /** Requested period, in Unix milliseconds. */
  readonly from: number;
  readonly to: number;
  readonly rows: readonly UsageRow[];
  readonly complete: boolean;
}

/** Usage and cost over time. */
export function UsagePage() {
  const filters = queries(FILTERS);
  const per = query("per") === "hour" ? "hour" : "day";
  const by = (query("by") || "model") as Dimension;
  const measure = (query("measure") || "cost") as Measure;
  const usage = useResource(JSON.stringify([filters, per, by]), async (signal): Promise<Usage> => {
    const from = filters.from || new Date(Date.now() - DEFAULT_DAYS[per] * DAY_MS).toISOString();
    const rows: UsageRow[] = [];
    let cursor: string | null = null;
    for (let count = 0; count < MAX_PAGES_COUNT; count += 1) {
      const page: Page<UsageRow> = await admin.get("/admin/usage", {
        query: { ...filters, from, per, by, cursor, limit: ROWS_PER_PAGE },
        signal,
      });
      rows.push(...page.data);
      cursor = page.next_cursor;
      if (cursor === null) break;
    }
    const to = filters.to ? Date.parse(filters.to) : Date.now();
    return { from: Date.parse(from), to, rows, complete: cursor === null };
  });
  return (
    <>
      <PageHead title="Usage" />
      <div class="filters">
        <SelectFilter name="by" label="Group by" choices={DIMENSIONS} />
        <SelectFilter name="per" label="Interval" choices={PERIODS} />
        <SelectFilter name="measure" label="Chart" choices={MEASURES} />
        <ClearFilters names={[...FILTERS, ...VIEW]} />
      </div>
      <MoreFilters names={FILTERS}>
        <TextFilter name="user" label="User id" />
        <TextFilter name="key" label="Key id" />
        <TextFilter name="model" label="Model" />
        <TextFilter name="upstream" label="Upstream" />
        <TimeFilter name="from" label="From" />
        <TimeFilter name="to" label="To" />
      </MoreFilters>
      <Loaded resource={usage} what="Loading usage">
        {({ from, to, rows, complete }) =>
          rows.length === 0 ? (
            <Panel title="Totals">
              <Empty title="No usage in this period">Clear a filter, or choose a longer period.</Empty>
            </Panel>
          ) : (
            <>
              {!complete && (
                <p class="note warn">Too much data: these totals are incomplete. Choose a shorter period.</p>
              )}
              <Sums rows={rows} by={by} periods={{ per, from, to }} measure={measure} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

interface SumsProps {
  readonly rows: readonly UsageRow[];
  readonly by: Dimension;
  readonly periods: Periods;
  readonly measure: Measure;
}

function Sums({ rows, by, periods, measure }: SumsProps) {
  const { per } = periods;
  const totals = groupsOf(rows, by);
  const { times, series } = seriesOf(rows, totals, by, measure, periods);
  const all = addUp(rows);
  const title = MEASURES.find(({ value }) => value === measure)?.title ?? "Cost";
  const dimension = DIMENSIONS.find(({ value }) => value === by)?.title ?? "Model";
  return (
    <>
      <div class="panel panel-body">
        <Chart
          caption={`${title}${measure === "cost" ? " in credits" : ""} per ${per}, by ${dimension.toLowerCase()}`}
          times={times}
          series={series}
          kind="stacked-bars"
          format={(value) => (measure === "cost" ? formatCredits(value.toFixed(6)) : formatCompact(value))}
          formatTime={(at) => formatPeriod(at, per)}
        />
      </div>
      <Panel flush title={`Total: ${creditsText(all.cost)}, ${plural(all.requests, "request")}`}>
        <DataTable
          caption="Usage"
          columns={columns(by, dimension, all)}
          rows={totals}
          rowKey={({ name }) => name}
          empty={null}
        />
      </Panel>
    </>
  );
}

/** Days and hours of the ledger are those of UTC. */
const PERIOD_FORMATS = {
  day: new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" }),
  hour: new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" }),
};

function formatPeriod(at: number, per: "day" | "hour"): string {
  return `${PERIOD_FORMATS[per].format(at)} UTC`;
}

function counted(id: keyof Total & `${string}_tokens`, title: string): Column<Total> {
  return { id, title, end: true, cell: (row) => formatCount(row[id]), sortBy: (row) => row[id] };
}

function columns(by: Dimension, title: string, all: Total): readonly Column<Total>[] {
  const cost = creditsNumber(all.cost);
  return [
    { id: "name", title, cell: ({ name }) => <Name by={by} of={name} />, sortBy: ({ name }) => name },
    {
      id: "requests",
      title: "Requests",
      end: true,
      cell: ({ requests }) => formatCount(requests),
      sortBy: ({ requests }) => requests,
    },
    {
      id: "failed",
      title: "Failed",
      end: true,
      cell: ({ failed, requests }) =>
        failed === 0 ? "0" : `${formatCount(failed)} (${formatPercent(failed / Math.max(requests, 1))})`,
      sortBy: ({ failed }) => failed,
    },
    counted("prompt_tokens", "Input tokens"),
    counted("cached_tokens", "Cached"),
    counted("completion_tokens", "Output tokens"),
    counted("reasoning_tokens", "Reasoning"),
    {
      id: "cost",
      title: "Cost",
      end: true,
      cell: (row) => <Credits amount={row.cost} bare />,
      sortBy: (row) => creditsNumber(row.cost),
    },
    {
      id: "share",
      title: "Share of cost",
      end: true,
      cell: (row) => (cost === 0 ? NONE : formatPercent(creditsNumber(row.cost) / cost)),
    },
  ];
}

function Name({ by, of }: { readonly by: Dimension; readonly of: string }) {
  if (of === "") return <span class="muted">none</span>;
  if (by === "model") return <ModelLink id={of} />;
  if (by === "upstream") return <UpstreamLink name={of} />;
  if (by === "user") return <UserLink id={of} />;
  return by === "key" ? <Id of={of} /> : <>{of}</>;
}
