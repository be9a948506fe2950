import type { BalancedStepConfig, ChainStep, ModelConfig, PriceConfig, TargetConfig } from "#schema";
import type { Kind } from "../kit/index.ts";
import { type Draft, modelPointer, OPEN } from "./draft.ts";

/** One place where a model is served, as the source has it. */
export interface Deployment {
  readonly target: TargetConfig;
  /** Lower ones are asked first; those of one order share the requests. */
  readonly order: number;
  /** Its share; null where the source says none. */
  readonly weight: number | null;
  readonly price: PriceConfig | null;
}

/** A model name of the source, with what it is and where it is served. */
export interface Group {
  readonly id: string;
  readonly kind: Kind;
  readonly deployments: readonly Deployment[];
  /** The rest of the model: window, features and so on. */
  readonly model: Partial<ModelConfig>;
  /** All of its upstreams are servers of one's own, which bill nobody. */
  readonly isLocal: boolean;
  /** How requests are spread over deployments of the same order. */
  readonly balance: BalancedStepConfig["balance"];
}

/** By model id, the ids of models that are asked when it fails. */
export interface Fallbacks {
  readonly general: ReadonlyMap<string, readonly string[]>;
  /** Also when the provider's content filter refuses. */
  readonly contentFilter: ReadonlyMap<string, readonly string[]>;
}

export const NO_PRICE =
  "no price in the source, so requests are free here: put the provider's price in (gateway check does not ask again)";

/** Unit prices by which a model of each kind is free. */
const FREE: Readonly<Record<Kind, PriceConfig>> = {
  chat: { input_per_million: 0, output_per_million: 0 },
  embedding: { input_per_million: 0 },
  rerank: { per_request: 0 },
  speech: { per_million_characters: 0 },
  transcription: { per_second: 0 },
  image: { per_image: 0 },
};

/** Writes the models, each with its own deployments and those of its fallbacks as one chain. */
export function addModels(draft: Draft, groups: ReadonlyMap<string, Group>, fallbacks: Fallbacks): void {
  for (const group of groups.values()) {
    const { id, kind, deployments, model, isLocal } = group;
    const order = reached(id, fallbacks, groups);
    const filtered = fallbacks.contentFilter.get(id) ?? [];
    const chain = chainOf(order.map((one) => groups.get(one)!));
    const price = highest(deployments.map((one) => one.price)) ?? FREE[kind];
    const isPriced = isLocal || deployments.some((one) => one.price !== null);
    draft.addModel(id, {
      kind,
      tier: OPEN,
      owned_by: deployments[0]!.target.upstream,
      ...model,
      ...(filtered.length > 0 && { fail_over_on: ["content_filter"] }),
      price,
      chain,
    });
    if (!isPriced) draft.note(modelPointer(id, "price"), `PRICE: ${NO_PRICE}`);
  }
}

/** The model and what it falls back to, each once: the fallbacks of a fallback follow it, and circles end. */
function reached(id: string, { general, contentFilter }: Fallbacks, groups: ReadonlyMap<string, Group>): string[] {
  const seen = new Set<string>();
  const visit = (one: string): void => {
    if (seen.has(one) || !groups.has(one)) return;
    seen.add(one);
    for (const next of [...(general.get(one) ?? []), ...(one === id ? (contentFilter.get(one) ?? []) : [])]) visit(next);
  };
  visit(id);
  return [...seen];
}

function chainOf(groups: readonly Group[]): ChainStep[] {
  const used = new Set<string>();
  return groups.flatMap(({ deployments, balance }) => {
    const orders = [...new Set(deployments.map(({ order }) => order))].toSorted((a, b) => a - b);
    return orders.flatMap((order): ChainStep[] => {
      const weights = new Map<string, { target: TargetConfig; weight: number | null }>();
      for (const { target, weight, order: own } of deployments) {
        const key = keyOf(target);
        if (own !== order || used.has(key)) continue;
        const before = weights.get(key);
        weights.set(key, { target, weight: before === undefined ? weight : (before.weight ?? 1) + (weight ?? 1) });
      }
      for (const key of weights.keys()) used.add(key);
      const targets = [...weights.values()];
      if (targets.length < 2) return targets.map(({ target }) => target);
      return [{ balance, targets: balance === "weighted" ? weighed(targets) : targets.map(({ target }) => target) }];
    });
  });
}

/** Weights that are all the same, or all 0, say nothing. */
function weighed(targets: readonly { target: TargetConfig; weight: number | null }[]): TargetConfig[] {
  const weights = new Set(targets.map(({ weight }) => weight));
  const isPlain = weights.size === 1 || targets.every(({ weight }) => (weight ?? 0) === 0);
  return targets.map(({ target, weight }) => (isPlain ? target : { ...target, weight: weight ?? 0 }));
}

/** The second try of the same model at the same place meets the fault of the first. */
function keyOf({ upstream, model }: TargetConfig): string {
  return JSON.stringify([upstream, model]);
}

/** Each unit at the highest that any deployment costs, so that none is served below its cost. */
function highest(prices: readonly (PriceConfig | null)[]): PriceConfig | null {
  const all = prices.filter((price) => price !== null);
  if (all.length === 0) return null;
  const units = new Set(all.flatMap((price) => Object.keys(price) as (keyof PriceConfig)[]));
  return Object.fromEntries(
    [...units].map((unit) => [unit, all.map((price) => price[unit]).reduce((a, b) => (Number(b ?? 0) > Number(a ?? 0) ? b : a))]),
  );
}
