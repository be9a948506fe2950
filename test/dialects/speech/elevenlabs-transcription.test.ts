import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { transcriptionFormat } from "../../../src/dialects/endpoints/transcription.ts";
import { transcription } from "../../../src/dialects/speech/elevenlabs.ts";
import { AttemptError, type Json } from "../../../src/kit/index.ts";
import { sharedFixtures } from "../../support/shared.ts";
import { testTarget } from "../../support/snapshot.ts";
import { collect } from "./upload.ts";
import { answeredOr, bytes, extras, heard, letters, milliseconds, recording, transcriptOf } from "./heard.ts";
import { type Said, speechOf, textOf } from "./transcriptions.ts";
import { RUNS } from "../../properties/runs.ts";

const target = testTarget("alpha", { model: "scribe_v1" });

const form = async (fields: Json = {}): Promise<FormData> => {
  const { headers, body } = transcription.request(await heard(fields), target, "key");
  const sent = await collect(body.read());
  expect(sent.length).toBe(body.length);
  return new Response(sent, { headers: { "content-type": headers["content-type"] ?? "" } }).formData();
};
const texts = async (fields: Json = {}): Promise<Json> =>
  Object.fromEntries([...(await form(fields))].filter(([name]) => name !== "file"));

describe("the upstream's request", () => {
  test("xi-api-key, a form with model_id and the file", async () => {
    const { method, path, headers, dropped } = transcription.request(await heard(), target, "key");
    expect({ method, path, dropped }).toEqual({ method: "POST", path: "/v1/speech-to-text", dropped: [] });
    expect(headers).toEqual({
      "xi-api-key": "key",
      accept: "application/json",
      "content-type": expect.stringMatching(/^multipart\/form-data; boundary=[\w-]{30,70}$/) as string,
    });
    expect(await texts()).toEqual({
      model_id: "scribe_v1",
      timestamps_granularity: "word",
      tag_audio_events: "false",
    });
    const file = (await form()).get("file") as File;
    expect([file.name, file.type]).toEqual(["speech.wav", "audio/wav"]);
    expect(Buffer.from(await file.arrayBuffer())).toEqual(await collect(recording.read()));
  });

  test("without a key there is no header for it", async () => {
    expect(transcription.request(await heard(), target, "").headers).not.toHaveProperty("xi-api-key");
  });

  test("language, temperature and the events that a client asks for travel", async () => {
    const fields = { language: "de", temperature: "0.50", tag_audio_events: "true" };
    expect(await texts(fields)).toEqual({
      model_id: "scribe_v1",
      timestamps_granularity: "word",
      tag_audio_events: "true",
      language_code: "de",
      temperature: "0.5",
    });
    expect(transcription.request(await heard(fields), target, "key").dropped).toEqual([]);
  });

  test.each<[Json, readonly string[]]>([
    [{ prompt: "Galileo" }, ["/prompt"]],
    [{ prompt: "", stream: "false" }, []],
    [{ response_format: "srt", "timestamp_granularities[]": ["word", "segment"] }, []],
    [{ timestamp_granularities: "word" }, []],
    [
      { "include[]": ["logprobs"], "chunking_strategy[type]": "server_vad" },
      ["/include[]", "/chunking_strategy[type]"],
    ],
    [{ diarize: "true", prompt: "a" }, ["/diarize", "/prompt"]],
  ])("of the form %j these are reported: %j", async (fields, dropped) => {
    expect(transcription.request(await heard(fields), target, "key").dropped).toEqual(dropped);
    expect(Object.keys(await texts(fields))).toEqual(["model_id", "timestamps_granularity", "tag_audio_events"]);
  });
});

const entry = (text: string, start: number, end: number, more: Json = {}): Json => ({
  text,
  start,
  end,
  type: "word",
  ...more,
});
const answer = (sent: Json) => transcription.answer(bytes(sent));

describe("the upstream's answer", () => {
  const words = [
    entry("Hi.", 0.1, 0.4, { speaker_id: "speaker_0", logprob: 0 }),
    entry(" ", 0.4, 0.5, { type: "spacing" }),
    entry("You?", 0.5, 1.25),
    entry("(laughter)", 1.25, 2, { type: "audio_event" }),
  ];

  test("is the canonical one: no spacing among the words, a segment a sentence", () => {
    const { body, usage } = answer({
      text: "Hi. You?(laughter)",
      language_code: "deu",
      words,
      audio_duration_secs: 2.5,
    });
    expect(body).toEqual({
      text: "Hi. You?(laughter)",
      language: "de",
      duration: 2.5,
      segments: [
        { id: 0, start: 0.1, end: 0.4, text: "Hi." },
        { id: 1, start: 0.5, end: 1.25, text: "You?" },
        { id: 2, start: 1.25, end: 2, text: "(laughter)" },
      ],
      words: [
        { word: "Hi.", start: 0.1, end: 0.4 },
        { word: "You?", start: 0.5, end: 1.25 },
        { word: "(laughter)", start: 1.25, end: 2 },
      ],
    });
    expect(usage).toEqual(milliseconds(2_500));
  });

  test.each<[string, Json, number | null]>([
    ["the upstream's measure", { audio_duration_secs: 3.0005, words }, 3_001],
    ["no measure: the end of the last word", { words }, 2_000],
    ["null for a measure", { audio_duration_secs: null, words }, 2_000],
    ["a measure not to be believed", { audio_duration_secs: 604_801, words }, 2_000],
    ["a measure below zero", { audio_duration_secs: -1, words }, 2_000],
    ["words for a measure", { audio_duration_secs: "long", words }, 2_000],
    ["neither measure nor words", { words: [] }, null],
    ["no list of words", {}, null],
    ["silence that was measured", { audio_duration_secs: 60, words: [] }, 60_000],
  ])("metered by %s", (_, sent, expected) => {
    const { body, usage } = answer({ text: "Hi. You?(laughter)", ...sent });
    expect(usage).toEqual(expected === null ? null : milliseconds(expected));
    const { duration = null } = transcriptOf({ body, usage });
    expect(duration === null ? null : Math.round(duration * 1000)).toBe(expected);
  });

  test("a word without times has those of the one before", () => {
    const { words } = transcriptOf(
      answer({ text: "a b", words: [entry("a", 0, 1), { text: " ", type: "spacing" }, { text: "b", start: null }] }),
    );
    expect(words).toEqual([
      { word: "a", start: 0, end: 1 },
      { word: "b", start: 1, end: 1 },
    ]);
  });

  test.each<[string, Json]>([
    ["spacing, whatever it holds", entry("—", 1, 1.5, { type: "spacing" })],
    ["spacing without a text", { type: "spacing", start: 1, end: 1.5 }],
    ["a blank", entry(" \n", 1, 1.5)],
  ])("%s is no word", (_, between) => {
    const { words } = transcriptOf(answer({ text: "a b", words: [entry("a", 0, 1), between, entry("b", 2, 3)] }));
    expect(words.map(({ word }) => word)).toEqual(["a", "b"]);
  });

  test("a word that ends before it begins lasts no time", () => {
    expect(transcriptOf(answer({ text: "a", words: [entry(" a ", 2, 1)] })).words).toEqual([
      { word: "a", start: 2, end: 2 },
    ]);
  });

  test.each([
    ["eng", "en"],
    ["en", "en"],
    ["cmn", "zh"],
    ["fil", "fil"],
    ["x", "x"],
    ["", undefined],
    [null, undefined],
    [7, undefined],
  ])("the language %j is %j", (language_code, language) => {
    expect(transcriptOf(answer({ text: "a", language_code })).language).toBe(language);
  });

  test.each<[string, unknown, string]>([
    ["nothing", "", "upstream sent a body that is not JSON"],
    ["a cut body", '{"text":"Hel', "upstream sent a body that is not JSON"],
    ["no text", { words: [] }, "upstream sent an answer without text"],
    ["a number for text", { text: 7 }, "upstream sent an answer without text"],
    ["transcripts of channels", { transcripts: [{ text: "a" }] }, "upstream sent an answer without text"],
    ["words that are no list", { text: "a", words: {} }, "upstream sent words that are none"],
    ["a word that is none", { text: "a", words: [null] }, "upstream sent words that are none"],
    ["a word without text", { text: "a", words: [{ start: 0, end: 1 }] }, "upstream sent words that are none"],
    ["a start as text", { text: "a", words: [{ text: "a", start: "0", end: 1 }] }, "upstream sent words that are none"],
    [
      "an endless word",
      '{"text":"a","words":[{"text":"a","start":0,"end":1e999}]}',
      "upstream sent words that are none",
    ],
    ["a word before the audio", { text: "a", words: [entry("a", -1, 1)] }, "upstream sent words that are none"],
  ])("%s is no answer", (_, sent, message) => {
    expect(() => transcription.answer(bytes(sent))).toThrow(new AttemptError("protocol", message));
  });

  test("whatever comes is written out in every format, or is a failure of the attempt", async () => {
    const junk = fc.oneof(fc.jsonValue(), fc.double(), fc.constantFrom("hi", null, 1, "spacing"));
    const word = fc.record({ text: junk, start: junk, end: junk, type: junk }, { requiredKeys: [] });
    const list = fc.oneof(junk, fc.array(word, { maxLength: 4 }));
    const sent = fc.record(
      { text: fc.oneof(fc.string(), junk), words: list, audio_duration_secs: junk, language_code: junk, error: junk },
      { requiredKeys: ["text"] },
    );
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

/** As ElevenLabs writes it. */
const asSent = (said: readonly Said[]): Json => ({
  text: textOf(said),
  words: said.flatMap(({ text, start, end, space }, index) => {
    const before = said[index - 1]?.end ?? start;
    const spacing = index === 0 || space === "" ? [] : [entry(space, before, start, { type: "spacing" })];
    return [...spacing, entry(text, start, end)];
  }),
});

test("1,000 random transcriptions: words as they were said, segments that cover them in order", () => {
  fc.assert(
    fc.property(speechOf, (said) => {
      const { text, words, segments } = transcriptOf(answer(asSent(said)));
      expect(text).toBe(textOf(said));
      expect(words).toEqual(said.map(({ text: word, start, end }) => ({ word, start, end })));
      expect(segments.map(({ id }) => id)).toEqual([...segments.keys()]);
      expect(letters(segments.map((segment) => segment.text))).toBe(letters([text]));
    }),
    { numRuns: RUNS },
  );
});

const recordings = sharedFixtures("vercel-ai");
const recorded = (): Uint8Array => readFileSync(join(recordings ?? "", "elevenlabs/elevenlabs-transcription.json"));

describe.skipIf(recordings === null)("the recorded answer", () => {
  test("wire 2g: spacing entries are no words", () => {
    const decoded = transcription.answer(recorded());
    const { text, language, duration, segments, words } = transcriptOf(decoded);
    expect({ text, language, duration }).toEqual({
      text: "Hello from the Vercel AI SDK.",
      language: "en",
      duration: 2.479,
    });
    expect(segments).toEqual([{ id: 0, start: 0.199, end: 2.479, text }]);
    expect(words.map(({ word }) => word).join(" ")).toBe(text);
    expect(decoded.usage).toEqual(milliseconds(2_479));
  });

  test.each([
    [
      "json",
      '{"text":"Hello from the Vercel AI SDK.","segments":[{"id":0,"start":0.199,"end":2.479,"text":"Hello from the Vercel AI SDK."}],"language":"en"}',
    ],
    ["text", "Hello from the Vercel AI SDK.\n"],
    ["srt", "1\n00:00:00,199 --> 00:00:02,479\nHello from the Vercel AI SDK.\n\n"],
  ])("as %s", async (response_format, expected) => {
    const format = transcriptionFormat(await heard({ response_format }));
    expect(format.answer(transcription.answer(recorded()).body, extras)).toBe(expected);
  });
});
