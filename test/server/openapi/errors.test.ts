import { describe, expect, test } from "vitest";
import { chatFormat, readChat } from "../../../src/dialects/chat/client.ts";
import { embeddingFormat, readEmbedding } from "../../../src/dialects/endpoints/embedding.ts";
import { imageFormat, imageRefusal, readImage } from "../../../src/dialects/endpoints/image.ts";
import { readRerank, rerankFormat } from "../../../src/dialects/endpoints/rerank.ts";
import { readTranscription, transcriptionFormat } from "../../../src/dialects/endpoints/transcription.ts";
import {
  type AnswerFormat,
  type ErrorCode,
  ERRORS,
  GatewayError,
  type Json,
  streamBroken,
} from "../../../src/kit/index.ts";
import { openApiDocument } from "../../../src/server/openapi/document.ts";
import { PLAN_LIMITS } from "../../../src/server/openapi/headers.ts";
import { ENDPOINTS } from "../../../src/server/endpoints.ts";
import { type HttpExchange, refusalOf } from "../../../src/server/respond.ts";
import { GOOD, STILL_GOOD } from "../body-cases.ts";
import { answered, conforms } from "../../support/openapi.ts";

const document = openApiDocument();
const USAGE = { prompt: 3, completion: 2, cached: 0, reasoning: 0 };
const EXTRAS = {
  id: "1",
  created: 1_760_000_000,
  provider: "Aurora",
  latencyMs: 12,
  bill: { usage: USAGE, estimated: false, charge: 0n },
};

/** A path that belongs to a template. */
function pathOf(template: string): string {
  return template.replace("{model_id}", "route/swift-mini").replaceAll(/\{\w+\}/g, "some-name");
}

const IMAGE = {
  requestId: "r1",
  req: { headers: {} },
  errorStyle: { refusal: imageRefusal },
} as unknown as HttpExchange;

describe("every refusal that an operation names is one it describes", () => {
  const cases = ENDPOINTS.flatMap((operation) =>
    [...operation.errors, "IP_RATE_LIMIT" as const, "INTERNAL" as const].map((code) => ({ ...operation, code })),
  );

  test.for(cases)("$method $path: $code", ({ method, path, code, apiErrors }) => {
    const fields = code === "IP_RATE_LIMIT" || code === "TOO_MANY_REQUESTS" ? { retry_after: 7 } : undefined;
    const message = code === "MODEL_NOT_FOUND" ? "Model not found" : "What happened";
    const error = new GatewayError(code, message, { fields, retryAfter: fields?.retry_after });
    const { status, contentType, headers, body } = refusalOf(error, apiErrors ? IMAGE : null);
    const answer = answered(method, pathOf(path), { status, contentType, headers: { ...headers }, body });
    expect(conforms(document, answer)).toEqual([]);
    expect(conforms(document, { ...answer, headers: new Headers() })).toContain("X-Request-Id is missing");
  });

  test("and others are not", () => {
    for (const { method, path, errors } of ENDPOINTS) {
      const statuses = new Set(
        [...errors, "IP_RATE_LIMIT" as const, "INTERNAL" as const].map((code) => ERRORS[code].status),
      );
      const foreign = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !statuses.has(ERRORS[code].status));
      for (const code of foreign) {
        const { status, contentType, headers, body } = refusalOf(new GatewayError(code, "What happened"));
        const answer = answered(method, pathOf(path), { status, contentType, headers: { ...headers }, body });
        expect(conforms(document, answer)).toEqual([expect.stringMatching(`has no answer ${status}$`)]);
      }
    }
  });
});

function shown(path: string, format: AnswerFormat, body: Json): string[] {
  const headers = Object.fromEntries(PLAN_LIMITS.map((name) => [name, "5"]));
  const { contentType } = format;
  return conforms(document, answered("POST", path, { contentType, body: format.answer(body, EXTRAS), headers }));
}

describe("what the client formats write is described", () => {
  const CHAT: Json = {
    id: "x",
    model: "theirs",
    choices: [
      { index: 0, message: { role: "assistant", content: null, tool_calls: [{ id: "1" }] }, finish_reason: "stop" },
    ],
    system_fingerprint: null,
  };

  test.for([{}, ...STILL_GOOD.chat])("chat: %j", (change) => {
    expect(shown("/v1/chat/completions", chatFormat(readChat({ ...GOOD.chat, ...change })), CHAT)).toEqual([]);
  });

  test("a streamed chat", () => {
    const { stream } = chatFormat(readChat({ ...GOOD.chat, stream: true, stream_options: { include_usage: true } }));
    const chunk = (choices: Json[]) => stream.event({ data: { id: "x", choices }, text: "" });
    const first =
      stream.heartbeat + chunk([{ index: 0, delta: { role: "assistant", content: "a" }, finish_reason: null }]);
    const whole = first + chunk([{ index: 0, delta: {}, finish_reason: "stop" }]) + stream.done(EXTRAS.bill);
    for (const body of [whole, first + stream.failure(streamBroken("cut")), stream.killed(EXTRAS.bill)]) {
      const answer = answered("POST", "/v1/chat/completions", {
        contentType: "text/event-stream; charset=utf-8",
        body,
      });
      expect(conforms(document, answer)).toEqual([]);
    }
  });

  test.for([{}, ...STILL_GOOD.embeddings])("embeddings: %j", (change) => {
    const { input } = { ...GOOD.embeddings, ...change } as { input: unknown };
    const many = Array.isArray(input) && typeof input[0] !== "number" ? input.length : 1;
    const data = Array.from({ length: many }, (_, index) => ({ object: "embedding", index, embedding: [0.5, -1e-9] }));
    const format = embeddingFormat(readEmbedding({ ...GOOD.embeddings, ...change }));
    expect(shown("/v1/embeddings", format, { data })).toEqual([]);
    expect(shown("/v1/embeddings", format, { data, usage: { prompt_tokens: 1, total_tokens: 1 } })).toEqual([]);
  });

  test.for([{}, ...STILL_GOOD.rerank])("rerank", (change) => {
    const format = rerankFormat(readRerank({ ...GOOD.rerank, ...change }));
    const results = [
      { index: 1, relevance_score: 0.9 },
      { index: 0, relevance_score: -2 },
    ];
    expect(shown("/v1/rerank", format, { results, id: "x", meta: {} })).toEqual([]);
  });

  test.for(["json", "verbose_json", "text", "srt", "vtt"])("a transcription as %s", async (response_format) => {
    const upload = { name: "a.mp3", contentType: "audio/mpeg", size: 16_000, async *read() {} };
    const call = await readTranscription({ ...GOOD.transcription, response_format }, upload);
    const segments = [{ id: 0, start: 0, end: 1.5, text: "hello", tokens: [1] }];
    const words = [{ word: "hello", start: 0, end: 1.5 }];
    for (const body of [{ text: "hello" }, { text: "hello", language: "en", duration: 1.5, segments, words }])
      expect(shown("/v1/audio/transcriptions", transcriptionFormat(call), body)).toEqual([]);
  });

  test.for([{}, ...STILL_GOOD.image])("images: %j", (change) => {
    const format = imageFormat(readImage({ ...GOOD.image, ...change, height: undefined, width: undefined }));
    const data = [{ url: "https://images.example/1.png", revised_prompt: "a cat" }, { b64_json: "iVBORw0KGgo=" }];
    expect(shown("/v1/images/generations", format, { data })).toEqual([]);
  });
});
