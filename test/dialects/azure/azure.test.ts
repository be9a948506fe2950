import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { azure, azureAt } from "../../../src/dialects/azure/index.ts";
import type { AnswerCodec, ByteCodec } from "../../../src/dialects/dialect.ts";
import { openai } from "../../../src/dialects/chat/index.ts";
import type { Call, Json, Kind } from "../../../src/kit/index.ts";
import { sharedFixtures } from "../../support/shared.ts";
import { call, target } from "../../upstream/support/build.ts";
import { SPEECH, transcribe } from "../../upstream/support/codecs.ts";
import { decode } from "../bedrock/support.ts";

const RESOURCE = "https://r.openai.azure.com";
const TARGET = target({ model: "my dep/1" });
const VERSION = "?api-version=2024-10-21";

const CALLS: readonly (readonly [Kind, string, Call])[] = [
  ["chat", "/chat/completions", call()],
  ["embedding", "/embeddings", call({ kind: "embedding", body: { model: "route/m", input: "a" } })],
  ["image", "/images/generations", call({ kind: "image", body: { model: "route/m", prompt: "a" } })],
  ["speech", "/audio/speech", SPEECH],
  [
    "transcription",
    "/audio/transcriptions",
    transcribe({
      name: "a.wav",
      contentType: "audio/wav",
      size: 1,
      async *read() {
        yield new Uint8Array(1);
      },
    }),
  ],
];

describe("classic addresses", () => {
  test.each(CALLS)("%s: %s of a deployment", (kind, path, asked) => {
    const request = azureAt({ baseUrl: RESOURCE, headers: {} }).codecs[kind]!.request(asked, TARGET, "k");
    expect(request.path).toBe(`/openai/deployments/my%20dep%2F1${path}${VERSION}`);
    expect(request.headers["api-key"]).toBe("k");
    expect(request.headers).not.toHaveProperty("authorization");
  });

  test.each([
    [
      RESOURCE,
      {},
      "/openai/deployments/d/chat/completions?api-version=2024-10-21",
      "/openai/models?api-version=2024-10-21",
    ],
    [
      `${RESOURCE}/openai`,
      {},
      "/deployments/d/chat/completions?api-version=2024-10-21",
      "/models?api-version=2024-10-21",
    ],
    [
      `${RESOURCE}/openai/deployments/d`,
      {},
      "/chat/completions?api-version=2024-10-21",
      "/models?api-version=2024-10-21",
    ],
    [
      "sim:",
      {},
      "/openai/deployments/d/chat/completions?api-version=2024-10-21",
      "/openai/models?api-version=2024-10-21",
    ],
    [
      RESOURCE,
      { "API-Version": "2025-04-01-preview" },
      "/openai/deployments/d/chat/completions?api-version=2025-04-01-preview",
      "/openai/models?api-version=2025-04-01-preview",
    ],
    [`${RESOURCE}/openai/v1`, {}, "/chat/completions", "/models"],
    [
      `${RESOURCE}/openai/v1`,
      { "api-version": "preview" },
      "/chat/completions?api-version=preview",
      "/models?api-version=preview",
    ],
  ])("%s %j", (baseUrl, headers, path, models) => {
    const dialect = azureAt({ baseUrl, headers });
    expect(dialect.codecs.chat!.request(call(), target({ model: "d" }), "k").path).toBe(path);
    expect(dialect.probe("k")).toEqual({
      method: "GET",
      path: models,
      headers: { accept: "application/json", "api-key": "k" },
      body: null,
    });
  });

  test("the dialect as it is without an address is that of a resource", () => {
    const request = azure.codecs.chat!.request(call(), target({ model: "d" }), "k");
    expect(request.path).toBe(`/openai/deployments/d/chat/completions${VERSION}`);
  });
});

function written(baseUrl: string, asked: Call): Json {
  const request = azureAt({ baseUrl, headers: {} }).codecs[asked.kind]!.request(asked, target({ model: "d" }), "k");
  return JSON.parse(request.body as string) as Json;
}

describe("bodies", () => {
  test("classic: the path names the model, the body does not; all else is as OpenAI's", () => {
    for (const [kind, , asked] of CALLS.slice(0, 4)) {
      const { model, ...rest } = JSON.parse(
        openai.codecs[kind]!.request(asked, target({ model: "d" }), "k").body as string,
      ) as Json;
      expect(model).toBe("d");
      expect(written(RESOURCE, asked)).toEqual(rest);
    }
  });

  test("v1: the model is the deployment", () => {
    expect(written(`${RESOURCE}/openai/v1`, call())).toMatchObject({ model: "d" });
  });

  test("a stream asks for its count", () => {
    expect(written(RESOURCE, call({ stream: true }))).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    });
  });
});

describe("keys", () => {
  test.each([
    ["key-1", { "api-key": "key-1" }],
    [
      "eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0.c2ln",
      { authorization: "Bearer eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0.c2ln" },
    ],
    ["", {}],
  ])("%s", (key, headers) => {
    expect(azure.probe(key).headers).toEqual({ accept: "application/json", ...headers });
  });
});

test("it serves OpenAI's kinds but reranking, and reads answers as OpenAI's", () => {
  expect(Object.keys(azure.codecs)).toEqual(["chat", "embedding", "speech", "transcription", "image"]);
  const chat = azure.codecs.chat as AnswerCodec;
  const whole = { choices: [{ index: 0, message: { role: "assistant", content: "a" }, finish_reason: "stop" }] };
  const said = new TextEncoder().encode(JSON.stringify(whole));
  expect(chat.answer(said, call())).toEqual((openai.codecs.chat as AnswerCodec).answer(said, call()));
  const speech = azure.codecs.speech as ByteCodec;
  expect(speech.contentType("audio/mpeg", SPEECH)).toBe("audio/mpeg");
  const refused = new TextEncoder().encode(JSON.stringify({ error: { code: "content_filter", message: "filtered" } }));
  expect(azure.errorMessage(refused)).toBe("filtered");
});

const folder = sharedFixtures("vercel-ai");

test.skipIf(folder === null).each(["openai/chat/azure-model-router.1", "azure/azure-deepseek-reasoning.1"])(
  "recorded: %s, with its first chunk without choices",
  (name) => {
    const lines = readFileSync(join(folder!, `${name}.chunks.txt`), "utf8")
      .split("\n")
      .filter((line) => line !== "");
    const bytes = new TextEncoder().encode(`${lines.map((line) => `data: ${line}\n\n`).join("")}data: [DONE]\n\n`);
    const { events, fault, done } = decode([bytes], azure.codecs.chat as AnswerCodec);
    expect({ fault, done }).toEqual({ fault: null, done: true });
    const [first] = events[0]!.data["choices"] as readonly Json[];
    expect(first!["delta"]).toMatchObject({ role: "assistant" });
    expect(events.map(({ text }) => text).join("").length).toBeGreaterThan(0);
    expect(events.at(-1)!.usage).toBeDefined();
  },
);
