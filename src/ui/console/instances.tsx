import type { Instance, InstanceList } from "#schema";
import { formatCount } from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Empty, Loaded, Panel } from "../shared/parts.tsx";
import { type Resource, useResource } from "../shared/resource.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { Time } from "../shared/time.tsx";
import { admin } from "./client.ts";
import { Hash } from "./state-parts.tsx";

const EVERY_MS = 2_000;

export function useInstances(everyMs: number): Resource<InstanceList> {
  return useResource("instances", (signal) => admin.get<InstanceList>("/admin/instances", { signal }), { everyMs });
}

/** Running instances, and whether they all serve the same configuration. */
export function InstancesPage() {
  const instances = useInstances(EVERY_MS);
  return (
    <>
      <PageHead title="Instances" />
      <Loaded resource={instances}>
        {({ data, agree }) => (
          <>
            {agree === false && (
              <p class="note bad" role="alert">
                The instances serve different configurations. This is normal for a few seconds after a change. If it
                lasts, check that all instances have the same file, and whether one has rejected it.
              </p>
            )}
            {agree === null && <p class="note warn">The store is not responding, so only this instance is shown.</p>}
            <Panel flush title={agree ? "All agree" : "Instances"}>
              <DataTable
                caption="Instances"
                columns={COLUMNS}
                rows={data}
                rowKey={({ instance }) => instance}
                empty={<Empty title="No instances yet">Each instance reports once a second.</Empty>}
              />
            </Panel>
          </>
        )}
      </Loaded>
    </>
  );
}

const COLUMNS: readonly Column<Instance>[] = [
  { id: "instance", title: "Instance", cell: ({ instance }) => <code class="small">{instance}</code> },
  { id: "host", title: "Host, PID", cell: ({ host, pid }) => `${host}, ${pid}` },
  {
    id: "state",
    title: "State",
    cell: ({ draining, shedding }) => {
      if (draining) return <Badge tone="warn">draining</Badge>;
      if (shedding.length > 0) return <Badge tone="bad">overloaded, refusing: {shedding.join(", ")}</Badge>;
      return <Badge tone="good">serving</Badge>;
    },
  },
  { id: "hash", title: "Configuration", cell: ({ hash }) => <Hash of={hash} />, sortBy: ({ hash }) => hash },
  { id: "loaded", title: "Loaded", cell: ({ loaded_at }) => <Time at={loaded_at} /> },
  {
    id: "started",
    title: "Started",
    cell: ({ started_at }) => <Time at={started_at} />,
    sortBy: ({ started_at }) => started_at,
  },
  {
    id: "streams",
    title: "Streams",
    end: true,
    cell: ({ streams }) => formatCount(streams),
    sortBy: ({ streams }) => streams,
  },
];
