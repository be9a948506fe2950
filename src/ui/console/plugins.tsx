import { formatCount, formatDuration, NONE } from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Empty, Loaded, Panel } from "../shared/parts.tsx";
import { type Resource, useResource } from "../shared/resource.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { admin } from "./client.ts";
import type { PluginState } from "./types.ts";

const EVERY_MS = 5_000;

export function usePlugins(everyMs: number): Resource<readonly PluginState[]> {
  return useResource(
    "plugins",
    async (signal) => (await admin.get<{ readonly data: readonly PluginState[] }>("/admin/plugins", { signal })).data,
    { everyMs },
  );
}

/** In which order plugins run, what each costs in time, and whether one fails. */
export function PluginsPage() {
  const plugins = usePlugins(EVERY_MS);
  return (
    <>
      <PageHead title="Plugins" />
      <Loaded resource={plugins}>
        {(all) => (
          <Panel flush title="In the order in which they run">
            <DataTable
              caption="Plugins"
              columns={COLUMNS}
              rows={all.map((plugin, index) => ({ ...plugin, position: index + 1 }))}
              rowKey={({ position }) => String(position)}
              empty={<Empty title="The pipeline is empty">Add plugins below pipeline: in the configuration.</Empty>}
            />
          </Panel>
        )}
      </Loaded>
    </>
  );
}

type Row = PluginState & { readonly position: number };

function failuresOf({ hooks }: PluginState): number {
  return hooks.reduce((total, { failures }) => total + failures, 0);
}

const COLUMNS: readonly Column<Row>[] = [
  { id: "position", title: "Order", cell: ({ position }) => String(position), sortBy: ({ position }) => position },
  { id: "plugin", title: "Plugin", cell: ({ plugin }) => plugin, sortBy: ({ plugin }) => plugin },
  { id: "stage", title: "Stage", cell: ({ stage }) => stage },
  {
    id: "hooks",
    title: "Hook: calls, time of one",
    cell: ({ hooks }) =>
      hooks.length === 0 ? (
        NONE
      ) : (
        <span class="details">
          {hooks.map(({ hook, calls, mean_ms }) => (
            <span key={hook}>
              <code>{hook}</code>: {formatCount(calls)}
              {mean_ms !== null && `, ${formatDuration(mean_ms)}`}
            </span>
          ))}
        </span>
      ),
  },
  {
    id: "failures",
    title: "Failures",
    end: true,
    cell: (row) =>
      failuresOf(row) === 0 ? <Badge tone="good">none</Badge> : <Badge tone="bad">{formatCount(failuresOf(row))}</Badge>,
    sortBy: failuresOf,
  },
];
