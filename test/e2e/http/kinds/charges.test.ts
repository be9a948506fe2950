import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseRational, plus, type Rational, rational, roundToNano, times } from "../../../kit/rational.ts";
import type { Json } from "../../../../src/kit/index.ts";
import type { LedgerEntry as Truth } from "../../../../src/simulator/server.ts";
import { file, wav } from "../../support/form.ts";
import { TestGateway } from "../../support/in-process.ts";
import { type KindEndpoint, askKind, PLACES } from "../../support/kinds.ts";

/** As written in the configuration, digit for digit; what is not there costs nothing. */
interface Tariff {
  readonly at: Exclude<KindEndpoint, "chat">;
  readonly input_per_million?: string;
  readonly per_request?: string;
  readonly per_million_characters?: string;
  readonly per_second?: string;
  readonly per_image?: string | Readonly<Record<string, string>>;
  /** Multiplier of the model. */
  readonly cost?: string;
}

/** Every unit, alone and beside others; that any charge is the exact rational is in kit/tariff. */
const TARIFFS: readonly Tariff[] = [
  { at: "embeddings", input_per_million: "0.333333333333", cost: "0.3" },
  { at: "embeddings", input_per_million: "0" },
  { at: "rerank", per_request: "1e-9", cost: "0.5" },
  { at: "rerank", input_per_million: "7.77", per_request: "0.000000333" },
  { at: "speech", per_million_characters: "33.333333333", cost: "1.2" },
  { at: "transcription", per_second: "0.0000004999", per_request: "0.006" },
  { at: "image", per_image: "0.0123456789", cost: "1.1" },
  { at: "image", per_image: { default: "0.04", "8x8": "0.0777", "8x8/high": "0.25", low: "0.011" }, cost: "1.3" },
];

/** Requests of each kind, of which the simulator measures what they use. */
const REQUESTS: Readonly<Record<Tariff["at"], readonly Json[]>> = {
  embeddings: [{ input: "a" }, { input: ["one two", "three", "four five six"] }, { input: [1, 2, 3] }],
  rerank: [{}, { query: "a b c d", documents: Array(50).fill("one two three") }],
  speech: [{ input: "x" }, { input: "Grüße, 漢字 und 😀!" }, { input: "word ".repeat(20), response_format: "wav" }],
  transcription: [1, 125, 1_500, 7_777].map((length) => ({ file: file(wav(length)) })),
  image: [
    {},
    { n: 1 },
    { n: 3, size: "8x8" },
    { n: 2, width: 8, height: 8, quality: "high" },
    { quality: "low" },
    { quality: "other", size: "16x16" },
  ],
};

const COST_MULTIPLIER = "1.35";
const MILLIONTH = rational(1n, 1_000_000n);
const THOUSANDTH = rational(1n, 1_000n);
const count = (value: number): Rational => rational(BigInt(value));

/** What an image costs that was asked for so. */
function imagePrice({ per_image: price = "0" }: Tariff, asked: Json): string {
  if (typeof price === "string") return price;
  const { size, width, height, quality } = asked as Readonly<Record<string, string | number | undefined>>;
  const pixels = size ?? (width === undefined ? "" : `${width}x${height}`);
  return price[`${pixels}/${quality}`] ?? price[pixels] ?? price[quality ?? ""] ?? price["default"]!;
}

/** By what the upstream has done, not by what anybody says. */
function owed(tariff: Tariff, { units }: Pick<Truth, "units">, asked: Json = {}): bigint {
  const price = (name: Exclude<keyof Tariff, "at" | "per_image">): Rational => parseRational(tariff[name] ?? "0");
  const parts = [
    times(times(price("input_per_million"), MILLIONTH), count(units.prompt)),
    times(times(price("per_million_characters"), MILLIONTH), count(units.characters)),
    times(times(price("per_second"), THOUSANDTH), count(units.milliseconds)),
    times(parseRational(imagePrice(tariff, asked)), count(units.images)),
    price("per_request"),
  ];
  const multiplier = times(parseRational(tariff.cost ?? "1"), parseRational(COST_MULTIPLIER));
  return roundToNano(times(parts.reduce(plus), multiplier));
}

function numbers(amount: string | Readonly<Record<string, string>>): unknown {
  if (typeof amount === "string") return Number(amount);
  return Object.fromEntries(Object.entries(amount).map(([variant, one]) => [variant, Number(one)]));
}

function modelOf({ at, cost = "1", ...prices }: Tariff): Json {
  const price = Object.fromEntries(Object.entries(prices).map(([unit, amount]) => [unit, numbers(amount)]));
  return { kind: PLACES[at].kind, scripts: ["-"], price, multipliers: { cost: Number(cost) } };
}

describe("exact charges of every unit", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const chains = Object.fromEntries(
      TARIFFS.map((tariff, index) => [`route/p${index}`, { scripts: ["-"], ...modelOf(tariff) }]),
    );
    gateway = await TestGateway.start({
      chains,
      config: { billing: { cost_multiplier: Number(COST_MULTIPLIER) } },
    });
  });
  afterAll(() => gateway.close());

  test.each(TARIFFS.map((tariff, index) => [tariff, index] as const))("%j", async (tariff, index) => {
    const user = await gateway.user({ credits: "1000000" });
    let sum = 0n;
    for (const [at, changes] of REQUESTS[tariff.at].entries()) {
      const headers = { "x-request-id": `charge-${index}-${at}` };
      const { status } = await askKind(gateway, user, tariff.at, { model: `route/p${index}`, ...changes }, { headers });
      expect(status).toBe(200);
      const truth = gateway.simulator.ledger().at(-1)!;
      const entry = (await gateway.books(user)).ledger.find(({ requestId }) => requestId === headers["x-request-id"])!;
      expect(truth.requestId).toBe(entry.requestId);
      expect({ charge: entry.charge, outcome: entry.outcome, estimated: entry.estimated }).toEqual({
        charge: owed(tariff, truth, changes),
        outcome: "served",
        estimated: false,
      });
      const { usage } = entry;
      expect([
        usage.prompt,
        usage.characters ?? 0,
        usage.milliseconds ?? 0,
        usage.images ?? 0,
        usage.completion,
      ]).toEqual([...Object.values(truth.units), 0]);
      sum += entry.charge;
    }
    const { balance, granted } = await gateway.books(user);
    expect(balance).toBe(granted - sum);
  });

  test("the arithmetic of the test is right where it can be done by hand", () => {
    const units = { prompt: 10, characters: 7, milliseconds: 1_500, images: 3 };
    expect(owed({ at: "image", per_image: "0.04" }, { units })).toBe(162_000_000n);
    expect(owed({ at: "transcription", per_second: "0.0001" }, { units })).toBe(202_500n);
    expect(owed({ at: "speech", per_million_characters: "15", per_request: "0.1" }, { units })).toBe(135_141_750n);
    expect(owed({ at: "rerank", per_request: "1e-9", cost: "0.5" }, { units })).toBe(1n);
  });
});
