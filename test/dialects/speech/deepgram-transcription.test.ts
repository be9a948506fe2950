import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { transcriptionFormat } from "../../../src/dialects/endpoints/transcription.ts";
import { transcription } from "../../../src/dialects/speech/deepgram.ts";
import type { Decoded } from "../../../src/dialects/dialect.ts";
import { AttemptError, type Json } from "../../../src/kit/index.ts";
import { sharedFixtures } from "../../support/shared.ts";
import { testTarget } from "../../support/snapshot.ts";
import { collect, upload } from "./upload.ts";
import {
  answeredOr,
  bytes,
  extras,
  heard,
  letters,
  milliseconds,
  recording,
  type Transcript,
  transcriptOf,
} from "./heard.ts";
import { send } from "./send.ts";
import { type Said, speechOf, textOf } from "./transcriptions.ts";
import { RUNS } from "../../properties/runs.ts";

const target = testTarget("alpha", { model: "nova-3" });

describe("the upstream's request", () => {
  test("Token, options in the query, and the bare file as its body", async () => {
    const { body, ...request } = transcription.request(await heard({ language: "de-CH" }), target, "key");
    expect(request).toEqual({
      method: "POST",
      path: "/v1/listen?model=nova-3&smart_format=true&language=de-CH",
      headers: { authorization: "Token key", "content-type": "audio/wav", accept: "application/json" },
      dropped: [],
    });
    const file = await collect(recording.read());
    expect(body.length).toBe(file.length);
    expect(await collect(body.read())).toEqual(file);
    expect(await collect(body.read())).toEqual(file);
  });

  test("a client that names no language has it found out", async () => {
    const { path } = transcription.request(await heard({ language: "" }), target, "key");
    expect(path).toBe("/v1/listen?model=nova-3&smart_format=true&detect_language=true");
  });

  test("without a key there is no authorization", async () => {
    expect(transcription.request(await heard(), target, "").headers).not.toHaveProperty("authorization");
  });

  test("what a language says stays in it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", minLength: 1 }), async (language) => {
        const { path } = transcription.request(await heard({ language }), target, "key");
        const { searchParams } = new URL(`http://upstream.example${path}`);
        expect([...searchParams]).toEqual([
          ["model", "nova-3"],
          ["smart_format", "true"],
          ["language", language.toWellFormed()],
        ]);
      }),
    );
  });

  test.each([
    ["audio/wav", "audio/wav"],
    ['audio/ogg; codecs="opus"', "audio/ogg"],
    ["Video/MP4", "Video/MP4"],
    // It would make the file an order to fetch another one.
    ["application/json", "application/octet-stream"],
    ["audio/wav\r\nx: y", "audio/wav"],
    ["nonsense", "application/octet-stream"],
    ["", "application/octet-stream"],
  ])("a file of type %j is sent as %j", async (contentType, sent) => {
    const file = upload([Buffer.from("RIFF")], { contentType });
    expect(transcription.request(await heard({}, file), target, "key").headers["content-type"]).toBe(sent);
  });

  test.each<[Json, readonly string[]]>([
    [{ prompt: "Galileo", temperature: "0.5" }, ["/prompt", "/temperature"]],
    [{ temperature: "0" }, []],
    [{ prompt: "", stream: "false" }, []],
    [{ response_format: "verbose_json", "timestamp_granularities[]": ["word"] }, []],
    [{ "include[]": ["logprobs"] }, ["/include[]"]],
    [{ callback: "http://x.example", redact: "pii" }, ["/callback", "/redact"]],
  ])("of the form %j these are reported: %j", async (fields, dropped) => {
    const request = transcription.request(await heard(fields), target, "key");
    expect(request.dropped).toEqual(dropped);
    expect(request.path).toBe("/v1/listen?model=nova-3&smart_format=true&detect_language=true");
  });

  test("a server gets the file byte for byte", async () => {
    const server = createServer((incoming, response) => {
      const { "content-length": length, "content-type": type, authorization } = incoming.headers;
      void collect(incoming).then((bytes) =>
        response.end(JSON.stringify({ length, type, authorization, url: incoming.url, bytes: bytes.toString("hex") })),
      );
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    try {
      const request = transcription.request(await heard(), target, "key");
      const response = await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, request);
      expect(await response.json()).toEqual({
        length: String(recording.size),
        type: "audio/wav",
        authorization: "Token key",
        url: request.path,
        bytes: (await collect(recording.read())).toString("hex"),
      });
    } finally {
      server.close();
    }
  });
});

const word = (text: string, start: number, end: number): Json => ({
  word: text.toLowerCase().replace(/[.,]/g, ""),
  punctuated_word: text,
  start,
  end,
  confidence: 1,
});

const answer = (alternative: Json, more: { readonly metadata?: unknown; readonly results?: Json } = {}): Decoded =>
  transcription.answer(
    bytes({
      metadata: "metadata" in more ? more.metadata : { duration: 36.744, channels: 1 },
      results: { channels: [{ alternatives: [alternative] }], ...more.results },
    }),
  );

const results = (alternative: unknown): Json => ({ results: { channels: [{ alternatives: [alternative] }] } });

describe("the upstream's answer", () => {
  const words = [word("Hello", 0.1, 0.4), word("there.", 0.4, 0.9), word("Bye.", 1, 1.5)];
  const transcript = "Hello there. Bye.";

  test("is the canonical one, its words as they are written", () => {
    const { body, usage } = answer(
      { transcript, words },
      { results: { channels: [{ alternatives: [{ transcript, words }], detected_language: "en" }] } },
    );
    expect(body).toEqual({
      text: transcript,
      language: "en",
      duration: 36.744,
      segments: [
        { id: 0, start: 0.1, end: 0.9, text: "Hello there." },
        { id: 1, start: 1, end: 1.5, text: "Bye." },
      ],
      words: [
        { word: "Hello", start: 0.1, end: 0.4 },
        { word: "there.", start: 0.4, end: 0.9 },
        { word: "Bye.", start: 1, end: 1.5 },
      ],
    });
    expect(usage).toEqual(milliseconds(36_744));
  });

  const sentences = [
    { text: "Hello there.", start: 0.1, end: 0.9 },
    { text: "Bye.", start: 1, end: 1.5 },
  ];
  const paragraphs = { transcript, paragraphs: sentences.map((one) => ({ sentences: [one], start: 0, end: 2 })) };
  const utterances = [{ transcript, start: 0.1, end: 1.5, id: "u", words }];

  test.each<[string, Json, Json, readonly string[]]>([
    ["sentences of paragraphs", { words: [], paragraphs }, { utterances }, ["Hello there.", "Bye."]],
    ["utterances", { words }, { utterances }, [transcript]],
    ["utterances, of paragraphs without any", { words, paragraphs: { paragraphs: [] } }, { utterances }, [transcript]],
    ["words", { words, paragraphs: null }, { utterances: null }, ["Hello there.", "Bye."]],
    ["nothing", {}, {}, []],
  ])("its segments are made from %s", (_, alternative, results, expected) => {
    const { segments } = transcriptOf(
      answer(
        { transcript, ...alternative },
        { results: { ...results, channels: [{ alternatives: [{ transcript, ...alternative }] }] } },
      ),
    );
    expect(segments.map(({ text }) => text)).toEqual(expected);
    expect(segments.map(({ id }) => id)).toEqual([...expected.keys()]);
  });

  test.each<[string, unknown, number | null]>([
    ["exact to the millisecond", { duration: 0.0015 }, 2],
    ["a duration with more digits", { duration: 2.4794999 }, 2_479],
    ["no audio", { duration: 0 }, 0],
    ["a duration of more than a week", { duration: 604_801 }, null],
    ["a duration below zero", { duration: -1 }, null],
    ["a duration as text", { duration: "36" }, null],
    ["no duration", {}, null],
    ["no metadata", null, null],
  ])("metered: %s", (_, metadata, expected) => {
    const { body, usage } = answer({ transcript, words }, { metadata });
    expect(usage).toEqual(expected === null ? null : milliseconds(expected));
    expect("duration" in JSON.parse(JSON.stringify(body))).toBe(expected !== null);
  });

  test("silence is an answer", async () => {
    const decoded = answer({ transcript: "", words: [] });
    expect(transcriptOf(decoded)).toMatchObject({ text: "", segments: [], words: [] });
    expect(decoded.usage).toEqual(milliseconds(36_744));
    const format = transcriptionFormat(await heard({ language: "de" }));
    expect(format.answer(decoded.body, extras)).toBe('{"text":"","segments":[],"language":"de"}');
  });

  test.each<[string, unknown, string]>([
    ["nothing", "", "upstream sent a body that is not JSON"],
    ["a cut body", '{"results":{"chan', "upstream sent a body that is not JSON"],
    ["a promise to call back", { request_id: "u" }, "upstream sent an answer without text"],
    ["no channel", { results: { channels: [] } }, "upstream sent an answer without text"],
    ["no alternative", { results: { channels: [{ alternatives: [] }] } }, "upstream sent an answer without text"],
    ["a number for text", results({ transcript: 7 }), "upstream sent an answer without text"],
    ["words that are no list", results({ transcript, words: "a" }), "upstream sent words that are none"],
    [
      "a word without text",
      results({ transcript, words: [{ start: 0, end: 1 }] }),
      "upstream sent words that are none",
    ],
    [
      "a time as text",
      results({ transcript, words: [{ word: "a", start: "0", end: 1 }] }),
      "upstream sent words that are none",
    ],
    [
      "paragraphs that are no list",
      results({ transcript, paragraphs: { paragraphs: 7 } }),
      "upstream sent segments that are none",
    ],
    [
      "a sentence that is none",
      results({ transcript, paragraphs: { paragraphs: [{ sentences: [7] }] } }),
      "upstream sent segments that are none",
    ],
  ])("%s is no answer", (_, sent, message) => {
    expect(() => transcription.answer(bytes(sent))).toThrow(new AttemptError("protocol", message));
  });

  test("whatever comes is written out in every format, or is a failure of the attempt", async () => {
    const junk = fc.oneof(fc.jsonValue(), fc.double(), fc.constantFrom("hi", null, 1));
    const timed = fc.record(
      { word: junk, punctuated_word: junk, text: junk, transcript: junk, start: junk, end: junk },
      { requiredKeys: [] },
    );
    const list = fc.oneof(junk, fc.array(timed, { maxLength: 3 }));
    const paragraphs = fc.oneof(junk, fc.record({ paragraphs: fc.array(fc.record({ sentences: list })) }));
    const alternative = fc.record(
      { transcript: fc.oneof(fc.string(), junk), words: list, paragraphs },
      { requiredKeys: ["transcript"] },
    );
    const channel = fc.record({ alternatives: fc.tuple(alternative), detected_language: junk });
    const sent = fc.record({
      metadata: fc.oneof(junk, fc.record({ duration: junk })),
      results: fc.oneof(junk, fc.record({ channels: fc.tuple(channel), utterances: list })),
    });
    const formats = ["json", "text", "srt", "vtt", "verbose_json"];
    const calls = await Promise.all(formats.map((response_format) => heard({ response_format })));
    fc.assert(
      fc.property(sent, fc.constantFrom(...calls), (sent, call) => {
        const outcome = answeredOr(() => transcription.answer(bytes(sent)));
        if (outcome instanceof AttemptError) return;
        const count = outcome.usage?.milliseconds ?? 0;
        expect(Number.isSafeInteger(count) && count >= 0).toBe(true);
        expect(transcriptionFormat(call).answer(outcome.body, extras)).toBeTypeOf("string");
      }),
      { numRuns: RUNS },
    );
  });
});

/** As Deepgram writes it. */
const asSent = (said: readonly Said[]): Json => ({
  transcript: textOf(said),
  words: said.map(({ text, start, end }) => word(text, start, end)),
});

test("1,000 random transcriptions: words as they are written, segments that cover them in order", () => {
  fc.assert(
    fc.property(speechOf, (said) => {
      const { text, words, segments }: Transcript = transcriptOf(answer(asSent(said)));
      expect(text).toBe(textOf(said));
      expect(words).toEqual(said.map(({ text: word, start, end }) => ({ word, start, end })));
      expect(letters(segments.map((segment) => segment.text))).toBe(letters([text]));
    }),
    { numRuns: RUNS },
  );
});

const recordings = sharedFixtures("vercel-ai");
const recorded = (): Uint8Array => readFileSync(join(recordings ?? "", "deepgram/deepgram-transcription.json"));

describe.skipIf(recordings === null)("the recorded answer", () => {
  test("wire 2g: transcript, words and duration", () => {
    const decoded = transcription.answer(recorded());
    const { text, language, duration, segments, words } = transcriptOf(decoded);
    expect({ language, duration, words: words.length }).toEqual({
      language: "en",
      duration: 36.744,
      words: text.split(" ").length,
    });
    expect(decoded.usage).toEqual(milliseconds(36_744));
    expect(text).toMatch(/^galileo was an american .* orbit jupiter$/);
    expect(words[0]).toEqual({ word: "galileo", start: 0.16, end: 0.79999995 });
    expect(segments.map((segment) => segment.text).join(" ")).toBe(text);
    expect(segments.length).toBeGreaterThan(3);
    expect(segments.every(({ start, end }) => end - start <= 10)).toBe(true);
  });

  test("as subtitles", async () => {
    const format = transcriptionFormat(await heard({ response_format: "vtt" }));
    const shown = format.answer(transcription.answer(recorded()).body, extras);
    expect(shown).toMatch(/^WEBVTT\n\n00:00:00\.160 --> 00:00:\d\d\.\d{3}\ngalileo was /);
  });
});
