import type { PluginOperation } from "#schema";
import type { ComponentChildren } from "preact";
import { formatCount, formatDuration, NONE } from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Empty, Loaded, Panel } from "../shared/parts.tsx";
import { type Resource, useResource } from "../shared/resource.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { admin } from "./client.ts";

const EVERY_MS = 5_000;

export function usePlugins(everyMs: number): Resource<readonly PluginOperation[]> {
  return useResource(
    "plugins",
    async (signal) =>
      (await admin.get<{ readonly data: readonly PluginOperation[] }>("/admin/plugins", { signal })).data,
    { everyMs },
  );
}

/** Plugins in the order they run, with their durations and failures. */
export function PluginsPage() {
  const plugins = usePlugins(EVERY_MS);
  return (
    <>
      <PageHead title="Plugins" />
      <Loaded resource={plugins}>
        {(all) => (
          <Panel flush title="Execution order">
            <DataTable
              caption="Plugins"
              columns={COLUMNS}
              rows={all.map((plugin, index) => ({ ...plugin, position: index + 1 }))}
              rowKey={({ position }) => String(position)}
              empty={<Empty title="The pipeline is empty">Add plugins under pipeline: in the configuration.</Empty>}
            />
          </Panel>
        )}
      </Loaded>
    </>
  );
}

type Row = PluginOperation & { readonly position: number };

const COLUMNS: readonly Column<Row>[] = [
  { id: "position", title: "Order", cell: ({ position }) => String(position), sortBy: ({ position }) => position },
  {
    id: "plugin",
    title: "Plugin",
    cell: ({ plugin, use }) => (
      <>
        {plugin}
        {use !== plugin && <span class="muted small"> {use}</span>}
      </>
    ),
    sortBy: ({ plugin }) => plugin,
  },
  { id: "stage", title: "Stage", cell: ({ stage }) => stage },
  { id: "hook", title: "Hook", cell: ({ hooks }) => <Each hooks={hooks} of={({ hook }) => <code>{hook}</code>} /> },
  {
    id: "calls",
    title: "Calls",
    end: true,
    cell: ({ hooks }) => <Each hooks={hooks} of={({ calls }) => formatCount(calls)} />,
  },
  {
    id: "p50",
    title: "Duration, p50",
    end: true,
    cell: ({ hooks }) => <Each hooks={hooks} of={({ p50 }) => timeText(p50)} />,
  },
  {
    id: "p95",
    title: "Duration, p95",
    end: true,
    cell: ({ hooks }) => <Each hooks={hooks} of={({ p95 }) => timeText(p95)} />,
    sortBy: ({ hooks }) => Math.max(...hooks.map(({ p95 }) => p95 ?? 0)),
  },
  {
    id: "total",
    title: "Total time",
    end: true,
    cell: ({ hooks }) => <Each hooks={hooks} of={({ total_ms }) => timeText(total_ms)} />,
    sortBy: ({ hooks }) => hooks.reduce((total, { total_ms }) => total + total_ms, 0),
  },
  {
    id: "failures",
    title: "Failures",
    end: true,
    cell: ({ failures }) =>
      failures === 0 ? <Badge tone="good">none</Badge> : <Badge tone="bad">{formatCount(failures)}</Badge>,
    sortBy: ({ failures }) => failures,
  },
];

type Hook = PluginOperation["hooks"][number];

/** A line for each hook, as in the other columns of the row. */
function Each(props: { readonly hooks: readonly Hook[]; readonly of: (hook: Hook) => ComponentChildren }) {
  if (props.hooks.length === 0) return <>{NONE}</>;
  return (
    <span class="details">
      {props.hooks.map((hook) => (
        <span key={hook.hook}>{props.of(hook)}</span>
      ))}
    </span>
  );
}

const MICROSECONDS_PER_MS = 1000;

function timeText(ms: number | null): string {
  if (ms === null) return NONE;
  return ms < 1 ? `${formatCount(Number((ms * MICROSECONDS_PER_MS).toPrecision(2)))} µs` : formatDuration(ms);
}
