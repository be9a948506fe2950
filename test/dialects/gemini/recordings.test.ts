import { describe, expect, test } from "vitest";
import { readError, refusalClass } from "../../../src/dialects/canonical/errors.ts";
import { readEmbedding } from "../../../src/dialects/endpoints/embedding.ts";
import { embedding, vertexEmbedding } from "../../../src/dialects/gemini/embedding.ts";
import { errorMessage } from "../../../src/dialects/canonical/errors.ts";
import { chat } from "../../../src/dialects/gemini/index.ts";
import type { Json } from "../../../src/kit/index.ts";
import { linesOf, recorded as available, recordedBytes } from "../recordings.ts";
import { callOf, decode, list, reassemble, send, words } from "./support.ts";

interface Recorded {
  readonly name: string;
  readonly text: string;
  readonly calls: readonly (readonly [name: string, args: unknown])[];
  readonly finish: string;
  /** Prompt, completion and reasoning, by hand from the recording. */
  readonly stream: readonly [number, number, number];
  readonly body: readonly [number, number, number];
}

const WEATHER = [["weather", { location: "San Francisco" }]] as const;
const RECORDED: readonly Recorded[] = [
  {
    name: "google-text",
    text: "There are **3**",
    calls: [],
    finish: "stop",
    stream: [9, 208, 185],
    body: [9, 272, 244],
  },
  {
    name: "google-reasoning",
    text: "There are **3**",
    calls: [],
    finish: "stop",
    stream: [9, 285, 256],
    body: [9, 311, 282],
  },
  {
    name: "google-reasoning-gemini3",
    text: "There are **3**",
    calls: [],
    finish: "stop",
    stream: [9, 325, 302],
    body: [9, 287, 258],
  },
  {
    name: "google-tool-call",
    text: "",
    calls: WEATHER,
    finish: "tool_calls",
    stream: [29, 60, 45],
    body: [29, 908, 893],
  },
  {
    name: "google-tool-call-gemini3",
    text: "",
    calls: WEATHER,
    finish: "tool_calls",
    stream: [29, 819, 804],
    body: [29, 1816, 1801],
  },
];

function callsOf(message: Json): unknown {
  return list(message["tool_calls"]).map(({ function: called }) => {
    const { name, arguments: args } = called as { name: string; arguments: string };
    return [name, JSON.parse(args)];
  });
}

/** The one signature of a recording, as it stands there. */
function signatureOf(text: string): string {
  return /"thoughtSignature": ?"([^"]+)"/.exec(text)![1]!;
}

/** The parts in which the assistant's message goes back to Gemini. */
function returned(message: unknown): readonly Json[] {
  const messages = [{ role: "user", content: "q" }, message, { role: "user", content: "and?" }];
  const { body, dropped } = send(callOf({ messages }), "gemini-3-pro-preview");
  expect(dropped).toEqual([]);
  return list(list(body["contents"])[1]?.["parts"]);
}

describe.skipIf(!available)("recorded", () => {
  describe.each(RECORDED)("$name", (recorded) => {
    const lines = linesOf(`google/${recorded.name}`);

    test.each(["\n", "\r\n"])("stream, lines ending in %j", (newline) => {
      const body = new TextEncoder().encode(lines.map((line) => `data: ${line}${newline}${newline}`).join(""));
      const whole = decode([body]);
      expect(whole).toMatchObject({ fault: null, done: false, complete: true });
      const { choices, usage } = reassemble(whole.events);
      const [choice] = list(choices);
      const message = choice!["message"] as Json;
      expect(words(message["content"])).toContain(recorded.text);
      expect(callsOf(message)).toEqual(recorded.calls);
      expect(choice).toMatchObject({ finish_reason: recorded.finish, native_finish_reason: "STOP" });
      const [prompt, completion, reasoning] = recorded.stream;
      expect(usage).toEqual({
        prompt_tokens: prompt,
        completion_tokens: completion,
        total_tokens: prompt + completion,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: reasoning },
      });
      expect(whole.events.at(-1)).toMatchObject({
        data: { choices: [] },
        usage: { prompt, completion, cached: 0, reasoning },
      });
      const produced = whole.events.map(({ text }) => text).join("");
      expect(produced).toBe(
        `${words(message["content"])}${recorded.calls.map(([name, args]) => name + JSON.stringify(args)).join("")}`,
      );
      // Every event of a stream has one head.
      expect(
        new Set(whole.events.map(({ data }) => JSON.stringify([data["id"], data["model"], data["object"]]))).size,
      ).toBe(1);
    });

    test("body", () => {
      const { body, usage } = chat.answer(recordedBytes(`google/${recorded.name}.json`), callOf());
      const [choice] = list(body["choices"]);
      const message = choice!["message"] as Json;
      expect(callsOf(message)).toEqual(recorded.calls);
      expect(choice).toMatchObject({ index: 0, finish_reason: recorded.finish, native_finish_reason: "STOP" });
      expect(words(message["content"])).toContain(recorded.text);
      expect(message["content"] === null).toBe(recorded.text === "");
      const [prompt, completion, reasoning] = recorded.body;
      expect(usage).toEqual({ prompt, completion, cached: 0, reasoning });
    });

    test("its signature goes back where it was found, from a stream and from a body", () => {
      const streamed = list(
        reassemble(decode([new TextEncoder().encode(lines.map((line) => `data: ${line}\n\n`).join(""))]).events)[
          "choices"
        ],
      );
      const text = new TextDecoder().decode(recordedBytes(`google/${recorded.name}.json`));
      const complete = list(chat.answer(new TextEncoder().encode(text), callOf()).body["choices"]);
      for (const [choices, source] of [
        [streamed, lines.join("\n")],
        [complete, text],
      ] as const) {
        const signed = returned(choices[0]!["message"]).filter((part) => part["thoughtSignature"] !== undefined);
        expect(signed.map((part) => part["thoughtSignature"])).toEqual([signatureOf(source)]);
        expect(signed[0]!["functionCall"] !== undefined).toBe(recorded.calls.length > 0);
      }
    });
  });

  test("a 429 says when in its body", () => {
    const body = recordedBytes("google/google-429-retry-info.json");
    expect(readError(body).retryAfter).toBe(34_400);
    expect(errorMessage(body)).toBe("You exceeded your current quota, please check your plan.");
    expect(refusalClass({ dialect: "gemini", status: 429, error: readError(body) })).toBe("rate_limited");
  });

  test("Vertex's form of embeddings is not this API's", () => {
    const body = recordedBytes("google-vertex/google-vertex-embedding.json");
    expect(() => embedding.answer(body, readEmbedding({ model: "m", input: ["a", "b"] }))).toThrow(
      "without embeddings",
    );
  });

  test("Vertex's form of embeddings is Vertex's", () => {
    const bytes = recordedBytes("google-vertex/google-vertex-embedding.json");
    const { predictions } = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, Json[]>;
    const input = predictions!.map((_, index) => `text ${index}`);
    const { body, usage } = vertexEmbedding.answer(bytes, readEmbedding({ model: "m", input }));
    const embeddings = predictions!.map((one) => one["embeddings"] as Json);
    expect((body["data"] as Json[]).map(({ embedding: vector }) => vector)).toEqual(
      embeddings.map(({ values }) => values),
    );
    const counts = embeddings.map(({ statistics }) => (statistics as Record<string, number>)["token_count"]!);
    expect(usage?.prompt).toBe(counts.reduce((sum, count) => sum + count, 0));
  });
});
