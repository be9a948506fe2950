import { matchesGlob, type Model, type Snapshot, type StepCondition, type Tier } from "../kit/index.ts";

interface Conditional {
  readonly settings: { readonly when: StepCondition | null };
}

/** What runs for requests for a model by users of a tier. */
export type PlanOf<Plan> = (model: Pick<Model, "id">, tier: Pick<Tier, "name">) => Plan;

/**
 * Makes the plan of every tier and model of a configuration. Pairs for which the same steps run share one plan, and each
 * condition is asked once for a model and once for a tier: 3,000 models in 6 tiers are a few plans.
 * @throws what `make` throws.
 */
export function plansOf<Step extends Conditional, Plan>(
  steps: readonly Step[],
  { models, tiers }: Pick<Snapshot, "models" | "tiers">,
  make: (steps: readonly Step[]) => Plan,
): PlanOf<Plan> {
  const plans = new Map<string, Plan>();
  const planOf = (applies: string): Plan => {
    let plan = plans.get(applies);
    if (plan === undefined) plans.set(applies, (plan = make(steps.filter((_, at) => applies[at] === YES))));
    return plan;
  };
  const ofModel = (id: string): string => marks(steps, (when) => isForModel(when, id));
  const ofTier = (name: string | null): string => marks(steps, (when) => isForTier(when, name));

  const modelMarks = new Map(Object.keys(models).map((id) => [id, ofModel(id)]));
  const tierMarks = new Map(Object.keys(tiers).map((name) => [name, ofTier(name)]));
  // A user may be on a tier that the configuration no longer has: no condition names it.
  const everyTier = new Set([...tierMarks.values(), ofTier(null)]);
  for (const model of new Set(modelMarks.values())) for (const tier of everyTier) planOf(both(model, tier));

  return ({ id }, { name }) => planOf(both(modelMarks.get(id) ?? ofModel(id), tierMarks.get(name) ?? ofTier(name)));
}

/** Whether a step takes part in requests for the model by users of the plan. */
export function applies(when: StepCondition | null, model: Pick<Model, "id">, tier: Pick<Tier, "name">): boolean {
  return when === null || (isForModel(when, model.id) && isForTier(when, tier.name));
}

function isForModel({ models }: StepCondition, id: string): boolean {
  return models === undefined || models.some((glob) => matchesGlob(glob, id));
}

/** @param name null: a tier that no condition names. */
function isForTier({ tiers }: StepCondition, name: string | null): boolean {
  return tiers === undefined || (name !== null && tiers.includes(name));
}

const YES = "1";
const NO = "0";

/** One character for each step. */
function marks(steps: readonly Conditional[], holds: (when: StepCondition) => boolean): string {
  let marks = "";
  for (const { settings } of steps) marks += settings.when === null || holds(settings.when) ? YES : NO;
  return marks;
}

/** The marks of steps that both have. */
function both(one: string, other: string): string {
  let marks = "";
  for (let at = 0; at < one.length; at += 1) marks += one[at] === YES && other[at] === YES ? YES : NO;
  return marks;
}
