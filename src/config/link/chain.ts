import type { ModelConfig, TargetConfig } from "#schema";
import { pathOf } from "../../kit/index.ts";
import { join } from "../diagnostics.ts";
import type { Loose } from "../validate.ts";
import type { LinkContext } from "./context.ts";
import { linkFeatures, targetsOf } from "./features.ts";

/** Chains: upstreams that exist, can serve the kind, and keep what the model promises. */
export function linkChain(context: LinkContext, model: Loose<ModelConfig>, modelPointer: string): void {
  const pointer = join(modelPointer, "chain");
  const seen = new Set<string>();
  const places = targetsOf(model.chain, pointer);
  for (const { target, pointer: at, weighted } of places) {
    context.resolve("upstreams", target.upstream, join(at, "upstream"));
    linkDialect(context, model, target, at);
    linkWindow(context, model, target, at);
    linkParameters(context, model, target, at);
    if (target.weight !== undefined && !weighted) {
      const message = "a weight counts in a step with balance: weighted only";
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
      const message = "the chain has this upstream and model already";
      context.report(at, { rule: "repeated-target", severity: "warning", message, hint: "remove the second one" });
    }
    seen.add(identity);
  }
  linkFeatures(context, model, places, modelPointer);
  for (const [index, step] of (model.chain ?? []).entries()) {
    if (step === undefined || !("targets" in step) || step.balance !== "weighted") continue;
    const targets: readonly (Loose<TargetConfig> | undefined)[] = step.targets ?? [];
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
  { kind }: Loose<ModelConfig>,
  { upstream }: Loose<TargetConfig>,
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

function linkWindow(context: LinkContext, model: Loose<ModelConfig>, target: Loose<TargetConfig>, at: string): void {
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
const ROUTED: ReadonlySet<string | undefined> = new Set(["model", "stream"]);

/** The `parameters` of a chain target. */
function linkParameters(
  context: LinkContext,
  { kind }: Loose<ModelConfig>,
  { parameters }: Loose<TargetConfig>,
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
    if (isRouted(path)) report(at, routed(path));
    else if (removed.has(path)) report(at, [`'${path}' is set and removed`, "set alone replaces what was there"]);
  }
  for (const [index, path] of remove.entries()) {
    if (path !== undefined && isRouted(path)) report(join(pointer, "remove", index), routed(path), "value");
  }
  for (const [path, name] of Object.entries(rename)) {
    const at = join(pointer, "rename", path);
    const own = pathOf(path);
    if (isRouted(path)) report(at, routed(path));
    else if (name === undefined) continue;
    else if (own.length === 1 && isRouted(`/${name}`)) report(at, routed(`/${name}`), "value");
    else if (own.at(-1) === name) report(at, [`'${path}' has that name already`, "remove it"], "value");
    else if (removed.has(path)) report(at, [`'${path}' is removed before it could be renamed`, "do one of the two"]);
  }
}

type Mistake = readonly [message: string, hint: string];

function isRouted(path: string): boolean {
  return ROUTED.has(pathOf(path)[0]);
}

function routed(path: string): Mistake {
  return [
    `'${path}' is what the request is routed by, and cannot be changed`,
    "the model is the target's own key; whether it streams is the client's to say",
  ];
}
