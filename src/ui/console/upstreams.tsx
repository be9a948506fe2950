import type { UpstreamState } from "#schema";
import { useState } from "preact/hooks";
import { confirm } from "../shared/dialog.tsx";
import { formatCount, formatDuration, NONE, plural } from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Empty, Loaded, Panel } from "../shared/parts.tsx";
import { type Resource, useResource } from "../shared/resource.ts";
import { linkTo } from "../shared/router.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { Time, Until } from "../shared/time.tsx";
import { toast } from "../shared/toast.tsx";
import { admin, mayChange, part } from "./client.ts";
import { ClearFilters, query, SelectFilter, TextFilter } from "./filters.tsx";
import { ManualDialog } from "./manual-dialog.tsx";
import { BreakerBadge, HealthBadge } from "./state-parts.tsx";
import { MANUAL_STATES, type NamedUpstream, UpstreamDetail } from "./upstream-detail.tsx";

/** A breaker that opens is seen within two seconds. */
const EVERY_MS = 1_000;

/** All upstreams with their state. */
export function useUpstreams(everyMs: number): Resource<readonly NamedUpstream[]> {
  return useResource(
    "upstreams",
    async (signal) => {
      const states = await admin.get<Readonly<Record<string, UpstreamState>>>("/admin/upstreams", { signal });
      return Object.entries(states).map(([name, state]) => ({ ...state, name }));
    },
    { everyMs },
  );
}

export function isUnwell({ breaker, health, can_serve, manual, instances }: NamedUpstream): boolean {
  const anywhere = Object.values(instances).some((state) => state !== "closed");
  return breaker !== "closed" || anywhere || health === "degraded" || !can_serve || (manual ?? null) !== null;
}

/** Upstream health with causes, and overrides by operators. */
export function UpstreamsPage() {
  const upstreams = useUpstreams(EVERY_MS);
  const [setting, setSetting] = useState<NamedUpstream | null>(null);
  return (
    <>
      <PageHead title="Upstreams" />
      <Loaded resource={upstreams}>
        {(all) => (
          <>
            <List all={all} onSet={setSetting} onLifted={upstreams.reload} />
            <UpstreamDetail all={all} />
          </>
        )}
      </Loaded>
      {setting && (
        <ManualDialog
          upstream={setting.name}
          now={setting.manual ?? null}
          onClose={() => setSetting(null)}
          onDone={() => {
            setSetting(null);
            upstreams.reload();
          }}
        />
      )}
    </>
  );
}

const FILTERS = ["name", "show"] as const;
const SHOWN = [
  { value: "", title: "All" },
  { value: "unwell", title: "Unhealthy or overridden" },
];

interface ListProps {
  readonly all: readonly NamedUpstream[];
  readonly onSet: (upstream: NamedUpstream) => void;
  readonly onLifted: () => void;
}

function List({ all, onSet, onLifted }: ListProps) {
  const wanted = query("name").toLowerCase();
  const shown = all
    .filter((one) => one.name.toLowerCase().includes(wanted))
    .filter((one) => query("show") !== "unwell" || isUnwell(one))
    .toSorted((a, b) => Number(isUnwell(b)) - Number(isUnwell(a)));
  const unwell = all.filter(isUnwell).length;
  return (
    <>
      <div class="filters">
        <TextFilter name="name" label="Name" />
        <SelectFilter name="show" label="Show" choices={SHOWN} />
        <ClearFilters names={FILTERS} />
      </div>
      <Panel
        flush
        title={
          unwell === 0
            ? `All ${formatCount(all.length)} healthy`
            : `${formatCount(unwell)} of ${formatCount(all.length)} ${unwell === 1 ? "needs" : "need"} attention`
        }
      >
        <DataTable
          caption="Upstreams"
          columns={columns(onSet, onLifted)}
          rows={shown}
          rowKey={({ name }) => name}
          empty={
            <Empty title={all.length === 0 ? "No upstreams are configured" : "No matching upstreams"}>
              {all.length === 0 ? "Add one under upstreams: in the configuration." : "Clear a filter to see more."}
            </Empty>
          }
        />
      </Panel>
    </>
  );
}

function columns(onSet: ListProps["onSet"], onLifted: () => void): readonly Column<NamedUpstream>[] {
  const selected = query("upstream");
  return [
    {
      id: "name",
      title: "Upstream",
      cell: ({ name }) => (
        <a
          href={linkTo("/upstreams", { name: query("name"), show: query("show"), upstream: name })}
          {...(name === selected ? { "aria-current": "true" } : null)}
        >
          {name}
        </a>
      ),
      sortBy: ({ name }) => name,
    },
    {
      id: "breaker",
      title: "Breaker",
      cell: ({ breaker, instances }) => (
        <>
          <BreakerBadge state={breaker} /> <Differing own={breaker} instances={instances} />
        </>
      ),
      sortBy: ({ breaker }) => breaker,
    },
    { id: "health", title: "Health", cell: ({ health }) => <HealthBadge state={health} /> },
    {
      id: "latency",
      title: "First byte",
      end: true,
      cell: ({ latency_ms }) => (latency_ms === 0 ? NONE : formatDuration(latency_ms)),
      sortBy: ({ latency_ms }) => latency_ms || null,
    },
    {
      id: "serves",
      title: "Serving",
      cell: ({ can_serve, cooldowns }) => (
        <span class="row">
          {can_serve ? <Badge tone="good">yes</Badge> : <Badge tone="bad">no</Badge>}
          {cooldowns.length > 0 && <Badge tone="warn">{plural(cooldowns.length, "cooldown")}</Badge>}
        </span>
      ),
    },
    {
      id: "manual",
      title: "Override",
      cell: ({ manual }) =>
        manual && (
          <span title={manual.reason}>
            <Badge tone="warn">{MANUAL_STATES[manual.mode]}</Badge>{" "}
            <span class="small muted">
              by {manual.by}, expires <Until at={manual.until} />
            </span>
          </span>
        ),
    },
    {
      id: "last",
      title: "Last change",
      cell: ({ history }) => <Time at={history.at(-1)?.at} />,
      sortBy: ({ history }) => history.at(-1)?.at ?? null,
    },
    ...(mayChange()
      ? [{ id: "do", title: "", cell: (row: NamedUpstream) => <Actions {...{ row, onSet, onLifted }} /> }]
      : []),
  ];
}

/** Instances whose breaker state differs from that of the instance that answers. */
function Differing({ own, instances }: Pick<UpstreamState, "instances"> & { readonly own: UpstreamState["breaker"] }) {
  const others = Object.entries(instances).filter(([, state]) => state !== own);
  if (others.length === 0) return null;
  return (
    <span class="small muted" title={others.map(([instance, state]) => `${instance}: ${state}`).join("\n")}>
      different on {others.length} of {plural(Object.keys(instances).length, "instance")}
    </span>
  );
}

function Actions({ row, onSet, onLifted }: Omit<ListProps, "all"> & { readonly row: NamedUpstream }) {
  const { name, manual } = row;
  return (
    <span class="row end nowrap">
      {manual && (
        <button type="button" class="button small" onClick={() => askToLift(name, onLifted)}>
          Clear override
        </button>
      )}
      <button type="button" class="button small" aria-label={`Override… ${name}`} onClick={() => onSet(row)}>
        Override…
      </button>
    </span>
  );
}

function askToLift(name: string, onLifted: () => void): void {
  confirm({
    title: `Clear the override of ${name}?`,
    text: <p>Its breaker takes over again on every instance.</p>,
    action: "Clear override",
    run: async () => {
      await admin.send("DELETE", `/admin/upstreams/${part(name)}/manual`);
      toast(`Override of ${name} cleared`);
      onLifted();
    },
  });
}
