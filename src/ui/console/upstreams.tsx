import type { UpstreamChange, UpstreamState } from "#schema";
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
import { BreakerBadge, Facts, HealthBadge } from "./state-parts.tsx";

/** A breaker that opens is seen within two seconds. */
const EVERY_MS = 1_000;

export type Named = UpstreamState & { readonly name: string };

/** Every upstream, those that are unwell first. */
export function useUpstreams(everyMs: number): Resource<readonly Named[]> {
  return useResource(
    "upstreams",
    async (signal) => {
      const states = await admin.get<Readonly<Record<string, UpstreamState>>>("/admin/upstreams", { signal });
      return Object.entries(states).map(([name, state]) => ({ ...state, name }));
    },
    { everyMs },
  );
}

export function isUnwell({ breaker, health, can_serve, manual, instances }: Named): boolean {
  const anywhere = Object.values(instances).some((state) => state !== "closed");
  return breaker !== "closed" || anywhere || health === "degraded" || !can_serve || (manual ?? null) !== null;
}

/** Which provider is unwell, since when and why; and what somebody has set by hand. */
export function UpstreamsPage() {
  const upstreams = useUpstreams(EVERY_MS);
  const [setting, setSetting] = useState<Named | null>(null);
  return (
    <>
      <PageHead title="Upstreams" />
      <Loaded resource={upstreams}>
        {(all) => (
          <>
            <List all={all} onSet={setSetting} onLifted={upstreams.reload} />
            <Detail all={all} />
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
  { value: "unwell", title: "Not well, or set by hand" },
];

interface ListProps {
  readonly all: readonly Named[];
  readonly onSet: (upstream: Named) => void;
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
            ? `All ${formatCount(all.length)} are well`
            : `${formatCount(unwell)} of ${formatCount(all.length)} need a look`
        }
      >
        <DataTable
          caption="Upstreams"
          columns={columns(onSet, onLifted)}
          rows={shown}
          rowKey={({ name }) => name}
          empty={
            <Empty title={all.length === 0 ? "No upstreams are configured" : "No upstream fits the filters"}>
              {all.length === 0
                ? "Add one below upstreams: in the configuration."
                : "Clear a filter to see the others."}
            </Empty>
          }
        />
      </Panel>
    </>
  );
}

function columns(onSet: ListProps["onSet"], onLifted: () => void): readonly Column<Named>[] {
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
      title: "Gets requests",
      cell: ({ can_serve }) => (can_serve ? <Badge tone="good">yes</Badge> : <Badge tone="bad">no</Badge>),
    },
    {
      id: "manual",
      title: "By hand",
      cell: ({ manual }) =>
        manual && (
          <span title={manual.reason}>
            <Badge tone="warn">{MODES[manual.mode]}</Badge>{" "}
            <span class="small muted">
              by {manual.by}, ends <Until at={manual.until} />
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
    ...(mayChange() ? [{ id: "do", title: "", cell: (row: Named) => <Actions {...{ row, onSet, onLifted }} /> }] : []),
  ];
}

const MODES = { drain: "drained", open: "opened", close: "closed" } as const;

/** Instances whose breaker is another than that of the one that answers. */
function Differing({ own, instances }: Pick<UpstreamState, "instances"> & { readonly own: UpstreamState["breaker"] }) {
  const others = Object.entries(instances).filter(([, state]) => state !== own);
  if (others.length === 0) return null;
  return (
    <span class="small muted" title={others.map(([instance, state]) => `${instance}: ${state}`).join("\n")}>
      otherwise on {others.length} of {Object.keys(instances).length} instances
    </span>
  );
}

function Actions({ row, onSet, onLifted }: Omit<ListProps, "all"> & { readonly row: Named }) {
  const { name, manual } = row;
  return (
    <span class="row end nowrap">
      {manual && (
        <button type="button" class="button small" onClick={() => askToLift(name, onLifted)}>
          Lift
        </button>
      )}
      <button type="button" class="button small" aria-label={`Set by hand… ${name}`} onClick={() => onSet(row)}>
        Set by hand…
      </button>
    </span>
  );
}

function askToLift(name: string, onLifted: () => void): void {
  confirm({
    title: `Lift what is set of ${name}?`,
    text: <p>From then on its breaker decides again, on every instance.</p>,
    action: "Lift it",
    run: async () => {
      await admin.send("DELETE", `/admin/upstreams/${part(name)}/manual`);
      toast(`${name} is left to its breaker again`);
      onLifted();
    },
  });
}

/** The one that the URL names. */
function Detail({ all }: { readonly all: readonly Named[] }) {
  const name = query("upstream");
  if (name === "") return null;
  const found = all.find((one) => one.name === name);
  if (found === undefined) {
    return (
      <p class="note warn">
        There is no upstream <code>{name}</code> in the configuration in force.
      </p>
    );
  }
  const { manual, instances, history, keys } = found;
  return (
    <Panel
      title={found.name}
      actions={
        <a class="button small" href={linkTo("/ledger", { upstream: name })}>
          Its requests
        </a>
      }
    >
      <Facts
        rows={[
          ["Breaker", <BreakerBadge key="state" state={found.breaker} />],
          [
            "Set by hand",
            manual ? (
              <>
                {MODES[manual.mode]} by {manual.by} <Time at={manual.since} />, ends <Until at={manual.until} />:{" "}
                {manual.reason}
              </>
            ) : (
              "nothing"
            ),
          ],
          [
            "Instances",
            <span key="all" class="row">
              {Object.entries(instances).map(([instance, state]) => (
                <span key={instance} class="row">
                  <code class="small">{instance}</code> <BreakerBadge state={state} />
                </span>
              ))}
            </span>,
          ],
          ["Keys", <Keys key="keys" of={keys} />],
        ]}
      />
      <History of={history} />
    </Panel>
  );
}

/** By their place in the configuration: what they are is in no answer. */
function Keys({ of }: { readonly of: UpstreamState["keys"] }) {
  return (
    <span class="row">
      {of.map(({ position, rests_until, refusals }) => (
        <span key={position} class="row">
          {of.length > 1 ? `key ${position}` : "one key"}
          {rests_until === null ? (
            <Badge tone="good">in use</Badge>
          ) : (
            <>
              <Badge tone="warn">rests</Badge>
              <span class="small">
                is used again <Until at={rests_until} />
              </span>
            </>
          )}
          {refusals > 0 && <span class="small">{plural(refusals, "refusal")} in a row</span>}
        </span>
      ))}
    </span>
  );
}

const CAUSES: Readonly<Record<string, string>> = {
  failures: "failures",
  waited: "waited long enough",
  probe_succeeded: "a try succeeded",
  probe_failed: "a try failed",
  manual: "set by hand",
  manual_lifted: "lifted by hand",
  manual_ended: "what was set by hand ended",
};

const CHANGES: readonly Column<UpstreamChange>[] = [
  { id: "at", title: "When", cell: ({ at }) => <Time at={at} both /> },
  { id: "state", title: "Breaker afterwards", cell: ({ state }) => <BreakerBadge state={state} /> },
  { id: "cause", title: "Why", cell: ({ cause }) => CAUSES[cause] ?? cause },
  { id: "detail", title: "More", cell: ({ detail }) => detail },
  { id: "instance", title: "Instance", cell: ({ instance }) => <code class="small">{instance}</code> },
];

function History({ of }: { readonly of: readonly UpstreamChange[] }) {
  return (
    <div class="stack-s">
      <h3>Latest changes</h3>
      <DataTable
        caption="Latest changes"
        columns={CHANGES}
        rows={of.toReversed()}
        rowKey={({ at, cause, instance }) => `${at} ${cause} ${instance}`}
        empty={<p class="muted">Its breaker has not changed since the gateway started.</p>}
      />
    </div>
  );
}
