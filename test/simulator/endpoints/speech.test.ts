import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scriptedUrl, startSimulator } from "../../../src/simulator/server.ts";
import type { Simulator } from "../../../src/simulator/server.ts";
import { call, eventually, RawCall } from "../support.ts";

let simulator: Simulator;
beforeAll(async () => (simulator = await startSimulator()));
afterAll(() => simulator.close());

const urlOf = (script: string) => `${scriptedUrl(simulator.origin, script)}/audio/speech`;
const say = (body: object = {}, script = "-") =>
  call(urlOf(script), { body: { model: "m", voice: "anyone", input: "Hello there.", ...body } });
const WAV_HEAD = 44;
const lengthOf = async (body: object) => (await say({ response_format: "wav", ...body })).body.length - WAV_HEAD;
/** Of 24 kHz, 16 bits. */
const bytesOf = (milliseconds: number) => milliseconds * 48;

test.each([
  [undefined, "audio/mpeg"],
  ["mp3", "audio/mpeg"],
  ["opus", "audio/opus"],
  ["aac", "audio/aac"],
  ["flac", "audio/flac"],
  ["wav", "audio/wav"],
  ["pcm", "audio/pcm"],
])("response_format %s is %s, in pieces, without a length", async (response_format, type) => {
  const seen = await say({ response_format });
  expect(seen).toMatchObject({ status: 200, whole: true, headers: { "content-type": type, "x-simulated": "true" } });
  expect(seen.headers["content-length"]).toBeUndefined();
  expect(simulator.ledger().at(-1)).toMatchObject({
    model: "m",
    stream: true,
    bytes: seen.body.length,
    units: { characters: 12, prompt: 0, milliseconds: 0, images: 0 },
    claimed: null,
    ending: "end",
  });
  expect(simulator.ledger().at(-1)?.events).toBeGreaterThan(3);
});

test("a WAV's length is 48 ms for each code point, and less at speed", async () => {
  expect(await lengthOf({ input: "a" })).toBe(bytesOf(48));
  expect(await lengthOf({ input: "ab😀" })).toBe(bytesOf(144));
  expect(await lengthOf({ input: "x".repeat(1_000) })).toBe(bytesOf(48_000));
  expect(await lengthOf({ input: "x".repeat(1_000), speed: 2 })).toBe(bytesOf(24_000));
});

test("what is said decides the bytes, not who says it", async () => {
  const [first, again, other] = [await say(), await say({ voice: { id: "x" } }), await say({ input: "Hello There." })];
  expect(again.body.equals(first.body)).toBe(true);
  expect(other.body.equals(first.body)).toBe(false);
});

test("code points are counted, not units of UTF-16", async () => {
  await say({ input: "a😀é" });
  expect(simulator.ledger().at(-1)?.units.characters).toBe(3);
});

test.each([
  [{ input: "" }, "input"],
  [{ input: 7 }, "input"],
  [{ voice: undefined }, "voice"],
  [{ voice: "" }, "voice"],
  [{ model: undefined }, "model"],
  [{ response_format: "midi" }, "response_format"],
  [{ stream_format: "sse" }, "stream_format"],
  [{ speed: 5 }, "speed"],
  [{ speed: "1" }, "speed"],
])("%j is refused at %s", async (body, param) => {
  const seen = await say(body);
  expect(seen.status).toBe(400);
  expect(JSON.parse(seen.text)).toMatchObject({ error: { param } });
});

describe("scripts", () => {
  test.each([
    ["chunks=7", 7, 1],
    ["chunks=1", 1, 1],
    ["chunks=5&chunk_bytes=3000", 5, 3_000],
    ["chunk_bytes=500", 4, 500],
  ])("%s makes %d pieces of %d bytes at least", async (script, count, least) => {
    const seen = await say({}, script);
    expect(simulator.ledger().at(-1)).toMatchObject({ events: count, bytes: seen.body.length });
    expect(seen.body.length).toBeGreaterThanOrEqual(count * least);
  });

  test("chunks=0 is an empty body", async () => {
    expect(await say({}, "chunks=0")).toMatchObject({ status: 200, text: "" });
    expect(simulator.ledger().at(-1)?.units.characters).toBe(0);
  });

  test.each([
    ["reset_after=0", "reset", 0],
    ["reset_after=2", "reset", 2],
    ["close_after=0", "fin", 0],
    ["close_after=3", "fin", 3],
  ])("%s ends with %s after %d pieces", async (script, ended, pieces) => {
    const raw = await new RawCall(urlOf(script), { model: "m", voice: "v", input: "Hello there." }).over();
    expect(raw.ended).toBe(ended);
    expect(raw.text.startsWith("HTTP/1.1 200")).toBe(pieces > 0);
    const characters = pieces > 0 ? 12 : 0;
    expect(simulator.ledger().at(-1)).toMatchObject({ ending: ended, events: pieces, units: { characters } });
  });

  test("end_after is a clean end of less", async () => {
    const [whole, less] = [await say(), await say({}, "end_after=3")];
    expect(less.whole).toBe(true);
    expect(simulator.ledger().at(-1)?.events).toBe(3);
    expect(whole.body.subarray(0, less.body.length).equals(less.body)).toBe(true);
  });

  test("malformed_after puts foreign bytes in", async () => {
    const [whole, bad] = [await say(), await say({}, "malformed_after=1")];
    expect(bad.body.length).toBeGreaterThan(whole.body.length);
    expect(bad.text).toContain("chatcmpl-sim-malformed");
  });

  test.each([
    ["error_first", "application/json"],
    ["error_after=2&message=Broken", "audio/mpeg"],
  ])("%s", async (script, type) => {
    const seen = await say({}, script);
    expect(seen).toMatchObject({ status: 200, whole: true, headers: { "content-type": type } });
    const error = seen.text.slice(seen.text.indexOf('{"error"'));
    expect(JSON.parse(error)).toHaveProperty("error.type", "server_error");
  });

  test("stall_after leaves the body open, and open() counts it", async () => {
    const before = simulator.open();
    const raw = new RawCall(urlOf("stall_after=1"), { model: "m", voice: "v", input: "Hello there." });
    await raw.until("HTTP/1.1 200");
    expect(simulator.open()).toBe(before + 1);
    raw.leave();
    await eventually(() => simulator.open() === before);
    expect(simulator.ledger().at(-1)).toMatchObject({ aborted: true, ending: null });
  });

  test("a slow client holds long audio back instead of filling memory", async () => {
    const raw = new RawCall(urlOf("chunks=100000&chunk_bytes=1000"), { model: "m", voice: "v", input: "long" });
    await raw.until("HTTP/1.1 200");
    raw.pause();
    await eventually(() => (simulator.ledger().at(-1)?.bytes ?? 0) > 100_000);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(simulator.ledger().at(-1)?.bytes).toBeLessThan(20_000_000);
    raw.leave();
  });
});
