import { useMemo } from "preact/hooks";
import { Chart, type ChartProps } from "../shared/chart.tsx";
import {
  formatCompact,
  formatCount,
  formatCredits,
  formatDuration,
  formatPercent,
  NONE,
  plural,
} from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import { Empty, Figure, Loading, Panel } from "../shared/parts.tsx";
import { type Drawn, drawnOf, KEPT_MS, nowOf, STEP_MS } from "./figures.ts";
import { liveStatus, seconds } from "./live.ts";
import { ConfigurationHealth, UpstreamHealth } from "./overview-health.tsx";
import { Unstored } from "./unstored.tsx";
import { decimalOf } from "./usage-sums.ts";

/** Six numbers, their charts, and what needs attention. */
export function OverviewPage() {
  return (
    <>
      <PageHead title="Overview" />
      <Unstored />
      <Numbers />
      <div class="grid-2">
        <UpstreamHealth />
        <ConfigurationHealth />
      </div>
      <Charts />
    </>
  );
}

function Numbers() {
  const now = nowOf(seconds.value);
  if (now === null) {
    return (
      <Panel title="Now">
        {liveStatus.value === "waiting" ? (
          <Empty title="No live data">
            The live connection to the gateway is down. Reconnecting automatically. The rest of this page does not
            depend on it.
          </Empty>
        ) : (
          <Loading what="Waiting for live data" />
        )}
      </Panel>
    );
  }
  const { errorShare, ttftP95Ms, overheadP95Ms } = now;
  return (
    <Panel title="Now">
      <div class="numbers">
        <Figure label="Requests per second" value={formatCount(round(now.requestsPerSecond))} hint="last 10 s" />
        <Figure label="In flight" value={formatCount(now.inFlight)} hint={plural(now.streams, "stream")} />
        <Figure
          label="Errors (4xx, 5xx)"
          value={errorShare === null ? NONE : formatPercent(errorShare)}
          hint="last minute"
        />
        <Figure
          label="First token, p95"
          value={ttftP95Ms === null ? NONE : formatDuration(ttftP95Ms)}
          hint="last minute"
        />
        <Figure
          label="Overhead, p95"
          value={overheadP95Ms === null ? NONE : `${formatCount(round(overheadP95Ms))} ms`}
          hint="last minute"
        />
        <Figure
          label="Credits spent"
          value={formatCredits(decimalOf(now.spend))}
          hint={`last ${formatDuration(spanOf())}`}
        />
      </div>
    </Panel>
  );
}

function round(value: number): number {
  return Number(value.toPrecision(3));
}

function spanOf(): number {
  const all = seconds.value;
  const [first, last] = [all[0]?.at ?? 0, all.at(-1)?.at ?? 0];
  return Math.min(KEPT_MS, last - first + 1_000);
}

const CLOCK = new Intl.DateTimeFormat("en", { timeStyle: "medium" });
const formatClock = (at: number): string => CLOCK.format(at);

/** Redrawn once per step, not every second. */
function Charts() {
  const all = seconds.value;
  const last = Math.floor((all.at(-1)?.at ?? 0) / STEP_MS);
  const first = Math.floor((all[0]?.at ?? 0) / STEP_MS);
  return useMemo(() => <Plots drawn={drawnOf(all)} />, [last, first]);
}

function Plots({ drawn }: { readonly drawn: Drawn }) {
  const { times } = drawn;
  if (times.length < 2) return null;
  const common = { times, formatTime: formatClock, heightPx: 180 };
  return (
    <div class="grid-2">
      <Plot
        {...common}
        caption="Requests per second"
        kind="lines"
        series={[{ name: "requests per second", values: drawn.requestsPerSecond }]}
      />
      <Plot
        {...common}
        caption={drawn.errors.length === 0 ? "Errors (none)" : "Errors per 10 s, by code"}
        kind="stacked-bars"
        series={drawn.errors}
      />
      <Plot
        {...common}
        caption="Time to first token, p95"
        kind="lines"
        format={formatDuration}
        series={[{ name: "p95", values: drawn.ttftP95Ms }]}
      />
      <Plot
        {...common}
        caption="Gateway overhead, p95"
        kind="lines"
        format={(value) => `${formatCount(round(value))} ms`}
        series={[{ name: "p95", values: drawn.overheadP95Ms }]}
      />
      <Plot
        {...common}
        caption="Credits charged per 10 s"
        kind="stacked-bars"
        format={formatSpend}
        series={[{ name: "credits", values: drawn.spend }]}
      />
      <Plot
        {...common}
        caption="Requests in flight"
        kind="lines"
        format={formatCompact}
        series={[
          { name: "requests in flight", values: drawn.inFlight },
          { name: "streams", values: drawn.streams },
        ]}
      />
    </div>
  );
}

function Plot(props: ChartProps) {
  return (
    <div class="panel panel-body">
      <Chart {...props} />
    </div>
  );
}

function formatSpend(value: number): string {
  return value === 0 ? "0" : String(Number(value.toPrecision(2)));
}
