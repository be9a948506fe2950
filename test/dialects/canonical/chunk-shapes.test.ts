import * as fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { RUNS } from "../../properties/runs.ts";
import { parseJson } from "../../../src/dialects/canonical/json.ts";
import { chatFormat, readChat } from "../../../src/dialects/chat/client.ts";
import { chat } from "../../../src/dialects/chat/index.ts";
import { ChunkParser, ShapedChunk } from "../../../src/dialects/canonical/chunk-shapes.ts";
import { STREAM } from "../../../bench/input.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Each value, and as text, which shows the order of its fields. */
function valuesOf(raws: readonly string[], parse: (raw: string) => unknown): readonly unknown[] {
  return raws.map((raw) => {
    const value = parse(raw);
    return [value, JSON.stringify(value)];
  });
}

function byParser(raws: readonly string[]): readonly unknown[] {
  const parser = new ChunkParser();
  return valuesOf(raws, (raw) => parser.parse(raw));
}

const byJson = (raws: readonly string[]): readonly unknown[] => valuesOf(raws, parseJson);

/** Texts that look like what stands around them. */
const said = fc
  .array(
    fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 6 }),
      fc.constantFrom('"', "\\", "\n", "\t", "\u2028", "},", '"}', '"content":"a"', '","p":"', "[1]", "[2]", "é", "😀"),
    ),
    { maxLength: 4 },
  )
  .map((parts) => parts.join(""));

/** One stream's way of writing its chunks. */
interface Style {
  readonly name: string;
  readonly order: number;
  readonly padding: string | null;
  readonly paddingFirst: boolean;
  readonly beside: unknown;
  readonly delta: "alone" | "role" | "null" | "call";
  readonly spaced: boolean;
  readonly ascii: boolean;
}

const style: fc.Arbitrary<Style> = fc.record({
  name: fc.constantFrom("content", "content", "reasoning_content", "p", "obfuscation", "__proto__", 'a"b', "1"),
  order: fc.nat(5),
  padding: fc.constantFrom(null, "obfuscation", "p", "content"),
  paddingFirst: fc.boolean(),
  beside: fc.constantFrom(undefined, null, 1, "x", "content", {}, { content: "a" }, []),
  delta: fc.constantFrom("alone", "alone", "role", "null", "call"),
  spaced: fc.constantFrom(false, false, true),
  ascii: fc.boolean(),
});

interface Piece {
  readonly text: unknown;
  readonly padding: unknown;
  readonly created: number;
  readonly finish: string | null;
}

const piece: fc.Arbitrary<Piece> = fc.record({
  text: fc.oneof({ arbitrary: said, weight: 8 }, { arbitrary: fc.jsonValue(), weight: 1 }),
  padding: fc.oneof({ arbitrary: said, weight: 8 }, { arbitrary: fc.jsonValue(), weight: 1 }),
  created: fc.constantFrom(1, 1, 1, 2),
  finish: fc.constantFrom(null, null, null, "stop"),
});

function written(how: Style, { text, padding, created, finish }: Piece): string {
  const named = Object.fromEntries([[how.name, text]]);
  const delta = {
    alone: named,
    role: { role: "assistant", ...named },
    null: { role: null, ...named, tool_calls: null },
    call: { tool_calls: [{ index: 0, function: named }] },
  }[how.delta];
  const padded = how.padding === null ? [] : [[how.padding, padding]];
  const fields = [
    ["id", "c"],
    ["created", created],
    ["model", "m"],
    ["choices", [{ index: 0, delta, logprobs: null, finish_reason: finish }]],
    ["beside", how.beside],
  ];
  const turned = [...fields.slice(how.order), ...fields.slice(0, how.order)];
  const chunk = Object.fromEntries(how.paddingFirst ? [...padded, ...turned] : [...turned, ...padded]);
  const raw = JSON.stringify(chunk, null, how.spaced ? 1 : undefined);
  if (!how.ascii) return raw;
  return raw.replaceAll(/[^\0-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const streams = fc
  .tuple(style, fc.array(piece, { minLength: 2, maxLength: 8 }))
  .map(([how, pieces]) => pieces.map((one) => written(how, one)));

describe("what is parsed is what JSON.parse gives", () => {
  test("for the chunks of any stream", () => {
    fc.assert(
      fc.property(streams, (raws) => {
        expect(byParser(raws)).toStrictEqual(byJson(raws));
      }),
      { numRuns: RUNS },
    );
  });

  test("for two streams in turn", () => {
    const turns = fc.tuple(streams, streams).map(([one, other]) => one.flatMap((raw, at) => [raw, other[at] ?? raw]));
    fc.assert(
      fc.property(turns, (raws) => {
        expect(byParser(raws)).toStrictEqual(byJson(raws));
      }),
      { numRuns: RUNS },
    );
  });

  test("for chunks with a mistake in them, which are no JSON or say something else", () => {
    const wrong = fc
      .tuple(streams, fc.nat(), fc.nat(), fc.constantFrom("", '"', "\\", ",", "}", "0", " ", "\u0001", "null"))
      .map(([raws, which, at, put]) => {
        const raw = raws[which % raws.length] ?? "";
        const place = at % (raw.length + 1);
        return [...raws, raw.slice(0, place) + put + raw.slice(place + 1), ...raws];
      });
    fc.assert(
      fc.property(wrong, (raws) => {
        expect(byParser(raws)).toStrictEqual(byJson(raws));
      }),
      { numRuns: RUNS },
    );
  });

  test.each<readonly [string, readonly string[]]>([
    [
      "a field that is there twice",
      ["a", "b", "c"].map((text) => `{"choices":[{"delta":{"content":"${text}","content":"x"}}],"p":"y","p":"y"}`),
    ],
    [
      "a text that is there twice, the second one counting",
      ["x", "b"].map((text) => `{"choices":[{"delta":{"content":"${text}","content":"x"}}]}`),
    ],
    [
      "padding that is there twice, the second one counting",
      ["x", "b"].map((pad) => `{"choices":[{"delta":{"content":"a"}}],"p":"${pad}","p":"x"}`),
    ],
    [
      "more choices than one",
      ["a", "b"].map((text) => `{"choices":[{"delta":{"content":"${text}"}},{"delta":{"content":"c"}}]}`),
    ],
    [
      "more texts than one",
      ["a", "b"].map((text) => `{"choices":[{"delta":{"content":"${text}","reasoning_content":"c"}}]}`),
    ],
    [
      "a text and padding of one name and value",
      ["a", "b"].map((text) => `{"p":"${text}","choices":[{"delta":{"p":"${text}"}}]}`),
    ],
    [
      "a text that is also a name",
      ["a", "b"].map((text) => `{"content":"${text}","choices":[{"delta":{"content":"${text}"}}]}`),
    ],
    [
      "padding of another kind",
      ['"y"', "1", "null", "[2]", '"z"'].map((p) => `{"choices":[{"delta":{"content":"a"}}],"p":${p}}`),
    ],
    [
      "two values where one is expected",
      ['"a"', '"a","b":"c"', '"a"}},{"delta":{"content":"b"', '"d"'].map(
        (text) => `{"choices":[{"delta":{"content":${text}}}]}`,
      ),
    ],
    ["numbers that grow together", ['"a"', "1", '"b"', "1e"].map((text) => `{"choices":[{"delta":{"c":${text}}}]}`)],
    ["blanks around a value", ['"a"', ' "b"', '"c" ', "", " "].map((text) => `{"choices":[{"delta":{"c":${text}}}]}`)],
    ["no objects", ['{"choices":[{"delta":{"c":"a"}}]}', "1", "[]", "null", '"a"', "", "{"]],
  ])("for %s", (_, raws) => {
    expect(byParser(raws)).toStrictEqual(byJson(raws));
  });
});

/** A chunk as OpenAI writes it. */
const openai = (text: string, pad: string): string =>
  `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"${pad}"}`;

/** Characters that JSON.parse is given for each chunk, once the first have been learnt from. */
function parsed(raws: readonly string[]): readonly number[] {
  const parser = new ChunkParser();
  const spy = vi.spyOn(JSON, "parse");
  return raws
    .map((raw) => {
      spy.mockClear();
      parser.parse(raw);
      return spy.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
    })
    .slice(2);
}

describe("what is known is not parsed again", () => {
  const texts = ["a", "b", 'say "hi"\n', "d", "é"];

  test("of the load bench's stream only its texts", () => {
    const raws = STREAM.slice(0, 50).map((event) => Buffer.from(event).toString().slice("data: ".length, -2));
    expect(new Set(parsed(raws))).toEqual(new Set([JSON.stringify(" lorem ipsum dolor sit amet").length]));
  });

  test("of OpenAI's own stream its texts and padding", () => {
    const pads = ["Qz", "1", "", "abc", "xy"];
    const raws = texts.map((text, at) => openai(text, pads[at] ?? ""));
    const expected = texts.map((text, at) => JSON.stringify(text).length + JSON.stringify(pads[at]).length);
    expect(parsed(raws)).toEqual(expected.slice(2));
  });

  test("of a stream whose time moves on only the first chunk of each", () => {
    const raws = Array.from({ length: 40 }, (_, at) =>
      openai("abc", "x").replace('"created":1', `"created":${Math.floor(at / 2)}`),
    );
    expect(parsed(raws).at(-1)).toBe('"abc""x"'.length);
  });

  test("streams whose chunks differ elsewhere are given up", () => {
    const raws = Array.from({ length: 12 }, (_, at) => openai("a", "b").replace('"created":1', `"created":${at + 10}`));
    expect(parsed(raws).at(-1)).toBe(raws.at(-1)!.length);
  });
});

test.each([
  '{"choices":[{"delta":{"content":"a"},"logprobs":null}],"p":"b"}',
  '{"choices":[{"delta":{"content":"a"},"logprobs":{}}],"p":"b"}',
  '{"choices":[{"delta":{"content":"a"},"logprobs":null}],"p":"b","usage":{}}',
])("chunks share nothing that could be changed in one of them: %s", (raw) => {
  const parser = new ChunkParser();
  const [first, second, third] = [parser.parse(raw), parser.parse(raw), parser.parse(raw)] as {
    choices: { delta: object; logprobs: object | null }[];
    usage?: object;
  }[];
  for (const other of [first!, third!]) {
    expect(other).not.toBe(second);
    expect(other.choices).not.toBe(second!.choices);
    expect(other.choices[0]).not.toBe(second!.choices[0]);
    expect(other.choices[0]!.delta).not.toBe(second!.choices[0]!.delta);
    expect(other.choices[0]!.logprobs ?? {}).not.toBe(second!.choices[0]!.logprobs);
    expect(other.usage ?? {}).not.toBe(second!.usage);
  }
});

describe("a client's lines are the same for chunks of a known shape and for copies of them, which have none", () => {
  const ROUTE = "route/a";
  const [FIRST, LAST] = [openai("", "").replace('"content"', '"role":"assistant","content"'), "[DONE]"];

  /** The lines for the events themselves and for their copies, and how many had a shape. */
  function linesOf(raws: readonly string[], wantsUsage: boolean): readonly [string, string, number] {
    const decoder = chat.decoder();
    const first = FIRST.replace('"id":"c"', () => /"id": ?"(?:[^"\\]|\\.)*"/.exec(raws[0] ?? "")?.[0] ?? "");
    const texts = [first, ...raws, LAST].map((raw) => `data: ${raw.replaceAll("\n", " ")}\n\n`);
    const events = texts.flatMap((text) => decoder.feed(Buffer.from(text)));
    const options = wantsUsage ? { stream_options: { include_usage: true } } : {};
    const call = readChat({ model: ROUTE, messages: [], stream: true, ...options });
    const [own, copied] = [chatFormat(call).stream, chatFormat(call).stream];
    return [
      events.map((event) => own.event(event)).join(""),
      events.map((event) => copied.event({ ...event })).join(""),
      events.filter((event) => ShapedChunk.shapeOf(event) !== null).length,
    ];
  }

  test("of any stream", () => {
    const names = fc.constantFrom("content", "reasoning_content", "refusal", "role", "name");
    const how = style.map((one) => ({ ...one, beside: one.beside === 1 ? 1 : null, delta: "alone" as const }));
    const texts = fc.array(fc.tuple(said, said), { minLength: 4, maxLength: 6 });
    const named = fc.record({ model: fc.constantFrom("m", '"', ROUTE), id: fc.constantFrom("c", "", '"') });
    fc.assert(
      fc.property(how, names, texts, named, fc.boolean(), (one, name, pieces, { model, id }, wantsUsage) => {
        const head = `"object":"chat.completion.chunk","id":${JSON.stringify(id)}`;
        const chunks = pieces.map(([text, padding]) =>
          written({ ...one, name }, { text, padding, created: 1, finish: null })
            .replace('"m"', () => JSON.stringify(model))
            .replace(/"id": ?"c"/, () => head),
        );
        const [own, copied] = linesOf(chunks, wantsUsage);
        expect(own).toBe(copied);
      }),
      { numRuns: RUNS },
    );
  });

  test.each([true, false])("of OpenAI's, padded, with usage asked for: %s", (wantsUsage) => {
    const words = ["He", 'l"l', "\u007f", "o\n", "", "[1]", ',"usage":null}', '"model":"m"', "é😀"];
    const [own, copied, shaped] = linesOf(
      words.map((word, at) => openai(word, "x".repeat(at))),
      wantsUsage,
    );
    expect(own).toBe(copied);
    expect(shaped).toBe(words.length - 2);
  });
});
