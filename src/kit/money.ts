/** Money and prices: exact decimals in, integer nano-units (10^-9 of the currency) in the ledger. */

export const NANOS_PER_UNIT = 1_000_000_000n;

/** `digits × 10^-scale`, exact. */
export interface Decimal {
  readonly digits: bigint;
  readonly scale: number;
}

/** Beyond it 10^n takes seconds or does not exist; every double is well within. */
const MAX_POWER = 400;

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Reads a decimal exactly as written: "0.15", "1e-7". A number is read through its shortest decimal form, which is
 * what the operator wrote for up to 15 significant digits.
 * @throws RangeError when it is not a finite decimal, or one with a power of ten beyond 400.
 */
export function decimal(value: string | number): Decimal {
  const match = DECIMAL.exec(typeof value === "number" ? String(value) : value.trim());
  if (!match) throw new RangeError(`not a decimal number: ${value}`);
  const [, sign, whole = "", fraction = "", exponent = "0"] = match;
  const power = Number(exponent) - fraction.length;
  if (Math.abs(power) > MAX_POWER)
    throw new RangeError(`not a usable decimal number, its power of ten is too long: ${value}`);
  const digits = BigInt(`${sign}${whole}${fraction}`);
  return power >= 0 ? { digits: digits * 10n ** BigInt(power), scale: 0 } : { digits, scale: -power };
}

export function multiply(a: Decimal, b: Decimal): Decimal {
  return { digits: a.digits * b.digits, scale: a.scale + b.scale };
}

export function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { digits: rescale(a, scale) + rescale(b, scale), scale };
}

/** Nano-units, rounded half up: the one rounding of a charge. Negative values round half away. */
export function toNano(value: Decimal): bigint {
  if (value.scale <= 9) return rescale(value, 9);
  const divisor = 10n ** BigInt(value.scale - 9);
  const half = divisor / 2n;
  return value.digits >= 0n ? (value.digits + half) / divisor : -((-value.digits + half) / divisor);
}

/** Nano-units as a JSON number of the currency, for answers: never for arithmetic. */
export function nanoToNumber(nano: bigint): number {
  return Number(nanoToString(nano));
}

/** Nano-units as the shortest exact decimal, "1.5". */
export function nanoToString(nano: bigint): string {
  const sign = nano < 0n ? "-" : "";
  const size = nano < 0n ? -nano : nano;
  const fraction = (size % NANOS_PER_UNIT).toString().padStart(9, "0").replace(/0+$/, "");
  return `${sign}${size / NANOS_PER_UNIT}${fraction && `.${fraction}`}`;
}

function rescale(value: Decimal, scale: number): bigint {
  return value.digits * 10n ** BigInt(scale - value.scale);
}

/**
 * What a request uses of the units other than tokens: counted from the request itself, known before it is sent. Of
 * audio that only the upstream can measure it is an estimate.
 */
export interface Units {
  readonly characters?: number;
  /** Of audio. */
  readonly milliseconds?: number;
  readonly images?: number;
  /** What images are priced by, `SIZE/QUALITY`, as `1024x1536/high`; a part that nobody says is empty. */
  readonly imageVariant?: string;
}

/** Billed counts; `prompt` includes `cached`, `completion` includes `reasoning`. Non-negative integers; units left out: 0. */
export interface Usage extends Units {
  /** Includes what was read from and written to a cache. */
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  readonly reasoning: number;
  /** Prompt tokens written to a cache; left out: 0. */
  readonly cacheWrite?: number;
  /** Those of `cacheWrite` that are kept for an hour; left out: 0. */
  readonly cacheWrite1h?: number;
}

/** By `SIZE/QUALITY`, `SIZE` or `QUALITY`, the most exact first; `default` for all others. */
export interface ImagePrices {
  readonly default: Decimal;
  readonly [variant: string]: Decimal;
}

/** Prices in `billing.currency`; absent means the model is not priced by that unit. */
export interface Price {
  readonly inputPerMillion?: Decimal;
  readonly outputPerMillion?: Decimal;
  readonly cachedInputPerMillion?: Decimal;
  readonly cacheWritePerMillion?: Decimal;
  readonly cacheWrite1hPerMillion?: Decimal;
  readonly reasoningPerMillion?: Decimal;
  readonly perRequest?: Decimal;
  readonly perImage?: Decimal | ImagePrices;
  readonly perSecond?: Decimal;
  readonly perMillionCharacters?: Decimal;
}

const PER_MILLION: Decimal = { digits: 1n, scale: 6 };
const PER_THOUSAND: Decimal = { digits: 1n, scale: 3 };
const ZERO: Decimal = { digits: 0n, scale: 0 };
const ONE: Decimal = { digits: 1n, scale: 0 };

/** A model's price with both multipliers, ready to be applied. */
export interface Tariff {
  /** Whether the price needs what only an upstream measures, tokens or seconds of audio, and `usage` does not say it. */
  lacks(usage: Usage | null): boolean;
  /** Nano-units, rounded half up once. */
  charge(usage: Usage): bigint;
}

/** @param multipliers the model's and `billing.cost_multiplier`. */
export function createTariff(price: Price, multipliers: readonly Decimal[]): Tariff {
  const scaled = (unit: Decimal | undefined, part: Decimal): Decimal =>
    multiply(multipliers.reduce(multiply, unit ?? ZERO), part);
  const { inputPerMillion, outputPerMillion, cacheWritePerMillion = inputPerMillion } = price;
  const units = {
    input: scaled(inputPerMillion, PER_MILLION),
    cached: scaled(price.cachedInputPerMillion ?? inputPerMillion, PER_MILLION),
    written: scaled(cacheWritePerMillion, PER_MILLION),
    written1h: scaled(price.cacheWrite1hPerMillion ?? cacheWritePerMillion, PER_MILLION),
    output: scaled(outputPerMillion, PER_MILLION),
    reasoning: scaled(price.reasoningPerMillion ?? outputPerMillion, PER_MILLION),
    request: scaled(price.perRequest, ONE),
    characters: scaled(price.perMillionCharacters, PER_MILLION),
    milliseconds: scaled(price.perSecond, PER_THOUSAND),
  };
  const images = Object.entries(imagePrices(price.perImage)).map(
    ([variant, unit]) => [variant, scaled(unit, ONE)] as const,
  );
  // Powers of ten are as dear as all else about a charge: everything is brought to one scale here, once.
  const scale = Math.max(9, ...Object.values(units).map((unit) => unit.scale), ...images.map(([, unit]) => unit.scale));
  const input = rescale(units.input, scale);
  const cached = rescale(units.cached, scale);
  const written = rescale(units.written, scale);
  const written1h = rescale(units.written1h, scale);
  const output = rescale(units.output, scale);
  const reasoning = rescale(units.reasoning, scale);
  const request = rescale(units.request, scale);
  const characters = rescale(units.characters, scale);
  const milliseconds = rescale(units.milliseconds, scale);
  const image = new Map(images.map(([variant, unit]) => [variant, rescale(unit, scale)]));
  const nano = 10n ** BigInt(scale - 9);
  const half = nano / 2n;
  const tokens = inputPerMillion !== undefined || outputPerMillion !== undefined;
  const time = price.perSecond !== undefined;
  return {
    lacks(usage) {
      if (usage === null) return tokens || time;
      // What an upstream says of images without a count of tokens is how many they are.
      const uncounted = usage.images !== undefined && usage.prompt + usage.completion === 0;
      return (tokens && uncounted) || (time && usage.milliseconds === undefined);
    },
    charge(usage) {
      const { prompt, completion, cacheWrite = 0, cacheWrite1h = 0 } = usage;
      let sum = request + input * BigInt(prompt - usage.cached - cacheWrite);
      if (usage.cached > 0) sum += cached * BigInt(usage.cached);
      if (cacheWrite > 0) sum += written * BigInt(cacheWrite - cacheWrite1h);
      if (cacheWrite1h > 0) sum += written1h * BigInt(cacheWrite1h);
      sum += output * BigInt(completion - usage.reasoning);
      if (usage.reasoning > 0) sum += reasoning * BigInt(usage.reasoning);
      if (characters > 0n) sum += characters * BigInt(usage.characters ?? 0);
      if (milliseconds > 0n) sum += milliseconds * BigInt(usage.milliseconds ?? 0);
      if (usage.images !== undefined) sum += imagePrice(image, usage.imageVariant) * BigInt(usage.images);
      return sum >= 0n ? (sum + half) / nano : -((half - sum) / nano);
    },
  };
}

function imagePrices(price: Decimal | ImagePrices | undefined): Readonly<Record<string, Decimal>> {
  if (price === undefined) return {};
  return "default" in price ? price : { default: price };
}

/** What an image of a variant costs. */
function imagePrice(prices: ReadonlyMap<string, bigint>, variant = ""): bigint {
  const [size = "", quality = ""] = variant.split("/");
  return prices.get(variant) ?? prices.get(size) ?? prices.get(quality) ?? prices.get("default") ?? 0n;
}

/** The part of a configuration that says what a request costs. */
interface PriceList {
  readonly models: Readonly<Record<string, PricedModel>>;
  readonly billing: { readonly costMultiplier: Decimal };
}

interface PricedModel {
  readonly id: string;
  readonly price: Price;
  readonly multipliers: { readonly cost: Decimal };
}

/** Tariffs of models by their ids, each made when it is first asked for: a reload of thousands does not wait for all. */
export function tariffsOf({ models, billing }: PriceList): Pick<ReadonlyMap<string, Tariff>, "get"> {
  const made = new Map<string, Tariff>();
  return {
    get(id) {
      const known = made.get(id);
      if (known !== undefined || !Object.hasOwn(models, id)) return known;
      const { price, multipliers } = models[id]!;
      const tariff = createTariff(price, [multipliers.cost, billing.costMultiplier]);
      made.set(id, tariff);
      return tariff;
    },
  };
}
