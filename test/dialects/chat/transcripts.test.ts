import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FEW_RUNS } from "../../properties/runs.ts";
import type { Json, Usage } from "../../../src/kit/index.ts";
import { expectCanonical } from "./rules.ts";
import { cutAt, cuts, decode, type Decoding } from "../decode.ts";

/** `<name>.txt` is a body as it came over the wire, `<name>.json` what is to be read from it. */
interface Expectation {
  readonly about: string;
  readonly texts: readonly string[];
  readonly usages: readonly (Usage | null)[];
  readonly fault: Decoding["fault"];
  readonly done: boolean;
  readonly complete: boolean;
  /** What comes of it; left out: not looked at. */
  readonly chunks?: readonly Json[];
}

const FOLDER = new URL("transcripts/", import.meta.url).pathname;
const names = globSync("*.txt", { cwd: FOLDER })
  .map((file) => basename(file, ".txt"))
  .toSorted();

/** Large bodies are written with `<<repeat:count:text>>` in either file. */
function expand(text: string): string {
  return text.replaceAll(/<<repeat:(\d+):([^>]*)>>/g, (_, count: string, unit: string) => unit.repeat(Number(count)));
}

function load(name: string): { readonly bytes: Uint8Array; readonly expected: Expectation } {
  // Read as latin1, so that a body that is no UTF-8 stays as it is.
  const bytes = Buffer.from(expand(readFileSync(join(FOLDER, `${name}.txt`), "latin1")), "latin1");
  return { bytes, expected: JSON.parse(expand(readFileSync(join(FOLDER, `${name}.json`), "utf8"))) as Expectation };
}

describe.each(names)("%s", (name) => {
  const { bytes, expected } = load(name);
  const whole = decode([bytes]);

  test(`is read as expected: ${expected.about}`, () => {
    const { events, ...ending } = whole;
    expect({
      texts: events.map(({ text }) => text),
      usages: events.map(({ usage }) => usage ?? null),
      ...ending,
    }).toEqual({
      texts: expected.texts,
      usages: expected.usages,
      fault: expected.fault,
      done: expected.done,
      complete: expected.complete,
    });
    const chunks = events.map(({ data }) => data);
    expect(chunks).toEqual(expected.chunks ?? chunks);
    expectCanonical(events);
  });

  test("is read alike however the reads split it", () => {
    fc.assert(
      fc.property(cuts(bytes), (places) => {
        expect(isDeepStrictEqual(decode(cutAt(bytes, places)), whole)).toBe(true);
      }),
      { numRuns: FEW_RUNS },
    );
  });
});

test("every short one is read alike byte by byte", () => {
  const short = names.map((name) => load(name).bytes).filter((bytes) => bytes.length < 10_000);
  expect(short.length).toBeGreaterThan(30);
  for (const bytes of short) expect(decode(cutAt(bytes, [...bytes.keys()].slice(1)))).toEqual(decode([bytes]));
});

test("there are transcripts", () => {
  expect(names.length).toBeGreaterThan(30);
});

test("after a fault or the ending nothing more is read", () => {
  for (const name of ["plain", "not-json", "line-2-mib"]) {
    const { bytes } = load(name);
    const again = decode([bytes, bytes, new TextEncoder().encode('data: {"choices":[]}\n\n')]);
    expect(again).toEqual(decode([bytes]));
  }
});
