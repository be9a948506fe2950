import type { ModelConfig } from "#schema";
import { didYouMean, join } from "../diagnostics.ts";
import { timeOf } from "../settings.ts";
import type { Incomplete } from "../validate.ts";
import type { LinkContext } from "./context.ts";
import { canCall } from "./limits.ts";

const DAY_MS = 86_400_000;
/** A sunset that is closer is news. */
const NEAR_DAYS = 30;

/** The end of a model: dates in their order, a successor that can serve in its place, and what a check says of the time. */
export function linkLifecycle(context: LinkContext, id: string, model: Incomplete<ModelConfig>, pointer: string): void {
  const { deprecated_at: deprecated, sunset_at: sunset, successor } = model;
  if (deprecated !== undefined && sunset !== undefined && timeOf(sunset) < timeOf(deprecated)) {
    const hint = "a model is deprecated first: make sunset_at the later one";
    context.report(join(pointer, "sunset_at"), { rule: "model-sunset", message: "is before deprecated_at", hint });
    return;
  }
  if (successor !== undefined) linkSuccessor(context, { id, model, successor, pointer });
  else if ((deprecated ?? sunset) !== undefined) {
    const key = deprecated === undefined ? "sunset_at" : "deprecated_at";
    const message = "ends without a successor: its users are not told what to use";
    const hint = "name one with successor";
    context.report(join(pointer, key), { rule: "model-successor", severity: "warning", message, hint }, "key");
  }
  if (sunset !== undefined && context.now !== null) linkSunset(context, { sunset, successor, pointer });
}

interface Ending {
  readonly id: string;
  readonly model: Incomplete<ModelConfig>;
  readonly successor: string;
  readonly pointer: string;
}

function linkSuccessor(context: LinkContext, { id, model, successor, pointer }: Ending): void {
  const place = join(pointer, "successor");
  const report = (message: string, hint: string | null, severity: "error" | "warning" = "error"): void =>
    context.report(place, { rule: "model-successor", severity, message, hint });
  const { models = {} } = context.config;
  const known = context.names("models") ?? [];
  if (!known.includes(successor) && context.publishesListed) return;
  if (!known.includes(successor)) {
    return report(`no model is named ${context.show(place)}`, didYouMean(successor, known));
  }
  if (succeeds(context, successor, id)) {
    return report("goes round: the model would succeed itself", "name a model that stays");
  }
  const next = models[successor];
  if (next?.kind !== undefined && model.kind !== undefined && next.kind !== model.kind) {
    return report(`is of kind ${next.kind}, and this one of kind ${model.kind}`, "name one of the same kind");
  }
  if (model.deprecated_at === undefined && model.sunset_at === undefined) {
    return report("means nothing without deprecated_at or sunset_at", "say when the model ends", "warning");
  }
  if (next?.deprecated_at !== undefined || next?.sunset_at !== undefined) {
    return report("is to end as well", "name the model that stays", "warning");
  }
  const plans = Object.entries(context.config.tiers ?? {});
  const lost = plans.filter(
    ([, plan]) =>
      model.tier !== undefined && next?.tier !== undefined && canCall(plan, model.tier) && !canCall(plan, next.tier),
  );
  if (lost.length > 0) {
    const names = lost.map(([name]) => name).join(", ");
    report(`is not open to ${names}, who may call the model`, "name one that these plans may call too", "warning");
  }
}

/** Whether one model's successors lead to another. */
function succeeds(context: LinkContext, from: string, to: string): boolean {
  const { models = {} } = context.config;
  const seen = new Set<string>();
  for (let id: string | undefined = from; id !== undefined && !seen.has(id); id = models[id]?.successor) {
    if (id === to) return true;
    seen.add(id);
  }
  return false;
}

function linkSunset(
  context: LinkContext,
  { sunset, successor, pointer }: { sunset: string; successor: string | undefined; pointer: string },
): void {
  const left = timeOf(sunset) - (context.now ?? 0);
  const days = Math.ceil(left / DAY_MS);
  if (days > NEAR_DAYS) return;
  const place = join(pointer, "sunset_at");
  const then = successor === undefined ? "requests for it are refused" : `${successor} serves its requests`;
  const finding =
    left <= 0
      ? { message: `is over: ${then}`, hint: "remove the model when nobody requests it, or move the date" }
      : {
          message: `is in ${days === 1 ? "a day" : `${days} days`}: then ${then}`,
          hint: "tell its users, or move the date",
        };
  context.report(place, { rule: "model-sunset", severity: "warning", ...finding });
}
