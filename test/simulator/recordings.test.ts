import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../src/simulator/server.ts";
import { sharedFixtures } from "../support/shared.ts";
import { call, placesOf, form, type Sent } from "./support.ts";

const folder = sharedFixtures("vercel-ai");
let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const linesOf = (file: string) =>
  readFileSync(join(folder ?? "", `${file}.chunks.txt`), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line) as object);
const bodyOf = (file: string) => [JSON.parse(readFileSync(join(folder ?? "", `${file}.json`), "utf8")) as object];
const sse = (text: string) =>
  [...text.matchAll(/^data: (\{.*\})\r?$/gm)].map(([, data = ""]) => JSON.parse(data) as object);
const whole = (text: string) => [JSON.parse(text) as object];

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const anthropic = { headers: { "anthropic-version": "2023-06-01" } };
const messages = [{ role: "user", content: "hi" }];
const use = [{ role: "user", content: "get_weather" }];
const weather = { name: "get_weather" };
const generate = (text: string, more: object = {}) => ({ contents: [{ parts: [{ text }] }], ...more });

/** Contents that a client or a model makes up. */
const FREE = new Set([
  "candidates[].content.parts[].functionCall.args",
  "content[].input",
  "output.message.content[].toolUse.input",
  "metadata.model_info",
]);

interface Row {
  readonly path: string;
  readonly sent: () => Promise<Sent>;
  readonly read: (text: string) => readonly object[];
  readonly recorded: () => readonly object[];
  /** Documented and in no recording. */
  readonly beyond?: readonly string[];
}
const json =
  (body: object, more: Sent = {}) =>
  () =>
    Promise.resolve({ ...more, body });

const ROWS: Record<string, Row> = {
  "Anthropic's streams": {
    path: "/v1/messages",
    sent: json({ model: "reason", max_tokens: 99, messages, stream: true }, anthropic),
    read: sse,
    recorded: () => ["anthropic-clear-thinking.1", "anthropic-text"].flatMap((file) => linesOf(`anthropic/${file}`)),
    beyond: ["usage.cache_creation", "usage.output_tokens_details", "usage.service_tier"],
  },
  "Anthropic's calls in streams": {
    path: "/v1/messages",
    sent: json(
      { model: "m", max_tokens: 99, messages: use, tools: [{ ...weather, input_schema: parameters }], stream: true },
      anthropic,
    ),
    read: sse,
    recorded: () => linesOf("anthropic/anthropic-tool-no-args"),
    beyond: ["usage.cache_creation", "usage.service_tier"],
  },
  "Anthropic's bodies": {
    path: "/v1/messages",
    sent: json(
      { model: "reason", max_tokens: 99, messages: use, tools: [{ ...weather, input_schema: parameters }] },
      anthropic,
    ),
    read: whole,
    recorded: () =>
      ["anthropic-clear-thinking.1", "anthropic-tool-no-args"].flatMap((file) => bodyOf(`anthropic/${file}`)),
    beyond: ["usage.output_tokens_details"],
  },
  "Gemini's streams": {
    path: "/v1beta/models/gemini-3-x:streamGenerateContent?alt=sse",
    sent: json(generate("hi")),
    read: sse,
    recorded: () => linesOf("google/google-text"),
  },
  "Gemini's calls in streams": {
    path: "/v1beta/models/gemini-3-x:streamGenerateContent?alt=sse",
    sent: json(generate("get_weather", { tools: [{ functionDeclarations: [weather] }] })),
    read: sse,
    recorded: () => linesOf("google/google-tool-call-gemini3"),
  },
  "Gemini's bodies": {
    path: "/v1beta/models/gemini-3-x:generateContent",
    sent: json(generate("hi")),
    read: whole,
    recorded: () => bodyOf("google/google-text"),
  },
  "Gemini's refusal to go on": {
    path: "/sim/status%3D429/v1beta/models/m:generateContent",
    sent: json(generate("hi")),
    read: whole,
    recorded: () => bodyOf("google/google-429-retry-info"),
  },
  "Bedrock's bodies": {
    path: "/model/reason/converse",
    sent: json({ messages: [{ role: "user", content: [{ text: "hi" }] }] }),
    read: whole,
    recorded: () => bodyOf("amazon-bedrock/amazon-bedrock-reasoning"),
  },
  "Bedrock's calls": {
    path: "/model/m/converse",
    sent: json({
      messages: [{ role: "user", content: [{ text: "get_weather" }] }],
      toolConfig: { tools: [{ toolSpec: { ...weather, inputSchema: { json: parameters } } }] },
    }),
    read: whole,
    recorded: () => ["tool-call.1", "reasoning"].flatMap((file) => bodyOf(`amazon-bedrock/amazon-bedrock-${file}`)),
  },
  "Cohere's streams": {
    path: "/v2/chat",
    sent: json({ model: "reason", messages, stream: true }),
    read: sse,
    recorded: () => linesOf("cohere/cohere-reasoning"),
  },
  "Cohere's calls in streams": {
    path: "/v2/chat",
    sent: json({ model: "m", messages: use, tools: [{ type: "function", function: weather }], stream: true }),
    read: sse,
    recorded: () => linesOf("cohere/cohere-empty-tool-call"),
  },
  "Cohere's bodies": {
    path: "/v2/chat",
    sent: json({ model: "reason", messages }),
    read: whole,
    recorded: () => bodyOf("cohere/cohere-reasoning"),
  },
  "ElevenLabs' transcripts": {
    path: "/v1/speech-to-text",
    sent: async () => {
      const { body, headers } = await form([["model_id", "m"]], new File(["x".repeat(99)], "a.mp3"));
      return { body, headers: { ...headers, "xi-api-key": "any" } };
    },
    read: whole,
    recorded: () => bodyOf("elevenlabs/elevenlabs-transcription"),
    beyond: ["audio_duration_secs"],
  },
  "Deepgram's transcripts": {
    path: "/v1/listen",
    sent: () => Promise.resolve({ body: Buffer.alloc(99), headers: { authorization: "Token any" } }),
    read: whole,
    recorded: () => bodyOf("deepgram/deepgram-transcription"),
    beyond: ["punctuated_word"],
  },
};

describe.skipIf(folder === null)("what recordings have is all that is made up", () => {
  test.each(Object.entries(ROWS))("%s", async (_, { path, sent, read, recorded, beyond = [] }) => {
    const made = read((await call(`${simulator.origin}${path}`, await sent())).text);
    expect(made.length).toBeGreaterThan(0);
    const known = new Set(recorded().flatMap((value) => placesOf(value, FREE)));
    const unknown = made
      .flatMap((value) => placesOf(value, FREE))
      .filter((place) => !known.has(place) && !beyond.some((one) => place.endsWith(one) || place.includes(`${one}.`)));
    expect([...new Set(unknown)]).toEqual([]);
  });
});
