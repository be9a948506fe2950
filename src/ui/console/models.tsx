import type { ModelOperation, ModelStep, ModelTarget } from "#schema";
import { formatCount, formatDuration, formatPercent, NONE, plural } from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Empty, Loaded, Panel } from "../shared/parts.tsx";
import { type Resource, useResource } from "../shared/resource.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import type { Catalogue, WrittenModel } from "./catalogue.ts";
import { admin } from "./client.ts";
import { ClearFilters, query, SelectFilter, TextFilter } from "./filters.tsx";
import { BreakerBadge, ModelLink } from "./state-parts.tsx";
import { useCatalogue } from "./use-catalogue.ts";

const EVERY_MS = 3_000;
const FILTERS = ["name", "kind", "plan", "show"] as const;
const SHOWN = [
  { value: "", title: "All" },
  { value: "unwell", title: "With an unhealthy target" },
];

export function useModels(everyMs: number): Resource<readonly ModelOperation[]> {
  return useResource(
    "models",
    async (signal) => (await admin.get<{ readonly data: readonly ModelOperation[] }>("/admin/models", { signal })).data,
    { everyMs },
  );
}

/** All models, and which upstreams serve them now. */
export function ModelsPage() {
  const models = useModels(EVERY_MS);
  const catalogue = useCatalogue();
  return (
    <>
      <PageHead title="Models" />
      <Loaded resource={models}>{(all) => <List all={all} catalogue={catalogue.data} />}</Loaded>
    </>
  );
}

/** True if a breaker or an override affects the target. */
function isKeptAway({ breaker, can_serve, manual }: ModelTarget): boolean {
  return breaker !== "closed" || !can_serve || manual !== null;
}

function isUnwell({ chain }: ModelOperation): boolean {
  return chain.some(({ targets }) => targets.some(isKeptAway));
}

function choicesOf(values: readonly string[]) {
  return [{ value: "", title: "All" }, ...[...new Set(values)].map((value) => ({ value, title: value }))];
}

function List({
  all,
  catalogue,
}: {
  readonly all: readonly ModelOperation[];
  readonly catalogue: Catalogue | undefined;
}) {
  const wanted = query("name").toLowerCase();
  const plan = query("plan");
  const shown = all
    .filter(({ id }) => id.toLowerCase().includes(wanted))
    .filter(({ kind }) => query("kind") === "" || kind === query("kind"))
    .filter(({ id }) => plan === "" || catalogue?.models.get(id)?.plans.includes(plan) !== false)
    .filter((model) => query("show") !== "unwell" || isUnwell(model));
  return (
    <>
      <div class="filters">
        <TextFilter name="name" label="Name" />
        <SelectFilter name="kind" label="Kind" choices={choicesOf(all.map(({ kind }) => kind))} />
        <SelectFilter name="plan" label="Plan" choices={choicesOf(catalogue?.tiers ?? [])} />
        <SelectFilter name="show" label="Show" choices={SHOWN} />
        <ClearFilters names={FILTERS} />
      </div>
      <Panel flush title={plural(shown.length, "model")}>
        <DataTable
          caption="Models"
          columns={columns(catalogue)}
          rows={shown}
          rowKey={({ id }) => id}
          empty={
            <Empty title={all.length === 0 ? "No models are configured" : "No matching models"}>
              {all.length === 0 ? "Add one under models: in the configuration." : "Clear a filter to see more."}
            </Empty>
          }
        />
      </Panel>
    </>
  );
}

function columns(catalogue: Catalogue | undefined): readonly Column<ModelOperation>[] {
  const written = (id: string): WrittenModel | undefined => catalogue?.models.get(id);
  return [
    { id: "id", title: "Model", cell: ({ id }) => <ModelLink id={id} />, sortBy: ({ id }) => id },
    { id: "kind", title: "Kind", cell: ({ kind }) => kind, sortBy: ({ kind }) => kind },
    { id: "chain", title: "Chain", cell: ({ chain }) => <Chain of={chain} /> },
    {
      id: "served",
      title: "Requests served",
      end: true,
      cell: ({ served }) => formatCount(served),
      sortBy: ({ served }) => served,
    },
    {
      id: "duration",
      title: "Duration, p95",
      end: true,
      cell: ({ duration_ms }) => (duration_ms.p95 === null ? NONE : formatDuration(duration_ms.p95)),
      sortBy: ({ duration_ms }) => duration_ms.p95,
    },
    { id: "price", title: "Price in credits", cell: ({ id }) => <Prices of={written(id)?.price ?? {}} /> },
    { id: "plans", title: "Plans", cell: ({ id }) => <Plans of={written(id)?.plans} /> },
  ];
}

/** The upstreams of each step, with breaker state and share of the requests served. */
function Chain({ of }: { readonly of: readonly ModelStep[] }) {
  return (
    <ol class="chain-line">
      {of.map(({ targets }) => (
        <li key={targets.map(({ upstream, model }) => `${upstream} ${model}`).join()} class="row">
          {targets.map((target) => (
            <span key={`${target.upstream} ${target.model}`} class="nowrap">
              {target.upstream} <TargetState of={target} />
              {target.share !== null && <span class="muted small"> {formatPercent(target.share)}</span>}
            </span>
          ))}
        </li>
      ))}
    </ol>
  );
}

const MANUAL = { drain: "drained", open: "forced open", close: "forced closed" } as const;

/** Renders nothing for a healthy target. */
export function TargetState({ of }: { readonly of: ModelTarget }) {
  const { breaker, manual, can_serve } = of;
  if (manual !== null) return <Badge tone="warn">{MANUAL[manual.mode]}</Badge>;
  if (breaker !== "closed") return <BreakerBadge state={breaker} />;
  return can_serve ? null : <Badge tone="bad">not serving</Badge>;
}

const UNITS: Readonly<Record<string, string>> = {
  input_per_million: "1M input tokens",
  output_per_million: "1M output tokens",
  cached_input_per_million: "1M cached input tokens",
  cache_write_per_million: "1M cache write tokens",
  cache_write_1h_per_million: "1M cache write tokens (1 h)",
  reasoning_per_million: "1M reasoning tokens",
  per_request: "request",
  per_second: "second",
  per_image: "image",
  per_million_characters: "1M characters",
};

/** Prices with their units. A price per image may be a table of sizes. */
export function pricesOf(price: WrittenModel["price"]): readonly (readonly [unit: string, amount: string])[] {
  return Object.entries(price)
    .filter(([name]) => name in UNITS)
    .map(([name, amount]) => [
      UNITS[name]!,
      typeof amount === "object" ? JSON.stringify(amount) : `${amount as number}`,
    ]);
}

const MAX_PRICES_COUNT = 2;

function Prices({ of }: { readonly of: WrittenModel["price"] }) {
  const all = pricesOf(of).map(([unit, amount]) => `${amount} / ${unit}`);
  if (all.length === 0) return <>{NONE}</>;
  return (
    <span class="details" title={all.join("\n")}>
      {all.slice(0, MAX_PRICES_COUNT).map((one) => (
        <span key={one} class="nowrap">
          {one}
        </span>
      ))}
    </span>
  );
}

const MAX_PLANS_COUNT = 3;

function Plans({ of }: { readonly of: readonly string[] | undefined }) {
  if (of === undefined) return <>{NONE}</>;
  if (of.length === 0) return <Badge tone="warn">no plan</Badge>;
  const more = of.length - MAX_PLANS_COUNT;
  return (
    <span title={of.join(", ")}>
      {of.slice(0, MAX_PLANS_COUNT).join(", ")}
      {more > 0 && ` and ${formatCount(more)} more`}
    </span>
  );
}
