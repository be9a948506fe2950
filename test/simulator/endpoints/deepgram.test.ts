import { hash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scriptedOrigin, startSimulator } from "../../../src/simulator/server.ts";
import type { Simulator } from "../../../src/simulator/server.ts";
import { call } from "../support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const KEY = { authorization: "Token any" };
const FILE = Buffer.alloc(32_000, "sound");
const listen = (query = "", script = "-", body: Uint8Array = FILE, headers: Record<string, string> = {}) =>
  call(`${scriptedOrigin(simulator.origin, script)}/v1/listen${query}`, {
    body,
    headers: { ...KEY, "content-type": "audio/mpeg", ...headers },
  });
const speak = (query: string, body: object = { text: "Hello there." }, headers: Record<string, string> = KEY) =>
  call(`${simulator.origin}/v1/speak${query}`, { body, headers });

interface Heard {
  readonly results: {
    readonly channels: readonly {
      readonly detected_language: string;
      readonly alternatives: readonly { readonly transcript: string; readonly words: readonly Word[] }[];
    }[];
  };
}
interface Word {
  readonly word: string;
  readonly punctuated_word: string;
  readonly start: number;
  readonly end: number;
}

test("the body is the file", async () => {
  const made = JSON.parse((await listen("?model=nova-3&smart_format=true&detect_language=true")).text) as Heard;
  expect(made).toMatchObject({ metadata: { duration: 2, channels: 1 } });
  const [channel] = made.results.channels;
  expect(channel?.detected_language).toBe("en");
  const { transcript = "", words = [] } = channel?.alternatives[0] ?? {};
  expect(transcript).toBe("This is a simulated transcript of audio, 32000 bytes.");
  expect(words.map((word) => word.punctuated_word).join(" ")).toBe(transcript);
  expect(words[0]).toMatchObject({ word: "this", start: 0 });
  expect(words.at(-1)).toMatchObject({ word: "bytes", end: 2 });
  expect(simulator.ledger().at(-1)).toMatchObject({
    model: "nova-3",
    units: { milliseconds: 2_000 },
    claimed: { seconds: 2 },
    upload: { size: 32_000, type: "audio/mpeg", sha256: hash("sha256", FILE), fields: { smart_format: ["true"] } },
  });
});

test("the seconds may be claimed or missing", async () => {
  expect(JSON.parse((await listen("", "usage.seconds=7")).text)).toHaveProperty("metadata.duration", 7);
  expect(JSON.parse((await listen("", "no_usage")).text)).not.toHaveProperty("metadata.duration");
});

test.each([
  ["", "audio/mpeg"],
  ["?encoding=opus&container=ogg", "audio/opus"],
  ["?encoding=flac", "audio/flac"],
  ["?encoding=aac", "audio/aac"],
  ["?encoding=linear16&sample_rate=24000", "audio/wav"],
  ["?encoding=linear16&container=none&sample_rate=24000", "audio/l16;rate=24000;channels=1"],
])("speaks %s as %s", async (query, type) => {
  const seen = await speak(`${query}${query === "" ? "?" : "&"}model=aura-2-thalia-en`);
  expect([seen.status, seen.headers["content-type"]]).toEqual([200, type]);
  expect(simulator.ledger().at(-1)).toMatchObject({ model: "aura-2-thalia-en", units: { characters: 12 } });
});

test.each([
  ["no file", () => listen("", "-", Buffer.alloc(0)), 400, "Bad Request"],
  ["an address", () => listen("", "-", Buffer.from("{}"), { "content-type": "application/json" }), 400, "Bad Request"],
  ["no text", () => speak("", {}), 400, "Bad Request"],
  ["an unknown encoding", () => speak("?encoding=x"), 400, "UNSUPPORTED_AUDIO_FORMAT"],
  ["mp3 in a container", () => speak("?encoding=mp3&container=wav"), 400, "UNSUPPORTED_AUDIO_FORMAT"],
  ["mp3 at a rate", () => speak("?encoding=mp3&sample_rate=24000"), 400, "UNSUPPORTED_AUDIO_FORMAT"],
  ["a Bearer", () => speak("", { text: "x" }, { authorization: "Bearer any" }), 401, "INVALID_AUTH"],
  ["a status", () => listen("", "status=429"), 429, "Bad Request"],
])("%s is refused", async (_, send, status, code) => {
  const seen = await send();
  expect([seen.status, JSON.parse(seen.text)]).toMatchObject([
    status,
    { err_code: code, err_msg: expect.any(String) as string },
  ]);
});

test.each(["projects", "models"])("%s can be read", async (path) => {
  expect((await call(`${simulator.origin}/v1/${path}`, { method: "GET", headers: KEY })).status).toBe(200);
});
