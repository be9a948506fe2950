import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RUNS } from "../../properties/runs.ts";
import { chat } from "../../../src/dialects/chat/index.ts";
import { isJson, type Json, type StreamEvent } from "../../../src/kit/index.ts";
import { expectCanonical, objects } from "./rules.ts";
import { cutAt, cuts, decode } from "../decode.ts";

interface Answer {
  readonly reasoning: string;
  readonly content: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly args: string }[];
}

/** How one upstream departs from OpenAI's streams; all of it together is one of the worst. */
interface Defects {
  readonly role: "first" | "always" | "never" | "null";
  readonly finish: "own" | "stop" | "none";
  readonly index: "dense" | "from1" | "same" | "none";
  readonly ids: "first" | "empty" | "always";
  readonly type: "first" | "always" | "never";
  readonly name: "first" | "empty" | "always";
  readonly reasoning: "reasoning_content" | "reasoning" | "parts";
  readonly nulls: boolean;
  readonly object: boolean;
  readonly usage: "end" | "last" | "always" | "groq" | "none";
  readonly azure: boolean;
}

const text = fc.string({ unit: "grapheme", maxLength: 12 });
const answers: fc.Arbitrary<Answer> = fc.record({
  reasoning: text,
  content: text,
  calls: fc
    .uniqueArray(fc.string({ unit: fc.constantFrom("a", "b", "1"), minLength: 1, maxLength: 8 }), { maxLength: 3 })
    .chain((ids) =>
      fc.tuple(
        ...ids.map((id) =>
          fc.record({
            id: fc.constant(`call_${id}`),
            name: fc.constantFrom("weather", "time"),
            args: fc.dictionary(text, text, { maxKeys: 2 }).map((args) => JSON.stringify(args)),
          }),
        ),
      ),
    ),
});
const defects: fc.Arbitrary<Defects> = fc.record({
  role: fc.constantFrom("first", "always", "never", "null"),
  finish: fc.constantFrom("own", "stop", "none"),
  index: fc.constantFrom("dense", "from1", "same", "none"),
  ids: fc.constantFrom("first", "empty", "always"),
  type: fc.constantFrom("first", "always", "never"),
  name: fc.constantFrom("first", "empty", "always"),
  reasoning: fc.constantFrom("reasoning_content", "reasoning", "parts"),
  nulls: fc.boolean(),
  object: fc.boolean(),
  usage: fc.constantFrom("end", "last", "always", "groq", "none"),
  azure: fc.boolean(),
});

const USAGE = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 };
const HEAD = { id: "chatcmpl-7", created: 1_768_478_400, model: "up-1" };

/** The value in the first piece, elsewhere what the upstream does there. */
function where<Value>(
  how: "first" | "always" | "never" | "empty",
  first: boolean,
  value: Value,
): Value | "" | undefined {
  if (how === "always" || (first && how !== "never")) return value;
  return how === "empty" ? "" : undefined;
}

function thought(piece: string, { reasoning }: Defects): Json {
  return reasoning === "parts"
    ? { content: [{ type: "thinking", thinking: [{ type: "text", text: piece }] }] }
    : { [reasoning]: piece };
}

function* deltas({ reasoning, content, calls }: Answer, how: Defects): Generator<Json> {
  for (const piece of [reasoning.slice(0, 3), reasoning.slice(3)]) if (piece !== "") yield thought(piece, how);
  for (const piece of [content.slice(0, 2), content.slice(2)]) if (piece !== "") yield { content: piece };
  for (const [position, { id, name, args }] of calls.entries()) {
    for (const [at, piece] of ["", args.slice(0, 4), args.slice(4)].entries()) {
      const index = { dense: position, from1: position + 1, same: 0, none: undefined }[how.index];
      yield {
        tool_calls: [
          {
            index,
            id: where(how.ids, at === 0, id),
            type: where(how.type, at === 0, "function"),
            function: { name: where(how.name, at === 0, name), arguments: piece },
          },
        ],
      };
    }
  }
}

function streamOf(answer: Answer, how: Defects): Uint8Array {
  const chunks: Json[] = [];
  const object = how.object ? { object: "chat.completion.chunk" } : {};
  const own = answer.calls.length > 0 && how.finish !== "stop" ? "tool_calls" : "stop";
  const all = [{ content: "" }, ...deltas(answer, how), {}];
  for (const [position, delta] of all.entries()) {
    const last = position === all.length - 1;
    const role = where(how.role === "null" ? "first" : how.role, position === 0, "assistant");
    const none = how.nulls ? { role: null, content: null, reasoning_content: null, tool_calls: null } : {};
    const named = role === undefined ? (how.role === "null" ? { role: null } : {}) : { role };
    const counted = how.usage === "always" || (how.usage === "last" && last) ? { usage: USAGE } : {};
    const groq = how.usage === "groq" && last ? { x_groq: { id: "r", usage: USAGE } } : {};
    const finish_reason = last && how.finish !== "none" ? own : null;
    const choices = [{ index: 0, delta: { ...none, ...named, ...delta }, finish_reason }];
    chunks.push({ ...HEAD, ...object, choices, ...counted, ...groq });
  }
  if (how.azure) chunks.unshift({ id: "", created: 0, model: "", choices: [], prompt_filter_results: [] });
  if (how.usage === "end") chunks.push({ ...HEAD, ...object, choices: [], usage: USAGE });
  const frames = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  return new TextEncoder().encode(`${frames}data: [DONE]\n\n`);
}

/** What a client puts together, the fields that are not there left out. */
function assembled(events: readonly StreamEvent[]): Json {
  const message: { reasoning: string; content: string; calls: { id: unknown; name: unknown; args: string }[] } = {
    reasoning: "",
    content: "",
    calls: [],
  };
  let finish: unknown = null;
  for (const choice of events.flatMap(({ data }) => objects(data["choices"]))) {
    finish = choice["finish_reason"] ?? finish;
    if (!isJson(choice["delta"])) continue;
    const { content, reasoning_content: reasoning, tool_calls } = choice["delta"];
    if (typeof content === "string") message.content += content;
    if (typeof reasoning === "string") message.reasoning += reasoning;
    for (const { index, id, function: called } of objects(tool_calls)) {
      if (!isJson(called)) continue;
      const call = (message.calls[Number(index)] ??= { id, name: called["name"], args: "" });
      call.args += String(called["arguments"]);
    }
  }
  return { ...message, finish };
}

/** Without indexes or ids in every delta of a call, nobody can tell two calls apart that are named each time. */
function tellsCallsApart({ index, ids, name }: Defects): boolean {
  return !(index === "none" && name === "always" && ids !== "always");
}

test("whatever defects an upstream has, its stream is canonical and says the same", () => {
  fc.assert(
    fc.property(answers, defects.filter(tellsCallsApart), (answer, how) => {
      const { events, fault, complete } = decode([streamOf(answer, how)]);
      expect([fault, complete]).toEqual([null, true]);
      expectCanonical(events);
      const finish = answer.calls.length > 0 ? "tool_calls" : "stop";
      expect(assembled(events)).toEqual({ ...answer, finish });
      const used = events.at(-1)?.usage;
      expect(used).toEqual(how.usage === "none" ? undefined : { prompt: 9, completion: 5, cached: 0, reasoning: 0 });
    }),
    { numRuns: RUNS },
  );
});

test("and the same however the reads split it", () => {
  const split = fc
    .tuple(answers, defects)
    .map(([answer, how]) => streamOf(answer, how))
    .chain((bytes) => fc.tuple(fc.constant(bytes), cuts(bytes)));
  fc.assert(
    fc.property(split, ([bytes, places]) => {
      expect(isDeepStrictEqual(decode(cutAt(bytes, places)), decode([bytes]))).toBe(true);
    }),
  );
});

test("a stream says what the complete answer of the same content says", () => {
  fc.assert(
    fc.property(answers, defects.filter(tellsCallsApart), ({ reasoning, content, calls }, how) => {
      const tool_calls = calls.map(({ id, name, args }) => ({ id, function: { name, arguments: args } }));
      const message = { content, reasoning, tool_calls };
      const bytes = new TextEncoder().encode(
        JSON.stringify({ ...HEAD, choices: [{ message, finish_reason: "stop" }] }),
      );
      const [choice] = objects(chat.answer(bytes).body["choices"]);
      const whole = [{ data: { choices: [{ ...choice, delta: numbered(choice?.["message"]) }] }, text: "" }];
      const { events } = decode([streamOf({ reasoning, content, calls }, how)]);
      expect(assembled(events)).toEqual(assembled(whole));
    }),
  );
});

/** A message as one delta. */
function numbered(message: unknown): Json {
  if (!isJson(message)) return {};
  return { ...message, tool_calls: objects(message["tool_calls"]).map((call, index) => ({ ...call, index })) };
}

test("OpenAI's own stream keeps its text in every chunk", () => {
  const plain: Defects = {
    role: "first",
    finish: "own",
    index: "dense",
    ids: "first",
    type: "first",
    name: "first",
    reasoning: "reasoning_content",
    nulls: false,
    object: true,
    usage: "end",
    azure: false,
  };
  fc.assert(
    fc.property(answers, (answer) => {
      const { events } = decode([streamOf(answer, plain)]);
      expect(events.every(({ raw }) => raw !== undefined)).toBe(true);
    }),
  );
});

test("anything may be in a chunk: it is read or refused, never thrown", () => {
  const value = fc.oneof({ depthSize: "small" }, fc.jsonValue(), fc.constantFrom("", null, "stop", 0, [], {}));
  const call = fc.record(
    { index: value, id: value, type: value, function: fc.oneof(value, fc.record({ name: value, arguments: value })) },
    { requiredKeys: [] },
  );
  const delta = fc.record(
    {
      role: value,
      content: value,
      reasoning: value,
      reasoning_content: value,
      tool_calls: fc.oneof(value, fc.array(call)),
    },
    { requiredKeys: [] },
  );
  const choice = fc.record({ index: value, delta: fc.oneof(value, delta), finish_reason: value }, { requiredKeys: [] });
  const chunk = fc.record(
    {
      id: value,
      created: value,
      object: value,
      choices: fc.oneof(value, fc.array(choice)),
      usage: value,
      x_groq: value,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 6 }), (chunks) => {
      const frames = chunks.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
      const { events, fault, done } = decode([new TextEncoder().encode(`${frames}data: [DONE]\n\n`)]);
      expectCanonical(events, false);
      expect(done).toBe(fault === null);
    }),
    { numRuns: RUNS },
  );
});

const frames = (count: number, delta: (at: number) => Json, index?: (at: number) => number): Uint8Array => {
  const lines = Array.from({ length: count }, (_, at) => {
    const choices = [{ index: index?.(at) ?? 0, delta: delta(at), finish_reason: null }];
    return `data: ${JSON.stringify({ ...HEAD, object: "chat.completion.chunk", choices })}\n\n`;
  });
  return new TextEncoder().encode(lines.join(""));
};

describe("what is kept of a stream is bounded", () => {
  test.each<readonly [string, Uint8Array]>([
    [
      "more choices than can be asked for",
      frames(
        300,
        () => ({ role: "assistant", content: "a" }),
        (at) => at,
      ),
    ],
    [
      "more tool calls than can be answered",
      frames(1100, (at) => ({
        role: "assistant",
        tool_calls: [{ index: at, id: `c${at}`, type: "function", function: { name: "f", arguments: "{}" } }],
      })),
    ],
    [
      "a tool call without a name",
      frames(30, () => ({
        role: "assistant",
        tool_calls: [{ index: 0, function: { arguments: "x".repeat(50_000) } }],
      })),
    ],
  ])("%s", (what, bytes) => {
    expect(decode([bytes]).fault).toEqual({ failure: "protocol", message: `upstream sent ${what}` });
  });
});
