import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { refusalOf } from "../../support/refusal.ts";
import { imageFormat, imageRefusal, readImage } from "../../../src/dialects/endpoints/image.ts";
import { image } from "../../../src/dialects/endpoints/image.ts";
import { AttemptError, ERRORS, type ErrorCode, GatewayError, type Json } from "../../../src/kit/index.ts";
import { attempt, bytes, extras } from "../wire-cases.ts";
import { type Cases, casesOfFiles } from "../cases.ts";
import { sharedFixtures } from "../../support/shared.ts";
import { testTarget } from "../../support/snapshot.ts";

const body = (more: Json = {}): Json => ({ model: "route/image", prompt: "a cat", ...more });
const NO_TOKENS = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };

describe("the call", () => {
  test("is the body, with what the gateway routes and counts by", () => {
    const sent = body({ n: 3, size: "1024x1024", quality: "hd", later: { unknown: null } });
    expect(readImage(sent)).toEqual({
      kind: "image",
      model: "route/image",
      stream: false,
      body: sent,
      promptBytes: 5,
      maxOutput: 0,
      units: { images: 3, imageVariant: "1024x1024/hd" },
    });
  });

  test.each([
    [{ width: 512, height: 256 }, "512x256/"],
    [{ quality: "High" }, "/high"],
    [{ size: "auto", quality: "auto" }, undefined],
    [{ size: "auto", quality: "low" }, "/low"],
  ])("%j is priced as %j", (fields, variant) => {
    expect(readImage(body(fields)).units?.imageVariant).toBe(variant);
  });

  test("asks for one image unless it says", () => {
    expect(readImage(body()).units).toEqual({ images: 1 });
    expect(readImage(body({ n: null })).units).toEqual({ images: 1 });
  });

  test("size, width and height are one thing", () => {
    const pixels = fc.integer({ min: 1, max: 16_384 });
    const given = fc.constantFrom<readonly string[]>(["size"], ["width", "height"], ["size", "width", "height"]);
    fc.assert(
      fc.property(pixels, pixels, given, (width, height, fields) => {
        const all: Json = { size: `${width}x${height}`, width, height };
        const sent = body(Object.fromEntries(Object.entries(all).map(([k, v]) => [k, fields.includes(k) ? v : null])));
        expect(readImage(sent).body).toEqual(body({ size: `${width}x${height}` }));
      }),
    );
  });

  test.each<[Json, Json]>([
    [{}, {}],
    [{ size: null, width: null, height: null, n: null, response_format: null }, {}],
    [{ size: "auto" }, { size: "auto" }],
    [{ response_format: "base64" }, { response_format: "b64_json" }],
    [{ response_format: "b64_json" }, { response_format: "b64_json" }],
    [
      { response_format: "url", stream: false },
      { response_format: "url", stream: false },
    ],
  ])("%j is %j in the canonical shape", (sent, canonical) => {
    expect(readImage(body(sent)).body).toEqual(body(canonical));
  });

  test.each<[Json, string]>([
    [{ width: 512 }, "/height is required with /width"],
    [{ height: 512, width: null }, "/width is required with /height"],
    [{ size: "512x512", width: 512 }, "/height is required with /width"],
    [{ size: "512x512", width: 512, height: 513 }, "/size must be the same as /width and /height"],
    [{ size: "auto", width: 512, height: 512 }, "/size must be the same as /width and /height"],
    [{ stream: true }, "/stream is not supported for images"],
  ])("%j is refused", (wrong, message) => {
    expect(() => readImage(body(wrong))).toThrow(refusalOf(message));
  });
});

const sentTo = (model: string, more: Json): Json =>
  JSON.parse(image.request(readImage(body(more)), testTarget("alpha", { model }), "sk-1").body as string) as Json;

describe("the upstream's request", () => {
  test("path, headers and body", () => {
    const call = readImage(body({ width: 256, height: 512, response_format: "base64", later: [1] }));
    expect(image.request(call, testTarget("alpha", { model: "dall-e-3" }), "sk-1")).toEqual({
      method: "POST",
      path: "/images/generations",
      headers: { authorization: "Bearer sk-1", "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({
        model: "dall-e-3",
        prompt: "a cat",
        later: [1],
        size: "256x512",
        response_format: "b64_json",
      }),
    });
  });

  test.each(["gpt-image-1", "gpt-image-2-2026-04-21", "chatgpt-image-latest", "openai/gpt-image-1-mini"])(
    "%s takes no response_format",
    (model) => {
      expect(sentTo(model, { response_format: "url" })).toEqual({ model, prompt: "a cat" });
    },
  );

  test.each(["dall-e-2", "flux-1", "not-gpt-image"])("%s does", (model) => {
    expect(sentTo(model, { response_format: "url" })).toEqual({ model, prompt: "a cat", response_format: "url" });
  });
});

describe("the upstream's answer", () => {
  const call = readImage(body({ n: 2 }));
  const inline = { b64_json: "aGk=" };

  test.each([
    [1, 1],
    [2, 2],
    [3, 2],
  ])("of %d images, 2 asked for, counts %d", (given, images) => {
    const sent = { created: 1, data: Array.from({ length: given }, () => inline), later: { x: 1 } };
    expect(image.answer(bytes(sent), call)).toEqual({ body: sent, usage: { ...NO_TOKENS, images } });
  });

  test.each([
    [
      { input_tokens: 50, output_tokens: 60, total_tokens: 110 },
      { prompt: 50, completion: 60 },
    ],
    [
      { input_tokens: 50, output_tokens: 60, input_tokens_details: { text_tokens: 50, cached_tokens: 20 } },
      { prompt: 50, completion: 60, cached: 20 },
    ],
    [{ input_tokens: 50 }, {}],
    [{ input_tokens: -1, output_tokens: 1e12 }, {}],
    [null, {}],
    ["many", {}],
  ])("usage %j is counted as %j", (usage, tokens) => {
    const { usage: counted } = image.answer(bytes({ data: [inline], usage }), call);
    expect(counted).toEqual({ ...NO_TOKENS, ...tokens, images: 1 });
  });

  test.each<[Json, Json, string | undefined]>([
    [{ size: "1024x1536", quality: "auto" }, { size: "1024x1536", quality: "high" }, "1024x1536/high"],
    [{}, { size: "1024x1024", quality: "medium" }, "1024x1024/medium"],
    [{ size: "512x512", quality: "hd" }, {}, "512x512/hd"],
    [{ quality: "hd" }, { size: 7, quality: null }, "/hd"],
    [{}, {}, undefined],
  ])("what %j asked for and %j says is priced as %j", (asked, said, variant) => {
    const { usage } = image.answer(bytes({ data: [inline], ...said }), readImage(body(asked)));
    expect(usage.imageVariant).toBe(variant);
  });

  const WITHOUT = "upstream sent an answer without images";
  test.each([
    ["nothing", "", "upstream sent a body that is not JSON"],
    ["HTML", "<html></html>", "upstream sent a body that is not JSON"],
    ["an array", "[]", "upstream sent a body that is not JSON"],
    ["no data", {}, WITHOUT],
    ["data that is no list", { data: inline }, WITHOUT],
    ["no images", { data: [] }, WITHOUT],
    ["an image that is none", { data: [null] }, WITHOUT],
    ["an empty image", { data: [{}] }, WITHOUT],
    ["one empty image among others", { data: [inline, { url: "", b64_json: "" }] }, WITHOUT],
    ["a path for a URL", { data: [{ url: "/image.png" }] }, WITHOUT],
    ["a script for a URL", { data: [{ url: "javascript:alert(1)" }] }, WITHOUT],
    ["a number for a URL", { data: [{ ...inline, url: 7 }] }, WITHOUT],
    ["no base64", { data: [{ b64_json: "<html>" }] }, WITHOUT],
    ["no base64 beside a URL", { data: [{ url: "https://a.example/x", b64_json: "{}" }] }, WITHOUT],
    ["bytes for base64", { data: [{ b64_json: [1, 2] }] }, WITHOUT],
  ])("%s is no answer", (_, sent, message) => {
    expect(() => image.answer(bytes(sent), call)).toThrow(new AttemptError("protocol", message));
  });

  test("an error inside a 200 is a failure, fit for the client", () => {
    const sent = { error: { message: "no key sk-abcdefgh for https://internal.example" } };
    expect(() => image.answer(bytes(sent), call)).toThrow(
      new AttemptError("status", "upstream reported an error: no key [redacted] for [url]", {
        words: "no key [redacted] for [url]",
      }),
    );
  });

  test("whatever comes is written out as images, or is a failure of the attempt", () => {
    const junk = fc.oneof(fc.jsonValue(), fc.constantFrom("aGk=", "https://a.example/b", "data:image/png;base64,aGk="));
    const item = fc.record({ url: junk, b64_json: junk, revised_prompt: junk }, { requiredKeys: [] });
    const answer = fc.record({ data: fc.oneof(junk, fc.array(fc.oneof(item, junk))), created: junk, usage: junk });
    fc.assert(
      fc.property(answer, fc.constantFrom("url", "b64_json", null), (sent, response_format) => {
        const call = readImage(body({ response_format }));
        const { value, error } = attempt(() => imageFormat(call).answer(image.answer(bytes(sent), call).body, extras));
        expect(value !== undefined || error instanceof AttemptError).toBe(true);
        if (value === undefined) return;
        const { data } = JSON.parse(value) as { readonly data: readonly Json[] };
        expect(data.length).toBeGreaterThan(0);
        expect(data.every(({ url, b64_json }) => (url ?? b64_json) !== "" && typeof b64_json === "string")).toBe(true);
      }),
    );
  });

  test("24 MB of base64 are read", () => {
    const sent = { data: [{ b64_json: "QUJD".repeat(6_000_000) }] };
    expect(image.answer(bytes(sent), call).usage).toEqual({ ...NO_TOKENS, images: 1 });
    const spoilt = { data: [{ b64_json: `${"QUJD".repeat(6_000_000)}!` }] };
    expect(() => image.answer(bytes(spoilt), call)).toThrow(new AttemptError("protocol", WITHOUT));
  });
});

/** What an upstream gave, and what the client sees of it by the `response_format` it asked for. */
interface Case {
  readonly about: string;
  readonly upstream: Json;
  readonly shown: Readonly<Record<"none" | "url" | "b64_json" | "base64", readonly Json[]>>;
}

const cases = casesOfFiles(new URL("image/", import.meta.url)) as Cases<Case>;

describe.each(cases)("%s", (_, { about, upstream, shown }) => {
  test.each(Object.entries(shown))(`${about}; asked for %s`, (asked, images) => {
    const call = readImage(body({ n: 10, response_format: asked === "none" ? null : asked }));
    const decoded = image.answer(bytes(upstream), call);
    expect(JSON.parse(imageFormat(call).answer(decoded.body, extras))).toEqual({
      created: 1_770_935_200,
      data: images,
      provider: "Alpha",
      model: "route/image",
    });
  });
});

describe("the client's answer", () => {
  const format = imageFormat(readImage(body()));

  test("byte for byte", () => {
    expect(format.contentType).toBe("application/json");
    const sent = { created: 5, data: [{ b64_json: "aGk=", revised_prompt: "a cat." }], model: "up", usage: {} };
    expect(format.answer(sent, extras)).toBe(
      '{"created":5,"data":[{"url":null,"b64_json":"aGk=","revised_prompt":"a cat."}],"provider":"Alpha","model":"route/image"}',
    );
  });

  test.each([null, undefined, "now", 1.5, -1])("created %j is no time: that of the request stands in", (created) => {
    const answer = JSON.parse(format.answer({ created, data: [] }, extras)) as Json;
    expect(answer["created"]).toBe(1_768_435_200);
  });

  test("no text is counted: images are priced each", () => {
    expect([format.promptText(), format.producedText({}), format.stream]).toEqual(["", "", null]);
  });
});

describe("refusals", () => {
  const upstreams: readonly string[] = ["PROVIDER_ERROR", "PROVIDER_TIMEOUT", "CIRCUIT_BREAKER_OPEN"];

  test.each(upstreams)("%s has a body of its own", (code) => {
    expect(imageRefusal(new GatewayError(code as ErrorCode, 'upstream said "no"'), false)).toEqual({
      contentType: "application/json",
      body: '{"error":{"message":"upstream said \\"no\\"","type":"api_error"}}',
    });
  });

  test("every other error has that of the table", () => {
    const others = Object.keys(ERRORS).filter((code) => !upstreams.includes(code));
    for (const code of others) expect(imageRefusal(new GatewayError(code as ErrorCode, "no"), true)).toBeNull();
  });
});

const recordings = sharedFixtures("vercel-ai");

test.skipIf(recordings === null)("a recorded answer of two images", () => {
  const call = readImage(body({ n: 2, response_format: "b64_json" }));
  const recorded = readFileSync(join(recordings ?? "", "openai/image/openai-image.json"));
  const decoded = image.answer(recorded, call);
  expect(decoded.usage).toEqual({ ...NO_TOKENS, images: 2 });
  const shown = JSON.parse(imageFormat(call).answer(decoded.body, extras)) as { readonly data: readonly Json[] };
  expect(shown.data.map(({ url, b64_json }) => [url, String(b64_json).startsWith("iVBORw0KGgo")])).toEqual([
    [null, true],
    [null, true],
  ]);
});
