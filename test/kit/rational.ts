import type { Decimal } from "../../src/kit/index.ts";

/** `numerator / denominator`, the denominator positive: slow and obvious, to compare the ledger's arithmetic with. */
export interface Rational {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

export function rational(numerator: bigint, denominator = 1n): Rational {
  return { numerator, denominator };
}

/** A decimal text, read digit by digit. */
export function parseRational(text: string): Rational {
  const [mantissa = "", exponent = "0"] = text.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  const numerator = BigInt(whole + fraction);
  const power = BigInt(exponent) - BigInt(fraction.length);
  return power >= 0n ? rational(numerator * 10n ** power) : rational(numerator, 10n ** -power);
}

export function ofDecimal({ digits, scale }: Decimal): Rational {
  return rational(digits, 10n ** BigInt(scale));
}

export function plus(a: Rational, b: Rational): Rational {
  return rational(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator);
}

export function times(a: Rational, b: Rational): Rational {
  return rational(a.numerator * b.numerator, a.denominator * b.denominator);
}

export function equal(a: Rational, b: Rational): boolean {
  return a.numerator * b.denominator === b.numerator * a.denominator;
}

/** In billionths, half away from zero. */
export function roundToNano(value: Rational): bigint {
  const size = value.numerator < 0n ? -value.numerator : value.numerator;
  const rounded = (2n * size * 1_000_000_000n + value.denominator) / (2n * value.denominator);
  return value.numerator < 0n ? -rounded : rounded;
}
