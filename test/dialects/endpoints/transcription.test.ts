import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { refusalOf } from "../../support/refusal.ts";
import { RUNS } from "../../properties/runs.ts";
import { readTranscription, transcriptionFormat } from "../../../src/dialects/endpoints/transcription.ts";
import type { Decoded, StreamedBody } from "../../../src/dialects/dialect.ts";
import { transcription } from "../../../src/dialects/endpoints/transcription.ts";
import { AttemptError, type Call, type Json, type Usage } from "../../../src/kit/index.ts";
import { attempt, bytes, extras } from "../wire-cases.ts";
import { type Cases, casesOfFiles } from "../cases.ts";
import { sharedFixtures } from "../../support/shared.ts";
import { testTarget } from "../../support/snapshot.ts";
import { collect, upload } from "../speech/upload.ts";
import { wav } from "../speech/wav.ts";

const MODEL = "route/ear";
const speech = upload([wav({ channels: 1, rate: 16_000, bits: 16, frames: 40_000 })]);
const read = (fields: Json = {}): Promise<Call> => readTranscription({ model: MODEL, ...fields }, speech);
const NO_TOKENS: Usage = { prompt: 0, completion: 0, cached: 0, reasoning: 0 };

describe("the call", () => {
  test("is the form, with what the gateway routes and counts by", async () => {
    const fields = {
      language: "en",
      prompt: "Galileo",
      response_format: "verbose_json",
      temperature: ".50",
      "timestamp_granularities[]": ["word", "segment"],
      "include[]": ["logprobs"],
      "chunking_strategy[type]": "server_vad",
      later: "1",
    };
    expect(await read(fields)).toEqual({
      kind: "transcription",
      model: MODEL,
      stream: false,
      body: {
        model: MODEL,
        language: "en",
        prompt: "Galileo",
        response_format: "verbose_json",
        temperature: 0.5,
        timestamp_granularities: ["word", "segment"],
        include: ["logprobs"],
        "chunking_strategy[type]": "server_vad",
        later: "1",
      },
      promptBytes: 0,
      maxOutput: 0,
      units: { milliseconds: 2_500 },
      upload: speech,
    });
  });

  test("a field that is empty was not given, and not streaming is what always happens", async () => {
    expect((await read({ language: "", prompt: "", stream: "false" })).body).toEqual({ model: MODEL });
  });

  test("any name is a field", async () => {
    const fields = JSON.parse('{"model":"route/ear","__proto__":"a","constructor":"b","[]":["c"]}') as Json;
    const { body } = await readTranscription(fields, speech);
    expect(Object.entries(body)).toEqual([
      ["model", MODEL],
      ["__proto__", "a"],
      ["constructor", "b"],
      ["", ["c"]],
    ]);
  });

  test.each<[Json, string]>([
    [{ stream: "true" }, "/stream is not supported for transcriptions"],
    [{ "model[]": ["route/other"] }, "/model is given both as model and as model[]"],
    [{ "a/b~[]": ["1"], "a/b~": "2" }, "/a~1b~0 is given both as a/b~ and as a/b~[]"],
  ])("%j is refused", async (wrong, message) => {
    await expect(read(wrong)).rejects.toThrow(refusalOf(message));
  });
});

describe("the upstream's request", () => {
  const target = testTarget("alpha", { model: "whisper-1" });
  const sent = async (fields: Json): Promise<readonly (readonly [string, unknown])[]> => {
    const { headers, body } = transcription.request(await read(fields), target, "sk-1");
    const form = await new Response(await collect(body.read()), {
      headers: { "content-type": headers["content-type"] ?? "" },
    }).formData();
    return [...form].filter(([name]) => name !== "file" && name !== "model");
  };

  test("path, headers, model and file", async () => {
    const { method, path, headers, body } = transcription.request(await read(), target, "sk-1");
    expect({ method, path }).toEqual({ method: "POST", path: "/audio/transcriptions" });
    expect(headers).toEqual({
      authorization: "Bearer sk-1",
      accept: "application/json",
      "content-type": expect.stringMatching(/^multipart\/form-data; boundary=[\w-]{30,70}$/) as string,
    });
    const whole = await collect(body.read());
    expect(whole.length).toBe(body.length);
    const form = await new Response(whole, { headers }).formData();
    expect(form.getAll("model")).toEqual(["whisper-1"]);
    const file = form.get("file") as File;
    expect([file.name, file.type]).toEqual(["speech.wav", "audio/wav"]);
    expect(Buffer.from(await file.arrayBuffer())).toEqual(await collect(speech.read()));
  });

  test("has no authorization without a key", async () => {
    expect(transcription.request(await read(), target, "").headers).not.toHaveProperty("authorization");
  });

  test.each([
    [undefined, "json"],
    ["json", "json"],
    ["text", "json"],
    ["srt", "verbose_json"],
    ["vtt", "verbose_json"],
    ["verbose_json", "verbose_json"],
  ])("for %s asks for %s", async (asked, expected) => {
    const fields = await sent(asked === undefined ? {} : { response_format: asked });
    expect(fields.find(([name]) => name === "response_format")).toEqual(["response_format", expected]);
  });

  test.each([
    ["verbose_json", ["word"]],
    ["srt", ["segment"]],
    ["vtt", ["segment"]],
  ])("%s of a client that wants words asks for times of %j", async (response_format, expected) => {
    const fields = await sent({ response_format, "timestamp_granularities[]": ["word"] });
    expect(fields.filter(([name]) => name.startsWith("timestamp"))).toEqual(
      expected.map((unit) => ["timestamp_granularities[]", unit]),
    );
  });

  test("what the client's form said travels, under the names it used", async () => {
    const value = fc.string({ unit: "grapheme", minLength: 1 });
    const name = fc
      .stringMatching(/^[a-z_]{1,12}(\[[a-z]+\])?$/)
      .filter((name) => !["model", "file", "stream", "temperature", "response_format"].includes(name));
    const fields = fc.dictionary(name, value);
    const lists = fc.dictionary(name, fc.array(value, { minLength: 1, maxLength: 4 }));
    await fc.assert(
      fc.asyncProperty(fields, lists, async (fields, lists) => {
        const others = Object.entries(lists).filter(([name]) => !(name in fields));
        const form = { ...fields, ...Object.fromEntries(others.map(([name, list]) => [`${name}[]`, list])) };
        const expected = [
          ...Object.entries(fields),
          ...others.flatMap(([name, list]) => list.map((item) => [`${name}[]`, item])),
          ["response_format", "json"],
        ];
        expect(new Set((await sent(form)).map(String))).toEqual(new Set(expected.map(String)));
      }),
    );
  });

  test("numbers and objects that a plugin put there are written as JSON, null is left out", async () => {
    const call = await read({ temperature: "0.20" });
    const changed = { ...call, body: { ...call.body, seed: 7, strategy: { type: "auto" }, prompt: null } };
    const { body } = transcription.request(changed, target, "sk-1") as { readonly body: StreamedBody };
    const text = (await collect(body.read())).toString("latin1");
    expect(text).toContain('name="temperature"\r\n\r\n0.2\r\n');
    expect(text).toContain('name="seed"\r\n\r\n7\r\n');
    expect(text).toContain('name="strategy"\r\n\r\n{"type":"auto"}\r\n');
    expect(text).not.toContain("prompt");
  });
});

const answered = async (sent: unknown): Promise<Decoded> => transcription.answer(bytes(sent));

describe("the upstream's answer", () => {
  const segment = { start: 0, end: 1, text: "hi" };

  test.each<[string, Json, Partial<Usage> | null]>([
    ["no measure", {}, null],
    ["a duration", { duration: 2.4795 }, { milliseconds: 2_480 }],
    ["a duration as text", { duration: "8.47" }, { milliseconds: 8_470 }],
    ["a usage in seconds", { usage: { type: "duration", seconds: 37 } }, { milliseconds: 37_000 }],
    ["both: the exact one", { duration: 36.71, usage: { type: "duration", seconds: 37 } }, { milliseconds: 36_710 }],
    [
      "Mistral's usage",
      { usage: { prompt_audio_seconds: 30, prompt_tokens: 150, completion_tokens: 42, total_tokens: 192 } },
      { prompt: 150, completion: 42, milliseconds: 30_000 },
    ],
    ["Mistral's seconds alone", { usage: { prompt_audio_seconds: 2 } }, { milliseconds: 2_000 }],
    ["no audio", { duration: 0 }, { milliseconds: 0 }],
    [
      "tokens: nothing is known of the audio",
      { usage: { type: "tokens", input_tokens: 14, output_tokens: 101, total_tokens: 115 } },
      { prompt: 14, completion: 101 },
    ],
    [
      "tokens and a duration",
      { duration: 3, usage: { type: "tokens", input_tokens: 14, output_tokens: 101 } },
      { prompt: 14, completion: 101, milliseconds: 3_000 },
    ],
    ["half of the tokens", { usage: { type: "tokens", input_tokens: 14 } }, null],
    ["a duration below zero", { duration: -1 }, null],
    ["a duration of more than a week", { duration: 604_801 }, null],
    ["an endless one", JSON.parse('{"duration":1e999}') as Json, null],
    ["words for a duration", { duration: "long" }, null],
    ["no words for a duration", { duration: "" }, null],
    ["a usage that is none", { usage: 7 }, null],
  ])("with %s", async (_, more, usage) => {
    const decoded = await answered({ text: "hi", ...more });
    expect(decoded.usage).toEqual(usage === null ? null : { ...NO_TOKENS, ...usage });
    expect(decoded.body["segments"]).toEqual([]);
  });

  test.each<[string, unknown, string]>([
    ["nothing", "", "upstream sent a body that is not JSON"],
    ["plain text", " Hello.", "upstream sent a body that is not JSON"],
    ["text in quotes", '"Hello."', "upstream sent a body that is not JSON"],
    ["a cut body", '{"text":"Hel', "upstream sent a body that is not JSON"],
    ["no text", { segments: [segment] }, "upstream sent an answer without text"],
    ["a number for text", { text: 7 }, "upstream sent an answer without text"],
    ["segments that are no list", { text: "hi", segments: segment }, "upstream sent segments that are none"],
    ["a segment that is none", { text: "hi", segments: [null] }, "upstream sent segments that are none"],
    ["no start", { text: "hi", segments: [{ end: 1, text: "hi" }] }, "upstream sent segments that are none"],
    ["a start as text", { text: "hi", segments: [{ ...segment, start: "0" }] }, "upstream sent segments that are none"],
    [
      "an endless one",
      '{"text":"hi","segments":[{"start":0,"end":1e999,"text":"hi"}]}',
      "upstream sent segments that are none",
    ],
    ["no words in it", { text: "hi", segments: [{ start: 0, end: 1 }] }, "upstream sent segments that are none"],
    [
      "words that are none",
      { text: "hi", words: [{ text: "hi", start: 0, end: 1 }] },
      "upstream sent words that are none",
    ],
  ])("%s is no answer", async (_, sent, message) => {
    await expect(answered(sent)).rejects.toThrow(new AttemptError("protocol", message));
  });

  test("whatever comes is written out in every format, or is a failure of the attempt", async () => {
    const junk = fc.oneof(fc.jsonValue(), fc.double(), fc.constantFrom("hi", null));
    const timed = fc.record({ start: junk, end: junk, text: junk, word: junk }, { requiredKeys: [] });
    const list = fc.oneof(junk, fc.array(timed, { maxLength: 3 }));
    const more = { segments: list, words: list, duration: junk, usage: junk, language: junk, task: junk };
    const body = fc.record({ text: fc.oneof(fc.string(), junk), ...more }, { requiredKeys: [] });
    const formats = ["json", "text", "srt", "vtt", "verbose_json"];
    const calls = await Promise.all(formats.map((response_format) => read({ response_format })));
    fc.assert(
      fc.property(body, fc.constantFrom(...calls), (sent, call) => {
        const { value, error } = attempt(() => transcription.answer(bytes(sent)));
        expect(value !== undefined || error instanceof AttemptError).toBe(true);
        if (value === undefined) return;
        const { body, usage } = value;
        const milliseconds = usage?.milliseconds ?? 0;
        expect(Number.isSafeInteger(milliseconds) && milliseconds >= 0).toBe(true);
        expect(transcriptionFormat(call).answer(body, extras)).toBeTypeOf("string");
      }),
      { numRuns: RUNS },
    );
  });

  test("an error inside a 200 is a failure", async () => {
    await expect(answered({ error: "busy" })).rejects.toThrow(
      new AttemptError("status", "upstream reported an error: busy", { words: "busy" }),
    );
  });
});

/** A form, what the upstream answers, and what the client gets: a JSON value, or text. */
interface Case {
  readonly about: string;
  readonly form: Json;
  readonly upstream: Json;
  readonly answer: Json | string;
}

const cases = casesOfFiles(new URL("transcription/", import.meta.url)) as Cases<Case>;

test.each(cases)("%s is answered as expected", async (_, { about, form, upstream, answer }) => {
  const call = await read(form);
  const format = transcriptionFormat(call);
  const written = format.answer(transcription.answer(bytes(upstream)).body, extras);
  const plain = typeof answer === "string";
  expect({ about, answer: plain ? written : (JSON.parse(written) as unknown) }).toEqual({ about, answer });
  expect(format.contentType).toBe(plain ? "text/plain; charset=utf-8" : "application/json");
});

describe("the client's answer", () => {
  test("what a plugin made of the body breaks nothing", async () => {
    const odd: Json[] = [
      {},
      { text: 7, segments: "none", words: {}, language: [] },
      { text: "hi", segments: [null, 1] },
    ];
    for (const response_format of ["json", "text", "srt", "vtt", "verbose_json"]) {
      const format = transcriptionFormat(await read({ response_format }));
      for (const body of odd) expect(typeof format.answer(body, extras)).toBe("string");
    }
  });

  test("no text is counted: audio is priced by the second", async () => {
    const format = transcriptionFormat(await read());
    expect([format.promptText(), format.producedText({ text: "hi" }), format.stream]).toEqual(["", "", null]);
  });
});

const recordings = sharedFixtures("vercel-ai");

const recorded = (name: string): Buffer => readFileSync(join(recordings ?? "", name));

describe.skipIf(recordings === null)("recorded answers", () => {
  test("of OpenAI, with words and a duration", async () => {
    const call = await read({ response_format: "verbose_json", "timestamp_granularities[]": ["word"] });
    const { body, usage } = transcription.answer(recorded("openai/transcription/openai-transcription.json"));
    expect(usage).toEqual({ ...NO_TOKENS, milliseconds: 36_710 });
    const shown = JSON.parse(transcriptionFormat(call).answer(body, extras)) as { readonly words: readonly Json[] };
    expect(shown).toMatchObject({
      task: "transcribe",
      language: "english",
      duration: 36.709999084472656,
      segments: [],
    });
    expect(shown.words[0]).toEqual({ word: "Galileo", start: 0, end: 0.6600000262260437 });
  });

  test("of an upstream with words but no segments: one cue", async () => {
    const call = await read({ response_format: "srt" });
    const { body, usage } = transcription.answer(recorded("cartesia/cartesia-transcription.json"));
    expect(usage).toEqual({ ...NO_TOKENS, milliseconds: 2_479 });
    const shown = transcriptionFormat(call).answer(body, extras);
    expect(shown).toBe("1\n00:00:00,000 --> 00:00:02,479\nHello from the Vercel AI SDK.\n\n");
  });

  test("of plain text is not what was asked for", async () => {
    const { body } = JSON.parse(recorded("groq/groq-transcription-text.json").toString()) as { readonly body: string };
    expect(() => transcription.answer(bytes(body))).toThrow(
      new AttemptError("protocol", "upstream sent a body that is not JSON"),
    );
  });
});
