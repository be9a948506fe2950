import type { RunningStream, StreamList } from "#schema";
import { confirm } from "../shared/dialog.tsx";
import { formatBytes, formatCount, formatDuration } from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Empty, Loaded, Panel } from "../shared/parts.tsx";
import { useResource } from "../shared/resource.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { toast } from "../shared/toast.tsx";
import { admin, mayChange, part } from "./client.ts";
import { ClearFilters, query, TextFilter } from "./filters.tsx";
import { ModelLink, UpstreamLink, UserLink } from "./state-parts.tsx";

const EVERY_MS = 2_000;
const FILTERS = ["user", "model", "upstream", "instance"] as const;

/** Running streams, each with a button that ends it. */
export function StreamsPage() {
  const streams = useResource("streams", (signal) => admin.get<StreamList>("/admin/streams", { signal }), {
    everyMs: EVERY_MS,
  });
  return (
    <>
      <PageHead title="Streams" />
      <div class="filters">
        {FILTERS.map((name) => (
          <TextFilter key={name} name={name} label={TITLES[name]} />
        ))}
        <ClearFilters names={FILTERS} />
      </div>
      <Loaded resource={streams} what="Loading streams from every instance">
        {(list) => <Running list={list} onEnded={streams.reload} />}
      </Loaded>
    </>
  );
}

const TITLES = { user: "User id", model: "Model", upstream: "Upstream", instance: "Instance" } as const;

function Running({ list, onEnded }: { readonly list: StreamList; readonly onEnded: () => void }) {
  const shown = list.streams.filter((stream) =>
    FILTERS.every((name) => query(name) === "" || (stream[name] ?? "").includes(query(name))),
  );
  const waiting = list.streams.length - list.active;
  return (
    <>
      {!list.complete && (
        <p class="note warn">
          Some instances did not respond in time, so streams may be missing. Retrying automatically.
        </p>
      )}
      <Panel
        flush
        title={`${formatCount(list.active)} active${waiting > 0 ? `, ${formatCount(waiting)} waiting` : ""}`}
      >
        <DataTable
          caption="Running streams"
          columns={columns(onEnded)}
          rows={shown}
          rowKey={({ id }) => id}
          empty={
            list.streams.length === 0 ? (
              <Empty title="No active streams">Streamed requests appear here while they run.</Empty>
            ) : (
              <Empty title="No matching streams">Clear a filter to see more.</Empty>
            )
          }
        />
      </Panel>
    </>
  );
}

function columns(onEnded: () => void): readonly Column<RunningStream>[] {
  return [
    {
      id: "model",
      title: "Model",
      cell: ({ model }) => <ModelLink id={model} />,
      sortBy: ({ model }) => model,
    },
    { id: "user", title: "User", cell: ({ user }) => <UserLink id={user} />, sortBy: ({ user }) => user },
    {
      id: "upstream",
      title: "Upstream",
      cell: ({ upstream }) => <UpstreamLink name={upstream} />,
      sortBy: ({ upstream }) => upstream,
    },
    {
      id: "state",
      title: "State",
      cell: ({ state }) => <Badge tone={state === "streaming" ? "good" : "neutral"}>{state}</Badge>,
    },
    {
      id: "age",
      title: "Duration",
      end: true,
      cell: ({ age_ms }) => formatDuration(age_ms),
      sortBy: ({ age_ms }) => age_ms,
    },
    {
      id: "sent",
      title: "Sent",
      end: true,
      cell: ({ events, bytes }) => (
        <>
          {formatCount(events)} events, {formatBytes(bytes)}
        </>
      ),
      sortBy: ({ bytes }) => bytes,
    },
    { id: "instance", title: "Instance", cell: ({ instance }) => <code class="small">{instance}</code> },
    ...(mayChange()
      ? [
          {
            id: "end",
            title: "",
            cell: (stream: RunningStream) => (
              <button type="button" class="button small danger" onClick={() => askToEnd(stream, onEnded)}>
                End
              </button>
            ),
          },
        ]
      : []),
  ];
}

function askToEnd({ id, model, user, request_id }: RunningStream, onEnded: () => void): void {
  confirm({
    title: "End this stream?",
    text: (
      <p>
        The response of <strong>{model}</strong> to user <code>{user}</code> (request <code>{request_id}</code>) stops
        now. It is charged as <code>billing.outcomes.killed</code> says.
      </p>
    ),
    action: "End stream",
    danger: true,
    run: async () => {
      await admin.send("DELETE", `/admin/streams/${part(id)}`);
      toast("Stream ended");
      onEnded();
    },
  });
}
