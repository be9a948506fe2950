import {
  type ChainStep,
  type Decimal,
  type Model,
  multiply,
  type Price,
  type Snapshot,
  type Target,
  type Timeouts,
} from "../kit/index.ts";
import { type Changes, KINDS, percentOf, type Subject, type Two, type Value } from "./change.ts";
import { same } from "./same.ts";
import { compareDecimals, decimalNumber, decimalText, duration, pointersOfDifference } from "./values.ts";

interface ModelContext {
  /** The plans of either side that may call the model. */
  readonly reached: readonly string[];
  /** New names of upstreams by their old ones. */
  readonly renamed: ReadonlyMap<string, string>;
  readonly sides: Two<Snapshot>;
}

/** A model that both sides have: everything but its prices. */
export function compareModel(changes: Changes, [old, now]: Two<Model>, context: ModelContext): void {
  if (same(old, now)) return;
  const model = now.id;
  const { reached } = context;
  const about = (setting: string): Subject => ({ model, setting });
  const flag = (kind: "made-strict" | "made-realtime" | "model-hidden", values: Two<boolean>): void => {
    if (values[0] !== values[1]) changes.add(values[1] ? kind : KINDS[kind].opposite, { model }, values, reached);
  };
  changes.differs("kind-changed", about("kind"), [old.kind, now.kind], reached);
  changes.fewer("features-lost", about("features"), [old.features, now.features], reached);
  compareVoices(changes, about("voices"), [old.voices, now.voices], reached);
  const window = { none: "none", plans: reached };
  changes.smaller("window-smaller", about("context_window"), [old.contextWindow, now.contextWindow], window);
  changes.smaller("output-smaller", about("max_output"), [old.maxOutput, now.maxOutput], window);
  flag("made-strict", [old.strict, now.strict]);
  flag("made-realtime", [old.realtime, now.realtime]);
  if (old.published !== now.published) {
    changes.add(now.published ? "model-shown" : "model-hidden", { model }, [old.published, now.published], reached);
  }
  const [before, after] = [old.lifecycle, now.lifecycle];
  const ends = { show: momentText, none: "never", plans: reached };
  changes.smaller("end-sooner", about("sunset_at"), [before?.sunsetAt ?? null, after?.sunsetAt ?? null], ends);
  const successors = [before?.successor ?? null, after?.successor ?? null] as const;
  changes.differs("successor-changed", about("successor"), successors, reached);
  const deprecations = [momentText(before?.deprecatedAt ?? null), momentText(after?.deprecatedAt ?? null)] as const;
  changes.differs("deprecation-changed", about("deprecated_at"), deprecations, reached);
  for (const [setting, read] of CATALOGUE) {
    changes.differs("catalogue-changed", about(setting), [read(old), read(now)], reached);
  }
  const deadline = { show: duration, plans: reached };
  changes.smaller("deadline-shorter", about("deadline"), [old.deadline, now.deadline], deadline);
  compareChains(changes, [old, now], context);
}

function momentText(at: number): string;
function momentText(at: number | null): string | null;
function momentText(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString().replace("T00:00:00.000Z", "");
}

const CATALOGUE: readonly (readonly [setting: string, read: (model: Model) => string])[] = [
  ["tier", ({ tier }) => tier],
  ["display_name", ({ displayName }) => displayName],
  ["owned_by", ({ ownedBy }) => ownedBy],
  ["created", ({ created }) => new Date(created * 1000).toISOString().slice(0, "2026-01-01".length)],
];

/** No voices: the upstream decides, which takes any. */
function compareVoices(
  changes: Changes,
  subject: Subject,
  [old, now]: Two<readonly string[]>,
  plans: readonly string[],
): void {
  if (old.length > 0 && now.length > 0) changes.fewer("voices-lost", subject, [old, now], plans);
  else if (old.length > 0) changes.add("voices-gained", subject, [old, "any"], plans);
  else if (now.length > 0) changes.add("voices-lost", subject, ["any", now], plans);
}

function compareChains(changes: Changes, [old, now]: Two<Model>, context: ModelContext): void {
  const { reached, renamed } = context;
  const before = old.chain.map((step) => stepText(step, renamed));
  const after = now.chain.map((step) => stepText(step, new Map()));
  const model = now.id;
  const common = Math.min(before.length, after.length);
  if (!same(before, after)) {
    // More steps behind the same ones change nothing while those serve.
    const isLonger = same(before.slice(0, common), after.slice(0, common));
    const kind = !isLonger ? "chain-changed" : after.length > common ? "chain-extended" : "chain-shortened";
    changes.add(kind, { model, setting: "chain" }, [before, after], reached);
  }
  const targets = new Map(targetsOf(old).map((target) => [targetKey(target, renamed), target]));
  for (const target of targetsOf(now)) {
    const former = targets.get(targetKey(target, new Map()));
    if (former !== undefined) compareTargets(changes, [former, target], [old, now], context);
  }
}

/** A target that both chains have: what it does not take over from its model and its upstream. */
function compareTargets(changes: Changes, [old, now]: Two<Target>, models: Two<Model>, context: ModelContext): void {
  const { reached, sides } = context;
  const model = models[1].id;
  const about = (setting: string): Subject => ({ model, upstream: now.upstream, setting });
  const ofUpstreams = [sides[0].upstreams[old.upstream], sides[1].upstreams[now.upstream]] as const;
  for (const [setting, name] of TIMEOUTS) {
    const values = [old.timeouts[name], now.timeouts[name]] as const;
    if (same(values, [ofUpstreams[0]?.timeouts[name], ofUpstreams[1]?.timeouts[name]])) continue;
    changes.smaller("timeout-shortened", about(`timeouts.${setting}`), values, { show: duration, plans: reached });
  }
  const differs = (setting: string, own: Two<number | null | readonly string[]>, ofModels: Two<unknown>): void => {
    if (same(own[0], own[1]) || same(own, ofModels)) return;
    changes.add("target-changed", about(setting), [shownOf(own[0]), shownOf(own[1])], reached);
  };
  differs("context_window", [old.contextWindow, now.contextWindow], [models[0].contextWindow, models[1].contextWindow]);
  differs("max_output", [old.maxOutput ?? null, now.maxOutput ?? null], [models[0].maxOutput, models[1].maxOutput]);
  differs("features", [old.features, now.features], [models[0].features, models[1].features]);
  const failOverOn = [old.failOverOn ?? [], now.failOverOn ?? []] as const;
  if (!same(failOverOn[0], failOverOn[1])) changes.add("target-changed", about("fail_over_on"), failOverOn, reached);
  // Values may come from secrets: only their places are shown.
  for (const pointer of pointersOfDifference(old.parameters ?? NO_PARAMETERS, now.parameters ?? NO_PARAMETERS)) {
    changes.add("target-changed", about(`parameters ${pointer}`), [null, null], reached);
  }
}

const NO_PARAMETERS: NonNullable<Target["parameters"]> = { set: {}, remove: [], rename: {} };

function shownOf(value: number | null | readonly string[]): Value {
  return value ?? "none";
}

export const TIMEOUTS: readonly (readonly [setting: string, name: keyof Timeouts])[] = [
  ["connect", "connect"],
  ["first_byte", "firstByte"],
  ["idle", "idle"],
  ["total", "total"],
];

function targetsOf({ chain }: Model): readonly Target[] {
  return chain.flatMap(({ targets }) => targets);
}

function targetKey({ upstream, model }: Target, renamed: ReadonlyMap<string, string>): string {
  return `${renamed.get(upstream) ?? upstream}/${model}`;
}

/** A step as one line; one target alone is that target, however the step was to balance. */
function stepText({ balance, targets }: ChainStep, renamed: ReadonlyMap<string, string>): string {
  const names = targets.map((target) => targetKey(target, renamed));
  if (targets.length === 1) return names[0]!;
  if (balance !== "weighted") return `${balance}(${names.join(", ")})`;
  const sum = targets.reduce((total, { weight }) => total + weight, 0);
  const shares = targets.map(({ weight }) => `${Math.round((weight / sum) * 10_000) / 100}%`);
  return `weighted(${names.map((name, index) => `${name} ${shares[index]}`).join(", ")})`;
}

const UNITS: readonly (readonly [setting: string, unit: keyof Price, fallback?: keyof Price])[] = [
  ["input_per_million", "inputPerMillion"],
  ["output_per_million", "outputPerMillion"],
  ["cached_input_per_million", "cachedInputPerMillion", "inputPerMillion"],
  ["cache_write_per_million", "cacheWritePerMillion", "inputPerMillion"],
  ["cache_write_1h_per_million", "cacheWrite1hPerMillion", "cacheWritePerMillion"],
  ["reasoning_per_million", "reasoningPerMillion", "outputPerMillion"],
  ["per_request", "perRequest"],
  ["per_second", "perSecond"],
  ["per_million_characters", "perMillionCharacters"],
];
const ZERO: Decimal = { digits: 0n, scale: 0 };

/** Prices and multipliers of the models that both sides have, and the multiplier of all. */
export function comparePrices(
  changes: Changes,
  before: Snapshot,
  after: Snapshot,
  reached: (model: string) => readonly string[],
): void {
  const pairs = Object.values(before.models).flatMap((old) => {
    const now = after.models[old.id];
    return now === undefined ? [] : [[old, now] as const];
  });
  const ofAll = [before.billing.costMultiplier, after.billing.costMultiplier] as const;
  const subject = { setting: "billing.cost_multiplier" };
  if (compareDecimals(...ofAll) !== 0) {
    const isRestated = pairs.length > 0 && pairs.every((pair) => chargesTheSame(pair, ofAll));
    if (isRestated) changes.add("price-restated", subject, [decimalText(ofAll[0]), decimalText(ofAll[1])]);
    else amounts(changes, "cost-multiplier-raised", subject, ofAll);
    if (isRestated) return;
  }
  for (const pair of pairs) comparePrice(changes, pair, reached(pair[0].id));
}

function comparePrice(changes: Changes, [old, now]: Two<Model>, plans: readonly string[]): void {
  if (same([old.price, old.multipliers], [now.price, now.multipliers])) return;
  const model = now.id;
  const units = [old.multipliers.requests, now.multipliers.requests] as const;
  changes.smaller("request-units-lowered", { model, setting: "multipliers.requests" }, units, { plans });
  const own = [old.multipliers.cost, now.multipliers.cost] as const;
  const [was, is] = [listOf(old), listOf(now)];
  const names = new Set([...was.keys(), ...is.keys()]);
  const isSameList = [...names].every((name) => compareDecimals(priceOf(was, name), priceOf(is, name)) === 0);
  if (isSameList && compareDecimals(...own) !== 0) {
    amounts(changes, "cost-multiplier-raised", { model, setting: "multipliers.cost" }, own, plans);
  } else if (!isSameList) {
    let isCharged = false;
    for (const name of names) {
      const charged = [multiply(priceOf(was, name), own[0]), multiply(priceOf(is, name), own[1])] as const;
      // A unit that both sides only derive from another one would say the same again.
      if (!was.get(name)?.isOwn && !is.get(name)?.isOwn) continue;
      isCharged = amounts(changes, "price-raised", { model, setting: `price.${name}` }, charged, plans) || isCharged;
    }
    if (!isCharged) changes.add("price-restated", { model }, [priceText(old), priceText(now)], plans);
  } else if (priceText(old) !== priceText(now)) {
    changes.add("price-restated", { model }, [priceText(old), priceText(now)], plans);
  }
}

/** @param kind when it is raised. @returns whether they differ. */
function amounts(
  changes: Changes,
  kind: "price-raised" | "cost-multiplier-raised",
  subject: Subject,
  [old, now]: Two<Decimal>,
  plans?: readonly string[],
): boolean {
  const order = compareDecimals(old, now);
  if (order === 0) return false;
  const percent = percentOf(decimalNumber(old), decimalNumber(now));
  const values = [decimalText(old), decimalText(now)] as const;
  changes.add(order < 0 ? kind : KINDS[kind].opposite, subject, values, plans, percent);
  return true;
}

function chargesTheSame([old, now]: Two<Model>, ofAll: Two<Decimal>): boolean {
  const [was, is] = [listOf(old), listOf(now)];
  const factors = [multiply(old.multipliers.cost, ofAll[0]), multiply(now.multipliers.cost, ofAll[1])] as const;
  return [...new Set([...was.keys(), ...is.keys()])].every((name) => {
    return compareDecimals(multiply(priceOf(was, name), factors[0]), multiply(priceOf(is, name), factors[1])) === 0;
  });
}

type PriceList = ReadonlyMap<string, { readonly price: Decimal; readonly isOwn: boolean }>;

/** What each unit costs, also those without a price of their own. */
function listOf({ price }: Model): PriceList {
  const list = new Map<string, { price: Decimal; isOwn: boolean }>();
  const named = new Map<keyof Price, Decimal>();
  for (const [name, unit, fallback] of UNITS) {
    const own = price[unit] as Decimal | undefined;
    const amount = own ?? (fallback && named.get(fallback)) ?? ZERO;
    named.set(unit, amount);
    list.set(name, { price: amount, isOwn: own !== undefined });
  }
  const { perImage } = price;
  if (perImage === undefined) return list;
  const variants = "digits" in perImage ? { default: perImage as Decimal } : perImage;
  for (const [variant, amount] of Object.entries(variants)) {
    list.set(variant === "default" ? "per_image" : `per_image.${variant}`, { price: amount, isOwn: true });
  }
  return list;
}

/** A variant of an image without a price of its own costs what its size does, its quality, or any image. */
function priceOf(list: PriceList, name: string): Decimal {
  const own = list.get(name)?.price;
  if (own !== undefined || !name.startsWith("per_image")) return own ?? ZERO;
  const parts = name.slice("per_image.".length).split("/");
  const found = [...parts.map((part) => `per_image.${part}`), "per_image"].find((other) => list.has(other));
  return (found === undefined ? undefined : list.get(found)?.price) ?? ZERO;
}

/** The price as written, to tell two that charge the same. */
function priceText(model: Model): string {
  const own = [...listOf(model)].filter(([, { isOwn }]) => isOwn);
  const text = own
    .map(([name, { price }]) => `${name}: ${decimalText(price)}`)
    .toSorted()
    .join(", ");
  return decimalNumber(model.multipliers.cost) === 1 ? text : `${text}, times ${decimalText(model.multipliers.cost)}`;
}
