import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { refusalOf } from "../../support/refusal.ts";
import { readSpeech } from "../../../src/dialects/endpoints/speech.ts";
import type { UpstreamRequest } from "../../../src/dialects/dialect.ts";
import { deepgram, speech, spokenModel } from "../../../src/dialects/speech/deepgram.ts";
import { GatewayError, type Json } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";

const body = (more: Json = {}): Json => ({ model: "route/voice", input: "Hello.", voice: "thalia", ...more });
const sent = (more: Json = {}, model = "aura-2", key = "key"): UpstreamRequest =>
  speech.request(readSpeech(body(more)), testTarget("alpha", { model }), key);
const query = (more: Json = {}, model = "aura-2"): Json =>
  Object.fromEntries(new URL(`http://upstream.example${sent(more, model).path}`).searchParams);

/** The model that speaks, or "refused". */
function modelOr(voice: string, model: string): unknown {
  try {
    return query({ voice }, model)["model"];
  } catch (error) {
    if (error instanceof GatewayError) return "refused";
    throw error;
  }
}

test("the request: Token, not Bearer, and all but the text in the query", () => {
  expect(sent()).toEqual({
    method: "POST",
    path: "/v1/speak?model=aura-2-thalia-en&encoding=mp3",
    headers: { authorization: "Token key", "content-type": "application/json", accept: "*/*" },
    body: '{"text":"Hello."}',
    dropped: [],
  });
});

test("without a key there is no authorization", () => {
  expect(sent({}, "aura-2", "").headers).not.toHaveProperty("authorization");
});

describe("the format", () => {
  test.each<[unknown, Json, string]>([
    [undefined, { encoding: "mp3" }, "audio/mpeg"],
    [null, { encoding: "mp3" }, "audio/mpeg"],
    ["mp3", { encoding: "mp3" }, "audio/mpeg"],
    ["opus", { encoding: "opus", container: "ogg" }, "audio/opus"],
    ["aac", { encoding: "aac" }, "audio/aac"],
    ["flac", { encoding: "flac" }, "audio/flac"],
    ["wav", { encoding: "linear16", container: "wav", sample_rate: "24000" }, "audio/wav"],
    ["pcm", { encoding: "linear16", container: "none", sample_rate: "24000" }, "audio/pcm"],
  ])("%s is asked for as %j, and bytes without a type are %s", (response_format, asked, type) => {
    expect(query({ response_format })).toEqual({ model: "aura-2-thalia-en", ...asked });
    expect(speech.contentType("application/octet-stream", readSpeech(body({ response_format })))).toBe(type);
  });

  test("one that a plugin made up is refused", () => {
    expect(() => sent({ response_format: "ogg" })).toThrow(
      refusalOf("/response_format must be one of mp3, opus, aac, flac, wav, pcm for this model"),
    );
  });

  test.each([
    ["audio/mpeg", "audio/mpeg"],
    ["audio/l16;rate=24000", "audio/l16;rate=24000"],
    ["application/json", null],
  ])("an answer of type %j is relayed as %j", (upstream, expected) => {
    expect(speech.contentType(upstream, readSpeech(body()))).toBe(expected);
  });
});

describe("the voice is the model's name", () => {
  test.each([
    ["aura-2", "thalia", "aura-2-thalia-en"],
    ["aura-2", "thalia-en", "aura-2-thalia-en"],
    ["aura-2", "celeste-es", "aura-2-celeste-es"],
    ["aura-2", "aura-2-thalia-en", "aura-2-thalia-en"],
    ["aura-2", "aura-2-thalia", "aura-2-thalia-en"],
    ["aura", "asteria", "aura-asteria-en"],
    ["aura", "aura-asteria-en", "aura-asteria-en"],
  ])("%s with voice %j is %s", (model, voice, name) => {
    expect(spokenModel(model, voice)).toEqual({ name, asked: true });
  });

  test.each([
    ["thalia", true],
    ["thalia-en", true],
    ["aura-2-thalia-en", true],
    ["alloy", false],
    ["thal", false],
    ["aura-2-luna-en", false],
    ["", false],
    [undefined, false],
  ])("a target with a voice of its own speaks with it; asked for %j: %s", (voice, asked) => {
    expect(spokenModel("aura-2-thalia-en", voice)).toEqual({ name: "aura-2-thalia-en", asked });
  });

  test("a voice that is not spoken with is reported", () => {
    expect(sent({ voice: "alloy" }, "aura-2-thalia-en").dropped).toEqual(["/voice"]);
    expect(query({ voice: "alloy" }, "aura-2-thalia-en")["model"]).toBe("aura-2-thalia-en");
  });

  test.each([
    ["aura", "2-thalia-en"],
    ["aura", "aura-2-thalia-en"],
    ["aura-2", "aura-asteria-en"],
    ["aura-2", "thalia-en&model=other"],
    ["aura-2", "thalia en"],
    ["aura-2", "thalia-english"],
    ["aura-2", "\ud800"],
    ["aura-2", "-en"],
    ["aura-2", { id: "thalia" }],
  ])("%s does not become another model by the voice %j", (model, voice) => {
    expect(() => sent({ voice }, model)).toThrow(
      refusalOf('/voice must be the name of a voice, such as "thalia" or "thalia-en"'),
    );
  });

  test("whatever the voice, it is the target's family that speaks, or the client's mistake", () => {
    const voice = fc.oneof(fc.string({ unit: "binary", minLength: 1 }), fc.stringMatching(/^[a-z0-9-]{1,20}$/));
    fc.assert(
      fc.property(voice, fc.constantFrom("aura", "aura-2"), (voice, model) => {
        expect(modelOr(voice, model)).toMatch(new RegExp(`^(?:refused|${model}-[a-z]+-[a-z]{2})$`, "i"));
      }),
    );
  });
});

describe("the speed", () => {
  test.each<[string, unknown, unknown, readonly string[]]>([
    ["aura-2-thalia-en", undefined, undefined, []],
    ["aura-2-thalia-en", 1, undefined, []],
    ["aura-2-thalia-en", 0.7, "0.7", []],
    ["aura-2-celeste-es", 1.5, "1.5", []],
    ["aura-2-thalia-en", 0.25, "0.7", ["/speed"]],
    ["aura-2-thalia-en", 4, "1.5", ["/speed"]],
    ["aura-2-julius-de", 1.2, undefined, ["/speed"]],
    ["aura-asteria-en", 1.2, undefined, ["/speed"]],
    ["aura-asteria-en", 1, undefined, []],
  ])("of %s, %j, is sent as %j, %j being reported", (model, speed, asked, dropped) => {
    const more = { voice: model, speed };
    expect(query(more, model)["speed"]).toBe(asked);
    expect(sent(more, model).dropped).toEqual(dropped);
  });
});

test.each<[Json, readonly string[]]>([
  [{ instructions: "Whisper." }, ["/instructions"]],
  [{ instructions: null, stream_format: "audio" }, []],
  [{ callback: "http://x.example", sample_rate: 8000 }, ["/callback", "/sample_rate"]],
  [{ later: [1], speed: 4 }, ["/later", "/speed"]],
])("of %j these are reported: %j", (more, dropped) => {
  expect(sent(more).dropped).toEqual(dropped);
  expect(sent(more).body).toBe('{"text":"Hello."}');
  expect(Object.keys(query(more)).filter((name) => name !== "speed")).toEqual(["model", "encoding"]);
});

test("the probe asks for the projects", () => {
  expect(deepgram.probe("key")).toEqual({
    method: "GET",
    path: "/v1/projects",
    headers: { authorization: "Token key", accept: "application/json" },
    body: null,
  });
});

test.each<[unknown, string]>([
  [
    { err_code: "Bad Request", err_msg: "Bad Request: corrupt or unsupported data", request_id: "u" },
    "Bad Request: corrupt or unsupported data",
  ],
  [
    { category: "INVALID_JSON", message: "Invalid JSON submitted.", details: "missing field `text`", request_id: "u" },
    "Invalid JSON submitted. missing field `text`",
  ],
  [{ err_msg: "see https://developers.deepgram.com/x" }, "see [url]"],
  [{ err_msg: 7 }, ""],
  [{ error: { message: "no" } }, "no"],
  [{}, ""],
  ["<html>", ""],
  ["[]", ""],
])("the words of %j are %j", (error, words) => {
  const bytes = new TextEncoder().encode(typeof error === "string" ? error : JSON.stringify(error));
  expect(deepgram.errorMessage(bytes)).toBe(words);
});
