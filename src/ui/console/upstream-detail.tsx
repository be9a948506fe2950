import type { UpstreamChange, UpstreamCooldown, UpstreamState } from "#schema";
import { plural } from "../shared/formats.ts";
import { Badge, Panel } from "../shared/parts.tsx";
import { linkTo } from "../shared/router.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { Time, Until } from "../shared/time.tsx";
import { query } from "./filters.tsx";
import { LastErrors } from "./last-errors.tsx";
import { BreakerBadge, Facts } from "./state-parts.tsx";

export type NamedUpstream = UpstreamState & { readonly name: string };

/** Labels of an override by an operator. */
export const MANUAL_STATES = { drain: "drained", open: "forced open", close: "forced closed" } as const;

/** The upstream that the URL names. */
export function UpstreamDetail({ all }: { readonly all: readonly NamedUpstream[] }) {
  const name = query("upstream");
  if (name === "") return null;
  const found = all.find((one) => one.name === name);
  if (found === undefined) {
    return (
      <p class="note warn">
        The current configuration has no upstream <code>{name}</code>.
      </p>
    );
  }
  const { manual, instances, history, keys, cooldowns, breakers } = found;
  return (
    <Panel
      title={found.name}
      actions={
        <a class="button small" href={linkTo("/ledger", { upstream: name })}>
          View requests
        </a>
      }
    >
      <Facts
        rows={[
          ["Breaker", <BreakerBadge key="state" state={found.breaker} />],
          [
            "Override",
            manual ? (
              <>
                {MANUAL_STATES[manual.mode]} by {manual.by} <Time at={manual.since} />, expires{" "}
                <Until at={manual.until} />: {manual.reason}
              </>
            ) : (
              "none"
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
      {cooldowns.length > 0 && <Cooldowns of={cooldowns} />}
      {breakers !== undefined && <ModelBreakers of={breakers} />}
      <LastErrors of={found} />
      <History of={history} />
    </Panel>
  );
}

/** Keys by their position in the configuration. The API never returns the keys themselves. */
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
              <Badge tone="warn">paused</Badge>
              <span class="small">
                resumes <Until at={rests_until} />
              </span>
            </>
          )}
          {refusals > 0 && <span class="small">{plural(refusals, "refusal")} in a row</span>}
        </span>
      ))}
    </span>
  );
}

const SCOPES = {
  key_model: "key, for one model",
  key: "key, for all models",
  target: "one model",
  upstream: "all models",
} as const;

const COOLDOWNS: readonly Column<UpstreamCooldown>[] = [
  { id: "scope", title: "Paused", cell: ({ scope }) => SCOPES[scope] },
  { id: "key", title: "Key", cell: ({ key }) => key },
  { id: "model", title: "Model", cell: ({ model }) => model !== undefined && <code class="small">{model}</code> },
  { id: "reason", title: "Reason", cell: ({ reason }) => reason },
  { id: "until", title: "Ends", cell: ({ until }) => <Until at={until} /> },
];

function Cooldowns({ of }: { readonly of: readonly UpstreamCooldown[] }) {
  return (
    <div class="stack-s">
      <h3>Cooldowns</h3>
      <DataTable
        caption="Cooldowns"
        columns={COOLDOWNS}
        rows={of}
        rowKey={({ scope, key, model }) => `${scope} ${key ?? ""} ${model ?? ""}`}
        empty={null}
      />
      <p class="muted small">To end key cooldowns now, force the upstream closed, clear its override, or reload.</p>
    </div>
  );
}

/** For upstreams with one breaker per model. */
function ModelBreakers({ of }: { readonly of: NonNullable<UpstreamState["breakers"]> }) {
  const unwell = Object.entries(of).filter(([, state]) => state !== "closed");
  if (unwell.length === 0) return null;
  return (
    <p class="row">
      {unwell.map(([model, state]) => (
        <span key={model} class="row">
          <code class="small">{model}</code> <BreakerBadge state={state} />
        </span>
      ))}
    </p>
  );
}

const CAUSES: Readonly<Record<string, string>> = {
  failures: "failures",
  waited: "open period over",
  probe_succeeded: "trial request succeeded",
  probe_failed: "trial request failed",
  manual: "override set",
  manual_lifted: "override cleared",
  manual_ended: "override expired",
};

const CHANGES: readonly Column<UpstreamChange>[] = [
  { id: "at", title: "Time", cell: ({ at }) => <Time at={at} both /> },
  { id: "state", title: "New state", cell: ({ state }) => <BreakerBadge state={state} /> },
  { id: "cause", title: "Cause", cell: ({ cause }) => CAUSES[cause] ?? cause },
  { id: "model", title: "Model", cell: ({ model }) => model !== undefined && <code class="small">{model}</code> },
  { id: "detail", title: "Details", cell: ({ detail }) => detail },
  { id: "instance", title: "Instance", cell: ({ instance }) => <code class="small">{instance}</code> },
];

function History({ of }: { readonly of: readonly UpstreamChange[] }) {
  return (
    <div class="stack-s">
      <h3>Recent changes</h3>
      <DataTable
        caption="Recent changes"
        columns={CHANGES}
        rows={of.toReversed()}
        rowKey={({ at, cause, instance }) => `${at} ${cause} ${instance}`}
        empty={<p class="muted">No changes since the gateway started.</p>}
      />
    </div>
  );
}
