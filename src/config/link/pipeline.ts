import { matchesGlob, type Plugin, type Stage, STAGES, stagesOf } from "../../kit/index.ts";
import { join } from "../diagnostics.ts";
import type { LoadedStep } from "../steps.ts";
import type { LinkContext } from "./context.ts";

type ResolvedStep = LoadedStep & { readonly plugin: Plugin };

/** The pipeline as a whole: order, what must be there, what may be there once, conditions. */
export function linkPipeline(context: LinkContext, steps: readonly LoadedStep[]): void {
  const known = steps.filter((step): step is ResolvedStep => step.plugin !== null);
  linkOrder(context, known);
  linkRepeats(context, known);
  // A step that could not be loaded may have been the one that seems to be missing.
  const complete =
    known.length === steps.length && !context.isInvalid("/pipeline") && (context.config.pipeline ?? []).length > 0;
  if (complete) linkMissing(context, known);
  for (const step of known) linkCondition(context, step);
}

/** The main stage decides on the place. Hooks of the stages in `also` run there, too, behind those of plugins before it. */
function linkOrder(context: LinkContext, steps: readonly ResolvedStep[]): void {
  for (const index of misplaced(steps.map(({ plugin }) => STAGES.indexOf(plugin.stage)))) {
    const step = steps[index];
    if (!step) continue;
    const { name, stage } = step.plugin;
    const message = `'${name}' (stage ${stage}) is in the wrong place`;
    context.report(step.at, { rule: "pipeline-order", message, hint: `the order of stages is ${STAGES.join(", ")}` });
  }
}

function linkRepeats(context: LinkContext, steps: readonly ResolvedStep[]): void {
  const seen = new Set<string>();
  for (const { plugin, at, local } of steps) {
    // Transforms may differ in options and conditions; the others would reserve, guard or charge twice.
    const relays = stagesOf(plugin).includes("relay");
    const key = relays ? "relay" : `plugin '${plugin.name}'`;
    const once = relays || (!local && plugin.stage !== "transform");
    if (once && seen.has(key)) {
      context.report(at, {
        rule: "duplicate-plugin",
        message: `duplicate ${key}`,
        hint: "remove one of the two",
      });
    }
    seen.add(key);
  }
}

function linkMissing(context: LinkContext, steps: readonly ResolvedStep[]): void {
  const has = (stage: Stage): boolean => steps.some(({ plugin }) => stagesOf(plugin).includes(stage));
  if (!has("relay")) {
    context.report(
      "/pipeline",
      { rule: "missing-relay", message: "the pipeline has no relay", hint: "add stream-relay" },
      "key",
    );
  }
  if (!has("identify")) {
    const message = "the pipeline has no identify plugin: every request would be refused";
    context.report("/pipeline", { rule: "missing-identify", message, hint: "add auth" }, "key");
  }
  const names = new Set(steps.map(({ plugin }) => plugin.name));
  for (const { plugin, at } of steps) {
    for (const need of plugin.needs ?? []) {
      if (names.has(need)) continue;
      context.report(at, {
        rule: "missing-prerequisite",
        message: `'${plugin.name}' needs '${need}' in the pipeline`,
        hint: `add ${need}`,
      });
    }
  }
}

function linkCondition(context: LinkContext, { plugin, pointer, when }: ResolvedStep): void {
  if (!when) return;
  const always = stagesOf(plugin).find((stage) => stage === "identify" || stage === "relay");
  if (always !== undefined) {
    const message = `'${plugin.name}' (stage ${always}) runs for every request`;
    context.report(join(pointer, "when"), { rule: "condition-stage", message, hint: "remove when" }, "key");
  }
  for (const [index, tier] of (when.tiers ?? []).entries())
    context.resolve("tiers", tier, join(pointer, "when", "tiers", index));
  const models = context.publishesListed ? null : context.names("models");
  for (const [index, glob] of (when.models ?? []).entries()) {
    const at = join(pointer, "when", "models", index);
    if (glob === undefined || models === null || models.some((id) => matchesGlob(glob, id))) continue;
    context.report(at, {
      rule: "condition-unmatched",
      severity: "warning",
      message: `${context.show(at)} matches no model`,
      hint: "* matches any text",
    });
  }
}

/**
 * Indexes of the fewest items to move so that the rest never descends: one plugin in the wrong place is one mistake,
 * however many stand on its wrong side.
 */
export function misplaced(ranks: readonly number[]): number[] {
  const length: number[] = [];
  const before: number[] = [];
  for (const [index, rank] of ranks.entries()) {
    const earlier = ranks.slice(0, index).flatMap((other, at) => (other <= rank ? [at] : []));
    const best = earlier.reduce(
      (chosen, at) => (chosen < 0 || (length[at] ?? 0) > (length[chosen] ?? 0) ? at : chosen),
      -1,
    );
    length.push(best < 0 ? 1 : (length[best] ?? 0) + 1);
    before.push(best);
  }
  const kept = new Set<number>();
  for (let at = length.indexOf(Math.max(...length)); at >= 0; at = before[at] ?? -1) kept.add(at);
  return ranks.flatMap((_, index) => (kept.has(index) ? [] : [index]));
}
