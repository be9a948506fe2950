import type { ComponentChildren } from "preact";
import type { BreakerState } from "#schema";
import { NONE } from "../shared/formats.ts";
import { Badge, type Tone } from "../shared/parts.tsx";
import { linkTo } from "../shared/router.ts";
import { part } from "./client.ts";

/** A list of names and values. null rows are not shown. */
export function Facts({
  rows,
}: {
  readonly rows: readonly (readonly [name: string, value: ComponentChildren] | null)[];
}) {
  return (
    <dl class="facts">
      {rows.map(
        (row) =>
          row !== null && (
            <div key={row[0]} class="fact">
              <dt>{row[0]}</dt>
              <dd>{row[1] ?? NONE}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

const SHORT_CHARACTERS = 12;

/** Enough of a hash to tell it from others; the whole of it is its title. */
export function Hash({ of }: { readonly of: string }) {
  return (
    <code class="nowrap" title={of}>
      {of.slice(0, SHORT_CHARACTERS)}
    </code>
  );
}

const BREAKERS: Readonly<Record<BreakerState, readonly [tone: Tone, text: string, means: string]>> = {
  closed: ["good", "closed", "Requests are sent to this upstream"],
  half_open: ["warn", "half-open", "A few trial requests check whether it has recovered"],
  open: ["bad", "open", "Skipped after failures"],
};

export function BreakerBadge({ state }: { readonly state: BreakerState }) {
  const [tone, text, means] = BREAKERS[state] ?? ["neutral", state, ""];
  return (
    <span title={means}>
      <Badge tone={tone}>{text}</Badge>
    </span>
  );
}

const HEALTH_TONES: Readonly<Record<string, Tone>> = { healthy: "good", degraded: "warn", unknown: "neutral" };

export function HealthBadge({ state }: { readonly state: string }) {
  return <Badge tone={HEALTH_TONES[state] ?? "neutral"}>{state}</Badge>;
}

const OUTCOME_TONES: Readonly<Record<string, Tone>> = {
  served: "good",
  refused: "neutral",
  client_gone: "neutral",
  killed: "neutral",
  client_fault: "neutral",
  failed: "bad",
  gateway_error: "bad",
  upstream_cut: "warn",
  shutdown: "warn",
};

export function OutcomeBadge({ outcome }: { readonly outcome: string }) {
  return <Badge tone={OUTCOME_TONES[outcome] ?? "neutral"}>{outcome.replaceAll("_", " ")}</Badge>;
}

/** Every outcome of the ledger, for filters. */
export const OUTCOMES = Object.keys(OUTCOME_TONES);

const SHORT_ID_CHARACTERS = 13;

/** Enough of an id to tell it from others; the whole of it is its title. */
export function Id({ of }: { readonly of: string }) {
  const short = of.length > SHORT_ID_CHARACTERS ? `${of.slice(0, SHORT_ID_CHARACTERS)}…` : of;
  return (
    <code class="small" title={of}>
      {short}
    </code>
  );
}

export function UserLink({ id }: { readonly id: string }) {
  return (
    <a href={linkTo(`/users/${part(id)}`)}>
      <Id of={id} />
    </a>
  );
}

export function ModelLink({ id }: { readonly id: string }) {
  return <a href={linkTo(`/models/${part(id)}`)}>{id}</a>;
}

export function UpstreamLink({ name }: { readonly name: string | null | undefined }) {
  return name ? <a href={linkTo("/upstreams", { upstream: name })}>{name}</a> : <span>{NONE}</span>;
}
