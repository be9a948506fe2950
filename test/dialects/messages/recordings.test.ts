import { describe, expect, test } from "vitest";
import { isJson, type Json, type StreamEvent } from "../../../src/kit/index.ts";
import { ANSWERS, answerOf, of, PAYLOADS, payloadsOf, recorded, WIRES } from "../recordings.ts";
import { assembled, CHAT, chat, decode, framed, list, MESSAGES } from "./support.ts";

const payloads = (text: string): readonly Json[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => JSON.parse(line.slice("data:".length)) as Json);

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** What the events say, read by hand. */
function plainly(events: readonly Json[]): Json {
  const deltas = events.map((event) => event["delta"]).filter(isJson);
  const join = (name: string): string => deltas.map((delta) => text(delta[name])).join("");
  const blocks = events.map((event) => event["content_block"]).filter(isJson);
  const usages = [
    events.map((event) => event["message"]).find(isJson)?.["usage"],
    ...events.map((event) => event["usage"]),
  ];
  const counts = Object.assign({}, ...usages.filter(isJson)) as Readonly<Record<string, number>>;
  const { cache_read_input_tokens: cached = 0, cache_creation_input_tokens: cacheWrite = 0 } = counts;
  return {
    content: join("text"),
    thought: join("thinking"),
    signature: join("signature"),
    input: join("partial_json"),
    tools: blocks.filter(({ type }) => type === "tool_use").map(({ id, name }) => ({ id, name })),
    stop: deltas.findLast((delta) => "stop_reason" in delta)?.["stop_reason"],
    usage: {
      prompt: counts["input_tokens"]! + cached + cacheWrite,
      completion: counts["output_tokens"],
      cached,
      reasoning: 0,
      ...(cacheWrite > 0 ? { cacheWrite } : {}),
    },
  };
}

/** The same of canonical chunks. */
function read(events: readonly StreamEvent[]): Json {
  const { message, choice } = assembled(events);
  const calls = list(message["tool_calls"]);
  const args = calls.map((call) => (isJson(call["function"]) ? text(call["function"]["arguments"]) : ""));
  return {
    content: text(message["content"]),
    thought: text(message["reasoning_content"]),
    signature: list(message["reasoning_details"])
      .map((detail) => text(detail["signature"]))
      .join(""),
    // Without arguments a call has those of an empty object.
    input: args.filter((each) => each !== "{}").join(""),
    tools: calls.map(({ id, function: called }) => ({ id, name: isJson(called) ? called["name"] : null })),
    stop: choice["native_finish_reason"],
    usage: events.findLast(({ usage }) => usage !== undefined)?.usage,
  };
}

const WHOLE = { fault: null, done: true, complete: true };

/** What a client of each kind reads of the bytes. */
function readings(bytes: Uint8Array): readonly unknown[] {
  return [CHAT, MESSAGES].map((call) => {
    const { events, ...ending } = decode([bytes], call);
    return { ...ending, said: read(events) };
  });
}

describe.skipIf(!recorded)("recorded streams", () => {
  test.each(of(PAYLOADS, "anthropic"))("%s", (name, { bytes }) => {
    const said = plainly(payloadsOf(name));
    expect(readings(bytes())).toEqual([
      { ...WHOLE, said },
      { ...WHOLE, said },
    ]);
  });

  test("what only the Messages format says reaches a client that speaks it", () => {
    const { events } = decode([framed(payloadsOf("anthropic/anthropic-clear-thinking.1"))], MESSAGES);
    const last = events.findLast(({ data }) => list(data["choices"]).length > 0);
    expect(last?.data["choices"]).toMatchObject([
      { delta: { native: { event: { type: "message_delta", context_management: { applied_edits: [] } } } } },
    ]);
  });
});

describe.skipIf(!recorded)("recorded wires", () => {
  test.each(of(WIRES, "anthropic"))("%s", (_, { bytes }) => {
    const said = plainly(payloads(new TextDecoder().decode(bytes())));
    expect(readings(bytes())).toEqual([
      { ...WHOLE, said },
      { ...WHOLE, said },
    ]);
  });

  test("a call that was cut off by the limit says so and is not mended", () => {
    const cut = WIRES.find(({ name }) => name === "incomplete_partial_json_response.txt")!;
    const { events } = decode([cut.bytes()], CHAT);
    const { message, choice } = assembled(events);
    expect(choice).toMatchObject({ finish_reason: "length" });
    const [call] = list(message["tool_calls"]);
    expect(
      () => JSON.parse(text(isJson(call?.["function"]) ? call["function"]["arguments"] : "{}")) as unknown,
    ).toThrow(SyntaxError);
  });
});

describe.skipIf(!recorded)("recorded bodies", () => {
  test.each(of(ANSWERS, "anthropic"))("%s", (name, { bytes }) => {
    const { body, usage } = chat.answer(bytes(), CHAT);
    const said = answerOf(name);
    const counts = said["usage"] as Readonly<Record<string, number>>;
    expect(usage).toMatchObject({ prompt: counts["input_tokens"], completion: counts["output_tokens"] });
    const [choice] = list(body["choices"]);
    const message = isJson(choice?.["message"]) ? choice["message"] : {};
    const blocks = list(said["content"]);
    const texts = blocks.map((block) => text(block["text"])).join("");
    expect(text(message["content"])).toBe(texts);
    expect(text(message["reasoning_content"])).toBe(blocks.map((block) => text(block["thinking"])).join(""));
    expect(list(message["tool_calls"]).map(({ id }) => id)).toEqual(
      blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id),
    );
    expect(choice).toMatchObject({ native_finish_reason: said["stop_reason"] });
  });
});
