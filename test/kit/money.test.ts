import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { add, decimal, multiply, NANOS_PER_UNIT, nanoToNumber, nanoToString, toNano } from "../../src/kit/index.ts";
import { equal, ofDecimal, parseRational, plus, roundToNano, times } from "./rational.ts";

const digits = fc.string({ unit: fc.constantFrom(..."0123456789".split("")), minLength: 1, maxLength: 30 });

/** Decimals as people write them: sign, leading zeros, fraction, exponent with or without a sign. */
const written = fc
  .record({
    sign: fc.constantFrom("", "-"),
    whole: digits,
    fraction: fc.option(digits, { nil: null }),
    exponent: fc.option(fc.tuple(fc.constantFrom("e", "E"), fc.constantFrom("", "+", "-"), fc.nat(40)), { nil: null }),
  })
  .map(
    ({ sign, whole, fraction, exponent }) =>
      `${sign}${whole}${fraction === null ? "" : `.${fraction}`}${exponent === null ? "" : exponent.join("")}`,
  );

describe("decimal", () => {
  test("a text is read exactly as written", () => {
    fc.assert(
      fc.property(written, (text) => {
        expect(equal(ofDecimal(decimal(text)), parseRational(text))).toBe(true);
      }),
    );
  });

  test("a number is read as the shortest decimal that means it", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        const { digits, scale } = decimal(value);
        expect(Number(`${digits}e-${scale}`)).toBe(value === 0 ? 0 : value);
      }),
    );
  });

  test.each([
    ["0.15", 15n, 2],
    ["1e-7", 1n, 7],
    ["1.50E2", 150n, 0],
    [" 2 ", 2n, 0],
    [0.1, 1n, 1],
    [1e21, 10n ** 21n, 0],
    [-0, 0n, 0],
  ])("%j", (value, digits, scale) => {
    expect(decimal(value)).toEqual({ digits, scale });
  });

  test.each([
    "",
    " ",
    "-",
    ".5",
    "5.",
    "+5",
    "1,5",
    "1_000",
    "0x10",
    "1e",
    "e5",
    "1e1.5",
    "NaN",
    "Infinity",
    "١",
    "1 2",
    "--1",
  ])("%j is refused", (text) => {
    expect(() => decimal(text)).toThrow(RangeError);
  });

  test.each([NaN, Infinity, -Infinity])("%s is refused", (value) => {
    expect(() => decimal(value)).toThrow(RangeError);
  });

  test.each(["1e999999999", "1e-999999999", "1e1000000", "-1e-1000000", `1e${"9".repeat(400)}`])(
    "%s is refused at once: a power that long would stall or break every charge",
    (text) => {
      expect(() => decimal(text)).toThrow(RangeError);
    },
  );
});

const anyDecimal = fc.record({ digits: fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), scale: fc.nat(40) });

describe("arithmetic is exact", () => {
  test("multiply", () => {
    fc.assert(
      fc.property(anyDecimal, anyDecimal, (a, b) => {
        expect(equal(ofDecimal(multiply(a, b)), times(ofDecimal(a), ofDecimal(b)))).toBe(true);
      }),
    );
  });

  test("add", () => {
    fc.assert(
      fc.property(anyDecimal, anyDecimal, (a, b) => {
        expect(equal(ofDecimal(add(a, b)), plus(ofDecimal(a), ofDecimal(b)))).toBe(true);
      }),
    );
  });
});

describe("toNano", () => {
  test("is the exact value rounded half away from zero", () => {
    fc.assert(
      fc.property(anyDecimal, (value) => {
        expect(toNano(value)).toBe(roundToNano(ofDecimal(value)));
      }),
    );
  });

  test("ties and their neighbours", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 20n }), (whole) => {
        const tie = { digits: whole * 10n + 5n, scale: 10 };
        const below = { digits: (whole * 10n + 5n) * 10n - 1n, scale: 11 };
        expect(toNano(tie)).toBe(whole + 1n);
        expect(toNano(below)).toBe(whole);
        expect(toNano({ ...tie, digits: -tie.digits })).toBe(-whole - 1n);
      }),
    );
  });

  test("whole units", () => {
    expect(toNano(decimal("1.5"))).toBe(NANOS_PER_UNIT + NANOS_PER_UNIT / 2n);
    expect(toNano(decimal("12e2"))).toBe(1200n * NANOS_PER_UNIT);
    expect(toNano(decimal("0.0000000005"))).toBe(1n);
    expect(toNano(decimal("0.00000000049999999999"))).toBe(0n);
  });
});

describe("nanoToString", () => {
  const nano = fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n });

  test("is read back as the same amount", () => {
    fc.assert(
      fc.property(nano, (amount) => {
        expect(toNano(decimal(nanoToString(amount)))).toBe(amount);
      }),
    );
  });

  test("is the shortest: no exponent, no trailing zero, no bare point", () => {
    fc.assert(
      fc.property(nano, (amount) => {
        expect(nanoToString(amount)).toMatch(/^-?(?:0|[1-9]\d*)(?:\.\d{0,8}[1-9])?$/);
      }),
    );
  });

  test.each([
    [0n, "0"],
    [1n, "0.000000001"],
    [-1n, "-0.000000001"],
    [1_500_000_000n, "1.5"],
    [-2_000_000_000n, "-2"],
  ])("%s", (amount, text) => {
    expect(nanoToString(amount)).toBe(text);
    expect(nanoToNumber(amount)).toBe(Number(text));
  });
});
