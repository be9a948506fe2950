/** Money and prices: exact decimals in, integer nano-units (10^-9 of the currency) in the ledger. */

export const NANO = 1_000_000_000n;

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

export function timesInteger(a: Decimal, count: number | bigint): Decimal {
  return { digits: a.digits * BigInt(count), scale: a.scale };
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
  const fraction = (size % NANO).toString().padStart(9, "0").replace(/0+$/, "");
  return `${sign}${size / NANO}${fraction && `.${fraction}`}`;
}

function rescale(value: Decimal, scale: number): bigint {
  return value.digits * 10n ** BigInt(scale - value.scale);
}
