import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { assemble } from "../assemble.ts";
import { chatCall } from "../bedrock/support.ts";
import { answerOf, payloadsOf, recorded, recordedBytes } from "../recordings.ts";
import { codec, decode, stream } from "./support.ts";

interface Told {
  readonly choice: Json;
  readonly usage: Json;
}

/** What is billed: of "What is the capital of France?" 12 tokens, not the 507 that the model read. */
const counts = (prompt: number, completion: number): Json => ({ prompt, completion, cached: 0, reasoning: 0 });
const said = (content: string | null, more: Json = {}): Json => ({ role: "assistant", content, ...more });
const thought = (text: string): Json => ({
  reasoning_content: text,
  reasoning_details: [{ type: "reasoning.text", text }],
});

/** What the recordings say, read by hand. */
const STREAMS: Readonly<Record<string, Told>> = {
  "cohere-text": {
    choice: {
      index: 0,
      message: said("The capital of France is Paris."),
      finish_reason: "stop",
      native_finish_reason: "COMPLETE",
    },
    usage: counts(12, 7),
  },
  "cohere-reasoning": {
    choice: {
      index: 0,
      message: said(
        "The answer to 2 + 2 is 4.",
        thought(
          "The user is asking for the sum of 2 and 2. Since this is a straightforward arithmetic problem, I don't need to use any tools. I can calculate the answer directly.",
        ),
      ),
      finish_reason: "stop",
      native_finish_reason: "COMPLETE",
    },
    usage: counts(8, 50),
  },
  "cohere-empty-tool-call": {
    choice: {
      index: 0,
      message: said(null, {
        ...thought("I will use the currentTime tool to find the current time."),
        tool_calls: [
          { id: "currentTime_y46ar19t5gvw", type: "function", function: { name: "currentTime", arguments: "{}" } },
        ],
      }),
      finish_reason: "tool_calls",
      native_finish_reason: "TOOL_CALL",
    },
    usage: counts(46, 14),
  },
};

describe.skipIf(!recorded).each(Object.entries(STREAMS))("recorded stream %s", (name, { choice, usage }) => {
  const events = payloadsOf(`cohere/${name}`);
  const bytes = stream(...events);
  const whole = decode([bytes]);

  test("says what its lines say", () => {
    expect(whole).toMatchObject({ fault: null, done: true, complete: true });
    const chunks = whole.events.map(({ data }) => data);
    expect(assemble(chunks)).toEqual(choice);
    expect(whole.events.at(-1)!.usage).toEqual(usage);
    expect(whole.events.at(-1)!.data["choices"]).toEqual([]);
    expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set([events[0]!["id"]]));
    const roles = chunks.flatMap((chunk) =>
      (chunk["choices"] as readonly Json[]).map(({ delta }) => (delta as Json)["role"]),
    );
    expect(roles).toEqual(["assistant", ...roles.slice(1).map(() => undefined)]);
  });
});

/** The bodies; `cohere-tool-call` is hand-written after one. */
const BODIES: Readonly<Record<string, Told>> = {
  "cohere-text": {
    choice: {
      index: 0,
      message: said("The capital of France is Paris."),
      finish_reason: "stop",
      native_finish_reason: "COMPLETE",
    },
    usage: counts(12, 7),
  },
  "cohere-reasoning": {
    choice: {
      index: 0,
      message: said(
        "2 + 2 = 4",
        thought("Okay, so I need to figure out what 2 + 2 is. Let me start by recalling what addition means."),
      ),
      finish_reason: "stop",
      native_finish_reason: "COMPLETE",
    },
    usage: counts(8, 578),
  },
  "cohere-max-tokens": {
    choice: {
      index: 0,
      message: said("**The History of"),
      finish_reason: "length",
      native_finish_reason: "MAX_TOKENS",
    },
    usage: counts(11, 4),
  },
};

test.skipIf(!recorded).each(Object.entries(BODIES))("recorded body %s", (name, { choice, usage }) => {
  const { body, usage: counted } = codec.answer(recordedBytes(`cohere/${name}.json`), chatCall({}));
  expect(body["choices"]).toEqual([choice]);
  expect(body["id"]).toBe(answerOf(`cohere/${name}`)["id"]);
  expect(counted).toEqual(usage);
  const { prompt, completion, cached } = usage as Record<string, number>;
  expect(body["usage"]).toMatchObject({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt! + completion!,
    prompt_tokens_details: { cached_tokens: cached },
  });
});
