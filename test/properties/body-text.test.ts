import * as fc from "fast-check";
import { expect, test } from "vitest";
import { textWithModel } from "../../src/dialects/canonical/body-text.ts";
import type { BodyText, Json } from "../../src/kit/index.ts";
import { bodyText } from "../../src/server/body-text.ts";
import { parseBody } from "../../src/server/json.ts";
import { RUNS } from "./runs.ts";

/** JSON as its author wrote it: names may repeat, and everything may be escaped. */
interface Written {
  readonly text: string;
  /** Whether an object has a name twice. */
  readonly repeats: boolean;
}

const MORE = ',"added":{"a":[1]}';
/** As they are written. */
const NAMES = ["model", "m\\u006fdel", "stream", "__proto__", "constructor", "1", "€", "", "\\ud800"];
const MODELS = ['"route/a"', '"route/\\u0061"', '"m€"', '"a\\"b"', '""', "5", "null", '{"model":"x"}', '["model"]'];
const blank = fc.constantFrom("", "", " ", "\n\t\r ");

const { value } = fc.letrec<{ value: Written; object: Written; list: Written; plain: Written }>((tie) => ({
  plain: fc
    .constantFrom("0", "-0", "1e999", "-1.5e3", "12345678901234567890", "true", "null", '"x:{,\\"}"', '"model"')
    .map((text) => ({ text, repeats: false })),
  list: fc.array(tie("value"), { maxLength: 4 }).map((items) => ({
    text: `[${items.map(({ text }) => text).join(",")}]`,
    repeats: items.some(({ repeats }) => repeats),
  })),
  object: fc
    .array(fc.tuple(fc.constantFrom(...NAMES), blank, tie("value")), { maxLength: 4 })
    .map((fields) => objectOf(fields)),
  value: fc.oneof({ depthSize: "small", withCrossShrink: true }, tie("plain"), tie("list"), tie("object")),
}));

function objectOf(fields: readonly (readonly [name: string, gap: string, value: Written])[]): Written {
  const names = fields.map(([name]) => JSON.parse(`"${name}"`) as string);
  return {
    text: `{${fields.map(([name, gap, { text }]) => `${gap}"${name}"${gap}:${gap}${text}${gap}`).join(",")}}`,
    repeats: new Set(names).size < names.length || fields.some(([, , { repeats }]) => repeats),
  };
}

const body = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom(...NAMES.slice(2)), blank, value), { maxLength: 4 }),
    fc.array(fc.tuple(fc.constantFrom(...NAMES), blank, value), { maxLength: 2 }),
    fc.tuple(fc.constantFrom("model", "model", "m\\u006fdel"), blank, fc.constantFrom(...MODELS)),
  )
  .map(([before, after, [name, gap, model]]) =>
    objectOf([...before, [name, gap, { text: model, repeats: false }], ...after]),
  );

/** As they may have arrived. */
function cut(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

async function textOf(text: string, places: readonly number[]): Promise<{ body: Json; text: BodyText | null }> {
  const bytes = Buffer.from(text);
  const parsed = await parseBody(bytes);
  return { body: parsed.value, text: bodyText(parsed, bytes, cut(bytes, places)) };
}

const sent = (text: BodyText | null, model: string): string | null => {
  const bytes = text && textWithModel(text, text.body, model, MORE);
  if (bytes === null) return null;
  const whole = Buffer.concat(bytes.chunks);
  expect(bytes.length).toBe(whole.length);
  return whole.toString();
};

test("a text with another model is parsed to the body with that model, or it is not sent", async () => {
  let found = 0;
  await fc.assert(
    fc.asyncProperty(
      body,
      fc.array(fc.nat(), { maxLength: 4 }),
      fc.string(),
      async ({ text, repeats }, places, model) => {
        const received = await textOf(text, places);
        const changed = sent(received.text, model);
        const { model: named } = received.body;
        // A number that is none would be written as null.
        const isPlain = typeof named === "string" && text.includes(`"${named}"`) && !text.includes("1e999");
        // Only the outermost object's has this value: written with an escape its name is not looked for.
        const mustBeFound = !repeats && isPlain && /"model"\s*:\s*"route\/a"/.test(text);
        if (changed === null && !mustBeFound) return;
        if (changed === null) throw new Error("not found");
        found += 1;
        expect(repeats).toBe(false);
        expect(isPlain).toBe(true);
        const parsed = JSON.parse(changed) as Record<string, unknown>;
        expect(Object.entries(parsed).filter(([name]) => name !== "added")).toEqual(
          Object.entries({ ...received.body, model }),
        );
        expect(parsed["added"]).toEqual({ a: [1] });
        // But for what was put in its place it is what the client wrote.
        const placed = JSON.stringify(model) + MORE;
        expect(Buffer.byteLength(changed)).toBe(
          Buffer.byteLength(text) - Buffer.byteLength(`"${named}"`) + Buffer.byteLength(placed),
        );
      },
    ),
    { numRuns: 3 * RUNS },
  );
  expect(found).toBeGreaterThan(RUNS / 20);
});

test("a body that is not the text's own is not sent as it", async () => {
  const { body: parsed, text } = await textOf('{"model":"route/a"}', []);
  expect(textWithModel(text!, parsed, "b", "")).not.toBeNull();
  expect(textWithModel(text!, { ...parsed }, "b", "")).toBeNull();
});

test("a text begins with no byte order mark", async () => {
  await expect(async () => textOf('\ufeff{"model":"route/a"}', [])).rejects.toThrow("must be valid JSON");
});
