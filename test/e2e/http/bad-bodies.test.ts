import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { shown } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";
import { type KindEndpoint, askKind, ENDPOINTS, KIND_CHAINS, PLACES } from "../support/kinds.ts";

const TEXT = "text/plain; charset=utf-8";
const JSON_PLACES = ENDPOINTS.filter((endpoint) => endpoint !== "transcription");

let gateway: TestGateway;
let user: TestUser;
beforeAll(async () => {
  gateway = await TestGateway.start({
    chains: {
      ...KIND_CHAINS,
      "route/voices": { kind: "speech", scripts: ["-"], voices: ["sage", 'ju"niper'] },
      "route/live": { kind: "transcription", scripts: ["-"], realtime: true },
    },
    config: { server: { body_limit: "8MiB" } },
  });
  user = await gateway.user();
});
afterAll(() => gateway.close());

const ENCODINGS = '"float", "base64"';
const VOICES = '"sage", "ju\\"niper"';

/** What is changed in a good request, and what is said about it after `Invalid request: `. */
const REFUSED: Readonly<Record<Exclude<KindEndpoint, "chat" | "transcription">, readonly (readonly [Json, string])[]>> =
  {
    embeddings: [
      [{ input: undefined }, "/input is required"],
      [{ input: "" }, "/input must not be empty"],
      [{ input: [] }, "/input must not be empty"],
      [{ input: ["a", ""] }, "/input/1 must not be empty"],
      [{ input: 5 }, "/input must be a string or an array"],
      [{ input: null }, "/input must be a string or an array"],
      [{ input: { text: "a" } }, "/input must be a string or an array"],
      [{ input: ["a", 5] }, "/input/0 must be an integer"],
      [{ input: [true] }, "/input/0 must be a string"],
      [{ input: [1.5] }, "/input/0 must be an integer"],
      [{ input: Array(2_049).fill("a") }, "/input must have at most 2048 items"],
      [{ encoding_format: "int8" }, `/encoding_format must be one of ${ENCODINGS}`],
      [{ dimensions: 0 }, "/dimensions must be at least 1"],
    ],
    rerank: [
      [{ query: undefined }, "/query is required"],
      [{ query: "" }, "/query must not be empty"],
      [{ query: 5 }, "/query must be a string"],
      [{ query: "q".repeat(2 * 1024 * 1024) }, "/query must be at most 65536 characters"],
      [{ documents: undefined }, "/documents is required"],
      [{ documents: [] }, "/documents must not be empty"],
      [{ documents: "a" }, "/documents must be an array"],
      [{ documents: ["a", 5] }, "/documents/1 must be a string or an object"],
      [{ documents: [{ id: 1 }] }, "/documents/0/text is required"],
      [{ documents: Array(10_000).fill("some document") }, "/documents must have at most 1000 items"],
      [{ top_n: 0 }, "/top_n must be at least 1"],
      [{ top_n: -1 }, "/top_n must be at least 1"],
      [{ top_n: 1.5 }, "/top_n must be an integer or null"],
      [{ top_n: "1" }, "/top_n must be an integer or null"],
      [{ return_documents: "yes" }, "/return_documents must be a boolean or null"],
    ],
    speech: [
      [{ input: undefined }, "/input is required"],
      [{ input: "" }, "/input must not be empty"],
      [{ input: ["a"] }, "/input must be a string"],
      [{ input: "x".repeat(40_001) }, "/input must be at most 40000 characters"],
      [{ voice: undefined }, "/voice is required"],
      [{ voice: "" }, "/voice must not be empty"],
      [{ voice: 5 }, "/voice must be a string"],
      [{ model: "route/voices", voice: "SAGE" }, `/voice must be one of ${VOICES}`],
      [{ model: "route/voices", voice: "__proto__" }, `/voice must be one of ${VOICES}`],
      [{ response_format: "ogg" }, '/response_format must be one of "mp3", "opus", "aac", "flac", "wav", "pcm"'],
      [{ speed: 0.1 }, "/speed must be at least 0.25"],
      [{ speed: 5 }, "/speed must be at most 4"],
      [{ stream_format: "sse" }, '/stream_format must be "audio"'],
    ],
    image: [
      [{ prompt: undefined }, "/prompt is required"],
      [{ prompt: "" }, "/prompt must not be empty"],
      [{ prompt: 5 }, "/prompt must be a string"],
      [{ prompt: "x".repeat(32_001) }, "/prompt must be at most 32000 characters"],
      [{ n: 0 }, "/n must be at least 1"],
      [{ n: 11 }, "/n must be at most 10"],
      [{ n: "2" }, "/n must be an integer or null"],
      [{ size: "0x0" }, "/size must be WIDTHxHEIGHT in pixels, or auto"],
      [{ size: "big" }, "/size must be WIDTHxHEIGHT in pixels, or auto"],
      [{ size: 64 }, "/size must be a string or null"],
      [{ width: 0, height: 0 }, "/width must be at least 1"],
      [{ width: 64 }, "/height is required with /width"],
      [{ height: 64 }, "/width is required with /height"],
      [{ width: 64, height: null }, "/height is required with /width"],
      [{ width: 64, height: 64, size: "64x65" }, "/size must be the same as /width and /height"],
      [{ width: 64, height: 64, size: "auto" }, "/size must be the same as /width and /height"],
      [{ width: 64.5, height: 64 }, "/width must be an integer or null"],
      [{ width: 16_385, height: 64 }, "/width must be at most 16384"],
      [{ response_format: "png" }, '/response_format must be one of "url", "b64_json", "base64"'],
      [{ stream: true }, "/stream is not supported for images"],
    ],
  };
const ROWS = Object.entries(REFUSED).flatMap(([endpoint, rows]) =>
  rows.map(([changes, what]) => [endpoint as KindEndpoint, changes, what] as const),
);

/** Sends it, and expects an answer that changes nothing. */
async function expectRefused(
  endpoint: KindEndpoint,
  request: Parameters<typeof askKind>[3],
  expected: readonly unknown[],
  sent: Parameters<typeof askKind>[4] = {},
): Promise<void> {
  const [before, asked] = [await gateway.books(user), gateway.simulator.ledger().length];
  expect(shown(await askKind(gateway, user, endpoint, request, sent))).toEqual(expected);
  expect(await gateway.books(user)).toEqual(before);
  expect(gateway.simulator.ledger()).toHaveLength(asked);
}

const invalid = (what: string) => [400, "INVALID_REQUEST", TEXT, `Invalid request: ${what}`] as const;

describe("what is wrong is named, and changes nothing", () => {
  const named = ROWS.map(
    ([endpoint, changes, what]) => [endpoint, JSON.stringify(changes).slice(0, 60), what, changes] as const,
  );

  test.each(named)("%s %s: %s", async (endpoint, _, what, changes) => {
    expect.hasAssertions();
    await expectRefused(endpoint, changes, invalid(what));
  });

  test.each(JSON_PLACES)("%s without a model, with an empty one, with one that is no string", async (endpoint) => {
    expect.hasAssertions();
    await expectRefused(endpoint, { model: undefined }, invalid("/model is required"));
    await expectRefused(endpoint, { model: "" }, invalid("/model must not be empty"));
    await expectRefused(endpoint, { model: 5 }, invalid("/model must be a string"));
  });

  test.each(JSON_PLACES)("%s with a body that is none", async (endpoint) => {
    expect.hasAssertions();
    await expectRefused(endpoint, {}, invalid("/ must not be empty"), { body: "" });
    await expectRefused(endpoint, {}, invalid("/ must be an object"), { body: "[]" });
    await expectRefused(endpoint, {}, invalid("/ must be UTF-8"), { body: Buffer.from('{"model":"\xff"}', "latin1") });
    await expectRefused(endpoint, {}, invalid("/ must not be nested deeper than 200 levels"), {
      body: `{"a":${"[".repeat(200)}${"]".repeat(200)}}`,
    });
  });
});

describe("models of another kind", () => {
  const pairs = ENDPOINTS.flatMap((endpoint) =>
    ENDPOINTS.filter((other) => other !== endpoint).map((other) => [endpoint, other] as const),
  );

  test.each(pairs)("%s with a model for %s", async (endpoint, other) => {
    expect.hasAssertions();
    const { model } = PLACES[other];
    const refused =
      endpoint === "image"
        ? [404, undefined, "application/json", '{"error":"Model not found"}']
        : [400, "INVALID_MODEL", TEXT, `Invalid model: '${model}'`];
    await expectRefused(endpoint, { model }, refused);
  });

  test("a live model is for live streams only, and no model of another kind", async () => {
    expect.hasAssertions();
    const live = [400, "INVALID_REQUEST", TEXT, "Model 'route/live' is for real-time streaming only"];
    await expectRefused("transcription", { model: "route/live" }, live);
    await expectRefused("chat", { model: "route/live" }, [400, "INVALID_MODEL", TEXT, "Invalid model: 'route/live'"]);
  });

  test.each(ENDPOINTS)("%s with names that are no model's", async (endpoint) => {
    expect.hasAssertions();
    for (const model of ["__proto__", "constructor", "route/embed ", "ROUTE/EMBED", "embed", "route/é\u202e"])
      await expectRefused(endpoint, { model }, [400, "INVALID_MODEL", TEXT, `Invalid model: '${model}'`]);
  });
});

describe("content types", () => {
  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json; charset=latin1",
    "multipart/form-data; boundary=x",
    "",
  ])("%s is not JSON", async (type) => {
    expect.hasAssertions();
    for (const endpoint of JSON_PLACES) {
      const answer = [415, "UNSUPPORTED_MEDIA_TYPE", TEXT, "Content-Type must be application/json"];
      await expectRefused(endpoint, {}, answer, { headers: { "content-type": type } });
    }
  });
});
