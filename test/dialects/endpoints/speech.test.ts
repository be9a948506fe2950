import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readSpeech, speechFormat } from "../../../src/dialects/endpoints/speech.ts";
import { speech } from "../../../src/dialects/endpoints/speech.ts";
import type { Json } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";

const body = (more: Json = {}): Json => ({ model: "route/voice", input: "Hello.", voice: "sage", ...more });

describe("the call", () => {
  test("is the body, with what the gateway routes and counts by", () => {
    const sent = body({ response_format: "wav", speed: 1.5, later: { unknown: null } });
    expect(readSpeech(sent)).toEqual({
      kind: "speech",
      model: "route/voice",
      stream: false,
      body: sent,
      promptBytes: 6,
      maxOutput: 0,
      units: { characters: 6 },
    });
  });

  test.each([
    ["abc", 3],
    ["größe", 5],
    ["👍🏽", 2],
    ["👩‍👩‍👧", 5],
    ["\ud83d", 1],
    ["\ud83da\udc4d", 3],
    ["\r\n", 2],
  ])("%j has %d characters: code points", (input, characters) => {
    expect(readSpeech(body({ input })).units).toEqual({ characters });
  });

  test("the characters of joined texts add up", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary", maxLength: 1 })), (characters) => {
        const { units } = readSpeech(body({ input: characters.join("") }));
        expect(units).toEqual({ characters: characters.filter((character) => character !== "").length });
      }),
    );
  });

  test("a null means not given: upstreams take none", () => {
    const sent = body({ response_format: null, speed: null, instructions: null, stream_format: null, later: null });
    expect(readSpeech(sent).body).toEqual(body({ later: null }));
  });
});

describe("the upstream's request", () => {
  const target = testTarget("alpha", { model: "tts-1" });

  test("is the body with the upstream's model", () => {
    const sent = body({ response_format: "opus", later: [1] });
    expect(speech.request(readSpeech(sent), target, "sk-1")).toEqual({
      method: "POST",
      path: "/audio/speech",
      headers: { authorization: "Bearer sk-1", "content-type": "application/json", accept: "*/*" },
      body: JSON.stringify({ ...sent, model: "tts-1" }),
    });
  });

  test("has no authorization without a key", () => {
    expect(speech.request(readSpeech(body()), target, "").headers).not.toHaveProperty("authorization");
  });
});

const typeOf = (upstream: string, more: Json = {}): string | null =>
  speech.contentType(upstream, readSpeech(body(more)));

describe("the answer's type", () => {
  test.each([
    ["audio/mpeg", "audio/mpeg"],
    ["audio/L16; rate=24000", "audio/L16; rate=24000"],
    ["Audio/WAV", "Audio/WAV"],
    ["audio/x-wav;codec=1", "audio/x-wav;codec=1"],
    ["application/json", null],
    ["application/json; charset=utf-8", null],
    ["text/html", null],
    ["text/event-stream", null],
    ["application/octet-streams", null],
    ["video/mp4", null],
    ["audio/", null],
    ["audio/mpeg, text/html", null],
    ["audio/mpeg;\r\nx: y", null],
    ["", null],
  ])("%j is relayed as %j", (upstream, expected) => {
    expect(typeOf(upstream, { response_format: "wav" })).toBe(expected);
  });

  test.each([
    [undefined, "audio/mpeg"],
    [null, "audio/mpeg"],
    ["mp3", "audio/mpeg"],
    ["opus", "audio/opus"],
    ["aac", "audio/aac"],
    ["flac", "audio/flac"],
    ["wav", "audio/wav"],
    ["pcm", "audio/pcm"],
  ])("of bytes without a type, format %j, is %s", (response_format, expected) => {
    expect(typeOf("application/octet-stream", { response_format })).toBe(expected);
    expect(typeOf("application/octet-stream; charset=binary", { response_format })).toBe(expected);
  });
});

test("no text is counted: speech is priced by characters", () => {
  const format = speechFormat(readSpeech(body()));
  expect([format.promptText(), format.producedText({}), format.stream]).toEqual(["", "", null]);
});
