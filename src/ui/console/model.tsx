import { formatCount, formatPercent } from "../shared/formats.ts";
import { PageHead } from "../shared/layout.tsx";
import { Loaded, Panel } from "../shared/parts.tsx";
import { linkTo } from "../shared/router.ts";
import { Flow, type FlowStep } from "./flow.tsx";
import { priceUnit, useModels } from "./models.tsx";
import { usePlugins } from "./plugins.tsx";
import { BreakerBadge, Facts, UpstreamLink } from "./state-parts.tsx";
import type { Model, ModelStep, PluginState } from "./types.ts";

const EVERY_MS = 3_000;
const PLUGINS_EVERY_MS = 60_000;

/** One model: the way of its requests, who serves them, what they cost and who may make them. */
export function ModelPage({ id }: { readonly id: string }) {
  const models = useModels(EVERY_MS);
  const plugins = usePlugins(PLUGINS_EVERY_MS);
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
                The configuration in force has no model <code>{id}</code>. It may have had one: see{" "}
                <a href="#/generations">its generations</a>.
              </p>
            );
          }
          return <Detail model={model} plugins={plugins.data ?? []} />;
        }}
      </Loaded>
    </>
  );
}

function Detail({ model, plugins }: { readonly model: Model; readonly plugins: readonly PluginState[] }) {
  const { id, kind, tier, plans, price, context_window = null, features = [] } = model;
  return (
    <>
      <Panel
        title="The way of its requests"
        actions={
          <>
            <a class="button small" href={linkTo("/explain", { model: id, tier: plans[0] })}>
              Explain a request
            </a>
            <a class="button small" href={linkTo("/ledger", { model: id })}>
              Its requests
            </a>
          </>
        }
      >
        <Flow label={`The way of a request for ${id}`} steps={stepsOf(model, plugins)} />
        <p class="muted small">
          Shares are of what the chain served lately, on all instances. Steps are tried in order until one serves.
        </p>
      </Panel>
      <div class="grid-2">
        <Panel title="Price in credits">
          <Facts rows={Object.entries(price).map(([name, amount]) => [priceUnit(name), amount] as const)} />
        </Panel>
        <Panel title="Is">
          <Facts
            rows={[
              ["Kind", kind],
              ["Tier", tier],
              ["Plans that may call it", plans.join(", ") || "none"],
              context_window === null ? null : ["Context window", `${formatCount(context_window)} tokens`],
              features.length === 0 ? null : ["Features", features.join(", ")],
            ]}
          />
        </Panel>
      </div>
    </>
  );
}

/** The chain stands where it is walked: at the plugin that relays. */
function stepsOf({ chain }: Model, plugins: readonly PluginState[]): readonly FlowStep[] {
  const relay = plugins.findIndex(({ stage }) => stage === "relay");
  const at = relay < 0 ? plugins.length : relay;
  return [...plugins.slice(0, at).map(pluginStep), ...chain.map(chainStep), ...plugins.slice(at).map(pluginStep)];
}

function pluginStep({ plugin, stage }: PluginState): FlowStep {
  return { id: `${stage} ${plugin}`, kind: stage, boxes: [{ id: plugin, title: plugin }] };
}

function chainStep({ balance, targets }: ModelStep, index: number): FlowStep {
  return {
    id: `step ${index}`,
    kind: `step ${index + 1}${targets.length > 1 ? `, ${balance}` : ""}`,
    boxes: targets.map(({ upstream, model, breaker, share }) => ({
      id: `${upstream} ${model}`,
      title: <UpstreamLink name={upstream} />,
      badge: <BreakerBadge state={breaker} />,
      text: (
        <span class="details">
          <code>{model}</code>
          <span>{share === null ? "nothing served lately" : `served ${formatPercent(share)}`}</span>
        </span>
      ),
      muted: share === 0,
    })),
  };
}
