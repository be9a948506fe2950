import type { ModelConfig, TargetConfig } from "#schema";
import { join } from "../diagnostics.ts";
import type { Incomplete } from "../validate.ts";
import type { LinkContext } from "./context.ts";

/** What of a model's promises one step does not keep. */
interface MissingFeatures {
  readonly place: Place;
  /** What the step itself says not to have. */
  readonly notListed: readonly string[];
  /** What its upstream cannot be asked for. */
  readonly notCarried: readonly string[];
  /** Who it is that cannot, where that is not the dialect. */
  readonly vendor: string | null;
}

/** Steps that do not keep what the model promises, and promises that none keeps. */
export function linkFeatures(
  context: LinkContext,
  model: Incomplete<ModelConfig>,
  places: readonly Place[],
  modelPointer: string,
): void {
  const promises = model.features ?? [];
  const missing = places.map((place) => missingFeatures(context, model, place));
  const noneCarries = (promise: string): boolean =>
    missing.length > 0 && missing.every(({ notListed, notCarried }) => [...notListed, ...notCarried].includes(promise));
  for (const [index, promise] of promises.entries()) {
    if (promise === undefined || !noneCarries(promise)) continue;
    const strict = model.strict === true;
    context.report(join(modelPointer, "features", index), {
      rule: "lost-feature",
      // Of a model that is not strict such requests are served, without.
      severity: strict ? "error" : "warning",
      message: `no step of the chain can carry ${promise}${strict ? ", and the model is strict" : ""}`,
      hint: "remove it from features, or add a step that can",
    });
  }
  for (const step of missing) {
    const someCarries = (promise: string): boolean => !noneCarries(promise);
    const { place, notListed, notCarried, vendor } = step;
    reportNotListed(context, place, notListed.filter(someCarries));
    reportNotCarried(context, { place, vendor }, notCarried.filter(someCarries), hintFor(model, place === places[0]));
  }
}

function missingFeatures(
  context: LinkContext,
  { kind, features = [] }: Incomplete<ModelConfig>,
  place: Place,
): MissingFeatures {
  const { upstream, model = "", features: own } = place.target;
  const promises = features.filter((feature) => feature !== undefined);
  const notListed = own === undefined ? [] : promises.filter((promise) => !own.includes(promise));
  const capability = context.capability(upstream);
  if (kind === undefined || upstream === undefined || capability === null) {
    return { place, notListed, notCarried: [], vendor: null };
  }
  const { loses, vendor } = capability;
  const location = context.location(upstream);
  const notCarried = promises.filter(
    (promise) => !notListed.includes(promise) && loses(kind, promise, model, location),
  );
  return { place, notListed, notCarried, vendor: vendor(location) };
}

function hintFor({ strict }: Incomplete<ModelConfig>, first: boolean): string {
  if (strict === true) return "the model is strict: requests that need it skip the step";
  return first ? "requests that need it lose it: put a step first that can" : "requests that need it lose it there";
}

function reportNotListed(context: LinkContext, { pointer }: Place, promises: readonly string[]): void {
  if (promises.length === 0) return;
  context.report(join(pointer, "features"), {
    rule: "chain-features",
    severity: "warning",
    message: `this step lacks ${promises.join(", ")}, which the model promises`,
    hint: "requests that need it are still sent there",
  });
}

function reportNotCarried(
  context: LinkContext,
  { place: { target, pointer }, vendor }: Pick<MissingFeatures, "place" | "vendor">,
  promises: readonly string[],
  hint: string,
): void {
  if (promises.length === 0) return;
  const dialect = context.config.upstreams?.[target.upstream ?? ""]?.dialect;
  const asked = context.show(join(pointer, "model"));
  const what = `${promises.join(", ")}, which the model promises`;
  context.report(join(pointer, "upstream"), {
    rule: vendor === null ? "dialect-features" : "vendor-features",
    severity: "warning",
    message:
      vendor === null
        ? `the dialect ${dialect} cannot ask ${asked} for ${what}`
        : `${asked} of the vendor ${vendor} cannot be asked for ${what}`,
    hint: vendor === null ? hint : `${hint}; if it does, set it in the upstream's accepts`,
  });
}

export interface Place {
  readonly target: Incomplete<TargetConfig>;
  readonly pointer: string;
  /** The step spreads requests by weight. */
  readonly weighted: boolean;
}

/** Every target of a chain, in order, with its pointer. */
export function targetsOf(chain: Chain, pointer: string): Place[] {
  return (chain ?? []).flatMap((step, index): Place[] => {
    const at = join(pointer, index);
    if (step === undefined) return [];
    if (!("targets" in step)) return [{ target: step, pointer: at, weighted: false }];
    const weighted = step.balance === "weighted";
    const targets: readonly (Incomplete<TargetConfig> | undefined)[] = step.targets ?? [];
    return targets.flatMap((target, place) =>
      target ? [{ target, pointer: join(at, "targets", place), weighted }] : [],
    );
  });
}

export type Chain = Incomplete<ModelConfig>["chain"];
