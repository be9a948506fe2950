import type {
  ChainStep as ChainStepConfig,
  GatewayConfig,
  ImagePriceConfig,
  ModelConfig,
  PriceConfig,
  TargetConfig,
} from "#schema";
import type { ChainStep, Decimal, ImagePrices, Model, Price, Target } from "../kit/index.ts";
import { decimal } from "../kit/index.ts";
import { inCamelCase, mapRecord } from "./names.ts";
import { DEADLINE, requestUnits } from "./settings.ts";
import { buildTimeouts } from "./snapshot-upstreams.ts";
import { milliseconds } from "./units.ts";

const PREFIX = "route/";

export function buildModel(id: string, model: ModelConfig, config: GatewayConfig): Model {
  const kindDefaults = config.defaults?.kinds?.[model.kind];
  return {
    id,
    kind: model.kind,
    tier: model.tier,
    displayName: model.display_name ?? id.slice(PREFIX.length),
    ownedBy: model.owned_by,
    created: model.created === undefined ? 0 : Date.parse(`${model.created}T00:00:00Z`) / 1000,
    published: model.published ?? true,
    contextWindow: model.context_window ?? null,
    maxOutput: model.max_output ?? null,
    features: model.features ?? [],
    voices: model.voices ?? [],
    realtime: model.realtime ?? false,
    strict: model.strict ?? false,
    price: buildPrice(model.price ?? {}),
    multipliers: {
      requests: requestUnits(model.kind, model, kindDefaults),
      cost: decimal(model.multipliers?.cost ?? kindDefaults?.multipliers?.cost ?? 1),
    },
    deadline: milliseconds(model.deadline ?? kindDefaults?.deadline ?? DEADLINE),
    chain: model.chain.map((step) => buildStep(step, model, config)),
  };
}

function buildStep(step: ChainStepConfig, model: ModelConfig, config: GatewayConfig): ChainStep {
  if (!("targets" in step)) return { balance: "single", targets: [buildTarget(step, model, config)] };
  return { balance: step.balance, targets: step.targets.map((target) => buildTarget(target, model, config)) };
}

function buildTarget(target: TargetConfig, model: ModelConfig, { defaults, upstreams }: GatewayConfig): Target {
  return {
    upstream: target.upstream,
    model: target.model,
    weight: target.weight ?? 1,
    timeouts: buildTimeouts(defaults?.upstream?.timeouts, upstreams[target.upstream]?.timeouts, target.timeouts),
    contextWindow: target.context_window ?? model.context_window ?? null,
    features: target.features ?? model.features ?? [],
    ...(model.max_output !== undefined && { maxOutput: model.max_output }),
    ...(target.parameters && { parameters: { set: {}, remove: [], rename: {}, ...target.parameters } }),
  };
}

/** Units that are not priced stay absent: a price of 0 is a price. */
function buildPrice(price: PriceConfig): Price {
  const entries = Object.entries(price).map(([unit, amount]) => [unit, amountOf(amount as number | ImagePriceConfig)]);
  return inCamelCase(Object.fromEntries(entries) as { readonly [Unit in keyof PriceConfig]: Decimal });
}

function amountOf(amount: number | ImagePriceConfig): Decimal | ImagePrices {
  return typeof amount === "number" ? decimal(amount) : (mapRecord(amount, (_, one) => decimal(one)) as ImagePrices);
}
