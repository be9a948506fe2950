import { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type DialectName, isJson, type Json } from "../../../../src/kit/index.ts";
import { askFormat, eventsOf, FORMAT_NAMES, FORMATS, modelsIn, streamedText } from "../../support/formats.ts";
import { shown } from "../../support/http.ts";
import { AUDIO, openKind } from "../../support/kinds.ts";
import { TestGateway, type TestUser } from "../../support/in-process.ts";

/** The upstream's chat endpoints: dialect, the rest of the address, more of the upstream's settings. */
const CHAT: Readonly<Record<string, readonly [dialect: DialectName, path: string, more?: Json]>> = {
  openai: ["openai", "/v1"],
  "openai-responses": ["openai", "/v1", { vendor: "openai", api: "responses" }],
  anthropic: ["anthropic", ""],
  gemini: ["gemini", ""],
  vertex: ["gemini", "/v1/projects/p/locations/l/publishers/google"],
  azure: ["azure", ""],
  "azure-v1": ["azure", "/openai/v1"],
  bedrock: ["bedrock", "", { api_keys: ["AKID:secret"] }],
  cohere: ["cohere", ""],
};
/** What else it speaks, kind by kind. */
const KINDS: Readonly<Record<string, readonly DialectName[]>> = {
  embedding: ["openai", "azure", "cohere"],
  rerank: ["cohere"],
  speech: ["openai", "elevenlabs"],
  transcription: ["openai"],
  image: ["openai"],
};
const PRICES: Readonly<Record<string, Json>> = {
  chat: { input_per_million: 1, output_per_million: 2 },
  embedding: { input_per_million: 1 },
  rerank: { per_request: 0.001 },
  speech: { per_million_characters: 10 },
  transcription: { per_second: 0.001 },
  image: { per_image: 0.02 },
};
const ROUTES = Object.keys(CHAT);

/** An upstream that nobody here wrote. */
const mock = new LLMock({ port: 0, chunkSize: 7 });
function model(kind: string, upstream: string): Json {
  return {
    kind,
    tier: "Free",
    owned_by: "elsewhere",
    price: PRICES[kind],
    chain: [{ upstream, model: `${upstream}-model` }],
  };
}

let gateway: TestGateway;
let user: TestUser;

beforeAll(async () => {
  await mock.start();
  gateway = await TestGateway.start({
    config: {
      upstreams: {
        ...Object.fromEntries(
          Object.entries(CHAT).map(([name, [dialect, path, more]]) => [
            name,
            { dialect, base_url: mock.url + path, api_keys: ["upstream-key"], ...more },
          ]),
        ),
        elevenlabs: { dialect: "elevenlabs", base_url: mock.url, api_keys: ["upstream-key"] },
      },
      models: Object.fromEntries([
        ...ROUTES.map((name) => [`route/${name}`, model("chat", name)]),
        ...Object.entries(KINDS).flatMap(([kind, dialects]) =>
          dialects.map((dialect) => [`route/${dialect}-${kind}`, model(kind, dialect)]),
        ),
      ]),
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await mock.stop();
});
beforeEach(async () => {
  user = await gateway.user();
  mock.clearFixtures();
  mock.clearRequests();
  mock.resetMatchCounts();
});

const SCHEMA = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
/** The arguments of the calls in a whole answer. */
function callsIn(value: unknown): readonly unknown[] {
  const found: unknown[] = [];
  JSON.stringify(value, (_key, inner: unknown) => {
    if (isJson(inner)) {
      if (inner["type"] === "tool_use") found.push(inner["input"]);
      const call = isJson(inner["function"]) ? inner["function"] : inner["type"] === "function_call" ? inner : {};
      if (typeof call["arguments"] === "string") found.push(JSON.parse(call["arguments"]));
    }
    return inner;
  });
  return found;
}

const ROWS = FORMAT_NAMES.flatMap((name) => ROUTES.map((route) => [name, route] as const));

describe.each(ROWS)("%s over a foreign upstream that speaks %s", (name, route) => {
  const format = FORMATS[name];
  const model = `route/${route}`;

  test.each([false, true])("an answer (streamed: %s)", async (stream) => {
    mock.onMessage("Hello", { content: "Good day, 世界! How are you?" });
    const { status, text } = await askFormat(gateway, user, name, { model, stream });
    expect(status).toBe(200);
    expect(text).toMatch(stream ? format.done : /^\{/);
    expect(stream ? streamedText(name, text) : format.text(JSON.parse(text) as Json)).toBe(
      "Good day, 世界! How are you?",
    );
    expect([...modelsIn(stream ? eventsOf(text) : JSON.parse(text))]).toEqual([model]);
    expect((await gateway.books(user)).ledger).toMatchObject([{ outcome: "served", upstream: route }]);
  });

  test("a tool is called with its arguments", async () => {
    mock.onMessage("Hello", { toolCalls: [{ name: "get_weather", arguments: { city: "Oslo" } }] });
    const { status, text } = await askFormat(gateway, user, name, {
      model,
      tools: [format.tool("get_weather", SCHEMA)],
    });
    expect([status, callsIn(JSON.parse(text))]).toEqual([200, [{ city: "Oslo" }]]);
  });

  test("a refusal of the upstream's is the client's fault, a fault of it a failure", async () => {
    mock.nextRequestError(400, { message: "it is too hot", type: "invalid_request_error" });
    expect(shown(await askFormat(gateway, user, name, { model })).slice(0, 2)).toEqual([400, "INVALID_REQUEST"]);
    mock.nextRequestError(529, { message: "overloaded", type: "overloaded_error" });
    const failed = await askFormat(gateway, user, name, { model, stream: true });
    expect(shown(failed).slice(0, 2)).toEqual([502, "PROVIDER_ERROR"]);
    const { balance, granted } = await gateway.books(user);
    expect(balance).toBe(granted);
  });

  test("an upstream that disconnects half-way is an error event", async () => {
    mock.onMessage("Hello", { content: "word ".repeat(40) }, { truncateAfterChunks: 6, latency: 10 });
    const { status, text } = await askFormat(gateway, user, name, { model, stream: true });
    expect(status).toBe(200);
    expect(text).not.toMatch(/message_stop|response\.completed/);
    expect(text).toMatch(/"error":\{/);
  });
});

// Cohere's thinking is a block of text here, which it is nowhere else.
const THINKING = ROWS.filter(([, route]) => route !== "cohere");

test.each(THINKING)("%s over %s: thinking is told apart from the text", async (name, route) => {
  const model = `route/${route}`;
  mock.onMessage("Hello", { content: "Done.", reasoning: "Let me think." });
  const whole = await askFormat(gateway, user, name, { model });
  expect(whole.text).toContain('"Let me think."');
  expect(whole.text).toContain('"Done."');
  const { text } = await askFormat(gateway, user, name, { model, stream: true });
  expect(streamedText(name, text)).toBe("Done.");
  expect(text).toContain('"Let me');
});

const VECTOR = [0.25, -0.5, 1];
const asked = (kind: Parameters<typeof openKind>[2], name: string, changes: Json = {}) =>
  openKind(gateway, user, kind, { model: name, ...changes }).whole();

describe("kinds other than chat", () => {
  test.each(KINDS["embedding"]!)("embeddings of %s", async (dialect) => {
    mock.onEmbedding(/plain words/, { embedding: VECTOR });
    const { status, text } = await asked("embeddings", `route/${dialect}-embedding`);
    expect([status, JSON.parse(text)]).toMatchObject([200, { data: [{ embedding: VECTOR }] }]);
  });

  test.each(KINDS["rerank"]!)("rerank of %s", async (dialect) => {
    mock.onRerank(/green tea/, [
      { index: 1, relevance_score: 0.9 },
      { index: 2, relevance_score: 0.4 },
    ]);
    const { status, text } = await asked("rerank", `route/${dialect}-rerank`);
    const results = [
      { index: 1, relevance_score: 0.9 },
      { index: 2, relevance_score: 0.4 },
    ];
    expect([status, JSON.parse(text)]).toMatchObject([200, { results }]);
  });

  test("speech of openai", async () => {
    mock.onSpeech(/Say it/, { audio: AUDIO.toString("base64"), format: "wav" });
    const { status, bytes } = await asked("speech", "route/openai-speech", { response_format: "wav" });
    expect([status, bytes.equals(AUDIO)]).toEqual([200, true]);
  });

  test("speech of elevenlabs", async () => {
    mock.onElevenLabsTTS(/Say it/, { audio: AUDIO.toString("base64"), format: "mp3" });
    const { status, bytes } = await asked("speech", "route/elevenlabs-speech", { response_format: "mp3" });
    expect([status, bytes.equals(AUDIO)]).toEqual([200, true]);
  });

  test.each(["json", "text", "srt", "vtt", "verbose_json"])("a transcript as %s", async (format) => {
    const segments = [{ id: 0, start: 0, end: 1.5, text: "Good day." }];
    mock.onTranscription({ transcription: { text: "Good day.", language: "en", duration: 1.5, segments } });
    const { status, text } = await asked("transcription", "route/openai-transcription", { response_format: format });
    expect([status, text]).toEqual([200, expect.stringContaining("Good day.")]);
  });

  test.each(["url", "b64_json"])("an image as %s", async (form) => {
    mock.onImage(/red boat/, { image: form === "url" ? { url: "https://example.com/boat.png" } : { b64Json: "AAAA" } });
    const { status, text } = await asked("image", "route/openai-image", { response_format: form });
    const image = form === "url" ? { url: "https://example.com/boat.png" } : { b64_json: "AAAA" };
    expect([status, JSON.parse(text)]).toMatchObject([200, { data: [image] }]);
  });
});
