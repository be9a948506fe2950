import {
  APIConnectionError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  OpenAI,
  RateLimitError,
  toFile,
} from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scriptedUrl, startSimulator } from "../../src/simulator/server.ts";
import type { Simulator } from "../../src/simulator/server.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const client = (script = "-") =>
  new OpenAI({ apiKey: "any", baseURL: scriptedUrl(simulator.origin, script), maxRetries: 0 });
async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const messages = [{ role: "user" as const, content: "What is the weather? Use get_weather." }];
const tool = {
  type: "function" as const,
  function: {
    name: "get_weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
};

test("chat", async () => {
  const made = await client().chat.completions.create({ model: "m", messages });
  expect(made.choices[0]?.message.content).toMatch(/simulated answer.*Use get_weather\.$/);
  expect(made.usage?.total_tokens).toBe(made.usage!.prompt_tokens + made.usage!.completion_tokens);
});

test("raw stream with usage", async () => {
  const options = { stream: true as const, stream_options: { include_usage: true } };
  const chunks = await all(await client().chat.completions.create({ model: "m", messages, ...options }));
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toMatch(/Use get_weather\.$/);
  expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 6 });
});

test("stream() accepts the shape of every event, and assembles the call", async () => {
  const stream = client().chat.completions.stream({ model: "m", messages, tools: [tool] });
  const made = await stream.finalChatCompletion();
  const [call] = made.choices[0]?.message.tool_calls ?? [];
  expect(made.choices[0]?.finish_reason).toBe("tool_calls");
  expect(call).toMatchObject({
    type: "function",
    function: { name: "get_weather", arguments: '{"city":"simulated"}' },
  });
});

test("a tool loop runs to its end", async () => {
  const given: string[] = [];
  const answerTool = (input: string) => {
    given.push(input);
    return "sunny";
  };
  const runner = client().chat.completions.runTools({
    model: "m",
    messages,
    tools: [{ ...tool, function: { ...tool.function, description: "weather", function: answerTool } }],
  });
  expect(await runner.finalContent()).toMatch(/simulated answer/);
  expect(given).toEqual(['{"city":"simulated"}']);
});

test("models", async () => {
  expect((await all(client().models.list())).map((model) => model.owned_by)).toContain("simulator");
});

test.each([
  ["status=401", AuthenticationError],
  ["status=429&message=Slow", RateLimitError],
  ["status=503", InternalServerError],
  ["reset_after=0", APIConnectionError],
])("%s is the SDK's own error", async (script, kind) => {
  await expect(client(script).chat.completions.create({ model: "m", messages })).rejects.toBeInstanceOf(kind);
});

test("an error inside a stream is thrown", async () => {
  const stream = await client("error_after=2").chat.completions.create({ model: "m", messages, stream: true });
  await expect(all(stream)).rejects.toThrow("Simulated failure");
});

test("embeddings, which it asks for as base64, are the very numbers of floats", async () => {
  const asked = { model: "m", input: ["hi", "there"], dimensions: 64 };
  const made = await client().embeddings.create(asked);
  const floats = await client().embeddings.create({ ...asked, encoding_format: "float" });
  expect(made.data.map(({ embedding }) => embedding)).toEqual(floats.data.map(({ embedding }) => embedding));
  expect(made.data[0]?.embedding).toHaveLength(64);
  expect(made.usage).toEqual({ prompt_tokens: 2, total_tokens: 2 });
});

test("speech is a body of bytes", async () => {
  const asked = { model: "m", voice: "alloy", input: "Hello there.", response_format: "wav" as const };
  const made = await client().audio.speech.create(asked);
  expect(made.headers.get("content-type")).toBe("audio/wav");
  const bytes = Buffer.from(await made.arrayBuffer());
  expect(bytes.toString("latin1", 0, 4)).toBe("RIFF");
  expect(bytes.readUInt32LE(40)).toBe(bytes.length - 44);
});

test("transcriptions in every format", async () => {
  const asked = { model: "m", file: await toFile(Buffer.alloc(16_000), "said.mp3") };
  const text = "This is a simulated transcript of said.mp3, 16000 bytes.";
  const { transcriptions } = client().audio;
  expect(await transcriptions.create(asked)).toEqual({ text, usage: { type: "duration", seconds: 1 } });
  expect(await transcriptions.create({ ...asked, response_format: "text" })).toBe(`${text}\n`);
  expect(await transcriptions.create({ ...asked, response_format: "srt" })).toMatch(/^1\n00:00:00,000 --> /);
  const verbose = await transcriptions.create({
    ...asked,
    response_format: "verbose_json",
    timestamp_granularities: ["word", "segment"],
  });
  expect(verbose).toMatchObject({ duration: 1, text });
  expect(verbose.words?.map(({ word }) => word).join(" ")).toBe(text);
  expect(verbose.segments?.length).toBe(2);
});

test("images by address and as base64", async () => {
  const asked = { model: "m", prompt: "a fox", size: "64x64", n: 2 } as const;
  const addressed = await client().images.generate({ ...asked, response_format: "url" });
  const [first] = (await client().images.generate({ ...asked, response_format: "b64_json" })).data ?? [];
  const served = await fetch(addressed.data?.[0]?.url ?? "");
  expect(Buffer.from(await served.arrayBuffer()).toString("base64")).toBe(first?.b64_json);
  expect(addressed.data).toHaveLength(2);
});

test("a refused embedding is a BadRequestError that names the parameter", async () => {
  const refused = client().embeddings.create({ model: "m", input: [] });
  await expect(refused).rejects.toBeInstanceOf(BadRequestError);
  await expect(refused).rejects.toMatchObject({ param: "input" });
});
