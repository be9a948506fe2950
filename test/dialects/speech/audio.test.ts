import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { audioMilliseconds, wavMilliseconds } from "../../../src/dialects/speech/transcript.ts";
import { upload } from "./upload.ts";
import { chunk, format, wav, type WavFormat } from "./wav.ts";
import { RUNS } from "../../properties/runs.ts";

const pcm: WavFormat = { channels: 2, rate: 44_100, bits: 16 };
const whole = (file: Uint8Array): number | null => wavMilliseconds(file, file.length);

const formats: fc.Arbitrary<WavFormat> = fc.record({
  tag: fc.constantFrom(1, 3),
  channels: fc.integer({ min: 1, max: 8 }),
  rate: fc.constantFrom(8_000, 16_000, 22_050, 44_100, 48_000, 96_000),
  bits: fc.constantFrom(8, 16, 24, 32),
  extensible: fc.boolean(),
});

describe("a WAV file's duration", () => {
  test("is that of its frames, with odd chunks around them, wherever its reads are split", async () => {
    const extras = fc.array(
      fc.tuple(fc.constantFrom("LIST", "JUNK", "bext", "fact", "dat?"), fc.uint8Array({ maxLength: 99 })),
      { maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(
        formats,
        fc.integer({ min: 1, max: 5_000 }),
        extras,
        extras,
        fc.array(fc.nat(20_000)),
        async (format, frames, before, after, cuts) => {
          const others = (list: typeof before): readonly Uint8Array[] =>
            list.map(([name, bytes]) => chunk(name, bytes));
          const file = wav({ ...format, frames, before: others(before), after: others(after) });
          const places = [0, ...cuts.filter((cut) => cut < file.length).toSorted((a, b) => a - b), file.length];
          const pieces = places.slice(1).map((end, index) => file.subarray(places[index], end));
          expect(await audioMilliseconds(upload(pieces))).toBe(Math.round((frames * 1000) / format.rate));
        },
      ),
    );
  });

  test("of a file that is cut short is that of what is there", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4 * 44_100 }), (missing) => {
        const file = wav({ ...pcm, frames: 44_100 });
        const rest = file.subarray(0, file.length - missing);
        expect(whole(rest)).toBe(Math.round(((44_100 * 4 - missing) * 1000) / (44_100 * 4)));
      }),
    );
  });

  test.each([
    ["0xFFFFFFFF, as recorders and RF64 files leave it", 0xff_ff_ff_ff],
    ["0, as recorders leave it", 0],
    ["more than there is", 44_100 * 4 * 2 + 1],
  ])("a length of %s means up to the end", (_, length) => {
    expect(whole(wav({ ...pcm, frames: 44_100 * 2, length }))).toBe(2_000);
  });

  test.each(["RIFF", "RF64", "BW64"])("%s is a WAV file", (magic) => {
    const file = wav({ ...pcm, frames: 441 });
    file.write(magic, 0, "latin1");
    expect(whole(file)).toBe(10);
  });

  test("of other encodings goes by the bytes a second that the header says", () => {
    const file = wav({
      tag: 0x11,
      channels: 1,
      rate: 8_000,
      bits: 4,
      byteRate: 4_055,
      frames: 0,
      data: Buffer.alloc(40_550),
    });
    expect(whole(file)).toBe(10_000);
  });

  test.each<[string, Partial<WavFormat>]>([
    ["no channels", { channels: 0 }],
    ["too many channels", { channels: 65_535 }],
    ["no rate", { rate: 0 }],
    ["a rate that nothing has", { rate: 4_000_000_000 }],
    ["no bits", { bits: 0 }],
    ["too many bits", { bits: 65_535 }],
    ["no bytes a second", { tag: 2, byteRate: 0 }],
    ["more bytes a second than any encoding has", { tag: 2, byteRate: 4_294_967_295 }],
  ])("a header with %s says nothing: the size does", async (_, wrong) => {
    const file = wav({ ...pcm, ...wrong, frames: 0, data: Buffer.alloc(160_000 - 44) });
    expect(whole(file)).toBeNull();
    expect(await audioMilliseconds(upload([file]))).toBe(10_000);
  });

  test.each([
    ["data before the format", [chunk("data", Buffer.alloc(8)), format(pcm)]],
    ["no data", [format(pcm)]],
    ["no format", [chunk("data", Buffer.alloc(8))]],
    ["a format cut short", [format(pcm).subarray(0, 20)]],
    ["a format that is too short", [chunk("fmt ", Buffer.alloc(14)), chunk("data", Buffer.alloc(8))]],
  ])("a file with %s is none", (_, chunks) => {
    expect(whole(Buffer.concat([Buffer.from("RIFF\0\0\0\0WAVE"), ...chunks]))).toBeNull();
  });

  test("no bytes make it throw, or claim what cannot be", () => {
    const magic = Buffer.from("RIFF\0\0\0\0WAVE");
    const words = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(..."fmt ,data,LIST".split(",").map((name) => new Uint8Array(Buffer.from(name)))),
      fc.constantFrom(format(pcm), format({ ...pcm, extensible: true })),
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 12 }), fc.nat(1_000_000), fc.boolean(), (parts, more, named) => {
        const head = Buffer.concat(named ? [magic, ...parts] : parts);
        const milliseconds = wavMilliseconds(head, head.length + more);
        expect(milliseconds === null || (Number.isSafeInteger(milliseconds) && milliseconds >= 0)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("other files", () => {
  test.each([
    [1, 1],
    [16, 1],
    [17, 2],
    [16_000, 1_000],
    [1_000_001, 62_501],
  ])("%d bytes are taken for %d ms: 128 kbit/s", async (size, expected) => {
    expect(await audioMilliseconds(upload([Buffer.alloc(size, "ID3")]))).toBe(expected);
  });

  test("only the first 64 KiB are read", async () => {
    let read = 0;
    let closed = false;
    const file = {
      ...upload([]),
      size: 10_000_000,
      async *read() {
        try {
          for (; read < 10_000; read += 1) yield Buffer.alloc(1_000);
        } finally {
          closed = true;
        }
      },
    };
    expect(await audioMilliseconds(file)).toBe(625_000);
    expect(read).toBeLessThan(70);
    expect(closed).toBe(true);
  });

  test("what reading the file throws is thrown", async () => {
    const broken = {
      ...upload([]),
      read: (): AsyncIterable<Uint8Array> => ({
        [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("the disk is gone")) }),
      }),
    };
    await expect(audioMilliseconds(broken)).rejects.toThrow("the disk is gone");
  });
});
