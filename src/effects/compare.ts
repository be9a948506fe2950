import { classesOf, mayCall, type Snapshot } from "../kit/index.ts";
import { type Change, Changes, CLASSES, type Side } from "./change.ts";
import { compareModel, comparePrices } from "./models.ts";
import { comparePipelines } from "./pipeline.ts";
import { compareService } from "./service.ts";
import { compareUpstreams, renamedUpstreams } from "./upstreams.ts";

/**
 * What it means to go from one configuration to another: by effect, whatever the files look like. The worst first, then
 * in the order of the configuration's sections.
 */
export function compare(before: Side, after: Side): readonly Change[] {
  const plans = planNames(before.snapshot, after.snapshot);
  const changes = new Changes(plans);
  const reach = new Reach(before.snapshot, after.snapshot);
  const renamed = renamedUpstreams(before.snapshot, after.snapshot);
  comparePlans(changes, before.snapshot, after.snapshot);
  compareClasses(changes, before.snapshot, after.snapshot);
  compareModels(changes, before.snapshot, after.snapshot, reach, renamed);
  compareUpstreams(changes, [before.snapshot, after.snapshot], renamed, (upstream) => reach.ofUpstream(upstream));
  comparePipelines(changes, [before, after], plans);
  compareService(changes, [before.snapshot, after.snapshot]);
  return CLASSES.flatMap((one) => changes.found.filter((change) => change.class === one));
}

function planNames(before: Snapshot, after: Snapshot): readonly string[] {
  return [...new Set([...Object.keys(before.tiers), ...Object.keys(after.tiers)])];
}

/** Which plans may call what, on either side. */
class Reach {
  readonly #sides: readonly Snapshot[];
  readonly #models = new Map<string, readonly string[]>();
  readonly #upstreams = new Map<string, Set<string>>();

  constructor(...sides: readonly Snapshot[]) {
    this.#sides = sides;
    for (const { models, upstreams, tiers } of sides) {
      for (const { id, chain } of Object.values(models)) {
        const plans = this.ofModel(id);
        for (const { upstream } of chain.flatMap(({ targets }) => targets)) this.#reaches(upstream, plans);
      }
      // Which models a provider lists may not be known here.
      for (const { name, publishes } of Object.values(upstreams)) {
        for (const listed of Object.values(publishes?.kinds ?? {})) {
          const plans = Object.values(tiers).filter((tier) => mayCall(tier, listed));
          this.#reaches(
            name,
            plans.map((plan) => plan.name),
          );
        }
      }
    }
  }

  #reaches(upstream: string, plans: readonly string[]): void {
    const known = this.#upstreams.get(upstream) ?? new Set();
    for (const plan of plans) known.add(plan);
    this.#upstreams.set(upstream, known);
  }

  ofModel(id: string): readonly string[] {
    const known = this.#models.get(id);
    if (known !== undefined) return known;
    const plans = new Set(this.#sides.flatMap((side) => plansOf(side, id)));
    this.#models.set(id, [...plans]);
    return [...plans];
  }

  ofUpstream(name: string): readonly string[] {
    return [...(this.#upstreams.get(name) ?? [])];
  }
}

function plansOf({ tiers, models }: Snapshot, id: string): readonly string[] {
  const model = models[id];
  if (model === undefined) return [];
  return Object.values(tiers)
    .filter((tier) => mayCall(tier, model))
    .map(({ name }) => name);
}

const WINDOWS = ["day", "hour", "minute", "streams"] as const;

function comparePlans(changes: Changes, before: Snapshot, after: Snapshot): void {
  for (const plan of planNames(before, after)) {
    const [old, now] = [before.tiers[plan], after.tiers[plan]];
    if (old === undefined || now === undefined) {
      const isGone = now === undefined;
      changes.add(isGone ? "plan-removed" : "plan-added", { plan }, isGone ? [plan, null] : [null, plan], [plan]);
      continue;
    }
    for (const window of WINDOWS) {
      const limits = [old.limits[window], now.limits[window]] as const;
      changes.smaller("limit-lowered", { plan, setting: window }, limits, { none: "none", plans: [plan] });
    }
  }
}

/** Whom shedding refuses first, among the plans of both sides. */
function compareClasses(changes: Changes, before: Snapshot, after: Snapshot): void {
  if (before.server.shed === null || after.server.shed === null) return;
  const [old, now] = [classesOf(before.tiers), classesOf(after.tiers)];
  const plans = planNames(before, after).filter((plan) => old.has(plan) && now.has(plan));
  const placeOf = (classes: ReadonlyMap<string, number>, plan: string): number =>
    plans.filter((other) => classes.get(other)! < classes.get(plan)!).length;
  for (const plan of plans) {
    if (placeOf(old, plan) === placeOf(now, plan)) continue;
    changes.differs("shedding-changed", { plan, setting: "class" }, [old.get(plan)!, now.get(plan)!], [plan]);
  }
}

function compareModels(
  changes: Changes,
  before: Snapshot,
  after: Snapshot,
  reach: Reach,
  renamed: ReadonlyMap<string, string>,
): void {
  const plans = planNames(before, after).filter((plan) => before.tiers[plan] && after.tiers[plan]);
  comparePrices(changes, before, after, (id) => reach.ofModel(id));
  for (const model of new Set([...Object.keys(before.models), ...Object.keys(after.models)])) {
    const [old, now] = [before.models[model], after.models[model]];
    if (old === undefined || now === undefined) {
      const isGone = now === undefined;
      const reached = plansOf(isGone ? before : after, model);
      changes.add(isGone ? "model-removed" : "model-added", { model }, isGone ? [model, null] : [null, model], reached);
      continue;
    }
    for (const plan of plans) {
      const may = [mayCall(before.tiers[plan]!, old), mayCall(after.tiers[plan]!, now)] as const;
      if (may[0] !== may[1]) changes.add(may[0] ? "access-lost" : "access-gained", { plan, model }, may, [plan]);
    }
    compareModel(changes, [old, now], { reached: reach.ofModel(model), renamed, sides: [before, after] });
  }
}
