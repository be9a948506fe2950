import type { ModelConfig, TargetConfig } from "#schema";
import { type Kind, pathOf, type Steps } from "../../kit/index.ts";
import { join } from "../diagnostics.ts";
import { isStep } from "../node.ts";
import { requestUnits } from "../settings.ts";
import type { Incomplete } from "../validate.ts";
import type { LinkContext } from "./context.ts";
import { linkDeadlines } from "./deadlines.ts";
import { linkFeatures, targetsOf } from "./features.ts";
import { linkLifecycle } from "./lifecycle.ts";
import { canCall, mayRequest } from "./limits.ts";
import { linkPrices } from "./prices.ts";

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
export function* linkModels(context: LinkContext): Steps<void> {
  let done = 0;
  for (const [id, model] of Object.entries(context.config.models ?? {})) {
    if (!model) continue;
    const pointer = join("/models", id);
    context.resolve("tiers", model.tier, join(pointer, "tier"));
    linkFieldsOfKind(context, model, pointer);
    linkPrices(context, model, pointer);
    linkChain(context, model, pointer);
    linkAccess(context, model, pointer);
    linkLifecycle(context, id, model, pointer);
    if (isStep(++done)) yield;
  }
}

function linkFieldsOfKind(context: LinkContext, model: Incomplete<ModelConfig>, pointer: string): void {
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

/**
 * @param model one that is written out, or what an upstream's listed models have in common
 * @param orHide the other remedy for a model that nobody can call
 */
export function linkAccess(
  context: LinkContext,
  model: Pick<Incomplete<ModelConfig>, "tier" | "kind" | "published" | "multipliers">,
  pointer: string,
  orHide = ", or set published: false",
): void {
  const { tiers } = context.config;
  const { tier, kind } = model;
  if (tiers === undefined || tier === undefined || !Object.hasOwn(tiers, tier)) return;
  const plans = Object.entries(tiers).filter(([, plan]) => canCall(plan, tier));
  if (plans.length === 0 && model.published !== false && !context.isInvalid("/tiers")) {
    const message = `no plan can call models of tier ${context.show(join(pointer, "tier"))}`;
    context.report(join(pointer, "tier"), {
      rule: "unreachable-model",
      severity: "warning",
      message,
      hint: `add the tier to a plan's access${orHide}`,
    });
  }
  if (plans.length > 0 && plans.every(([, plan]) => !mayRequest(plan)) && model.published !== false) {
    const message = `every plan that may call it has a limit of 0: ${plans.map(([name]) => name).join(", ")}`;
    const hint = `raise the limits${orHide}`;
    context.report(join(pointer, "tier"), { rule: "unreachable-model", severity: "warning", message, hint });
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

/** Chains: upstreams that exist, can serve the kind, and keep what the model promises. */
function linkChain(context: LinkContext, model: Incomplete<ModelConfig>, modelPointer: string): void {
  const pointer = join(modelPointer, "chain");
  const seen = new Set<string>();
  const places = targetsOf(model.chain, pointer);
  for (const { target, pointer: at, weighted } of places) {
    context.resolve("upstreams", target.upstream, join(at, "upstream"));
    linkDialect(context, model, target, at);
    linkContextWindow(context, model, target, at);
    linkMaxOutput(context, model, target, at);
    linkParameters(context, model, target, at);
    if (target.weight !== undefined && !weighted) {
      const message = "a weight has an effect only in a step with balance: weighted";
      context.report(
        join(at, "weight"),
        { rule: "target-weight", severity: "warning", message, hint: "remove it" },
        "key",
      );
    }
    const { upstream, model: name, parameters } = target;
    if (upstream === undefined || name === undefined) continue;
    const identity = JSON.stringify([upstream, name, parameters]);
    if (seen.has(identity)) {
      const message = "the chain already has this upstream and model";
      context.report(at, { rule: "repeated-target", severity: "warning", message, hint: "remove the second one" });
    }
    seen.add(identity);
  }
  linkFeatures(context, model, places, modelPointer);
  linkDeadlines(context, model, places);
  if (places.length > 0 && places.every(({ target }) => isUnserved(context, model, target))) {
    const message = "no step of the chain can be served by this build: every request fails";
    const hint = "add a step of a dialect that is spoken for this kind";
    context.report(pointer, { rule: "unreachable-model", severity: "warning", message, hint }, "key");
  }
  for (const [index, step] of (model.chain ?? []).entries()) {
    if (step === undefined || !("targets" in step) || step.balance !== "weighted") continue;
    const targets: readonly (Incomplete<TargetConfig> | undefined)[] = step.targets ?? [];
    if (targets.length > 0 && targets.every((target) => target?.weight === 0)) {
      context.report(
        join(pointer, index, "targets"),
        { rule: "target-weight", message: "every weight is 0: no target would be chosen" },
        "key",
      );
    }
  }
}

function linkDialect(
  context: LinkContext,
  { kind }: Incomplete<ModelConfig>,
  { upstream }: Incomplete<TargetConfig>,
  at: string,
): void {
  const dialect = upstream === undefined ? undefined : context.config.upstreams?.[upstream]?.dialect;
  if (dialect === undefined || kind === undefined) return;
  const { kinds, served } = context.dialects[dialect];
  const pointer = join(at, "upstream");
  if (!kinds.includes(kind)) {
    const able = Object.entries(context.dialects).filter(([, other]) => other.kinds.includes(kind));
    const hint = `dialects that do: ${able.map(([name]) => name).join(", ")}`;
    context.report(pointer, {
      rule: "dialect-kind",
      message: `the dialect ${dialect} of ${context.show(pointer)} serves no ${kind} models`,
      hint,
    });
  } else if (!served.includes(kind)) {
    const message = `this build does not speak the dialect ${dialect} for ${kind} models: the step is skipped`;
    context.report(pointer, { rule: "dialect-unavailable", severity: "warning", message, hint: null });
  }
}

/** Whether the step is skipped, and nothing worse. */
function isUnserved(
  context: LinkContext,
  { kind }: Incomplete<ModelConfig>,
  { upstream }: Incomplete<TargetConfig>,
): boolean {
  const dialect = upstream === undefined ? undefined : context.config.upstreams?.[upstream]?.dialect;
  if (dialect === undefined || kind === undefined) return false;
  const { kinds, served } = context.dialects[dialect];
  return kinds.includes(kind) && !served.includes(kind);
}

/** Answers that are longer than an upstream's model is known to write. */
function linkMaxOutput(
  context: LinkContext,
  { kind, max_output: tokens }: Incomplete<ModelConfig>,
  { upstream, model }: Incomplete<TargetConfig>,
  at: string,
): void {
  if (tokens === undefined || kind !== "chat" || upstream === undefined || model === undefined) return;
  if (context.capability(upstream)?.writes(tokens, model, context.location(upstream)) !== false) return;
  const pointer = join(at, "model");
  context.report(pointer, {
    rule: "vendor-limits",
    severity: "warning",
    message: `${context.show(pointer)} cannot write the ${tokens} tokens of the model's max_output`,
    hint: "lower max_output, or use another model in this step",
  });
}

function linkContextWindow(
  context: LinkContext,
  model: Incomplete<ModelConfig>,
  target: Incomplete<TargetConfig>,
  at: string,
): void {
  const [promised, window] = [model.context_window, target.context_window];
  if (promised === undefined || window === undefined || window >= promised) return;
  const message = `the window of this step is smaller than the ${promised} tokens the model promises`;
  context.report(join(at, "context_window"), {
    rule: "chain-window",
    severity: "warning",
    message,
    hint: "longer requests fail there",
  });
}

/** What the chain and the client decide: changed behind their backs, answers would be misread and misbilled. */
const ROUTING_FIELDS: ReadonlySet<string | undefined> = new Set(["model", "stream"]);

/** The `parameters` of a chain target. */
function linkParameters(
  context: LinkContext,
  { kind }: Incomplete<ModelConfig>,
  { parameters }: Incomplete<TargetConfig>,
  targetPointer: string,
): void {
  if (parameters === undefined) return;
  const pointer = join(targetPointer, "parameters");
  if (kind === "transcription") {
    const message = "a transcription is sent as a form, not as JSON: there is nothing to change";
    context.report(pointer, { rule: "target-parameters", message, hint: "remove it" }, "key");
    return;
  }
  const { set = {}, remove = [], rename = {} } = parameters;
  const removed: ReadonlySet<string | undefined> = new Set(remove);
  const report = (at: string, [message, hint]: Mistake, place: "key" | "value" = "key"): void =>
    context.report(at, { rule: "target-parameters", message, hint }, place);

  for (const path of Object.keys(set)) {
    const at = join(pointer, "set", path);
    if (isRoutingField(path)) report(at, routingField(path));
    else if (removed.has(path)) report(at, [`'${path}' is set and removed`, "set alone replaces what was there"]);
  }
  for (const [index, path] of remove.entries()) {
    if (path !== undefined && isRoutingField(path)) report(join(pointer, "remove", index), routingField(path), "value");
  }
  for (const [path, name] of Object.entries(rename)) {
    const at = join(pointer, "rename", path);
    const own = pathOf(path);
    if (isRoutingField(path)) report(at, routingField(path));
    else if (name === undefined) continue;
    else if (own.length === 1 && isRoutingField(`/${name}`)) report(at, routingField(`/${name}`), "value");
    else if (own.at(-1) === name) report(at, [`'${path}' has that name already`, "remove it"], "value");
    else if (removed.has(path)) report(at, [`'${path}' is removed before it could be renamed`, "do one of the two"]);
  }
}

type Mistake = readonly [message: string, hint: string];

function isRoutingField(path: string): boolean {
  return ROUTING_FIELDS.has(pathOf(path)[0]);
}

function routingField(path: string): Mistake {
  return [
    `'${path}' is what the request is routed by, and cannot be changed`,
    "the model is the target's own key; whether it streams is the client's to say",
  ];
}
