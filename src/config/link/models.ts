import type { ModelConfig, PriceConfig } from "#schema";
import type { Kind } from "../../kit/index.ts";
import { join } from "../diagnostics.ts";
import type { Loose } from "../validate.ts";
import { requestUnits } from "../settings.ts";
import { linkChain } from "./chain.ts";
import type { LinkContext } from "./context.ts";
import { canCall } from "./tiers.ts";

/** Fields that mean something for some kinds only. */
const KINDS_OF_FIELD: Readonly<Partial<Record<keyof ModelConfig, readonly Kind[]>>> = {
  context_window: ["chat", "embedding", "rerank"],
  max_output: ["chat"],
  features: ["chat"],
  voices: ["speech"],
  realtime: ["transcription"],
  strict: ["chat"],
};

/** Models: tiers, prices, chains, and whether anybody can call them. */
export function linkModels(context: LinkContext): void {
  for (const [id, model] of Object.entries(context.config.models ?? {})) {
    if (!model) continue;
    const pointer = join("/models", id);
    context.resolve("tiers", model.tier, join(pointer, "tier"));
    linkFields(context, model, pointer);
    linkPrice(context, model, pointer);
    linkChain(context, model, pointer);
    linkReach(context, model, pointer);
  }
}

function linkFields(context: LinkContext, model: Loose<ModelConfig>, pointer: string): void {
  const { kind, context_window: window, max_output: output } = model;
  for (const [field, kinds] of Object.entries(KINDS_OF_FIELD)) {
    if (kind === undefined || kinds.includes(kind) || !(field in model)) continue;
    const message = `'${field}' means nothing for ${kind} models`;
    context.report(
      join(pointer, field),
      { rule: "kind-field", message, hint: `it belongs to: ${kinds.join(", ")}` },
      "key",
    );
  }
  if (window !== undefined && output !== undefined && output > window) {
    const message = `is more than the window of ${window} tokens`;
    context.report(join(pointer, "max_output"), {
      rule: "output-window",
      severity: "warning",
      message,
      hint: "the window holds prompt and answer",
    });
  }
}

function linkReach(context: LinkContext, model: Loose<ModelConfig>, pointer: string): void {
  const { tiers } = context.config;
  const { tier, kind } = model;
  if (tiers === undefined || tier === undefined || !Object.hasOwn(tiers, tier)) return;
  const plans = Object.entries(tiers).filter(([, plan]) => canCall(plan, tier));
  if (plans.length === 0 && model.published !== false && !context.damaged("/tiers")) {
    const message = `no plan can call models of tier ${context.show(join(pointer, "tier"))}`;
    context.report(join(pointer, "tier"), {
      rule: "unreachable-model",
      severity: "warning",
      message,
      hint: "add the tier to a plan's access, or set published: false",
    });
  }
  if (kind === undefined) return;
  const units = requestUnits(kind, model, context.config.defaults?.kinds?.[kind]);
  const short = plans.filter(([, plan]) => {
    const day = plan?.limits?.day;
    return typeof day === "number" && day > 0 && day < units;
  });
  if (short.length > 0) {
    const message = `one request takes ${units} units: more than a day has on ${short.map(([name]) => name).join(", ")}`;
    const place = model.multipliers?.requests === undefined ? pointer : join(pointer, "multipliers", "requests");
    context.report(
      place,
      { rule: "multiplier-limit", severity: "warning", message, hint: "raise the day limit or lower the multiplier" },
      "key",
    );
  }
}

type Unit = keyof PriceConfig;

/** The units a kind may have, and the sets of which one must be there. */
const UNITS: Readonly<
  Record<Kind, { readonly allowed: readonly Unit[]; readonly required: readonly (readonly Unit[])[] }>
> = {
  chat: {
    allowed: [
      "input_per_million",
      "output_per_million",
      "cached_input_per_million",
      "cache_write_per_million",
      "cache_write_1h_per_million",
      "reasoning_per_million",
      "per_request",
    ],
    required: [["input_per_million", "output_per_million"]],
  },
  embedding: {
    allowed: ["input_per_million", "output_per_million", "cached_input_per_million", "per_request"],
    required: [["input_per_million"], ["per_request"]],
  },
  rerank: {
    allowed: ["input_per_million", "output_per_million", "per_request"],
    required: [["per_request"], ["input_per_million"]],
  },
  speech: {
    allowed: ["per_million_characters", "per_request"],
    required: [["per_million_characters"], ["per_request"]],
  },
  transcription: { allowed: ["per_second", "per_request"], required: [["per_second"], ["per_request"]] },
  image: {
    allowed: ["per_image", "per_request", "input_per_million", "output_per_million", "cached_input_per_million"],
    required: [["per_image"], ["per_request"], ["input_per_million", "output_per_million"]],
  },
};

/** Prices are there, in units of the model's kind; a free model says 0. */
function linkPrice(context: LinkContext, { kind, price }: Loose<ModelConfig>, modelPointer: string): void {
  const pointer = join(modelPointer, "price");
  if (kind === undefined) return;
  const { allowed, required } = UNITS[kind];
  const units = Object.keys(price ?? {}) as Unit[];
  const foreign = units.filter((unit) => !allowed.includes(unit));
  for (const unit of foreign) {
    const hint = `${kind} models have: ${allowed.join(", ")}`;
    context.report(
      join(pointer, unit),
      { rule: "price-unit", message: `${kind} models have no price ${unit}`, hint },
      "key",
    );
  }
  const complete = required.some((set) => set.every((unit) => units.includes(unit)));
  if (complete || foreign.length > 0 || context.damaged(pointer) || context.misspelt(modelPointer)) return;
  const missing = (required[0] ?? []).filter((unit) => !units.includes(unit));
  const finding = {
    rule: "missing-price",
    message: `the model has no price ${missing.join(" and no ")}`,
    hint: "a free model says 0",
  } as const;
  context.report(price === undefined ? modelPointer : pointer, finding, "key");
}
