import type { ComponentChildren } from "preact";
import type { Model, ModelPrice, Status } from "../shared/api.ts";
import { CopyButton } from "../shared/copy.tsx";
import { type Choice, SelectField, TextField } from "../shared/fields.tsx";
import { formatCompact, formatCount, NONE, plural } from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Empty, Loaded, Panel, type Tone } from "../shared/parts.tsx";
import { useResource } from "../shared/resource.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import { filter, router } from "./place.ts";
import { api, planOf } from "./session.ts";

interface Row extends Model {
  readonly price: ModelPrice | null;
  readonly status: string | null;
  readonly isAllowed: boolean;
}

const STATUS_EVERY_MS = 30_000;

export function Models() {
  const plan = planOf();
  const catalogue = useResource("catalogue", async (signal) => {
    const [models, prices] = await Promise.all([api.models(signal), api.prices(signal)]);
    return { models, prices };
  });
  const status = useResource("status", (signal) => api.status(signal), { everyMs: STATUS_EVERY_MS });
  return (
    <>
      <PageHead title="Models" />
      <Loaded resource={catalogue} what="Loading models">
        {({ models, prices }) => <List rows={rowsOf(models, prices, status.data, plan)} plan={plan} />}
      </Loaded>
    </>
  );
}

function rowsOf(
  models: readonly Model[],
  prices: readonly ModelPrice[],
  status: Status | undefined,
  plan: string,
): readonly Row[] {
  const priceOf = new Map(prices.map((price) => [price.model, price]));
  const statusOf = new Map(status?.models.map(({ id, status }) => [id, status]));
  return models.map((model) => ({
    ...model,
    price: priceOf.get(model.id) ?? null,
    status: statusOf.get(model.id) ?? null,
    isAllowed: model.plans === undefined || model.plans.includes(plan),
  }));
}

function List({ rows, plan }: { readonly rows: readonly Row[]; readonly plan: string }) {
  const [search, kind, feature, own] = [filter("search"), filter("kind"), filter("feature"), filter("plan")];
  const needle = search.toLowerCase();
  const shown = rows.filter(
    (row) =>
      `${row.id} ${row.display_name ?? ""} ${row.owned_by}`.toLowerCase().includes(needle) &&
      (kind === "" || row.kind === kind) &&
      (feature === "" || row.features?.includes(feature)) &&
      (own === "" || row.isAllowed),
  );
  return (
    <>
      <div class="filters" role="search">
        <TextField
          label="Search"
          type="search"
          value={search}
          onValue={(search) => router.setQuery({ search })}
          placeholder="Id, name or vendor"
        />
        <SelectField
          label="Kind"
          value={kind}
          choices={choices(
            rows.map(({ kind }) => kind),
            "All kinds",
          )}
          onValue={(kind) => router.setQuery({ kind })}
        />
        <SelectField
          label="Feature"
          value={feature}
          choices={choices(
            rows.flatMap(({ features }) => features ?? []),
            "All features",
          )}
          onValue={(feature) => router.setQuery({ feature })}
        />
        <SelectField
          label="Plan"
          value={own}
          choices={[
            { value: "", title: "All plans" },
            { value: "mine", title: `Your plan (${plan})` },
          ]}
          onValue={(plan) => router.setQuery({ plan })}
        />
      </div>
      <Panel title={`${formatCount(shown.length)} of ${plural(rows.length, "model")}`} flush>
        <DataTable
          caption="Models"
          columns={COLUMNS}
          rows={shown}
          rowKey={({ id }) => id}
          empty={
            <Empty title="No matching models">
              <button
                type="button"
                class="button small"
                onClick={() => router.setQuery({ search: null, kind: null, feature: null, plan: null })}
              >
                Clear filters
              </button>
            </Empty>
          }
        />
      </Panel>
      <p class="small muted">Prices are in credits, before the gateway's price multiplier.</p>
    </>
  );
}

/** The distinct values as choices, after the one for all. */
function choices(values: readonly (string | undefined)[], all: string): readonly Choice[] {
  const known = [...new Set(values)].filter((value) => value !== undefined);
  return [{ value: "", title: all }, ...known.map((value) => ({ value, title: value }))];
}

const TONES: Readonly<Record<string, Tone>> = { online: "good", degraded: "warn", offline: "bad" };

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "model",
    title: "Model",
    sortBy: ({ id }) => id,
    cell: ({ id, display_name: name, owned_by: owner, kind }) => (
      <>
        <code>{id}</code> <CopyButton text={id} what={id} />
        <br />
        <span class="muted">{[name === id ? undefined : name, owner, kind].filter(Boolean).join(" · ")}</span>
      </>
    ),
  },
  {
    id: "state",
    title: "Status",
    sortBy: ({ status }) => status,
    cell: ({ status }) => (status === null ? NONE : <Badge tone={TONES[status] ?? "neutral"}>{status}</Badge>),
  },
  { id: "input", title: "Input", end: true, sortBy: ({ price }) => price?.input_per_million ?? null, cell: inputPrice },
  {
    id: "output",
    title: "Output",
    end: true,
    sortBy: ({ price }) => price?.output_per_million ?? null,
    cell: ({ price }) =>
      price === null || price.output_per_million === 0 ? (
        NONE
      ) : (
        <span class="nowrap">{perMillion(price.output_per_million)}</span>
      ),
  },
  {
    id: "window",
    title: "Context",
    end: true,
    sortBy: (row) => row.context_window ?? null,
    cell: (row) =>
      row.context_window ? (
        <span class="nowrap" title={`${formatCount(row.context_window)} tokens`}>
          {formatCompact(row.context_window)} tokens
        </span>
      ) : (
        NONE
      ),
  },
  {
    id: "features",
    title: "Features",
    cell: ({ features }) => (features === undefined || features.length === 0 ? NONE : features.join(", ")),
  },
  {
    id: "plans",
    title: "Plans",
    cell: ({ plans, tier, isAllowed }) => (
      <>
        {isAllowed ? "" : <Badge tone="warn">not in your plan</Badge>} {plans?.join(", ") ?? tier}
      </>
    ),
  },
];

function perMillion(price: number): string {
  return `${formatPrice(price)} / 1M tokens`;
}

/** All digits, as the operator wrote them. */
function formatPrice(price: number): string {
  return price.toLocaleString("en", { maximumFractionDigits: 20 });
}

/** All prices except output tokens. Some models are not priced by tokens. */
function inputPrice({ price }: Row): ComponentChildren {
  if (price === null) return NONE;
  const parts = [
    price.input_per_million > 0 ? perMillion(price.input_per_million) : "",
    price.per_million_characters === undefined ? "" : `${formatPrice(price.per_million_characters)} / 1M characters`,
    price.per_second === undefined ? "" : `${formatPrice(price.per_second)} / second`,
    price.per_request === undefined ? "" : `${formatPrice(price.per_request)} / request`,
    imagePrice(price.per_image),
  ].filter((part) => part !== "");
  if (parts.length === 0) return "free";
  return parts.map((part) => (
    <span key={part} class="nowrap">
      {part}{" "}
    </span>
  ));
}

function imagePrice(price: ModelPrice["per_image"]): string {
  if (price === undefined) return "";
  if (typeof price === "number") return `${formatPrice(price)} / image`;
  return Object.entries(price)
    .map(([variant, one]) => `${formatPrice(one)} / image${variant === "default" ? "" : ` ${variant}`}`)
    .join(", ");
}
