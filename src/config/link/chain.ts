import type { ModelConfig, TargetConfig } from "#schema";
import { join } from "../diagnostics.ts";
import type { Loose } from "../validate.ts";
import type { LinkContext } from "./context.ts";
import { linkFeatures } from "./features.ts";
import { linkParameters } from "./parameters.ts";
import { targetsOf } from "./targets.ts";

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
