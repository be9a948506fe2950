import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FrameReader, type Frame } from "../../../src/dialects/bedrock/aws.ts";
import { AttemptError } from "../../../src/kit/index.ts";
import { sharedFixtures } from "../../support/shared.ts";
import { cutAt, cuts } from "../decode.ts";
import { frame } from "./support.ts";
import { RUNS } from "../../properties/runs.ts";

interface Vector {
  readonly name: string;
  readonly expect: "success" | "failure";
  readonly b64: string;
  readonly headers: Readonly<Record<string, { readonly type: string; readonly value: unknown }>> | string | null;
  readonly body: string | null;
}

/** The headers that are text, by name. */
function textsOf(headers: Vector["headers"]): readonly (readonly [string, unknown])[] {
  if (typeof headers === "string") return [["content-type", "application/json"]];
  return Object.entries(headers ?? {}).flatMap(([name, { type, value }]) =>
    type === "string" ? [[name, value] as const] : [],
  );
}

/** The frames of a stream in these pieces. @throws AttemptError */
function read(pieces: readonly Uint8Array[]): Frame[] {
  const reader = new FrameReader();
  return pieces.flatMap((piece) => [...reader.feed(piece)]);
}

/** Whole, and byte by byte. */
function splits({ b64 }: Vector): readonly (readonly Uint8Array[])[] {
  const bytes = Buffer.from(b64, "base64");
  return [[bytes], cutAt(bytes, [...bytes.keys()].slice(1))];
}

const folder = sharedFixtures("aws-eventstream-vectors");
const vectors =
  folder === null
    ? []
    : (JSON.parse(readFileSync(join(folder, "vectors.json"), "utf8")) as { readonly cases: readonly Vector[] }).cases;

describe.skipIf(folder === null)("published vectors", () => {
  test.each(vectors.filter((vector) => vector.expect === "success"))("$name is read", (vector) => {
    for (const pieces of splits(vector)) {
      const [only, ...more] = read(pieces);
      expect(more).toEqual([]);
      expect(Buffer.from(only!.body).toString()).toBe(vector.body);
      for (const [name, value] of textsOf(vector.headers)) expect(only!.headers.get(name)).toBe(value);
    }
  });

  // A length that was changed may leave the frame unfinished for ever: it is found by its own checksum before.
  test.each(vectors.filter((vector) => vector.expect === "failure"))("$name is refused", (vector) => {
    for (const pieces of splits(vector)) expect(() => read(pieces)).toThrow(AttemptError);
  });

  test("there are 9 of them", () => {
    expect(vectors).toHaveLength(9);
  });
});

describe("frames", () => {
  const some = fc.array(fc.tuple(fc.string({ maxLength: 20 }), fc.string({ maxLength: 300, unit: "binary" })), {
    maxLength: 5,
  });

  test("come out as they went in, however they are split", () => {
    fc.assert(
      fc.property(
        some.chain((wanted) => {
          const bytes = Buffer.concat(wanted.map(([kind, body]) => frame({ ":event-type": kind }, body)));
          return fc.tuple(fc.constant(wanted), fc.constant(bytes), cuts(bytes));
        }),
        ([wanted, bytes, places]) => {
          const got = read(cutAt(bytes, places)).map(({ headers, body }) => [
            headers.get(":event-type"),
            Buffer.from(body).toString(),
          ]);
          expect(got).toEqual(wanted.map(([kind, body]) => [kind, Buffer.from(body).toString()]));
        },
      ),
    );
  });

  test("one changed bit anywhere is found out", () => {
    const bytes = frame({ ":event-type": "contentBlockDelta" }, '{"contentBlockIndex":0}');
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(7), (at, bit) => {
        const changed = Uint8Array.from(bytes, (byte, index) => (index === at ? byte ^ (1 << bit) : byte));
        expect(() => read([changed])).toThrow(AttemptError);
      }),
      { numRuns: RUNS },
    );
  });

  test("frames before a damaged one are read", () => {
    const good = frame({ ":event-type": "a" }, "{}");
    const bad = Uint8Array.from(good, (byte, index) => (index === good.length - 1 ? byte ^ 1 : byte));
    const reader = new FrameReader();
    const frames = reader.feed(Buffer.concat([good, bad]));
    expect(frames.next().value?.headers.get(":event-type")).toBe("a");
    expect(() => frames.next()).toThrow("upstream sent an event that is damaged");
  });

  test("one of up to 1 MiB is read, a longer one refused before it has come", () => {
    const overhead = frame({}, "").length;
    const [longest] = read([frame({}, "x".repeat(1024 * 1024 - overhead))]);
    expect(longest?.body).toHaveLength(1024 * 1024 - overhead);
    const longer = frame({}, "x".repeat(1024 * 1024 - overhead + 1));
    expect(() => read([longer.subarray(0, 12)])).toThrow("upstream sent an event that is too large");
  });

  test("noise is refused", () => {
    expect(() => read([new TextEncoder().encode('{"message":"not a stream"}')])).toThrow("an event that is damaged");
  });
});
