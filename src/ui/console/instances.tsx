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

/** What runs, and whether all of it serves the same. */
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
                The instances serve different configurations. For a few seconds after a change this is to be expected;
                if it stays, see whether the file of the others is the same, and what they have refused.
              </p>
            )}
            {agree === null && (
              <p class="note warn">
                Which instances there are is not known while the store does not answer. This one is shown.
              </p>
            )}
            <Panel flush title={agree ? "All agree" : "Instances"}>
              <DataTable
                caption="Instances"
                columns={COLUMNS}
                rows={data}
                rowKey={({ instance }) => instance}
                empty={<Empty title="No instance has told of itself">Each does so once a second.</Empty>}
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
  { id: "host", title: "Host, process", cell: ({ host, pid }) => `${host}, ${pid}` },
  {
    id: "state",
    title: "State",
    cell: ({ draining, shedding }) => {
      if (draining) return <Badge tone="warn">draining</Badge>;
      if (shedding.length > 0) return <Badge tone="bad">overloaded: refuses {shedding.join(", ")}</Badge>;
      return <Badge tone="good">serves</Badge>;
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
