import { formatDuration, NONE, plural } from "../shared/formats.ts";
import { Badge, Empty, Panel, type Tone } from "../shared/parts.tsx";
import { type Column, DataTable } from "../shared/table.tsx";
import { now, Time } from "../shared/time.tsx";

/** The answer of `GET /v1/status`. */
export interface Status {
  readonly providers: readonly Provider[];
  readonly models: readonly Model[];
  readonly incidents: readonly Incident[];
  readonly outages: readonly Outage[];
  readonly last_updated: string;
}

interface Provider {
  readonly name: string;
  readonly status: string;
  readonly latency_ms: number;
}

interface Model {
  readonly id: string;
  readonly name: string;
  readonly tier: string;
  readonly status: string;
}

interface Incident {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly severity: string;
  readonly status: string;
  readonly created_at: string;
  readonly resolved_at: string | null;
}

interface Outage {
  readonly provider: string;
  readonly from: string;
  readonly to: string | null;
}

const PROVIDER_STATES: Readonly<Record<string, readonly [tone: Tone, text: string]>> = {
  healthy: ["good", "Healthy"],
  degraded: ["warn", "Degraded"],
  unknown: ["neutral", "No recent requests"],
};
const MODEL_STATES: Readonly<Record<string, readonly [tone: Tone, text: string]>> = {
  online: ["good", "Online"],
  degraded: ["warn", "Using a fallback provider"],
  offline: ["bad", "Offline"],
};

export function StatusView({ status }: { readonly status: Status }) {
  const { providers, models, incidents, outages } = status;
  return (
    <>
      <Summary models={models} incidents={incidents} />
      <Panel title="Models" flush>
        <DataTable
          caption="Models"
          columns={MODEL_COLUMNS}
          rows={models}
          rowKey={({ id }) => id}
          empty={<Empty title="No models" />}
        />
      </Panel>
      <Panel title="Providers" flush>
        <DataTable
          caption="Providers"
          columns={PROVIDER_COLUMNS}
          rows={providers}
          rowKey={({ name }) => name}
          empty={<Empty title="No providers" />}
        />
      </Panel>
      <Panel title="Provider outages, last 24 hours" flush>
        <DataTable
          caption="Provider outages"
          columns={OUTAGE_COLUMNS}
          rows={outages}
          rowKey={({ provider, from }) => `${provider} ${from}`}
          empty={<Empty title="No outages">No provider has been taken out of service.</Empty>}
        />
      </Panel>
      <Announcements incidents={incidents} />
    </>
  );
}

/** Says first whether the gateway has a problem. It also names announcements, which may be far down the page. */
function Summary({ models, incidents }: Pick<Status, "models" | "incidents">) {
  const count = (state: string) => models.filter(({ status }) => status === state).length;
  const [offline, degraded] = [count("offline"), count("degraded")];
  const ongoing = incidents.filter(({ status }) => status !== "resolved").length;
  const tone = offline > 0 ? "bad" : degraded + ongoing > 0 ? "warn" : "good";
  const text =
    offline > 0
      ? `${plural(offline, "model is", "models are")} unavailable.`
      : degraded > 0
        ? `All models are available. ${plural(degraded, "model uses", "models use")} a fallback provider.`
        : "All models are available.";
  return (
    <p class={`note ${tone}`} role="status">
      <strong>{text}</strong>
      {ongoing > 0 && ` ${plural(ongoing, "ongoing announcement")} below.`}
    </p>
  );
}

const MODEL_COLUMNS: readonly Column<Model>[] = [
  { id: "name", title: "Model", cell: ({ name }) => name, sortBy: ({ name }) => name },
  { id: "id", title: "Id", cell: ({ id }) => <code>{id}</code>, sortBy: ({ id }) => id },
  { id: "tier", title: "Plan", cell: ({ tier }) => tier, sortBy: ({ tier }) => tier },
  {
    id: "status",
    title: "Status",
    cell: ({ status }) => <State states={MODEL_STATES} state={status} />,
    sortBy: ({ status }) => status,
  },
];

const PROVIDER_COLUMNS: readonly Column<Provider>[] = [
  { id: "name", title: "Provider", cell: ({ name }) => name, sortBy: ({ name }) => name },
  {
    id: "status",
    title: "Status",
    cell: ({ status }) => <State states={PROVIDER_STATES} state={status} />,
    sortBy: ({ status }) => status,
  },
  {
    id: "latency",
    title: "Response time",
    end: true,
    cell: ({ status, latency_ms: ms }) => (status === "unknown" ? NONE : formatDuration(ms)),
    sortBy: ({ latency_ms: ms }) => ms,
  },
];

const OUTAGE_COLUMNS: readonly Column<Outage>[] = [
  { id: "provider", title: "Provider", cell: ({ provider }) => provider },
  { id: "from", title: "Started", cell: ({ from }) => <Time at={from} both /> },
  {
    id: "to",
    title: "Ended",
    cell: ({ to }) => (to === null ? <Badge tone="bad">Ongoing</Badge> : <Time at={to} both />),
  },
  {
    id: "for",
    title: "Duration",
    end: true,
    cell: ({ from, to }) => formatDuration((to === null ? now.value : Date.parse(to)) - Date.parse(from)),
  },
];

function State(props: { readonly states: typeof MODEL_STATES; readonly state: string }) {
  const [tone, text] = props.states[props.state] ?? (["neutral", props.state] as const);
  return <Badge tone={tone}>{text}</Badge>;
}

/** Written by the operator, so kept apart from what is measured. */
function Announcements({ incidents }: { readonly incidents: readonly Incident[] }) {
  return (
    <Panel title="Announcements">
      <p class="muted small">Written by the operator of this gateway. Everything above is measured.</p>
      {incidents.length === 0 && <Empty title="No announcements" />}
      {incidents.map((incident) => (
        <article key={incident.id} class="stack-s">
          <div class="row">
            <h3>{incident.title}</h3>
            {incident.status === "resolved" ? (
              <Badge tone="good">Resolved</Badge>
            ) : (
              <Badge tone={incident.severity === "error" ? "bad" : "warn"}>Ongoing</Badge>
            )}
          </div>
          <p>{incident.description}</p>
          <p class="muted small">
            Started <Time at={incident.created_at} />
            {incident.resolved_at !== null && (
              <>
                , resolved <Time at={incident.resolved_at} />
              </>
            )}
          </p>
        </article>
      ))}
    </Panel>
  );
}
