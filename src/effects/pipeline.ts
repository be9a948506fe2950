import type { Snapshot, StepCondition, StepSettings } from "../kit/index.ts";
import type { Changes, Side, Two } from "./change.ts";
import { same } from "./same.ts";
import { duration, pointersOfDifference } from "./values.ts";

/** The plugins, what they are told, when they run, and the code of local ones. @param everyone the plans of both sides. */
export function comparePipelines(changes: Changes, [before, after]: Two<Side>, everyone: readonly string[]): void {
  const [old, now] = [stepsOf(before.snapshot), stepsOf(after.snapshot)];
  const plansOf = (...steps: readonly StepSettings[]): readonly string[] =>
    everyone.filter((plan) => steps.some(({ when }) => !when?.tiers || when.tiers.includes(plan)));
  for (const [name, step] of old) {
    if (!now.has(name)) changes.add("plugin-removed", { plugin: step.use }, [step.use, null], plansOf(step));
  }
  for (const [name, step] of now) {
    const former = old.get(name);
    if (former === undefined) changes.add("plugin-added", { plugin: step.use }, [null, step.use], plansOf(step));
    else compareSteps(changes, [former, step], [before.snapshot, after.snapshot], plansOf(former, step));
  }
  const kept = [
    [...old.keys()].filter((name) => now.has(name)),
    [...now.keys()].filter((name) => old.has(name)),
  ] as const;
  changes.differs("pipeline-order-changed", { setting: "pipeline" }, kept);
  for (const path of new Set([...Object.keys(before.code), ...Object.keys(after.code)])) {
    const [was, is] = [before.code[path], after.code[path]];
    // A file that comes or goes belongs to a step that does, or to a file that imports it and has changed.
    if (was === undefined || is === undefined || was === is) continue;
    changes.add("plugin-code-changed", { plugin: path }, [shortDigest(was), shortDigest(is)]);
  }
}

const DIGEST_DIGITS = 12;

function shortDigest(digest: string): string {
  return digest.slice(0, DIGEST_DIGITS);
}

function compareSteps(
  changes: Changes,
  [old, now]: Two<StepSettings>,
  sides: Two<Snapshot>,
  plans: readonly string[],
): void {
  const plugin = now.use;
  // Values may come from secrets: only their places are shown.
  for (const pointer of pointersOfDifference(old.options, now.options)) {
    changes.add("plugin-options-changed", { plugin, setting: `options ${pointer}` }, [null, null], plans);
  }
  if (!same(scopeOf(old.when, sides), scopeOf(now.when, sides))) {
    const values = [conditionText(old.when), conditionText(now.when)] as const;
    changes.add("plugin-condition-changed", { plugin, setting: "when" }, values, plans);
  }
  changes.differs("plugin-failure-changed", { plugin, setting: "fail" }, [old.fail, now.fail], plans);
  const timeout = { show: duration, none: "none", plans };
  changes.smaller(
    "timeout-shortened",
    { plugin, setting: "timeout" },
    [old.timeout ?? null, now.timeout ?? null],
    timeout,
  );
}

/** By name; one that stands again has the number of its turn. */
function stepsOf({ pipeline }: Snapshot): ReadonlyMap<string, StepSettings> {
  const steps = new Map<string, StepSettings>();
  const counts = new Map<string, number>();
  for (const step of pipeline) {
    const turn = (counts.get(step.use) ?? 0) + 1;
    counts.set(step.use, turn);
    steps.set(turn === 1 ? step.use : `${step.use} (${turn})`, step);
  }
  return steps;
}

/** The models and plans that a condition means: two that are written otherwise can mean the same. */
function scopeOf(when: StepCondition | null, sides: Two<Snapshot>): readonly (readonly string[] | "all")[] {
  const models = namesOf(sides, "models");
  const tiers = namesOf(sides, "tiers");
  const patterns = when?.models?.map(patternOf);
  const meant = patterns ? models.filter((id) => patterns.some((pattern) => pattern.test(id))) : models;
  const plans = when?.tiers ? tiers.filter((name) => when.tiers!.includes(name)) : tiers;
  return [meant.length === models.length ? "all" : meant, plans.length === tiers.length ? "all" : plans];
}

function namesOf([before, after]: Two<Snapshot>, section: "models" | "tiers"): readonly string[] {
  return [...new Set([...Object.keys(before[section]), ...Object.keys(after[section])])];
}

/** `*` stands for any text. */
function patternOf(glob: string): RegExp {
  const parts = glob.split("*").map((part) => part.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s");
}

function conditionText(when: StepCondition | null): string {
  if (when === null) return "always";
  const parts = [when.models && `models ${when.models.join(", ")}`, when.tiers && `tiers ${when.tiers.join(", ")}`];
  return parts.filter((part) => part !== undefined).join("; ");
}
