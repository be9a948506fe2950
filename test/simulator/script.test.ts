import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SimError } from "../../src/simulator/fields.ts";
import { parseScript, SCRIPT, shapeOf } from "../../src/simulator/script.ts";
import { RUNS } from "./support.ts";

const outcome = (source: string): string => {
  try {
    parseScript(source);
    return "read";
  } catch (error) {
    return error instanceof SimError ? `${error.name} ${error.status}` : String(error);
  }
};

const refusal = (...sources: readonly unknown[]): SimError => {
  try {
    parseScript(...sources);
  } catch (error) {
    if (error instanceof SimError) return error;
  }
  throw new Error("it was not refused");
};

test.each([undefined, null, "", "-", "?", "{}", {}])("%j asks for nothing", (source) => {
  expect(parseScript(source)).toEqual({});
});

test.each([
  ["first_byte=300ms", { first_byte: 300 }],
  ["first_byte=1.5s&chunk_delay=20", { first_byte: 1500, chunk_delay: 20 }],
  ["?stall_after=2&no_usage&no_done=false", { stall_after: 2, no_usage: true }],
  ["retry_after=Wed, 21 Oct 2026 07:28:00 GMT", { retry_after: "Wed, 21 Oct 2026 07:28:00 GMT" }],
  ["drip=1/1s", { drip: { bytes: 1, every: 1000 } }],
  ["usage.prompt=10&usage.cached=x", { "usage.prompt": 10, "usage.cached": "x" }],
  ["usage=none&chunks=2", { no_usage: true, chunks: 2 }],
  [{ usage: "none" }, { no_usage: true }],
  ["shape=cohere&embedding=base64&image=url", { shape: "cohere", embedding: "base64", image: "url" }],
  ['{"first_byte":300,"no_usage":true}', { first_byte: 300, no_usage: true }],
  [
    { usage: { prompt: 10, completion: null }, retry_after: 3 },
    { "usage.prompt": 10, "usage.completion": null, retry_after: "3" },
  ],
])("%j", (source, script) => {
  expect(parseScript(source)).toEqual(script);
});

test.each([
  ["first_byte=fast", "first_byte", "a duration such as 300ms or 2s"],
  ["first_byte=9999h", "first_byte", "a duration"],
  ["stall_after=-1", "stall_after", "a whole number"],
  ["chunks=1.5", "chunks", "a whole number"],
  ["chunks=1000001", "chunks", "a whole number"],
  ["no_usage=perhaps", "no_usage", "true or false"],
  ["status=99", "status", "a status from 200 to 999"],
  ["fail_ratio=2", "fail_ratio", "a number from 0 to 1"],
  ["drip=0", "drip", "BYTES/INTERVAL"],
  [{ message: 7 }, "message", "text"],
  ["shape=bedrock", "shape", "one of openai, cohere, jina, voyage, together"],
  ["embedding=int8", "embedding", "one of float, base64"],
  ["image=", "image", "one of url, b64_json"],
])("%j is refused", (source, key, expects) => {
  const error = refusal(source);
  expect(error.status).toBe(400);
  expect(error.param).toBe(`sim.${key}`);
  expect(error.message).toContain(`'${key}' must be ${expects}`.slice(0, 20));
  expect(error.message).toContain(expects);
});

test.each([7, true, [], ["a"], '{"a"', "[1]"])("%j is no script", (source) => {
  expect(refusal(source).status).toBe(400);
});

test.each([
  ["chunk_dealy", /mean 'chunk_delay'/],
  ["usage.promt", /mean 'usage.prompt'/],
  ["usage", /mean 'usage.prompt'/],
  ["reset", /mean 'reset_after'/],
  ["__proto__", /Keys: first_byte, /],
  ["constructor", /Keys: first_byte, /],
  ["", /Keys: first_byte, /],
])("%s is unknown", (key, near) => {
  const error = refusal(JSON.parse(`{"${key}":1}`));
  expect(error.message).toContain(`Unknown simulator key '${key}'`);
  expect(error.message).toMatch(near);
});

describe("properties", () => {
  const counts = Object.entries(SCRIPT).filter(([, { expects }]) => expects.startsWith("a whole number"));
  const script = fc.dictionary(fc.constantFrom(...counts.map(([key]) => key)), fc.integer({ min: 0, max: 1_000_000 }));

  test("a query, its JSON and the object are the same script", () => {
    fc.assert(
      fc.property(script, (object) => {
        const query = new URLSearchParams(
          Object.entries(object).map(([key, value]) => [key, String(value)]),
        ).toString();
        expect(parseScript(query)).toEqual({ ...object });
        expect(parseScript(JSON.stringify(object))).toEqual({ ...object });
      }),
      { numRuns: RUNS },
    );
  });

  test("the later source decides, key by key", () => {
    fc.assert(
      fc.property(script, script, (first, second) => {
        expect(parseScript(first, second)).toEqual({ ...first, ...second });
      }),
      { numRuns: RUNS },
    );
  });

  test("any text is read or refused with a 400, nothing else", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (source) => {
        expect(outcome(source)).toMatch(/^(read|SimError 400)$/);
      }),
      { numRuns: RUNS },
    );
  });

  test("the shape of a script holds no faults", () => {
    const shape = shapeOf(
      parseScript("chunks=3&chunk_bytes=4&chunk_delay=5&usage.prompt=6&status=500&reset_after=1&fail_times=2"),
    );
    expect(shape).toEqual({ chunks: 3, chunk_bytes: 4, chunk_delay: 5, "usage.prompt": 6 });
  });
});
