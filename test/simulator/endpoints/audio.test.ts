import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AUDIO, type AudioFormat, wavMilliseconds } from "../../../src/simulator/endpoints/audio.ts";
import { RUNS } from "../support.ts";

const SEED = 0xc0ffee;

function fileOf(format: AudioFormat, frames: number): Buffer {
  const sound = Array.from({ length: frames }, (_, index) => format.frame(index, frames, SEED));
  return Buffer.concat([format.head?.(frames, SEED) ?? Buffer.alloc(0), ...sound]);
}

const chunk = (name: string, body: Uint8Array): Buffer => {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(body.length);
  return Buffer.concat([Buffer.from(name, "latin1"), size, body, Buffer.alloc(body.length % 2)]);
};

const wav = (...chunks: readonly Buffer[]) => Buffer.concat([Buffer.from("RIFF\0\0\0\0WAVE", "latin1"), ...chunks]);

test.each(Object.entries<AudioFormat>(AUDIO))(
  "%s has frames of the promised size that tell their place",
  (_, format) => {
    const frames = [0, 1, 2].map((index) => Buffer.from(format.frame(index, 9, SEED)));
    expect(frames.every((frame) => frame.length >= format.bytes)).toBe(true);
    expect(
      new Set([...frames, format.frame(0, 9, SEED + 3)].map((frame) => Buffer.from(frame).toString("hex"))).size,
    ).toBe(4);
  },
);

test("MP3 and AAC: every frame begins where the one before it ends", () => {
  const mp3 = fileOf(AUDIO.mp3, 50);
  // 24 kHz and 32 kbit/s of MPEG-2 layer III: 72 * 32000 / 24000 bytes.
  for (let at = 0; at < mp3.length; at += 96) expect(mp3.readUInt32BE(at)).toBe(0xfff344c4);
  const aac = fileOf(AUDIO.aac, 40);
  let frames = 0;
  for (let at = 0; at < aac.length; frames++) {
    expect(aac.readUInt16BE(at)).toBe(0xfff1);
    at += ((aac.readUInt8(at + 3) & 3) << 11) | (aac.readUInt8(at + 4) << 3) | (aac.readUInt8(at + 5) >> 5);
  }
  expect(frames).toBe(40);
});

describe("WAV", () => {
  /** PCM of 24 kHz, 16 bits, mono. */
  const format = chunk("fmt ", fileOf(AUDIO.wav, 0).subarray(20, 36));

  test("the head is that of 16-bit mono PCM", () => {
    const file = fileOf(AUDIO.wav, 5);
    expect([file.readUInt32LE(4), file.readUInt32LE(40)]).toEqual([file.length - 8, file.length - 44]);
    expect(file.toString("hex", 8, 36)).toBe("57415645666d74201000000001000100c05d000080bb000002001000");
    expect(wavMilliseconds(file)).toBe(5 * 24);
  });

  test("its length is exact, whatever stands between the chunks", () => {
    const between = fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 4 });
    fc.assert(
      fc.property(between, between, fc.nat(10_000), (before, after, samples) => {
        const extra = (list: readonly Uint8Array[]) => list.map((body) => chunk("LIST", body));
        const file = wav(...extra(before), format, ...extra(after), chunk("data", Buffer.alloc(samples * 2)));
        expect(wavMilliseconds(file)).toBe(Math.round(samples / 24));
      }),
      { numRuns: RUNS },
    );
  });

  test.each([
    [
      "samples that are there when more are promised",
      wav(format, chunk("data", Buffer.alloc(99_999)).subarray(0, 8 + 48_000)),
      1_000,
    ],
    ["nothing", Buffer.alloc(0), null],
    ["another file", Buffer.from("ID3 and so on, long enough"), null],
    ["no data", wav(format), null],
    ["no format", wav(chunk("data", Buffer.alloc(10))), null],
    ["a format of no speed", wav(chunk("fmt ", Buffer.alloc(16)), chunk("data", Buffer.alloc(10))), null],
    ["a format cut off", wav(format.subarray(0, 12)), null],
  ])("the length of %s", (_, file, milliseconds) => {
    expect(wavMilliseconds(file)).toBe(milliseconds);
  });

  test("its length never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(wavMilliseconds(wav(format, Buffer.from(bytes))) ?? 0).toBeGreaterThanOrEqual(0);
        expect(wavMilliseconds(Buffer.from(bytes)) ?? 0).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: RUNS },
    );
  });
});
