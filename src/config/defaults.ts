import type { GatewayConfig, ModelConfig } from "#schema";
import { type Kind, nearest, pathOf, type Steps } from "../kit/index.ts";
import { join } from "./diagnostics.ts";
import { targetsOf } from "./link/features.ts";
import { PRICE_UNITS } from "./link/prices.ts";
import { isLocal } from "./local.ts";
import { find, type MapNode } from "./node.ts";
import { mapInSteps, OPEN_TIER } from "./settings.ts";
import type { Incomplete, Validated } from "./validate.ts";

const OPEN_TIERS: NonNullable<GatewayConfig["tiers"]> = {
  [OPEN_TIER]: { access: "all", limits: { day: "none", hour: "none", minute: "none", streams: "none" } },
};

/** The pipeline of a configuration that has none. */
export const PIPELINE: NonNullable<GatewayConfig["pipeline"]> = [
  "auth",
  "plan-check",
  "quota",
  "breaker",
  "stream-relay",
  "meter",
];

/** A model with what its file may leave to the defaults. */
export type WholeModel = ModelConfig & Required<Pick<ModelConfig, "tier" | "owned_by">>;

/** A configuration with what its file may leave to the defaults. */
export interface WholeConfig extends Omit<GatewayConfig, "models"> {
  readonly tiers: NonNullable<GatewayConfig["tiers"]>;
  readonly pipeline: NonNullable<GatewayConfig["pipeline"]>;
  readonly models: { readonly [id: string]: WholeModel };
}

export interface WholeValidated extends Omit<Validated, "valid"> {
  readonly valid: WholeConfig | null;
}

/** Adds the plan, the pipeline, and the owners and prices of models that the files leave out. */
export function* withDefaults(validated: Validated): Steps<WholeValidated> {
  const { config, valid, tree } = validated;
  const hasPlans = isWritten(validated, "tiers");
  const models = yield* mapInSteps(
    config.models ?? {},
    (_, model) => model && wholeModel(model, config, tree, hasPlans),
  );
  const whole: Incomplete<GatewayConfig> = {
    ...config,
    ...(!hasPlans && { tiers: OPEN_TIERS }),
    ...(!isWritten(validated, "pipeline") && { pipeline: PIPELINE }),
    ...((config.models || !tree.entries.has("models")) && { models }),
  };
  return { ...validated, config: whole, valid: valid && (whole as WholeConfig) };
}

/** Whether the files have the section, or a key that is a misspelling of it. */
function isWritten({ tree, diagnostics }: Validated, section: "tiers" | "pipeline"): boolean {
  if (tree.entries.has(section)) return true;
  return diagnostics.some(({ rule, pointer }) => {
    const [key = "", ...rest] = pathOf(pointer);
    return rule === "unknown-key" && rest.length === 0 && nearest(key, [section]) !== null;
  });
}

function wholeModel(
  model: Incomplete<ModelConfig>,
  { upstreams = {} }: Incomplete<GatewayConfig>,
  tree: MapNode,
  hasPlans: boolean,
): Incomplete<ModelConfig> {
  const targets = targetsOf(model.chain, "").map(({ target }) => target.upstream);
  const [first] = targets;
  const { kind, price } = model;
  const hasUnits = "price" in model && (price === undefined || Object.keys(price).some((key) => key !== "verified_at"));
  // A variable that is not set says nothing of where a server is: that it is not set is said.
  const isFree = (name: string | undefined): boolean =>
    name !== undefined && (isUnset(tree, join("/upstreams", name, "base_url")) || isLocal(upstreams[name]));
  return {
    ...model,
    ...(!hasPlans && !("tier" in model) && { tier: OPEN_TIER }),
    ...(first !== undefined && !("owned_by" in model) && { owned_by: first }),
    ...(kind !== undefined &&
      !hasUnits &&
      targets.length > 0 &&
      targets.every(isFree) && { price: freePrice(kind, price) }),
  };
}

function isUnset(tree: MapNode, pointer: string): boolean {
  const node = find(tree, pointer)?.node;
  return node?.kind === "scalar" && typeof node.reference?.unset === "string";
}

/** A price of 0 in the units that models of the kind must have. */
export function freePrice(kind: Kind, price: Incomplete<ModelConfig>["price"] = {}): NonNullable<ModelConfig["price"]> {
  const units = PRICE_UNITS[kind].required[0] ?? [];
  return { ...(price as ModelConfig["price"]), ...Object.fromEntries(units.map((unit) => [unit, 0])) };
}
