import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { formatAbsolute, formatCompact } from "./formats.ts";
import { isDark } from "./theme.ts";

export interface Series {
  readonly name: string;
  /** One for each time; null where nothing is known. */
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  readonly caption: string;
  /** Unix milliseconds, growing. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly kind: "lines" | "stacked-bars";
  /** A value with its unit. */
  readonly format?: (value: number) => string;
  /** Formats a time. Default: date and time. */
  readonly formatTime?: (at: number) => string;
  readonly heightPx?: number;
}

const HEIGHT_PX = 220;
const LABEL_CHARACTER_PX = 7.5;
const LABEL_GAP_PX = 20;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const DAY = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });
const HOUR = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hour12: false });
const SECOND = new Intl.DateTimeFormat("en", { timeStyle: "medium", hour12: false });
const COLOURS = 8;
const RIGHT_PX = 20;
const HALF_OF_ONE_BAR_SECONDS = 1_800;
/** Lines are told apart without their colours too. */
const DASHES = [[], [6, 4], [2, 3], [10, 4, 2, 4]];

/** A chart with its caption, the values under the pointer or the arrow keys, and all of it as a table. */
export function Chart(props: ChartProps) {
  const { caption, times, series, kind, format = formatCompact, formatTime = formatAbsolute } = props;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null);
  // A table of hundreds of rows is made when it is looked at: a live chart changes every few seconds.
  const [hasTable, setHasTable] = useState(false);
  const dark = isDark.value;
  const names = series.map(({ name }) => name).join("\n");

  // Made anew when its series or its colours change; new values go into the one that is there.
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const made = new uPlot(optionsOf(element, props, setAt), dataOf(times, series, kind), element);
    plot.current = made;
    const resize = new ResizeObserver(() => {
      made.setSize({ width: Math.max(120, element.clientWidth), height: props.heightPx ?? HEIGHT_PX });
    });
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.current = null;
      made.destroy();
    };
  }, [names, kind, dark, props.heightPx, stepOf(times)]);
  useEffect(() => {
    plot.current?.setData(dataOf(times, series, kind));
  }, [times, series, kind]);

  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const made = plot.current;
    if (step === undefined || made === null || times.length === 0) return;
    event.preventDefault();
    const index = Math.min(times.length - 1, Math.max(0, (at ?? (step > 0 ? -1 : times.length)) + step));
    made.setCursor({ left: made.valToPos(times[index]! / 1000, "x"), top: 10 });
    setAt(index);
  };

  const shown = at !== null && at < times.length ? at : null;
  return (
    <figure class="chart">
      <figcaption class="row apart small">
        <strong>{caption}</strong>
        <span class="muted" aria-live="polite">
          {shown === null ? "" : formatTime(times[shown]!)}
        </span>
      </figcaption>
      <div
        ref={place}
        class="chart-canvas"
        tabIndex={0}
        role="group"
        aria-label={`${caption}: chart. Use the arrow keys to read values. A table follows.`}
        onKeyDown={move}
      />
      <ul class="legend" aria-live="polite">
        {series.map(({ name, values }, index) => (
          <li key={name}>
            <span class="swatch" style={{ background: colourOf(index) }} />
            {name}
            {shown !== null && <strong> {valueText(values[shown], format)}</strong>}
          </li>
        ))}
      </ul>
      <details onToggle={(event) => setHasTable(event.currentTarget.open)}>
        <summary class="small muted">View as table</summary>
        {hasTable && <ValueTable caption={caption} times={times} series={series} {...{ format, formatTime }} />}
      </details>
    </figure>
  );
}

function stepOf(times: readonly number[]): number {
  return times.length > 1 ? times[1]! - times[0]! : DAY_MS;
}

function ValueTable(props: Required<Pick<ChartProps, "caption" | "times" | "series" | "format" | "formatTime">>) {
  const { caption, times, series, format, formatTime } = props;
  return (
    <div class="table-wrap" role="region" aria-label={`${caption}: values`} tabIndex={0}>
      <table class="table">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" class="end">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((time, row) => (
            <tr key={time}>
              <th scope="row">{formatTime(time)}</th>
              {series.map(({ name, values }) => (
                <td key={name} class="end">
                  {valueText(values[row], format)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "–" : format(value);
}

function colourOf(index: number): string {
  return `var(--series-${(index % COLOURS) + 1})`;
}

/** Stacked ones are drawn from the top of the stack down, each over the one before. */
function dataOf(times: readonly number[], series: readonly Series[], kind: ChartProps["kind"]): uPlot.AlignedData {
  const seconds = times.map((time) => time / 1000);
  if (kind === "lines") return [seconds, ...series.map(({ values }) => [...values])];
  const sums = times.map(() => 0);
  const stacked = series.map(({ values }) =>
    values.map((value, index) => {
      const sum = (sums[index] ?? 0) + (value ?? 0);
      sums[index] = sum;
      return sum;
    }),
  );
  return [seconds, ...stacked.toReversed()];
}

/** A value between two that are not known is no line: it would not be seen. */
function lonely({ data }: uPlot, series: number): number[] {
  const values = data[series] ?? [];
  return [...values.keys()].filter(
    (index) => values[index] != null && values[index - 1] == null && values[index + 1] == null,
  );
}

/** As much room as the longest label takes. */
function labelSize(_plot: uPlot, labels: readonly string[] | null): number {
  const longest = Math.max(4, ...(labels ?? []).map((label) => label.length));
  return longest * LABEL_CHARACTER_PX + LABEL_GAP_PX;
}

function withHalfBars({ data: [times = []] }: uPlot, min: number, max: number): uPlot.Range.MinMax {
  const half = times.length > 1 ? (times[1]! - times[0]!) / 2 : HALF_OF_ONE_BAR_SECONDS;
  // Around one time alone the library has a range of years.
  return [(times[0] ?? min) - half, (times.at(-1) ?? max) + half];
}

function optionsOf(element: HTMLElement, props: ChartProps, onCursor: (index: number | null) => void): uPlot.Options {
  const { series, kind, format = formatCompact } = props;
  const style = getComputedStyle(element);
  // A canvas takes no custom properties: an element is asked what each of them is.
  const probe = document.createElement("span");
  element.append(probe);
  const resolved = (value: string): string => {
    probe.style.color = value;
    return getComputedStyle(probe).color;
  };
  const [text, line] = [resolved("var(--muted)"), resolved("var(--border)")];
  const colours = series.map((_, index) => resolved(colourOf(index)));
  probe.remove();
  const bars = kind === "stacked-bars";
  const order = series.map((_, index) => index);
  const stepMs = stepOf(props.times);
  const isDaily = stepMs >= DAY_MS;
  const font = `12px ${style.fontFamily}`;
  const axis = { stroke: text, font, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  return {
    width: Math.max(120, element.clientWidth),
    height: props.heightPx ?? HEIGHT_PX,
    // For the half of the last time that stands beyond the axis.
    padding: [null, RIGHT_PX, null, null],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: !bars } },
    // Days are those of the API, in UTC.
    tzDate: (seconds) => (isDaily ? uPlot.tzDate(new Date(seconds * 1000), "UTC") : new Date(seconds * 1000)),
    scales: {
      x: { time: true, ...(bars ? { range: withHalfBars } : null) },
      y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.08 : 1] },
    },
    axes: [
      {
        ...axis,
        space: 64,
        values: (_plot, ticks) =>
          ticks.map((tick) => (isDaily ? DAY : stepMs < MINUTE_MS ? SECOND : HOUR).format(tick * 1000)),
      },
      { ...axis, size: labelSize, values: (_plot, values) => values.map((value) => format(value)) },
    ],
    series: [
      {},
      ...(bars ? order.toReversed() : order).map((index): uPlot.Series => {
        const stroke = colours[index]!;
        const common = { label: series[index]!.name, stroke };
        if (!bars) {
          return {
            ...common,
            width: 2,
            dash: DASHES[Math.floor(index / COLOURS) % DASHES.length]!,
            points: { show: true, size: 5, fill: stroke, filter: lonely },
          };
        }
        return {
          ...common,
          fill: stroke,
          width: 0,
          points: { show: false },
          paths: uPlot.paths.bars!({ size: [0.7, 40] }),
        };
      }),
    ],
    hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? null)] },
  };
}
