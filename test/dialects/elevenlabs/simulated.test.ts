import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readSpeech } from "../../../src/dialects/clients/speech.ts";
import { deepgram } from "../../../src/dialects/deepgram/index.ts";
import * as deepgramSpeech from "../../../src/dialects/deepgram/speech.ts";
import * as deepgramTranscription from "../../../src/dialects/deepgram/transcription.ts";
import { elevenlabs } from "../../../src/dialects/elevenlabs/index.ts";
import * as elevenlabsSpeech from "../../../src/dialects/elevenlabs/speech.ts";
import * as elevenlabsTranscription from "../../../src/dialects/elevenlabs/transcription.ts";
import { type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { testTarget } from "../../support/snapshot.ts";
import { heard, letters, milliseconds, transcriptOf } from "./heard.ts";
import { send } from "./send.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const answered = (request: Parameters<typeof send>[1]): Promise<Response> => send(simulator.origin, request);

const DIALECTS = [
  {
    name: "elevenlabs",
    dialect: elevenlabs,
    ...elevenlabsSpeech,
    ...elevenlabsTranscription,
    target: testTarget("alpha", { model: "eleven_v3" }),
    formats: ["mp3", "opus", "wav", "pcm"],
    wrong: "/v1/text-to-speech/thalia",
  },
  {
    name: "deepgram",
    dialect: deepgram,
    ...deepgramSpeech,
    ...deepgramTranscription,
    target: testTarget("alpha", { model: "aura-2" }),
    formats: ["mp3", "opus", "aac", "flac", "wav", "pcm"],
    wrong: "/v1/speak",
  },
];

/** How files of each format begin, as Latin-1; PCM begins with the sound. */
const BEGINNINGS = { mp3: "\u00ff\u00f3", opus: "OggS", aac: "\u00ff\u00f1", flac: "fLaC", wav: "RIFF" };

function formatOf(audio: Buffer): string {
  const text = audio.toString("latin1");
  return Object.entries(BEGINNINGS).find(([, beginning]) => text.startsWith(beginning))?.[0] ?? "pcm";
}

describe.each(DIALECTS)("the simulator understands $name:", ({ dialect, speech, transcription, target, ...more }) => {
  test.each(more.formats)("speech as %s", async (response_format) => {
    const call = readSpeech({ model: "route/v", input: "Hello.", voice: "thalia", response_format, speed: 4 });
    const response = await answered(speech.request(call, target, "key"));
    expect(response.status).toBe(200);
    expect(speech.contentType(response.headers.get("content-type") ?? "", call)).toMatch(/^audio\//);
    const audio = Buffer.from(await response.arrayBuffer());
    expect(formatOf(audio)).toBe(response_format);
  });

  test("a transcription, metered by its measure", async () => {
    const call = await heard({ language: "en" });
    const response = await answered(transcription.request(call, target, "key"));
    expect(response.status).toBe(200);
    const decoded = transcription.answer(new Uint8Array(await response.arrayBuffer()));
    expect(decoded.usage).toEqual(milliseconds(2_500));
    const { text, segments, words } = transcriptOf(decoded);
    expect(text).toContain("80044 bytes");
    expect(letters(segments.map((segment) => segment.text))).toBe(letters([text]));
    expect(letters(words.map(({ word }) => word))).toBe(letters([text]));
  });

  test("its probe, and its errors are put in its words", async () => {
    expect((await answered(dialect.probe("key"))).status).toBe(200);
    const headers = { ...dialect.probe("key").headers, "content-type": "application/json" };
    const response = await answered({ method: "POST", path: more.wrong, headers, body: "{}" });
    expect(response.status).toBe(400);
    expect(dialect.errorMessage(new Uint8Array(await response.arrayBuffer()))).toContain("'text'");
  });
});
