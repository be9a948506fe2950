import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bedrock } from "../../../src/dialects/bedrock/index.ts";
import { NO_ERROR_BODY, refusalClass } from "../../../src/dialects/canonical/errors.ts";
import type { Json } from "../../../src/kit/index.ts";
import { RUNS } from "../../properties/runs.ts";
import { assemble } from "../assemble.ts";
import { chatCall, codec, decode, outcome, OUTCOMES, stream, write } from "./support.ts";

const bytes = (body: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(body));

function converse(content: unknown, stopReason: unknown = "end_turn", more: Json = {}): Json {
  return {
    output: { message: { role: "assistant", content } },
    stopReason,
    usage: { inputTokens: 3, outputTokens: 2 },
    ...more,
  };
}

function choice(body: Json): Json {
  return (codec.answer(bytes(body), chatCall({})).body["choices"] as readonly Json[])[0]!;
}

describe("complete answers", () => {
  test("texts, calls and cited text", () => {
    const cited = {
      citationsContent: {
        content: [{ text: "b" }],
        citations: [{ title: "t", location: { web: { url: "https://a" } } }],
      },
    };
    expect(
      choice(converse([{ text: "a" }, cited, { toolUse: { toolUseId: "t", name: "n", input: { x: 1 } } }], "tool_use")),
    ).toEqual({
      index: 0,
      message: {
        role: "assistant",
        content: "ab",
        tool_calls: [{ id: "t", type: "function", function: { name: "n", arguments: '{"x":1}' } }],
        annotations: [
          { type: "url_citation", url_citation: { url: "https://a", title: "t", start_index: 1, end_index: 2 } },
        ],
      },
      finish_reason: "tool_calls",
      native_finish_reason: "tool_use",
    });
  });

  test("a call without input has an empty object, and no content", () => {
    expect(choice(converse([{ toolUse: { toolUseId: "t", name: "n" } }]))).toMatchObject({
      message: { content: null, tool_calls: [{ function: { arguments: "{}" } }] },
      finish_reason: "tool_calls",
    });
  });

  test("reasoning between other blocks: the order is kept", () => {
    const thought = { reasoningContent: { reasoningText: { text: "h", signature: "s" } } };
    expect(choice(converse([thought, { text: "a" }, { text: "b" }, thought, { text: "c" }]))["message"]).toMatchObject({
      content: "abc",
      reasoning_content: "hh",
      block_order: ["reasoning", "content", "reasoning", "content"],
    });
  });

  test("the stop sequence is told", () => {
    const more = { additionalModelResponseFields: { stop_sequence: "END" } };
    expect(choice(converse([{ text: "a" }], "stop_sequence", more))).toMatchObject({ stop_sequence: "END" });
  });

  test("unknown blocks are passed over, an empty answer is one", () => {
    expect(choice(converse([{ hologram: {} }]))).toMatchObject({ message: { role: "assistant", content: "" } });
  });

  test("without a usable count there is none", () => {
    const { body, usage } = codec.answer(
      bytes({ ...converse([{ text: "a" }]), usage: { inputTokens: -1 } }),
      chatCall({}),
    );
    expect(usage).toBeNull();
    expect(body).not.toHaveProperty("usage");
  });

  test.each([
    ["no JSON", "<html>"],
    ["no output", {}],
    ["no message", { output: {} }],
    ["no content", { output: { message: {} }, stopReason: "end_turn" }],
    ["no stop reason", { output: { message: { content: [] } } }],
    ["output that the model garbled", converse([], "malformed_model_output")],
    ["a call that the model garbled", converse([], "malformed_tool_use")],
    ["a block that is none", converse(["a"])],
    ["a text that is none", converse([{ text: 1 }])],
    ["reasoning without text", converse([{ reasoningContent: {} }])],
    ["a call without an id", converse([{ toolUse: { name: "a", input: {} } }])],
    ["input that is none", converse([{ toolUse: { toolUseId: "a", name: "a", input: "x" } }])],
  ])("%s is a breach of the protocol", (_, body) => {
    expect(() => codec.answer(bytes(body), chatCall({}))).toThrow(expect.objectContaining({ failure: "protocol" }));
  });

  test("whatever comes is an answer or a failure of the upstream", () => {
    const block = fc.record(
      {
        text: fc.oneof(fc.string(), fc.jsonValue()),
        toolUse: fc.oneof(
          fc.record({ toolUseId: fc.constant("a"), name: fc.constant("b"), input: fc.jsonValue() }),
          fc.jsonValue(),
        ),
        reasoningContent: fc.oneof(fc.record({ reasoningText: fc.jsonValue() }), fc.jsonValue()),
        citationsContent: fc.oneof(fc.record({ content: fc.jsonValue(), citations: fc.jsonValue() }), fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record({
        output: fc.record({ message: fc.record({ content: fc.oneof(fc.array(block), fc.jsonValue()) }) }),
        stopReason: fc.oneof(fc.constantFrom("end_turn", "tool_use", "toString"), fc.jsonValue()),
        usage: fc.jsonValue(),
        additionalModelResponseFields: fc.jsonValue(),
      }),
    );
    fc.assert(
      fc.property(body, (given) => {
        expect(outcome(() => codec.answer(bytes(given), chatCall({})))).toMatch(OUTCOMES);
      }),
      { numRuns: RUNS },
    );
  });
});

/** The blocks of an answer as Converse gives them whole, and as it streams them. */
const wordy = fc.string({ minLength: 1, maxLength: 40, unit: "grapheme" });
const blockArbitrary = fc.oneof(
  wordy.map((text): Json => ({ text })),
  fc
    .record({ text: wordy, signature: fc.base64String({ minLength: 4 }) })
    .map((reasoningText): Json => ({ reasoningContent: { reasoningText } })),
  fc.base64String({ minLength: 4 }).map((redactedContent): Json => ({ reasoningContent: { redactedContent } })),
  fc
    .record({ name: fc.constantFrom("find", "run"), input: fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }) })
    .map((toolUse): Json => ({ toolUse })),
);
const blocksArbitrary = fc
  .array(blockArbitrary, { maxLength: 6 })
  // Each call has an id of its own.
  .map((blocks) =>
    blocks.map((block, index) =>
      "toolUse" in block ? { toolUse: { toolUseId: `t${index}`, ...(block["toolUse"] as Json) } } : block,
    ),
  );

function halves(words: string): readonly [string, string] {
  const at = Math.floor(words.length / 2);
  return [words.slice(0, at), words.slice(at)];
}

function streamed(blocks: readonly Json[]): readonly Json[] {
  return blocks.flatMap((block, contentBlockIndex) => {
    const delta = (delta: Json): Json => ({ contentBlockDelta: { contentBlockIndex, delta } });
    const stop = { contentBlockStop: { contentBlockIndex } };
    if (typeof block["text"] === "string") return [...halves(block["text"]).map((text) => delta({ text })), stop];
    if (block["toolUse"]) {
      const { input, ...toolUse } = block["toolUse"] as Json;
      const pieces = halves(JSON.stringify(input)).map((piece) => delta({ toolUse: { input: piece } }));
      return [{ contentBlockStart: { contentBlockIndex, start: { toolUse } } }, ...pieces, stop];
    }
    const { reasoningText, redactedContent } = block["reasoningContent"] as Record<string, Json>;
    if (redactedContent) return [delta({ reasoningContent: { redactedContent } }), stop];
    const { text, signature } = reasoningText as Record<string, string>;
    const pieces = halves(text!).map((piece) => delta({ reasoningContent: { text: piece } }));
    return [...pieces, delta({ reasoningContent: { signature } }), stop];
  });
}

/** A whole answer's choice without what only whole answers can say. */
function comparable(whole: Json): Json {
  const { block_order: _order, ...message } = whole["message"] as Json;
  return { ...whole, message };
}

test("a streamed answer is the whole answer of the same content", () => {
  fc.assert(
    fc.property(blocksArbitrary, fc.constantFrom("end_turn", "max_tokens"), (blocks, reason) => {
      const events = [
        { messageStart: { role: "assistant" } },
        ...streamed(blocks),
        { messageStop: { stopReason: reason } },
      ];
      const chunks = decode([stream(...events)]).events.map(({ data }) => data);
      expect(assemble(chunks)).toEqual(comparable(choice(converse(blocks, reason))));
    }),
  );
});

/** Without texts that directly follow another. */
function joined(blocks: readonly Json[]): readonly Json[] {
  return blocks.filter((block, index) => !("text" in block && blocks[index - 1] && "text" in blocks[index - 1]!));
}

function visible(block: Json): boolean {
  return typeof block["text"] !== "string" || block["text"].trim() !== "";
}

test("an answer that comes back as history is what the model wrote", () => {
  fc.assert(
    fc.property(blocksArbitrary, (given) => {
      const blocks = joined(given.filter(visible));
      // Texts are one in the canonical message: with several the places between them are lost.
      fc.pre(blocks.filter((block) => "text" in block).length < 2);
      // Claude takes no thought back that nothing follows.
      fc.pre(blocks.length > 0 && !("reasoningContent" in blocks.at(-1)!));
      const { message } = choice(converse(blocks)) as { readonly message: Json };
      const calls = (message["tool_calls"] ?? []) as readonly Json[];
      const results = calls.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "r" }));
      const asked = { role: "user", content: "q" };
      const { body, dropped } = write(chatCall({ messages: [asked, message, ...results, asked] }));
      expect(dropped).toEqual([]);
      expect((body["messages"] as readonly Json[])[1]).toEqual({ role: "assistant", content: blocks });
    }),
  );
});

describe("refusals", () => {
  test.each([
    [{ message: "The model is not there" }, "The model is not there"],
    [{ Message: "User: arn:aws:iam::1:user/x is not authorized" }, "User: arn:aws:iam::1:user/x is not authorized"],
    [{ __type: "x" }, ""],
    ["<html>", ""],
  ])("%j", (body, said) => {
    expect(bedrock.errorMessage(bytes(body))).toBe(said);
  });

  test.each([
    ["ValidationException:http://internal.amazon.com/coral/com.amazon.bedrock/", "client_fault"],
    ["ThrottlingException", "rate_limited"],
    ["ServiceQuotaExceededException", "rate_limited"],
    ["ModelNotReadyException", "rate_limited"],
    ["ModelTimeoutException", "timeout"],
    ["ModelErrorException", "status"],
    ["AccessDeniedException", "credentials"],
    ["NeverHeardOfException", "status"],
  ])("the header x-amzn-errortype: %s is %s", (type, failure) => {
    const code = bedrock.codeOf!({ "x-amzn-errortype": type });
    const error = { ...NO_ERROR_BODY, codes: [code] };
    expect(refusalClass({ dialect: "bedrock", status: 400, error })).toBe(failure);
  });
});

test("a probe asks for what is never billed", () => {
  const get = { method: "GET", path: "/async-invoke?maxResults=1", body: null };
  expect(bedrock.probe("k")).toEqual({ ...get, headers: { authorization: "Bearer k", accept: "application/json" } });
  expect(bedrock.probe("AKID:secret")).toEqual({ ...get, headers: { accept: "application/json" } });
  expect(bedrock.probe("").headers).toEqual({ accept: "application/json" });
});
