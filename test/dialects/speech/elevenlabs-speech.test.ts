import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { refusalOf } from "../../support/refusal.ts";
import { readSpeech } from "../../../src/dialects/endpoints/speech.ts";
import type { UpstreamRequest } from "../../../src/dialects/dialect.ts";
import { elevenlabs, speech } from "../../../src/dialects/speech/elevenlabs.ts";
import { GatewayError, type Json } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";
import { RUNS } from "../../properties/runs.ts";

const target = testTarget("alpha", { model: "eleven_multilingual_v2" });
const VOICE = "21m00Tcm4TlvDq8ikWAM";
const body = (more: Json = {}): Json => ({ model: "route/voice", input: "Hello.", voice: VOICE, ...more });
const sent = (more: Json = {}, key = "key"): UpstreamRequest => speech.request(readSpeech(body(more)), target, key);
const written = (more: Json = {}): Json => JSON.parse(sent(more).body as string) as Json;

/** Where a voice leads, or "refused". */
function pathOr(voice: string): string {
  try {
    return sent({ voice }).path;
  } catch (error) {
    if (error instanceof GatewayError) return "refused";
    throw error;
  }
}

test("the request: xi-api-key, the voice in the path, the format in the query", () => {
  expect(sent()).toEqual({
    method: "POST",
    path: `/v1/text-to-speech/${VOICE}?output_format=mp3_44100_128`,
    headers: { "xi-api-key": "key", "content-type": "application/json", accept: "*/*" },
    body: '{"text":"Hello.","model_id":"eleven_multilingual_v2"}',
    dropped: [],
  });
});

test("without a key there is no header for it", () => {
  expect(sent({}, "").headers).toEqual({ "content-type": "application/json", accept: "*/*" });
});

describe("the format", () => {
  test.each([
    [undefined, "mp3_44100_128", "audio/mpeg"],
    [null, "mp3_44100_128", "audio/mpeg"],
    ["mp3", "mp3_44100_128", "audio/mpeg"],
    ["opus", "opus_48000_64", "audio/opus"],
    ["wav", "wav_24000", "audio/wav"],
    ["pcm", "pcm_24000", "audio/pcm"],
  ])("%s is asked for as %s, and bytes without a type are %s", (response_format, asked, type) => {
    expect(sent({ response_format }).path).toBe(`/v1/text-to-speech/${VOICE}?output_format=${asked}`);
    expect(speech.contentType("application/octet-stream", readSpeech(body({ response_format })))).toBe(type);
  });

  test.each(["aac", "flac"])("%s is impossible: the possible ones are named", (response_format) => {
    expect(() => sent({ response_format })).toThrow(
      refusalOf("/response_format must be mp3, opus, wav or pcm for this model"),
    );
  });

  test.each([
    ["audio/mpeg", "audio/mpeg"],
    ["audio/ogg; codecs=opus", "audio/ogg; codecs=opus"],
    ["application/json", null],
    ["text/html", null],
    ["", null],
  ])("an answer of type %j is relayed as %j", (upstream, expected) => {
    expect(speech.contentType(upstream, readSpeech(body()))).toBe(expected);
  });
});

describe("the voice", () => {
  test.each([
    ["a/b?c#d", "a%2Fb%3Fc%23d"],
    ["../../v1/models", "..%2F..%2Fv1%2Fmodels"],
    ["größe %2e", "gr%C3%B6%C3%9Fe%20%252e"],
    ["...", "..."],
  ])("%j stays one segment of the path", (voice, segment) => {
    expect(sent({ voice }).path).toBe(`/v1/text-to-speech/${segment}?output_format=mp3_44100_128`);
  });

  test.each([".", "..", "\ud800", "a\udc00b"])("%j is refused", (voice) => {
    expect(() => sent({ voice })).toThrow(refusalOf("/voice must be the id of a voice"));
  });

  test("whatever it is, it leads to speech or is the client's mistake", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), (voice) => {
        const path = pathOr(voice);
        if (path === "refused") return;
        const { pathname, search } = new URL(`http://upstream.example${path}`);
        const segment = pathname.slice("/v1/text-to-speech/".length);
        expect(pathname.slice(0, -segment.length)).toBe("/v1/text-to-speech/");
        expect(segment).not.toContain("/");
        expect(decodeURIComponent(segment)).toBe(voice);
        expect(search).toBe("?output_format=mp3_44100_128");
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the speed", () => {
  test.each<[unknown, unknown, readonly string[]]>([
    [undefined, undefined, []],
    [1, undefined, []],
    [0.7, { speed: 0.7 }, []],
    [1.15, { speed: 1.15 }, []],
    [1.2, { speed: 1.2 }, []],
    [0.25, { speed: 0.7 }, ["/speed"]],
    [4, { speed: 1.2 }, ["/speed"]],
  ])("%j is sent as %j, %j being reported", (speed, voice_settings, dropped) => {
    expect(written({ speed })["voice_settings"]).toEqual(voice_settings);
    expect(sent({ speed }).dropped).toEqual(dropped);
  });

  test("stands beside the client's own settings of the voice", () => {
    const voice_settings = { stability: 0.4, speed: 0.9 };
    expect(written({ voice_settings, speed: 1.1 })["voice_settings"]).toEqual({ stability: 0.4, speed: 1.1 });
    expect(written({ voice_settings })["voice_settings"]).toEqual(voice_settings);
  });
});

describe("the other fields", () => {
  test("those that ElevenLabs has travel", () => {
    const own = { language_code: "de", seed: 7, previous_text: "a", next_text: "b", apply_text_normalization: "off" };
    expect(written(own)).toEqual({ text: "Hello.", model_id: "eleven_multilingual_v2", ...own });
    expect(sent(own).dropped).toEqual([]);
  });

  test.each<[Json, readonly string[]]>([
    [{ instructions: "Whisper." }, ["/instructions"]],
    [{ instructions: null, stream_format: "audio" }, []],
    [{ voice_settings: "warm" }, ["/voice_settings"]],
    [{ voice_settings: null }, []],
    [{ later: { x: 1 }, "a/b~": 1 }, ["/later", "/a~1b~0"]],
    [{ instructions: "Whisper.", speed: 2 }, ["/instructions", "/speed"]],
  ])("of %j these are reported: %j", (more, dropped) => {
    expect(sent(more).dropped).toEqual(dropped);
    expect(Object.keys(written(more)).filter((name) => name !== "voice_settings")).toEqual(["text", "model_id"]);
  });
});

test("the probe asks for the models", () => {
  expect(elevenlabs.probe("key")).toEqual({
    method: "GET",
    path: "/v1/models",
    headers: { "xi-api-key": "key", accept: "application/json" },
    body: null,
  });
});

test.each<[unknown, string]>([
  [
    { detail: { status: "voice_not_found", message: "A voice with id x was not found." } },
    "A voice with id x was not found.",
  ],
  [{ detail: { status: "quota_exceeded", message: "See https://elevenlabs.io/x now" } }, "See [url] now"],
  [{ detail: { type: "x", message: 7 } }, ""],
  [{ detail: {} }, ""],
  [{ detail: "Not Found" }, "Not Found"],
  [{ detail: [{ type: "missing", loc: ["body", "text"], msg: "Field required" }] }, "body.text: Field required"],
  [{ detail: [] }, ""],
  [{ message: "no" }, "no"],
  ["<html>", ""],
  ["[]", ""],
])("the words of %j are %j", (error, words) => {
  const bytes = new TextEncoder().encode(typeof error === "string" ? error : JSON.stringify(error));
  expect(elevenlabs.errorMessage(bytes)).toBe(words);
});
