import { afterAll, beforeAll, expect, test } from "vitest";
import { scriptedOrigin, startSimulator } from "../../../src/simulator/server.ts";
import type { Simulator } from "../../../src/simulator/server.ts";
import { call, form } from "../support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const KEY = { "xi-api-key": "any", authorization: "" };
const speak = (path: string, body: object, headers: Record<string, string> = KEY) =>
  call(`${simulator.origin}/v1/text-to-speech/${path}`, { body, headers });

test.each([
  ["voice", "audio/mpeg"],
  ["voice/stream?output_format=mp3_22050_32", "audio/mpeg"],
  ["voice?output_format=opus_48000_64", "audio/opus"],
  ["voice?output_format=wav_24000", "audio/wav"],
  ["voice?output_format=pcm_24000", "audio/pcm"],
])("%s speaks %s", async (path, type) => {
  const seen = await speak(path, { text: "Hello there.", model_id: "eleven_x" });
  expect([seen.status, seen.headers["content-type"]]).toEqual([200, type]);
  expect(seen.body.length).toBeGreaterThan(100);
  expect(simulator.ledger().at(-1)).toMatchObject({ model: "eleven_x", stream: true, units: { characters: 12 } });
});

test("speech is that of the same text elsewhere", async () => {
  const seen = await speak("voice?output_format=wav_24000", { text: "Hello there." });
  const body = { model: "m", input: "Hello there.", voice: "v", response_format: "wav" };
  expect(seen.body.equals((await call(`${simulator.origin}/v1/audio/speech`, { body })).body)).toBe(true);
});

test.each<[string, string, object, number, string]>([
  ["no text", "voice", {}, 400, "text"],
  ["aac", "voice?output_format=aac_44100", { text: "x" }, 400, "aac_44100"],
  ["a speed", "voice", { text: "x", voice_settings: { speed: 2 } }, 400, "speed"],
])("%s is refused", async (_, path, body, status, what) => {
  const seen = await speak(path, body);
  expect([seen.status, JSON.parse(seen.text)]).toMatchObject([
    status,
    { detail: { message: expect.stringContaining(what) as string } },
  ]);
});

test("a Bearer is no key", async () => {
  const seen = await speak("voice", { text: "x" }, { authorization: "Bearer any" });
  expect([seen.status, JSON.parse(seen.text)]).toEqual([
    401,
    { detail: { status: "invalid_api_key", message: "Invalid API key" } },
  ]);
});

const hear = async (
  fields: readonly (readonly [string, string])[],
  script = "-",
  file: File | null = new File([Buffer.alloc(16_000)], "a.mp3"),
) => {
  const { body, headers } = await form(fields, file);
  return call(`${scriptedOrigin(simulator.origin, script)}/v1/speech-to-text`, {
    body,
    headers: { ...headers, ...KEY },
  });
};

test("words are heard with the space between them", async () => {
  const made = JSON.parse((await hear([["model_id", "scribe"]])).text) as {
    text: string;
    words: { text: string; type: string; end: number }[];
  };
  expect(made.words.map(({ text }) => text).join("")).toBe(made.text);
  expect(made.words.filter(({ type }) => type === "spacing")).toHaveLength(8);
  expect(made.words.at(-1)?.end).toBe(1);
  expect(simulator.ledger().at(-1)).toMatchObject({
    model: "scribe",
    units: { milliseconds: 1_000 },
    claimed: { seconds: 1 },
    upload: { size: 16_000 },
  });
});

test("the seconds may be claimed or missing", async () => {
  const claimed = JSON.parse((await hear([["model_id", "m"]], "usage.seconds=7")).text) as object;
  expect(claimed).toHaveProperty("audio_duration_secs", 7);
  expect((await hear([["model_id", "m"]], "no_usage")).text).not.toContain("audio_duration_secs");
});

test("a model and a file are needed", async () => {
  expect((await hear([])).status).toBe(422);
  expect((await hear([["model_id", "m"]], "-", null)).status).toBe(400);
});

test.each(["models", "voices", "user"])("%s can be read", async (path) => {
  expect((await call(`${simulator.origin}/v1/${path}`, { method: "GET", headers: KEY })).status).toBe(200);
});
