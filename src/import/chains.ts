import type { BalancedStepConfig, ChainStep, ModelConfig, PriceConfig, TargetConfig } from "#schema";
import type { Kind } from "../kit/index.ts";
import { freePrice } from "../config/defaults.ts";
import { DEADLINE, milliseconds, OPEN_TIER, overlay, RETRIES, TIMEOUTS } from "../config/settings.ts";
import { type Draft, modelPointer } from "./draft.ts";

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

export const NO_PRICE = "the source has none, so requests are free: put the provider's price in";

/** Writes the models, each with its own deployments and those of its fallbacks as one chain. */
export function addModels(draft: Draft, groups: ReadonlyMap<string, Group>, fallbacks: Fallbacks): void {
  for (const group of groups.values()) {
    const { id, kind, deployments, model, isLocal } = group;
    const order = reached(id, fallbacks, groups);
    const filtered = fallbacks.contentFilter.get(id) ?? [];
    const chain = chainOf(order.map((one) => groups.get(one)!));
    const price = highest(deployments.map((one) => one.price));
    // A model of which every target is a local server is free without a word.
    const isFree = price === null && isLocal && order.every((one) => groups.get(one)!.isLocal);
    draft.addModel(id, {
      kind,
      ...(draft.config.tiers !== undefined && { tier: OPEN_TIER }),
      ...model,
      ...(filtered.length > 0 && { fail_over_on: ["content_filter"] }),
      ...(!isFree && { price: price ?? freePrice(kind) }),
      ...deadlineOf(draft, chain),
      chain,
    });
    if (price === null && !isLocal) draft.note(modelPointer(id, "price"), `PRICE: ${NO_PRICE}`);
  }
  draft.removeUnused();
}

/**
 * A deadline that lets every step be asked, and the last one take the time that the source gives it; none where the usual
 * one does.
 */
function deadlineOf({ config: { defaults } }: Draft, chain: readonly ChainStep[]): Pick<ModelConfig, "deadline"> {
  const { attempts } = overlay(RETRIES, defaults?.upstream?.retries);
  const targets = chain.flatMap((step) => ("targets" in step ? step.targets : [step]));
  let needed = 0;
  for (const [index, { timeouts }] of targets.entries()) {
    const written = overlay(TIMEOUTS, defaults?.upstream?.timeouts, timeouts);
    const [connect, first, total] = [written.connect, written.first_byte, written.total].map(milliseconds);
    const silent = Math.min(total!, Math.max(connect!, first!));
    const isSaid = (timeouts?.total ?? defaults?.upstream?.timeouts?.total) !== undefined;
    needed += index === targets.length - 1 && isSaid ? silent * (attempts - 1) + total! : silent * attempts;
  }
  return needed > milliseconds(DEADLINE) ? { deadline: `${Math.ceil(needed / 1000)}s` } : {};
}

/** The model and what it falls back to, each once: the fallbacks of a fallback follow it, and circles end. */
function reached(id: string, { general, contentFilter }: Fallbacks, groups: ReadonlyMap<string, Group>): string[] {
  const seen = new Set<string>();
  const visit = (one: string): void => {
    if (seen.has(one) || !groups.has(one)) return;
    seen.add(one);
    for (const next of [...(general.get(one) ?? []), ...(one === id ? (contentFilter.get(one) ?? []) : [])])
      visit(next);
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
    [...units].map((unit) => [
      unit,
      all.map((price) => price[unit]).reduce((a, b) => (Number(b ?? 0) > Number(a ?? 0) ? b : a)),
    ]),
  );
}
