import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RUNS } from "../../properties/runs.ts";
import { readChat } from "../../../src/dialects/chat/client.ts";
import { readResponses } from "../../../src/dialects/responses/client/request.ts";
import { responsesFormat } from "../../../src/dialects/responses/client/format.ts";
import type { Json } from "../../../src/kit/index.ts";
import { assemble } from "../assemble.ts";
import { BILL, chunks, essence, frames, request, stream, words } from "./client/support.ts";
import { decoded, framed, READERS, sent } from "./support.ts";

/** Texts with everything that JSON escapes, and characters of two units. */
const text = fc.string({ unit: fc.constantFrom("a", " ", "\n", '"', "\\", "é", "世", "🌍", "\u0000"), maxLength: 12 });
const said = text.filter((one) => one !== "");
const call = (type: string, name: string, field: string, written: fc.Arbitrary<string>): fc.Arbitrary<Json> =>
  written.map((input) => ({ type, name, [field]: input, status: "completed" }));

/** Items without ids, which hang on their places. */
const item: fc.Arbitrary<Json> = fc.oneof(
  fc.record({ phase: fc.constantFrom("commentary", "final_answer"), text: said }).map((one) => ({
    type: "message",
    role: "assistant",
    status: "completed",
    phase: one.phase,
    content: [{ type: "output_text", annotations: [], logprobs: [], text: one.text }],
  })),
  fc
    .record({ summary: fc.array(said, { maxLength: 2 }), sealed: fc.boolean() })
    .filter(({ summary, sealed }) => sealed || summary.length > 0)
    .map(({ summary, sealed }) => ({
      type: "reasoning",
      summary: summary.map((one) => ({ type: "summary_text", text: one })),
      ...(sealed && { encrypted_content: "gAAAA==" }),
    })),
  call("function_call", "add", "arguments", fc.json()),
  call("custom_tool_call", "sql", "input", text),
  fc.constant({ type: "web_search_call", status: "completed", action: { type: "search", query: "q" } }),
);
const PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  custom_tool_call: "ctc",
  web_search_call: "ws",
};
const output = fc.array(item, { minLength: 1, maxLength: 6 }).map((items) =>
  items.map((one, index) => ({
    ...one,
    id: `${PREFIXES[String(one["type"])]}_${index}`,
    ...(String(one["type"]).endsWith("tool_call") || one["type"] === "function_call"
      ? { call_id: `call_${index}` }
      : {}),
  })),
);

/** The deltas of an item: field and type of event by what the item is. */
function deltasOf(one: Json): readonly (readonly [type: string, text: string, at: Json])[] {
  switch (one["type"]) {
    case "message":
      return [["output_text", words((one["content"] as readonly Json[])[0]!["text"]), { content_index: 0 }]];
    case "reasoning":
      return (one["summary"] as readonly Json[]).map((part, index) => [
        "reasoning_summary_text",
        words(part["text"]),
        { summary_index: index },
      ]);
    case "function_call":
      return [["function_call_arguments", words(one["arguments"]), {}]];
    case "custom_tool_call":
      return [["custom_tool_call_input", words(one["input"]), {}]];
    default:
      return [];
  }
}

const EMPTY = { content: [], summary: [], arguments: "", input: "" };

/** The stream that a provider would have sent of the items, their texts in pieces of so many units. */
function eventsOf(items: readonly Json[], size: number, bare: boolean): readonly Json[] {
  const response = { id: "resp_1", object: "response", created_at: 5, status: "completed", output: items };
  const events: Json[] = [{ type: "response.created", response: { ...response, status: "in_progress", output: [] } }];
  for (const [output_index, one] of items.entries()) {
    const begun = Object.fromEntries(
      Object.entries(one).map(([name, value]) => [name, Object.hasOwn(EMPTY, name) ? EMPTY[name as "input"] : value]),
    );
    if (!bare) {
      events.push({ type: "response.output_item.added", output_index, item: { ...begun, status: "in_progress" } });
      for (const [type, whole, at] of deltasOf(one)) {
        const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, n) =>
          whole.slice(n * size, (n + 1) * size),
        );
        for (const delta of pieces) events.push({ type: `response.${type}.delta`, output_index, ...at, delta });
      }
    }
    events.push({ type: "response.output_item.done", output_index, item: one });
  }
  const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
  return [...events, { type: "response.completed", response: { ...response, usage } }];
}

const CHAT = readChat({
  model: "route/a",
  messages: [{ role: "user", content: "hi" }],
  tools: [{ type: "custom", custom: { name: "sql" } }],
  stream: true,
});
const NATIVE = readResponses(request({ stream: true, tools: [{ type: "custom", name: "sql" }] }));

test("any answer: streamed in any pieces, or told by whole items, it is the complete one", () => {
  fc.assert(
    fc.property(output, fc.integer({ min: 1, max: 5 }), fc.boolean(), (items, size, bare) => {
      const events = eventsOf(items, size, bare);
      const body = new TextEncoder().encode(JSON.stringify(events.at(-1)!["response"]));
      const whole = sent(CHAT).form!.answer(body, CHAT).body["choices"] as readonly Json[];
      const streamed = decoded(CHAT, [framed(events)]);
      const choice = assemble(streamed.events.map(({ data }) => data));
      const { content, ...message } = choice["message"] as Json;
      const { content: said, ...rest } = whole[0]!["message"] as Json;
      expect([message, content || null, choice["finish_reason"]]).toEqual([
        rest,
        said || null,
        whole[0]!["finish_reason"],
      ]);
    }),
    { numRuns: RUNS },
  );
});

test("any answer, to a client of the same format: the same items in the same order", () => {
  fc.assert(
    fc.property(output, fc.integer({ min: 1, max: 5 }), fc.boolean(), (items, size, bare) => {
      const { events } = decoded(NATIVE, [framed(eventsOf(items, size, bare))]);
      const format = responsesFormat(NATIVE).stream;
      const all = frames(events.map((event) => format.event(event)).join("") + format.done(BILL));
      const last = all.at(-1)!["response"] as Json;
      // Without arguments a function is called with none.
      expect(essence(last["output"])).toEqual(essence(items));
    }),
    { numRuns: RUNS },
  );
});

test("free text of a tool is told as it comes, whatever is in it and wherever it is cut", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 6 }), fc.constantFrom("", " "), (input, size, space) => {
      const args = `{${space}"input":${space}${JSON.stringify(input)}${space}}`;
      const pieces = Array.from({ length: Math.ceil(args.length / size) }, (_, n) =>
        args.slice(n * size, (n + 1) * size),
      );
      const deltas = [
        { tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "patch", arguments: "" } }] },
        ...pieces.map((piece) => ({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
      ];
      const all = frames(stream(chunks(deltas, "tool_calls"), { tools: [{ type: "custom", name: "patch" }] }));
      const told = all.filter(({ type }) => type === "response.custom_tool_call_input.delta");
      expect(told.map(({ delta }) => delta).join("")).toBe(input);
      expect(all.find(({ type }) => type === "response.custom_tool_call_input.done")!["input"]).toBe(input);
    }),
    { numRuns: RUNS },
  );
});

const detail = fc.oneof(
  fc.record({ type: fc.constant("reasoning.text"), text: said, signature: fc.constantFrom("sig", undefined) }),
  fc.record({
    type: fc.constant("reasoning.summary"),
    summary: said,
    id: fc.constantFrom("rs_1", "rs_2", undefined),
    format: fc.constantFrom("openai-responses-v1", "xai-responses-v1", undefined),
  }),
  fc.record({
    type: fc.constant("reasoning.encrypted"),
    data: fc.constantFrom("gAAAA==", "gemini1.h.AAAA"),
    id: fc.constantFrom("rs_1", "rs_2", undefined, "x".repeat(80)),
    format: fc.constantFrom("openai-responses-v1", "anthropic-claude-v1", undefined),
  }),
);
const turn = fc.oneof(
  fc.record({ role: fc.constantFrom("system", "user", "developer"), content: text }),
  fc.record({
    role: fc.constant("assistant"),
    content: fc.oneof(text, fc.constant(null)),
    reasoning_content: fc.constantFrom("hm", undefined),
    reasoning_details: fc.array(detail, { maxLength: 4 }),
    tool_calls: fc.array(
      fc.record({
        id: fc.constantFrom("call_1", `call_2__ts1_${"a".repeat(90)}`, "c".repeat(99)),
        type: fc.constant("function"),
        function: fc.record({ name: fc.constantFrom("f", `mcp__${"x".repeat(80)}`), arguments: fc.json() }),
        extra_content: fc.constantFrom({ google: { thought_signature: "AAAA" } }, undefined),
      }),
      { maxLength: 2 },
    ),
    block_order: fc.constantFrom(["tool_call", "reasoning", "content"], undefined),
  }),
);

test("any history: what is sent keeps to the rules of the API", () => {
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 40 }), (messages, most) => {
      const { body } = sent(READERS.chat({ model: "route/a", messages, max_tokens: most }), "gpt-5.1");
      const input = body["input"] as readonly Json[];
      expect(body["max_output_tokens"]).toBeGreaterThanOrEqual(16);
      for (const [index, one] of input.entries()) {
        expect(words(one["id"]).length).toBeLessThanOrEqual(64);
        expect(words(one["call_id"]).length).toBeLessThanOrEqual(64);
        expect(words(one["name"]).length).toBeLessThanOrEqual(64);
        if (one["type"] !== "reasoning") continue;
        expect(one["encrypted_content"]).toBeTypeOf("string");
        const next = input.slice(index + 1).find(({ type }) => type !== "reasoning");
        expect(next?.["role"] ?? next?.["type"]).toMatch(/^(?:assistant|function_call)$/);
      }
      expect(JSON.stringify(body)).not.toMatch(/block_order|extra_content|reasoning_|__ts1_|xai-|anthropic-/);
    }),
    { numRuns: RUNS },
  );
});
