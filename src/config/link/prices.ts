import type { ImagePriceConfig, ModelConfig, PriceConfig } from "#schema";
import { add, type Decimal, decimal, type Kind, multiply } from "../../kit/index.ts";
import { join } from "../diagnostics.ts";
import type { Incomplete } from "../validate.ts";
import type { LinkContext } from "./context.ts";
import { targetsOf } from "./features.ts";

type Price = Incomplete<PriceConfig> | undefined;

/** What clients pay and what steps cost: complete, in units of the kind, verified, and the one above the other. */
export function linkPrices(context: LinkContext, model: Incomplete<ModelConfig>, modelPointer: string): void {
  linkPrice(context, model, modelPointer);
  linkAge(context, model.price, join(modelPointer, "price"));
  for (const { target, pointer } of targetsOf(model.chain, join(modelPointer, "chain"))) {
    const { cost } = target;
    if (cost === undefined) continue;
    const at = join(pointer, "cost");
    if (model.kind !== undefined) linkUnits(context, model.kind, cost, at);
    linkAge(context, cost, at);
    linkMargin(context, model, cost, at);
  }
}

type Unit = Exclude<keyof PriceConfig, "verified_at">;

/** The units a kind may have, and the sets of which one must be there. */
export const PRICE_UNITS: Readonly<
  Record<Kind, { readonly allowed: readonly Unit[]; readonly required: readonly (readonly Unit[])[] }>
> = {
  chat: {
    allowed: [
      "input_per_million",
      "output_per_million",
      "cached_input_per_million",
      "cache_write_per_million",
      "cache_write_1h_per_million",
      "reasoning_per_million",
      "per_request",
    ],
    required: [["input_per_million", "output_per_million"]],
  },
  embedding: {
    allowed: ["input_per_million", "output_per_million", "cached_input_per_million", "per_request"],
    required: [["input_per_million"], ["per_request"]],
  },
  rerank: {
    allowed: ["input_per_million", "output_per_million", "per_request"],
    required: [["per_request"], ["input_per_million"]],
  },
  speech: {
    allowed: ["per_million_characters", "per_request"],
    required: [["per_million_characters"], ["per_request"]],
  },
  transcription: { allowed: ["per_second", "per_request"], required: [["per_second"], ["per_request"]] },
  image: {
    allowed: ["per_image", "per_request", "input_per_million", "output_per_million", "cached_input_per_million"],
    required: [["per_image"], ["per_request"], ["input_per_million", "output_per_million"]],
  },
};

/** Prices are there, in units of the model's kind; write 0 for a free model. */
function linkPrice(context: LinkContext, { kind, price }: Incomplete<ModelConfig>, modelPointer: string): void {
  const pointer = join(modelPointer, "price");
  if (kind === undefined) return;
  const { required } = PRICE_UNITS[kind];
  const units = unitsOf(price);
  const foreign = linkUnits(context, kind, price, pointer);
  const complete = required.some((set) => set.every((unit) => units.includes(unit)));
  if (complete || foreign > 0 || context.isInvalid(pointer) || context.misspelt(modelPointer)) return;
  const missing = (required[0] ?? []).filter((unit) => !units.includes(unit));
  const finding = {
    rule: "missing-price",
    message: `has no price ${missing.join(" and no ")}`,
    hint: "write 0 for a free model",
  } as const;
  context.report(price === undefined ? modelPointer : pointer, finding, "key");
}

function unitsOf(price: Price): Unit[] {
  return Object.keys(price ?? {}).filter((key) => key !== "verified_at") as Unit[];
}

/** @returns how many units the kind does not have. */
function linkUnits(context: LinkContext, kind: Kind, price: Price, pointer: string): number {
  const { allowed } = PRICE_UNITS[kind];
  const foreign = unitsOf(price).filter((unit) => !allowed.includes(unit));
  for (const unit of foreign) {
    const hint = `${kind} models have: ${allowed.join(", ")}`;
    context.report(
      join(pointer, unit),
      { rule: "price-unit", message: `${kind} models have no price ${unit}`, hint },
      "key",
    );
  }
  return foreign.length;
}

const DAY_MS = 86_400_000;
const MAX_AGE_DAYS = 180;

export function linkAge(context: LinkContext, price: Price, pointer: string): void {
  const { verified_at: verified } = price ?? {};
  if (verified === undefined || context.now === null) return;
  const age = Math.floor((context.now - Date.parse(`${verified}T00:00:00Z`)) / DAY_MS);
  // Where the operator is, it may be tomorrow already.
  if (age >= -1 && age <= MAX_AGE_DAYS) return;
  context.report(join(pointer, "verified_at"), {
    rule: "stale-price",
    severity: "warning",
    message: age < 0 ? "is in the future" : `was ${age} days ago, more than ${MAX_AGE_DAYS}`,
    hint: "compare with the provider's prices, and write today's date",
  });
}

/** What a unit is charged as where it has no price of its own. */
const CHARGED_AS: Readonly<Partial<Record<Unit, Unit>>> = {
  cached_input_per_million: "input_per_million",
  cache_write_per_million: "input_per_million",
  cache_write_1h_per_million: "cache_write_per_million",
  reasoning_per_million: "output_per_million",
};

/** Units that have both a cost and a price; what has no price is taken to be paid with another unit, or with the request. */
function linkMargin(context: LinkContext, model: Incomplete<ModelConfig>, cost: Price, pointer: string): void {
  const { price, kind } = model;
  const kindDefaults = kind === undefined ? undefined : context.config.defaults?.kinds?.[kind];
  const factor = multiply(
    decimal(model.multipliers?.cost ?? kindDefaults?.multipliers?.cost ?? 1),
    decimal(context.config.billing?.cost_multiplier ?? 1),
  );
  const { per_request: askedOnce } = price ?? {};
  // How many tokens it pays for is a matter of the requests.
  const paysByRequest = askedOnce !== undefined && difference(askedOnce, cost?.per_request ?? 0, factor) > 0n;
  for (const unit of unitsOf(cost)) {
    const asked = chargeOf(price, unit);
    const paid = cost?.[unit];
    if (asked === undefined || paid === undefined || (paysByRequest && unit !== "per_request")) continue;
    const loss = variantsOf(asked, paid).find((variant) =>
      isLoss(amountAt(asked, variant), amountAt(paid, variant), factor),
    );
    if (loss === undefined) continue;
    const what = loss === "default" ? unit : `${unit} (${loss})`;
    context.report(
      join(pointer, unit),
      {
        rule: "negative-margin",
        severity: "warning",
        message: `${what} costs ${amountAt(paid, loss)}, more than the model's price with its multipliers`,
        hint: "raise the price or a multiplier, or remove the step",
      },
      "key",
    );
  }
}

type Amount = number | Incomplete<ImagePriceConfig>;

function chargeOf(price: Price, unit: Unit): Amount | undefined {
  const own = price?.[unit];
  const other = CHARGED_AS[unit];
  return own === undefined && other !== undefined ? chargeOf(price, other) : own;
}

/** Sizes and qualities of images that have amounts of their own, and `default`. */
function variantsOf(...amounts: readonly Amount[]): string[] {
  const named = amounts.flatMap((amount) => (typeof amount === "number" ? [] : Object.keys(amount)));
  return [...new Set(["default", ...named])];
}

/** The most exact amount counts: of size and quality, of the size, of the quality. */
function amountAt(amount: Amount, variant: string): number | undefined {
  if (typeof amount === "number") return amount;
  const amounts = amount as Readonly<Record<string, number | undefined>>;
  const found = [variant, ...variant.split("/"), "default"].find((name) => amounts[name] !== undefined);
  return found === undefined ? undefined : amounts[found];
}

function isLoss(asked: number | undefined, paid: number | undefined, factor: Decimal): boolean {
  return asked !== undefined && paid !== undefined && difference(asked, paid, factor) < 0n;
}

/** What is asked, times the multipliers, less what is paid: its sign is exact. */
function difference(asked: number, paid: number, factor: Decimal): bigint {
  const { digits, scale } = decimal(paid);
  return add(multiply(decimal(asked), factor), { digits: -digits, scale }).digits;
}
