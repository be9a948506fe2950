import type { ChainStep, GatewayConfig, TargetConfig } from "#schema";
import type { Draft } from "./draft.ts";
import { modeline, toYaml } from "./write.ts";

type Models = NonNullable<GatewayConfig["models"]>;
type Row = readonly string[];

/**
 * Tests that hold the new configuration to the routing of the source: which upstream serves each model, every target of a
 * chain when all others are down, the next in line when the first is. null when there is no model to be tested.
 * @param config the configuration's file, relative to the tests.
 */
export function writeTests(
  { config: { models, tiers }, testVariables }: Draft,
  config: string,
  header: readonly string[],
  schema: string | null,
): string | null {
  const served: Row[] = [];
  const alone: Row[] = [];
  const next: Row[] = [];
  const heavier: Row[] = [];
  for (const [model, { chain }] of Object.entries(models ?? {})) {
    const steps = chain.map(targetsOf);
    // In tests `$` begins the name of a value.
    if (steps.flat().some((target) => target.model.includes("$"))) continue;
    const [first = [], ...others] = steps;
    if (first.length === 1) served.push([model, first[0]!.upstream, first[0]!.model]);
    const heaviest = heaviestOf(chain[0]);
    if (heaviest !== null) heavier.push([model, heaviest.upstream]);
    const upstreams = unique(steps.flat());
    if (upstreams.length > 1) for (const upstream of upstreams) alone.push([model, upstream]);
    const from = unique(first);
    const second = others.find((step) => step.some(({ upstream }) => !from.includes(upstream)));
    if (from.length === 1 && second?.length === 1 && others[0] === second)
      next.push([model, from[0]!, second[0]!.upstream]);
  }
  const tests = [
    served.length > 0 && {
      name: "$model is served by $upstream as $as",
      each: { "model, upstream, as": served },
      expect: { status: 200, attempts: [{ upstream: "$upstream", model: "$as", outcome: "served" }] },
    },
    alone.length > 0 && {
      name: "$model is served by $upstream while every other upstream is down",
      each: { "model, upstream": alone },
      given: { upstreams: { "*": "down", $upstream: "healthy" } },
      expect: { status: 200, upstream: "$upstream" },
    },
    next.length > 0 && {
      name: "$model goes on to $second when $first is down",
      each: { "model, first, second": next },
      given: { upstreams: { $first: "down" } },
      expect: { status: 200, upstream: "$second" },
    },
    heavier.length > 0 && {
      name: "$model asks $upstream first, which has the larger share, when chance is even",
      each: { "model, upstream": heavier },
      given: { chance: [0.5] },
      expect: { status: 200, upstream: "$upstream" },
    },
    ...planTests(models ?? {}, tiers ?? {}),
  ].filter((one) => one !== false);
  return tests.length === 0
    ? null
    : toYaml({ config, ...(testVariables.size > 0 && { env: Object.fromEntries(testVariables) }), tests }, [
        ...modeline(schema),
        ...header,
      ]);
}

/** The target with the largest weight of a weighted step, if one has it alone. */
function heaviestOf(step: ChainStep | undefined): TargetConfig | null {
  if (step === undefined || !("targets" in step) || step.balance !== "weighted") return null;
  const [first, second] = step.targets.toSorted((a, b) => (b.weight ?? 1) - (a.weight ?? 1));
  return first === undefined || (first.weight ?? 1) === (second?.weight ?? 1) ? null : first;
}

/** Plans beside the open one: what each may call, and what it may not. */
function planTests(models: Models, tiers: NonNullable<GatewayConfig["tiers"]>): object[] {
  const may: Row[] = [];
  const mayNot: Row[] = [];
  for (const [plan, { access }] of Object.entries(tiers)) {
    if (access === "all") continue;
    for (const [model, { tier = "" }] of Object.entries(models))
      (access.includes(tier) ? may : mayNot).push([plan, model]);
  }
  const each = (rows: readonly Row[]) => ({ "tier, model": rows });
  return [
    ...(may.length > 0 ? [{ name: "$tier may call $model", each: each(may), expect: { status: 200 } }] : []),
    ...(mayNot.length > 0
      ? [{ name: "$tier may not call $model", each: each(mayNot), expect: { status: 403, code: "MODEL_NOT_ALLOWED" } }]
      : []),
  ];
}

function targetsOf(step: ChainStep): readonly TargetConfig[] {
  return "targets" in step ? step.targets : [step];
}

function unique(targets: readonly TargetConfig[]): string[] {
  return [...new Set(targets.map(({ upstream }) => upstream))];
}
