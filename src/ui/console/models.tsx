import { formatCount, formatPercent, NONE, plural } from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Empty, Loaded, Panel } from "../shared/parts.tsx";
import { type Resource, useResource } from "../shared/resource.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { admin } from "./client.ts";
import { ClearFilters, query, SelectFilter, TextFilter } from "./filters.tsx";
import { BreakerBadge, ModelLink } from "./state-parts.tsx";
import type { Model, ModelStep } from "./types.ts";

const EVERY_MS = 3_000;
const FILTERS = ["name", "kind", "plan", "show"] as const;
const SHOWN = [
  { value: "", title: "All" },
  { value: "unwell", title: "A step is not well" },
];

export function useModels(everyMs: number): Resource<readonly Model[]> {
  return useResource(
    "models",
    async (signal) => (await admin.get<{ readonly data: readonly Model[] }>("/admin/models", { signal })).data,
    { everyMs },
  );
}

/** What can be asked for, and by whom it is served at this moment. */
export function ModelsPage() {
  const models = useModels(EVERY_MS);
  return (
    <>
      <PageHead title="Models" />
      <Loaded resource={models}>{(all) => <List all={all} />}</Loaded>
    </>
  );
}

function choicesOf(values: readonly string[]) {
  return [{ value: "", title: "All" }, ...[...new Set(values)].map((value) => ({ value, title: value }))];
}

function isUnwell({ chain }: Model): boolean {
  return chain.some(({ targets }) => targets.some(({ breaker }) => breaker !== "closed"));
}

function List({ all }: { readonly all: readonly Model[] }) {
  const wanted = query("name").toLowerCase();
  const shown = all
    .filter(({ id }) => id.toLowerCase().includes(wanted))
    .filter(({ kind }) => query("kind") === "" || kind === query("kind"))
    .filter(({ plans }) => query("plan") === "" || plans.includes(query("plan")))
    .filter((model) => query("show") !== "unwell" || isUnwell(model));
  return (
    <>
      <div class="filters">
        <TextFilter name="name" label="Name" />
        <SelectFilter name="kind" label="Kind" choices={choicesOf(all.map(({ kind }) => kind))} />
        <SelectFilter name="plan" label="Plan" choices={choicesOf(all.flatMap(({ plans }) => plans))} />
        <SelectFilter name="show" label="Show" choices={SHOWN} />
        <ClearFilters names={FILTERS} />
      </div>
      <Panel flush title={plural(shown.length, "model")}>
        <DataTable
          caption="Models"
          columns={COLUMNS}
          rows={shown}
          rowKey={({ id }) => id}
          empty={
            <Empty title={all.length === 0 ? "No models are configured" : "No model fits the filters"}>
              {all.length === 0 ? "Add one below models: in the configuration." : "Clear a filter to see the others."}
            </Empty>
          }
        />
      </Panel>
    </>
  );
}

const COLUMNS: readonly Column<Model>[] = [
  { id: "id", title: "Model", cell: ({ id }) => <ModelLink id={id} />, sortBy: ({ id }) => id },
  { id: "kind", title: "Kind", cell: ({ kind }) => kind, sortBy: ({ kind }) => kind },
  { id: "chain", title: "Chain", cell: ({ chain }) => <Chain of={chain} /> },
  { id: "price", title: "Price in credits", cell: ({ price }) => <Prices of={price} /> },
  { id: "plans", title: "Plans", cell: ({ plans }) => <Plans of={plans} /> },
];

/** Each step's upstreams with the state of their breakers and the share that each served. */
function Chain({ of }: { readonly of: readonly ModelStep[] }) {
  return (
    <ol class="chain-line">
      {of.map(({ targets }) => (
        <li key={targets.map(({ upstream, model }) => `${upstream} ${model}`).join()} class="row">
          {targets.map(({ upstream, model, breaker, share }) => (
            <span key={`${upstream} ${model}`} class="nowrap">
              {upstream} {breaker !== "closed" && <BreakerBadge state={breaker} />}
              <span class="muted small">{share === null ? "" : ` ${formatPercent(share)}`}</span>
            </span>
          ))}
        </li>
      ))}
    </ol>
  );
}

const UNITS: Readonly<Record<string, string>> = {
  input_per_million: "in / M",
  output_per_million: "out / M",
  cached_input_per_million: "cached / M",
  cache_write_per_million: "cache write / M",
  cache_write_1h_per_million: "cache write 1 h / M",
  reasoning_per_million: "reasoning / M",
  per_request: "a request",
  per_second: "a second",
  per_image: "an image",
  per_million_characters: "M characters",
};

export function priceUnit(name: string): string {
  return UNITS[name] ?? name.replaceAll("_", " ");
}

const MAIN = ["input_per_million", "output_per_million"];

function Prices({ of }: { readonly of: Model["price"] }) {
  const all = Object.entries(of);
  const main = all.filter(([name]) => MAIN.includes(name));
  const shown = main.length > 0 ? main : all;
  if (shown.length === 0) return <>{NONE}</>;
  return (
    <span title={all.map(([name, amount]) => `${amount} ${priceUnit(name)}`).join("\n")}>
      {shown.map(([name, amount]) => `${amount} ${priceUnit(name)}`).join(", ")}
    </span>
  );
}

const MAX_PLANS_COUNT = 3;

function Plans({ of }: { readonly of: readonly string[] }) {
  if (of.length === 0) return <Badge tone="warn">none may call it</Badge>;
  const more = of.length - MAX_PLANS_COUNT;
  return (
    <span title={of.join(", ")}>
      {of.slice(0, MAX_PLANS_COUNT).join(", ")}
      {more > 0 && ` and ${formatCount(more)} more`}
    </span>
  );
}
