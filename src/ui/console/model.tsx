import type { ModelOperation, ModelStep, ModelTarget, PluginOperation } from "#schema";
import { formatCount, formatDuration, formatPercent, NONE, plural } from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import { Badge, Loaded, Panel } from "../shared/parts.tsx";
import { linkTo } from "../shared/router.ts";
import { type Column, DataTable } from "../shared/table.tsx";
import type { WrittenModel } from "./catalogue.ts";
import { Flow, type FlowStep } from "./flow.tsx";
import { pricesOf, TargetState, useModels } from "./models.tsx";
import { usePlugins } from "./plugins.tsx";
import { BreakerBadge, Facts, UpstreamLink } from "./state-parts.tsx";
import { useCatalogue } from "./use-catalogue.ts";

const EVERY_MS = 3_000;
const PLUGINS_EVERY_MS = 60_000;

/** One model: the path of its requests, its targets, price and plans. */
export function ModelPage({ id }: { readonly id: string }) {
  const models = useModels(EVERY_MS);
  const plugins = usePlugins(PLUGINS_EVERY_MS);
  const catalogue = useCatalogue();
  return (
    <>
      <PageHead
        title={id}
        actions={
          <a class="button small" href="#/models">
            ← All models
          </a>
        }
      />
      <Loaded resource={models}>
        {(all) => {
          const model = all.find((one) => one.id === id);
          if (model === undefined) {
            return (
              <p class="note warn">
                The current configuration has no model <code>{id}</code>. An earlier one may have had it: see{" "}
                <a href="#/generations">Generations</a>.
              </p>
            );
          }
          const written = catalogue.data?.models.get(id);
          return <Detail model={model} plugins={plugins.data ?? []} written={written} />;
        }}
      </Loaded>
    </>
  );
}

interface DetailProps {
  readonly model: ModelOperation;
  readonly plugins: readonly PluginOperation[];
  readonly written: WrittenModel | undefined;
}

function Detail({ model, plugins, written }: DetailProps) {
  const { id, kind, served, duration_ms, chain } = model;
  const { tier, plans = [], price = {}, context_window = null, features = [] } = written ?? {};
  return (
    <>
      <Panel
        title="Request path"
        actions={
          <>
            <a class="button small" href={linkTo("/explain", { model: id, tier: plans[0] })}>
              Explain a request
            </a>
            <a class="button small" href={linkTo("/ledger", { model: id })}>
              View requests
            </a>
          </>
        }
      >
        <Flow label={`Request path for ${id}`} steps={stepsOf(model, plugins)} />
        <p class="muted small">
          Steps are tried in order until one succeeds. Shares are of {plural(served, "request")} since the gateway
          started.
        </p>
      </Panel>
      <Panel flush title="Targets">
        <DataTable
          caption="Targets of the chain"
          columns={TARGETS}
          rows={chain.flatMap(({ targets }, index) => targets.map((target) => ({ ...target, step: index + 1 })))}
          rowKey={({ step, upstream, model }) => `${step} ${upstream} ${model}`}
          empty={null}
        />
      </Panel>
      <div class="grid-2">
        <Panel title="Price in credits">
          <Facts rows={pricesOf(price).map(([unit, amount]) => [`Per ${unit}`, amount])} />
        </Panel>
        <Panel title="Details">
          <Facts
            rows={[
              ["Kind", kind],
              ["Plan", tier],
              ["Available to", plans.join(", ") || "none"],
              ["Duration", `${timeText(duration_ms.p50)} (p50), ${timeText(duration_ms.p95)} (p95)`],
              context_window === null ? null : ["Context window", `${formatCount(context_window)} tokens`],
              features.length === 0 ? null : ["Features", features.join(", ")],
            ]}
          />
        </Panel>
      </div>
    </>
  );
}

function timeText(ms: number | null): string {
  return ms === null ? NONE : formatDuration(ms);
}

type TargetRow = ModelTarget & { readonly step: number };

const TARGETS: readonly Column<TargetRow>[] = [
  { id: "step", title: "Step", cell: ({ step }) => String(step) },
  { id: "upstream", title: "Upstream", cell: ({ upstream }) => <UpstreamLink name={upstream} /> },
  { id: "model", title: "Upstream model", cell: ({ model }) => <code>{model}</code> },
  { id: "breaker", title: "Breaker", cell: ({ breaker }) => <BreakerBadge state={breaker} /> },
  {
    id: "serves",
    title: "Serving",
    cell: (target) => {
      if (target.manual !== null) return <TargetState of={target} />;
      return target.can_serve ? <Badge tone="good">yes</Badge> : <Badge tone="bad">no</Badge>;
    },
  },
  { id: "weight", title: "Weight", end: true, cell: ({ weight }) => formatCount(weight) },
  { id: "attempts", title: "Attempts", end: true, cell: ({ attempts }) => formatCount(attempts) },
  { id: "failed", title: "Failed", end: true, cell: ({ failed }) => formatCount(failed) },
  {
    id: "share",
    title: "Share served",
    end: true,
    cell: ({ share }) => (share === null ? NONE : formatPercent(share)),
  },
  { id: "ttft", title: "First token, p95", end: true, cell: ({ ttft_ms }) => timeText(ttft_ms.p95) },
];

/** Inserts the chain in place of the relay plugin, which is where it runs. */
function stepsOf({ chain }: ModelOperation, plugins: readonly PluginOperation[]): readonly FlowStep[] {
  const relay = plugins.findIndex(({ stage }) => stage === "relay");
  const at = relay < 0 ? plugins.length : relay;
  return [...plugins.slice(0, at).map(pluginStep), ...chain.map(chainStep), ...plugins.slice(at).map(pluginStep)];
}

function pluginStep({ plugin, stage }: PluginOperation): FlowStep {
  return { id: `${stage} ${plugin}`, kind: stage, boxes: [{ id: plugin, title: plugin }] };
}

function chainStep({ balance, targets }: ModelStep, index: number): FlowStep {
  return {
    id: `step ${index}`,
    kind: `step ${index + 1}${targets.length > 1 ? `, ${balance}` : ""}`,
    boxes: targets.map((target) => ({
      id: `${target.upstream} ${target.model}`,
      title: <UpstreamLink name={target.upstream} />,
      badge: target.manual === null ? <BreakerBadge state={target.breaker} /> : <TargetState of={target} />,
      text: (
        <span class="details">
          <code>{target.model}</code>
          <span>{target.share === null ? "no requests served yet" : `served ${formatPercent(target.share)}`}</span>
        </span>
      ),
      muted: target.share === 0,
    })),
  };
}
