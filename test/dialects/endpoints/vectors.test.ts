import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeVector, dimensionsOf, encodeVector } from "../../../src/dialects/endpoints/embedding.ts";
import { RUNS } from "../../properties/runs.ts";

const LARGEST = 2 ** 127 * (2 - 2 ** -23);
const SMALLEST = 2 ** -149;
const EXTREMES = [
  0,
  -0,
  1,
  -1,
  LARGEST,
  -LARGEST,
  SMALLEST,
  -SMALLEST,
  2 ** -126,
  Math.fround(0.1),
  Math.fround(1 / 3),
];

const value = fc.oneof(fc.float({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(...EXTREMES));
const vector = fc.array(value, { minLength: 1, maxLength: 50 });

/** As a client reads base64, independently of the code under test. */
function read(text: string): readonly number[] {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return [...new Float32Array(bytes.buffer)];
}

describe("float32 values", () => {
  test("come out of base64 as they went in, to the bit", () => {
    fc.assert(
      fc.property(vector, (values) => {
        expect(read(encodeVector(values))).toEqual(values);
        expect(decodeVector(encodeVector(values))).toEqual(values);
      }),
    );
  });

  test("survive being written as JSON and read as float32 again", () => {
    fc.assert(
      fc.property(vector, (values) => {
        const text = encodeVector(values.map((one) => one + 0));
        const decoded = JSON.parse(JSON.stringify(decodeVector(text))) as number[];
        expect(encodeVector(decoded)).toBe(encodeVector(values.map((one) => (one === 0 ? 0 : one))));
      }),
    );
  });

  test("doubles become the nearest float32", () => {
    const double = fc.double({ min: -LARGEST, max: LARGEST, noNaN: true });
    fc.assert(
      fc.property(fc.array(double, { minLength: 1 }), (values) => {
        expect(decodeVector(encodeVector(values))).toEqual(values.map(Math.fround));
      }),
    );
  });

  test("known bytes: little-endian", () => {
    expect(encodeVector([1, -2])).toBe("AACAPwAAAMA=");
    expect(decodeVector("AACAPwAAAMA=")).toEqual([1, -2]);
  });
});

/** What base64 as Node writes it stands for. */
function vectorIn(text: string): readonly number[] | null {
  const bytes = Uint8Array.from(Buffer.from(text, "base64"));
  if (bytes.length === 0 || bytes.length % 4 !== 0) return null;
  const values = [...new Float32Array(bytes.buffer)];
  return values.every(Number.isFinite) ? values : null;
}

function bits(pattern: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(pattern);
  return bytes.toString("base64");
}

describe("what is no vector", () => {
  test.each([
    ["nothing", ""],
    ["padding alone", "===="],
    ["a space inside", "AACA PwA"],
    ["a line end behind", "AACAPw==\n"],
    ["the URL alphabet", "__8_Pw=="],
    ["no padding", "AACAPw"],
    ["padding inside", "AACAPw==AACAPw=="],
    ["three bytes", "AACA"],
    ["a NaN", bits(0x7fc00000)],
    ["a signalling NaN", bits(0xff800001)],
    ["infinity", bits(0x7f800000)],
    ["minus infinity", bits(0xff800000)],
  ])("%s", (_, text) => {
    expect(decodeVector(text)).toBeNull();
    expect(dimensionsOf(text)).toBeNull();
  });

  test.each([[[]], [[NaN]], [[Infinity]], [[1e39]], [["1"]], [[null]], [[[1]]], [null], [1], [{ length: 1, 0: 1 }]])(
    "%j",
    (value) => {
      expect(dimensionsOf(value)).toBeNull();
    },
  );

  test("any bytes are their values or no vector", () => {
    const bytes = fc.oneof(fc.uint8Array(), fc.uint8Array({ minLength: 4, maxLength: 4 }));
    fc.assert(
      fc.property(bytes, (sent) => {
        const text = Buffer.from(sent).toString("base64");
        expect(decodeVector(text)).toEqual(vectorIn(text));
        expect(dimensionsOf(text)).toBe(vectorIn(text)?.length ?? null);
      }),
      { numRuns: RUNS },
    );
  });

  test("any text that is no base64 is no vector", () => {
    const alphabet = fc.constantFrom("A", "Z", "a", "z", "0", "9", "+", "/", "=", "-", "_", " ", "\n", "!", "é");
    fc.assert(
      fc.property(fc.string({ unit: alphabet }), (text) => {
        fc.pre(Buffer.from(text, "base64").toString("base64") !== text || text === "");
        // Bits behind the last byte are nobody's.
        const loose = /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0;
        expect(decodeVector(text)).toEqual(loose ? vectorIn(text) : null);
      }),
      { numRuns: RUNS },
    );
  });

  test("a text of megabytes is no trouble, good or bad", () => {
    const large = Buffer.alloc(12_000_000).toString("base64");
    expect(dimensionsOf(large)).toBe(3_000_000);
    expect(dimensionsOf(`${large.slice(0, -4)}A!AA`)).toBeNull();
  });
});
