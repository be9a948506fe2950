import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RUNS } from "../../../properties/runs.ts";
import { chatFormat, readChat } from "../../../../src/dialects/chat/client.ts";
import { readUsage } from "../../../../src/dialects/canonical/usage.ts";
import {
  type Bill,
  type Json,
  type StreamEvent,
  type StreamFormat,
  type Usage,
  streamBroken,
} from "../../../../src/kit/index.ts";

const ROUTE = "route/a";
const used = (prompt: number, completion: number): Usage => ({ prompt, completion, cached: 0, reasoning: 0 });
const bill = (prompt = 7, completion = 5): Bill => ({ usage: used(prompt, completion), estimated: true, charge: 1n });

function format(wantsUsage = false): StreamFormat {
  const options = wantsUsage ? { stream_options: { include_usage: true } } : {};
  return chatFormat(readChat({ model: ROUTE, messages: [], stream: true, ...options })).stream;
}

/** Canonical events whose chunks are written like this, as a decoder gives them. */
function events(...raws: readonly string[]): readonly StreamEvent[] {
  return raws.map((raw) => {
    const data = JSON.parse(raw) as Json;
    const usage = readUsage(data);
    return usage === null ? { data, raw, text: "" } : { data, raw, text: "", usage };
  });
}

/** What every chunk here begins with; `H` for comparisons. */
const HEAD = '"id":"c","object":"chat.completion.chunk","created":1';
const H = JSON.parse(`{${HEAD}}`) as Json;

const write = (target: StreamFormat, stream: readonly StreamEvent[]): string =>
  stream.map((event) => target.event(event)).join("");

/** The chunks a client reads; `[DONE]` as text. */
function read(text: string): readonly unknown[] {
  return text
    .split("\n\n")
    .filter((frame) => frame !== "")
    .map((frame) => {
      expect(frame).toMatch(/^data: [^\n]*$/);
      const data = frame.slice("data: ".length);
      return data === "[DONE]" ? data : (JSON.parse(data) as unknown);
    });
}

/** Content that tries to be taken for the chunk's own fields. */
const trap = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom(
    '"model":"up-1"',
    '{"model":"up-1"}',
    ',"usage":null}',
    "}]}",
    '\\"model\\":\\"up-1\\"',
    '"',
    "\\",
    "\n",
    "\u2028",
    "data: [DONE]\n\n",
    "up-1",
    ROUTE,
  ),
);
const traps = fc.array(trap, { maxLength: 4 }).map((parts) => parts.join(""));
const upstreamModel = fc.oneof(fc.constantFrom("up-1", "", 'a"b', "a\\", "model", "{", "[", ROUTE), traps);

interface Shape {
  readonly content: string;
  readonly id: string;
  readonly model: string | undefined;
  readonly usage: Json | null | undefined;
  readonly order: number;
  readonly extra: string;
  readonly spaced: boolean;
}

/** A chunk of some upstream's making: fields in any order, more fields than known ones. */
function rawChunk({ content, id, model, usage, order, extra, spaced }: Shape): string {
  const choices = [{ index: 0, delta: { content, model: "up-1" }, finish_reason: null }];
  const fields: readonly (readonly [string, unknown])[] = [
    ["id", id],
    ["object", "chat.completion.chunk"],
    ["created", 1],
    ["model", model],
    ["choices", choices],
    [`x${extra}`, { model: "up-1", deep: [extra] }],
    ["usage", usage],
  ];
  const rotated = [...fields.slice(order % 7), ...fields.slice(0, order % 7)];
  return JSON.stringify(Object.fromEntries(rotated), null, spaced ? " " : undefined).replaceAll("\n", "");
}

const shape: fc.Arbitrary<Shape> = fc.record({
  content: traps,
  id: fc.oneof(fc.constant("chatcmpl-1"), traps).filter((id) => id !== ""),
  model: fc.option(upstreamModel, { nil: undefined, freq: 8 }),
  usage: fc.constantFrom(undefined, null, { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }),
  order: fc.constantFrom(0, 0, 0, 1, 2, 3, 4, 5, 6),
  // No key ends in a backslash: V8 14.6 then misreads later keys with an escape in that place.
  extra: trap.map((text) => text.replaceAll("\\", "")),
  spaced: fc.boolean(),
});

describe("events", () => {
  test("the model is the route in every chunk and nothing else changes, spliced or rewritten", () => {
    fc.assert(
      fc.property(fc.array(shape, { minLength: 1, maxLength: 8 }), fc.boolean(), (shapes, wantsUsage) => {
        const stream = events(...shapes.map(rawChunk));
        const expected = stream.map(({ data }) => {
          const { usage, ...rest } = { ...data, model: ROUTE } as Record<string, unknown>;
          return wantsUsage && usage !== undefined ? { ...rest, usage } : rest;
        });
        expect(read(write(format(wantsUsage), stream))).toEqual(expected);
        // A plugin that changed an event leaves its raw text out: the other path must say the same.
        const changed = stream.map((event) => ({ ...event, raw: undefined }));
        expect(read(write(format(wantsUsage), changed))).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  test("an upstream's own chunks pass with nothing but the model exchanged, byte for byte", () => {
    const raw =
      '{"id":"c","object":"chat.completion.chunk","created":1,"model":"up-1","choices":[{"index":0,"delta":{"content":"say \\"model\\":\\"up-1\\" \\u00e9"},"finish_reason":null}],"n":1.50}';
    expect(write(format(), events(raw, raw))).toBe(
      `data: ${raw.replace('"model":"up-1"', `"model":"${ROUTE}"`)}\n\n`.repeat(2),
    );
  });

  test("a key that ends in a quoted model is not the model", () => {
    const raw = `{${HEAD},"x\\"model":"up-1","model":"up-1","choices":[]}`;
    expect(read(write(format(), events(raw)))).toEqual([{ ...H, 'x"model': "up-1", model: ROUTE, choices: [] }]);
  });

  test("a model that changes midway, or comes and goes, is still the route", () => {
    const chunks = ["up-1", "", "up-2", "up-1"].map((model) => `{${HEAD},"model":"${model}","choices":[]}`);
    const models = read(write(format(), events(...chunks, `{${HEAD},"choices":[]}`, chunks[0]!)));
    expect(models).toEqual(Array.from({ length: 6 }, () => ({ ...H, model: ROUTE, choices: [] })));
  });

  test("a model that is there twice: the last one counts, and becomes the route", () => {
    const once = `{${HEAD},"model":"up-1","choices":[]}`;
    const twice = `{${HEAD},"model":"up-1","choices":[],"model":"up-2"}`;
    expect(read(write(format(), events(once, twice, once)))).toEqual(
      [once, twice, once].map(() => ({ ...H, model: ROUTE, choices: [] })),
    );
  });

  test("an event over several data lines is written on one", () => {
    const [event] = events(`{${HEAD},"model":"up-1",\n"choices":[]}`);
    expect(format().event(event!)).toBe(`data: {${HEAD},"model":"${ROUTE}","choices":[]}\n\n`);
  });

  test("an id and a time that the upstream left out are put in, the same in every chunk", () => {
    const [first, second] = read(write(format(), events('{"model":"a","choices":[]}', '{"choices":[],"id":""}')));
    expect(first).toEqual({ ...H, id: expect.stringMatching(/^chatcmpl-./), created: 0, model: ROUTE, choices: [] });
    expect(second).toEqual(first);
  });
});

describe("usage", () => {
  const COUNT = '"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12}';
  const text = `{${HEAD},"model":"up-1","choices":[{"index":0,"delta":{"content":"x"}}],"usage":null}`;
  const last = `{${HEAD},"model":"up-1","choices":[],${COUNT}}`;
  const shown = {
    ...H,
    model: ROUTE,
    choices: [],
    usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 },
  };

  test("who did not ask sees neither the count's chunk nor usage: null", () => {
    const out = write(format(), events(text, last));
    expect(out).toBe(`data: ${text.replace("up-1", ROUTE).replace(',"usage":null', "")}\n\n`);
  });

  test("who asked sees what the upstream sent, and no second count", () => {
    const target = format(true);
    const out = write(target, events(text, last)) + target.done(bill());
    expect(read(out)).toEqual([{ ...(JSON.parse(text) as Json), model: ROUTE }, shown, "[DONE]"]);
  });

  test("who asked gets the billed count when the upstream gave none", () => {
    const target = format(true);
    const out = write(target, events(text)) + target.done(bill());
    expect(read(out).slice(1)).toEqual([shown, "[DONE]"]);
  });

  test("a count beside choices is hidden or shown, the choices are kept", () => {
    const both = `{${HEAD},"model":"up-1","choices":[{"index":0,"delta":{"content":"x"}}],${COUNT}}`;
    const choices = [{ index: 0, delta: { content: "x" } }];
    expect(read(write(format(), events(both)))).toEqual([{ ...H, model: ROUTE, choices }]);
    expect(read(write(format(true), events(both)))).toEqual([{ ...shown, choices }]);
  });

  test("a count that the decoder knows and keeps for the end is not shown before it", () => {
    const early = { ...events(text)[0]!, usage: used(7, 5) };
    expect(read(format().event(early))).toEqual([{ ...H, model: ROUTE, choices: early.data["choices"] }]);
    const target = format(true);
    const out = target.event(early) + target.event(events(last)[0]!) + target.done(bill());
    expect(read(out).slice(1)).toEqual([shown, "[DONE]"]);
  });

  test("a count that cannot be believed does not satisfy who asked", () => {
    const target = format(true);
    const out = write(target, events(text.replace("null}", '{"prompt_tokens":-1}}'))) + target.done(bill());
    expect(read(out).at(-2)).toEqual(shown);
  });

  test("who asked with anything but true did not ask", () => {
    const call = readChat({ model: ROUTE, messages: [], stream: true, stream_options: { include_usage: "true" } });
    expect(chatFormat(call).stream.done(bill())).toBe("data: [DONE]\n\n");
  });
});

describe("endings, byte for byte", () => {
  test("heartbeat", () => {
    expect(format().heartbeat).toBe(": keep-alive\n\n");
  });

  test("failure", () => {
    expect(format().failure(streamBroken('it "broke"\nhere'))).toBe(
      'data: {"error":{"message":"it \\"broke\\"\\nhere","type":"api_error"}}\n\ndata: [DONE]\n\n',
    );
  });

  test("done", () => {
    expect(format().done(bill())).toBe("data: [DONE]\n\n");
  });

  test("killed", () => {
    expect(format(true).killed(bill())).toBe("data: [DONE]\n\n");
  });
});
