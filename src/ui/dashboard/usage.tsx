import type { UsageRow } from "../shared/api.ts";
import { Chart } from "../shared/chart.tsx";
import { csvText, download } from "../shared/csv.ts";
import { SelectField } from "../shared/fields.tsx";
import { creditsNumber, formatCompact, formatCount, formatCredits, formatPercent } from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import { Empty, Figure, Loaded, Panel } from "../shared/parts.tsx";
import { useResource } from "../shared/resource.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { Credits } from "../shared/time.tsx";
import { filter, router } from "./place.ts";
import { api } from "./session.ts";
import { addAmounts, DAY_MS, HOUR_MS, spread, totalsByModel } from "./spending.ts";

const SERIES_COUNT = 8;
const RANGES = [
  { value: "1", title: "Last 24 hours, by hour" },
  { value: "7", title: "Last 7 days" },
  { value: "", title: "Last 30 days" },
  { value: "90", title: "Last 90 days" },
];
const MEASURES = [
  { value: "", title: "Credits" },
  { value: "requests", title: "Requests" },
  { value: "failed", title: "Failed requests" },
  { value: "tokens", title: "Tokens" },
];

export function Usage() {
  const days = Number(filter("days") || "30");
  const stepMs = days === 1 ? HOUR_MS : DAY_MS;
  const to = Math.ceil(Date.now() / stepMs) * stepMs;
  const from = to - days * DAY_MS;
  const usage = useResource(`${days} ${to}`, (signal) =>
    api.usage({ per: days === 1 ? "hour" : "day", by: "model", from: new Date(from).toISOString() }, signal),
  );
  return (
    <>
      <PageHead title="Usage" />
      <div class="filters">
        <SelectField
          label="Period"
          value={filter("days")}
          choices={RANGES}
          onValue={(days) => router.setQuery({ days })}
        />
        <SelectField label="Chart" value={filter("of")} choices={MEASURES} onValue={(of) => router.setQuery({ of })} />
      </div>
      <Loaded resource={usage} what="Loading usage">
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No usage in this period">
              <span>Choose a longer period, or send a request.</span>
            </Empty>
          ) : (
            <Figures rows={rows} range={{ from, to, stepMs }} />
          )
        }
      </Loaded>
    </>
  );
}

function valueOf(measure: string): (row: UsageRow) => number {
  if (measure === "requests") return ({ requests }) => requests;
  if (measure === "failed") return ({ failed }) => failed;
  if (measure === "tokens") return (row) => row.prompt_tokens + row.completion_tokens;
  return ({ cost }) => creditsNumber(cost);
}

function Figures(props: {
  readonly rows: readonly UsageRow[];
  readonly range: { readonly from: number; readonly to: number; readonly stepMs: number };
}) {
  const { rows, range } = props;
  const measure = filter("of");
  const shown = spread(rows, valueOf(measure), { ...range, maxSeries: SERIES_COUNT });
  const totals = totalsByModel(rows);
  const sum = (of: (row: UsageRow) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const requests = sum((row) => row.requests);
  const prompt = sum((row) => row.prompt_tokens);
  const title = MEASURES.find(({ value }) => value === measure)?.title ?? "Credits";
  const save = (): void => {
    const head = ["start", "model", "requests", "failed", "prompt_tokens", "completion_tokens", "cached_tokens"];
    const lines = rows.map((row) => [
      row.start,
      row.model ?? null,
      row.requests,
      row.failed,
      row.prompt_tokens,
      row.completion_tokens,
      row.cached_tokens,
      row.reasoning_tokens,
      row.cost,
    ]);
    download("usage.csv", "text/csv", csvText([...head, "reasoning_tokens", "cost"], lines));
  };
  return (
    <>
      <div class="panel panel-body figures">
        <Figure label="Spent" value={<Credits amount={addAmounts(rows.map(({ cost }) => cost))} />} />
        <Figure
          label="Requests"
          value={formatCount(requests)}
          hint={requests === 0 ? undefined : `${formatPercent(sum((row) => row.failed) / requests)} failed`}
        />
        <Figure
          label="Input tokens"
          value={formatCompact(prompt)}
          hint={prompt === 0 ? undefined : `${formatPercent(sum((row) => row.cached_tokens) / prompt)} cached`}
        />
        <Figure label="Output tokens" value={formatCompact(sum((row) => row.completion_tokens))} />
      </div>
      <Panel title="Over time">
        <Chart
          caption={`${title}, by model`}
          kind="stacked-bars"
          times={shown.times}
          series={shown.series}
          format={measure === "" ? (value) => formatCredits(value.toFixed(9)) : formatCompact}
        />
      </Panel>
      <Panel
        title="By model"
        flush
        actions={
          <button type="button" class="button small" onClick={save}>
            Download CSV
          </button>
        }
      >
        <DataTable
          caption="Usage by model"
          columns={COLUMNS}
          rows={totals}
          rowKey={({ model }) => model ?? ""}
          empty={<Empty title="No usage" />}
        />
      </Panel>
    </>
  );
}

const count = (id: string, title: string, of: (row: UsageRow) => number): Column<UsageRow> => ({
  id,
  title,
  end: true,
  sortBy: of,
  cell: (row) => formatCount(of(row)),
});

const COLUMNS: readonly Column<UsageRow>[] = [
  {
    id: "model",
    title: "Model",
    sortBy: ({ model }) => model ?? null,
    cell: ({ model }) => <code>{model}</code>,
  },
  count("requests", "Requests", (row) => row.requests),
  count("failed", "Failed", (row) => row.failed),
  count("in", "Input tokens", (row) => row.prompt_tokens),
  count("cached", "Cached", (row) => row.cached_tokens),
  count("out", "Output tokens", (row) => row.completion_tokens),
  count("reasoning", "Reasoning", (row) => row.reasoning_tokens),
  {
    id: "cost",
    title: "Credits",
    end: true,
    sortBy: ({ cost }) => creditsNumber(cost),
    cell: ({ cost }) => <Credits amount={cost} bare />,
  },
];
