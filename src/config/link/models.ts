import type { ModelConfig } from "#schema";
import type { Kind } from "../../kit/index.ts";
import { join } from "../diagnostics.ts";
import { requestUnits } from "../settings.ts";
import type { Loose } from "../validate.ts";
import { linkChain } from "./chain.ts";
import type { LinkContext } from "./context.ts";
import { linkPrice } from "./price.ts";
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
