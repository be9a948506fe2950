import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createTariff,
  type Decimal,
  decimal,
  type ImagePrices,
  type Price,
  tariffsOf,
  toNano,
  type Usage,
} from "../../src/kit/index.ts";
import { testModel, testSnapshot } from "../support/snapshot.ts";
import { ofDecimal, plus, type Rational, rational, roundToNano, times } from "./rational.ts";

const usage = (prompt: number, completion = 0, cached = 0): Usage => ({ prompt, completion, cached, reasoning: 0 });
const ONE = decimal(1);

describe("charges", () => {
  const price: Price = { inputPerMillion: decimal("0.15"), outputPerMillion: decimal("0.60") };

  test.each([
    ["nothing", usage(0), 0n],
    ["one prompt token", usage(1), 150n],
    ["one completion token", usage(0, 1), 600n],
    ["a million of each", usage(1_000_000, 1_000_000), 750_000_000n],
    ["cached without a price of its own costs as input", usage(10, 0, 4), 1_500n],
  ])("%s", (_, used, nano) => {
    expect(createTariff(price, [ONE, ONE]).charge(used)).toBe(nano);
  });

  test("cached input has its own price where one is given, free included", () => {
    const half = createTariff({ ...price, cachedInputPerMillion: decimal("0.075") }, [ONE]);
    expect(half.charge(usage(10, 0, 4))).toBe(6n * 150n + 4n * 75n);
    const free = createTariff({ ...price, cachedInputPerMillion: decimal(0) }, [ONE]);
    expect(free.charge(usage(10, 0, 10))).toBe(0n);
  });

  test("tokens written to a cache have their own price where one is given, else they cost as input", () => {
    const written = { ...usage(10, 0, 4), cacheWrite: 3 };
    expect(createTariff(price, [ONE]).charge(written)).toBe(1_500n);
    const dear = createTariff({ ...price, cacheWritePerMillion: decimal("0.1875") }, [ONE]);
    expect(dear.charge(written)).toBe(7n * 150n + 3n * 187n + 2n);
  });

  test("those kept for an hour have a price of their own where one is given, else that of the others", () => {
    const written = { ...usage(10, 0, 2), cacheWrite: 5, cacheWrite1h: 3 };
    const dear = { ...price, cacheWritePerMillion: decimal("0.2") };
    expect(createTariff(dear, [ONE]).charge(written)).toBe(3n * 150n + 2n * 150n + 5n * 200n);
    const dearer = createTariff({ ...dear, cacheWrite1hPerMillion: decimal("0.3") }, [ONE]);
    expect(dearer.charge(written)).toBe(3n * 150n + 2n * 150n + 2n * 200n + 3n * 300n);
    const alone = createTariff({ ...price, cacheWrite1hPerMillion: decimal("0.3") }, [ONE]);
    expect(alone.charge(written)).toBe(3n * 150n + 2n * 150n + 2n * 150n + 3n * 300n);
  });

  test("reasoning has its own price where one is given", () => {
    const tariff = createTariff({ ...price, reasoningPerMillion: decimal(3) }, [ONE]);
    expect(tariff.charge({ prompt: 0, completion: 10, cached: 0, reasoning: 7 })).toBe(3n * 600n + 7n * 3_000n);
  });

  test("reasoning is part of completion and not charged twice", () => {
    const tariff = createTariff(price, [ONE]);
    expect(tariff.charge({ prompt: 0, completion: 10, cached: 0, reasoning: 7 })).toBe(tariff.charge(usage(0, 10)));
  });

  test("both multipliers apply to every unit", () => {
    const tariff = createTariff({ ...price, perRequest: decimal("0.01") }, [decimal("1.5"), decimal("0.5")]);
    expect(tariff.charge(usage(1000, 1000))).toBe(((150_000n + 600_000n + 10_000_000n) * 75n) / 100n);
  });

  test("rounding happens once: parts below half a unit add up before it", () => {
    const tiny = createTariff({ inputPerMillion: decimal("0.0004"), outputPerMillion: decimal("0.0001") }, [ONE]);
    expect(tiny.charge(usage(1))).toBe(0n);
    expect(tiny.charge(usage(1, 1))).toBe(1n);
  });

  test.each([
    ["characters", { perMillionCharacters: decimal(15) }, { characters: 4_000 }, 60_000_000n],
    ["seconds, to the millisecond", { perSecond: decimal("0.0001") }, { milliseconds: 12_345 }, 1_234_500n],
    ["images", { perImage: decimal("0.04") }, { images: 3 }, 120_000_000n],
    ["a unit without a price", { perImage: decimal("0.04") }, { milliseconds: 12_345 }, 0n],
    ["a request on top", { perImage: decimal("0.04"), perRequest: decimal("0.5") }, { images: 1 }, 540_000_000n],
  ] as const)("%s", (_, others, units, nano) => {
    expect(createTariff(others, [ONE]).charge({ ...usage(0), ...units })).toBe(nano);
  });

  test.each([
    ["by size and quality", "1024x1536/high", "0.25"],
    ["by size", "1024x1536/low", "0.08"],
    ["by size, the quality unsaid", "1024x1536/", "0.08"],
    ["by quality", "512x512/high", "0.17"],
    ["by quality, the size unsaid", "/high", "0.17"],
    ["of another size and quality", "512x512/low", "0.04"],
    ["of which nothing is said", undefined, "0.04"],
    ["of names that objects have", "__proto__/constructor", "0.04"],
  ] as const)("images %s", (_, imageVariant, each) => {
    const perImage = {
      default: decimal("0.04"),
      "1024x1536": decimal("0.08"),
      high: decimal("0.17"),
      "1024x1536/high": decimal("0.25"),
    };
    const used = { ...usage(0), images: 3, ...(imageVariant !== undefined && { imageVariant }) };
    expect(createTariff({ perImage }, [decimal("1.1")]).charge(used)).toBe((toNano(decimal(each)) * 33n) / 10n);
  });

  test.each([
    ["tokens, and there is no count", { inputPerMillion: decimal(1) }, null, true],
    ["tokens", { outputPerMillion: decimal(0) }, usage(1), false],
    ["seconds, and there is no count", { perSecond: decimal(1) }, null, true],
    ["seconds, and the count is of tokens", { perSecond: decimal(1) }, usage(5), true],
    ["seconds", { perSecond: decimal(1) }, { ...usage(0), milliseconds: 0 }, false],
    ["what the gateway counts itself", { perImage: decimal(1), perRequest: decimal(1) }, null, false],
    ["characters", { perMillionCharacters: decimal(1) }, null, false],
    ["tokens of images", { outputPerMillion: decimal(1) }, { ...usage(5, 9), images: 1 }, false],
    ["tokens of images that nobody counted", { outputPerMillion: decimal(1) }, { ...usage(0), images: 1 }, true],
    ["images, whose tokens nobody counted", { perImage: decimal(1) }, { ...usage(0), images: 1 }, false],
  ] as const)("what a price lacks: %s", (_, given, count, lacks) => {
    expect(createTariff(given, [ONE]).lacks(count)).toBe(lacks);
  });

  test("a model without any price costs nothing", () => {
    expect(createTariff({}, [ONE]).charge(usage(5, 5))).toBe(0n);
  });
});

const money: fc.Arbitrary<Decimal> = fc.record({ digits: fc.bigInt({ min: 0n, max: 10n ** 8n }), scale: fc.nat(12) });
const priced: fc.Arbitrary<Price> = fc.record(
  {
    inputPerMillion: money,
    outputPerMillion: money,
    cachedInputPerMillion: money,
    cacheWritePerMillion: money,
    cacheWrite1hPerMillion: money,
    reasoningPerMillion: money,
    perRequest: money,
    perMillionCharacters: money,
    perSecond: money,
    perImage: fc.oneof(money, fc.record({ default: money, a: money, "a/b": money }, { requiredKeys: ["default"] })),
  },
  { requiredKeys: [] },
);
const tokens = fc.integer({ min: 0, max: 10_000_000 });
const used = fc
  .record({
    prompt: tokens,
    completion: tokens,
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
    units: fc.record(
      {
        characters: tokens,
        milliseconds: tokens,
        images: tokens,
        imageVariant: fc.constantFrom("a/b", "a/c", "c/b", "/a", "a/"),
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ prompt, completion, share, part, units }) => {
    const cached = Math.floor(prompt * share);
    const reasoning = Math.floor(completion * part);
    return {
      ...usage(prompt, completion, cached),
      reasoning,
      cacheWrite: Math.floor((prompt - cached) * part),
      cacheWrite1h: Math.floor(Math.floor((prompt - cached) * part) * share),
      ...units,
    };
  });

/** As the most exact entry says. */
function imagePrice(price: Decimal | ImagePrices | undefined, variant = ""): Decimal | undefined {
  if (price === undefined || !("default" in price)) return price;
  const [size = "", quality = ""] = variant.split("/");
  return price[variant] ?? price[size] ?? price[quality] ?? price.default;
}

function unit(value: Decimal | undefined): Rational {
  return value === undefined ? rational(0n) : ofDecimal(value);
}

function exactCharge(price: Price, multipliers: readonly Decimal[], used: Usage): Rational {
  const { prompt, cached, completion, reasoning, characters = 0, milliseconds = 0, images = 0, cacheWrite = 0 } = used;
  const { cacheWrite1h = 0, imageVariant } = used;
  const tokens = (count: number, perMillion: Decimal | undefined): Rational =>
    times(unit(perMillion), rational(BigInt(count), 1_000_000n));
  const sum = [
    tokens(prompt - cached - cacheWrite, price.inputPerMillion),
    tokens(cacheWrite - cacheWrite1h, price.cacheWritePerMillion ?? price.inputPerMillion),
    tokens(cacheWrite1h, price.cacheWrite1hPerMillion ?? price.cacheWritePerMillion ?? price.inputPerMillion),
    tokens(cached, price.cachedInputPerMillion ?? price.inputPerMillion),
    tokens(completion - reasoning, price.outputPerMillion),
    tokens(reasoning, price.reasoningPerMillion ?? price.outputPerMillion),
    unit(price.perRequest),
    tokens(characters, price.perMillionCharacters),
    times(unit(price.perSecond), rational(BigInt(milliseconds), 1_000n)),
    times(unit(imagePrice(price.perImage, imageVariant)), rational(BigInt(images))),
  ].reduce(plus);
  return multipliers.map(ofDecimal).reduce(times, sum);
}

describe("properties", () => {
  test("a charge is the exact rational, rounded half up once", () => {
    fc.assert(
      fc.property(priced, fc.tuple(money, money), used, (price, multipliers, usage) => {
        const exact = exactCharge(price, multipliers, usage);
        expect(createTariff(price, multipliers).charge(usage)).toBe(roundToNano(exact));
      }),
    );
  });

  test("more tokens never cost less, and nothing costs less than nothing", () => {
    fc.assert(
      fc.property(priced, money, used, tokens, tokens, (price, multiplier, before, prompt, completion) => {
        const tariff = createTariff(price, [multiplier]);
        const after = { ...before, prompt: before.prompt + prompt, completion: before.completion + completion };
        expect(tariff.charge(before)).toBeGreaterThanOrEqual(0n);
        expect(tariff.charge(after)).toBeGreaterThanOrEqual(tariff.charge(before));
      }),
    );
  });
});

test("tariffsOf applies the model's and the billing's multiplier, by model id", () => {
  const snapshot = testSnapshot({
    billing: { costMultiplier: decimal("1.1") },
    models: [testModel("route/a", { multipliers: { requests: 1, cost: decimal(2) } }), testModel("route/b")],
  });
  const tariffs = tariffsOf(snapshot);
  expect(tariffs.get("route/c")).toBeUndefined();
  expect(tariffs.get("route/a")?.charge(usage(10))).toBe(22_000n);
  expect(tariffs.get("route/b")?.charge(usage(10))).toBe(11_000n);
});
