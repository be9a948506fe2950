import type { Plugin, Stage } from "../../kit/index.ts";
import { STAGES } from "../../kit/index.ts";
import { join } from "../diagnostics.ts";
import type { LoadedStep } from "../steps.ts";
import type { LinkContext } from "./context.ts";
import { misplaced } from "./order.ts";

type Known = LoadedStep & { readonly plugin: Plugin };

/** The pipeline as a whole: order, what must be there, what may be there once, conditions. */
export function linkPipeline(context: LinkContext, steps: readonly LoadedStep[]): void {
  const known = steps.filter((step): step is Known => step.plugin !== null);
  linkOrder(context, known);
  linkRepeats(context, known);
  // A step that could not be loaded may have been the one that seems to be missing.
  const complete =
    known.length === steps.length && !context.damaged("/pipeline") && (context.config.pipeline ?? []).length > 0;
  if (complete) linkMissing(context, known);
  for (const step of known) linkCondition(context, step);
}

function linkOrder(context: LinkContext, steps: readonly Known[]): void {
  for (const index of misplaced(steps.map(({ plugin }) => STAGES.indexOf(plugin.stage)))) {
    const step = steps[index];
    if (!step) continue;
    const { name, stage } = step.plugin;
    const message = `'${name}' (stage ${stage}) stands in the wrong place`;
    context.report(step.at, { rule: "pipeline-order", message, hint: `the order of stages is ${STAGES.join(", ")}` });
  }
}

function linkRepeats(context: LinkContext, steps: readonly Known[]): void {
  const seen = new Set<string>();
  for (const { plugin, at, local } of steps) {
    // Transforms may differ in options and conditions; the others would reserve, guard or charge twice.
    const key = plugin.stage === "relay" ? "the relay" : `'${plugin.name}'`;
    const once = plugin.stage === "relay" || (!local && plugin.stage !== "transform");
    if (once && seen.has(key)) {
      context.report(at, {
        rule: "duplicate-plugin",
        message: `${key} stands in the pipeline already`,
        hint: "remove one of the two",
      });
    }
    seen.add(key);
  }
}

function linkMissing(context: LinkContext, steps: readonly Known[]): void {
  const has = (stage: Stage): boolean => steps.some(({ plugin }) => plugin.stage === stage);
  if (!has("relay")) {
    context.report(
      "/pipeline",
      { rule: "missing-relay", message: "the pipeline has no relay", hint: "add stream-relay" },
      "key",
    );
  }
  if (!has("identify")) {
    const message = "nothing finds out who is calling: every request is refused";
    context.report("/pipeline", { rule: "missing-identify", severity: "warning", message, hint: "add auth" }, "key");
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

function linkCondition(context: LinkContext, { plugin, pointer, when }: Known): void {
  if (!when) return;
  if (plugin.stage === "identify" || plugin.stage === "relay") {
    const message = `'${plugin.name}' (stage ${plugin.stage}) runs for every request`;
    context.report(join(pointer, "when"), { rule: "condition-stage", message, hint: "remove when" }, "key");
  }
  for (const [index, tier] of (when.tiers ?? []).entries())
    context.resolve("tiers", tier, join(pointer, "when", "tiers", index));
  const models = context.names("models");
  for (const [index, glob] of (when.models ?? []).entries()) {
    const at = join(pointer, "when", "models", index);
    if (glob === undefined || models === null || models.some((id) => matchesGlob(glob, id))) continue;
    context.report(at, {
      rule: "condition-unmatched",
      severity: "warning",
      message: `${context.show(at)} matches no model`,
      hint: "* stands for any text",
    });
  }
}

/** `*` stands for any text; everything else for itself. */
export function matchesGlob(glob: string, id: string): boolean {
  const parts = glob.split("*").map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".*")}$`, "s").test(id);
}
