import { crc } from "./crc.ts";

const RATE = 24_000;
/** Samples of a frame. */
const BLOCK = 576;
/** A frame's number has 21 bits here. */
const NUMBERS = 2 ** 21;

/** The stream's marker and its one metadata block: 24 kHz, mono, 16 bits. */
export function flacHead(frames: number): Buffer {
  const head = Buffer.alloc(42);
  head.write("fLaC", 0, "latin1");
  head.writeUInt32BE(0x8000_0022, 4);
  head.writeUInt16BE(BLOCK, 8);
  head.writeUInt16BE(BLOCK, 10);
  const bits = 15n;
  head.writeBigUInt64BE((BigInt(RATE) << 44n) | (bits << 36n) | (BigInt(frames * BLOCK) & 0xf_ffff_ffffn), 18);
  return head;
}

/** One frame of the same sample over and over: silence. */
export function flacFrame(index: number, sample: number): Buffer {
  const head = [0xff, 0xf8, 0x27, 0x08, ...numberOf(index % NUMBERS)];
  const frame = [...head, crc(Uint8Array.from(head), 8, 0x07), 0, (sample >> 8) & 0xff, sample & 0xff];
  const sum = crc(Uint8Array.from(frame), 16, 0x8005);
  return Buffer.from([...frame, sum >> 8, sum & 0xff]);
}

/** As UTF-8 writes a code point, surrogates included. */
function numberOf(value: number): readonly number[] {
  const rest = (shift: number) => 0x80 | ((value >> shift) & 0x3f);
  if (value < 0x80) return [value];
  if (value < 0x800) return [0xc0 | (value >> 6), rest(0)];
  if (value < 0x1_0000) return [0xe0 | (value >> 12), rest(6), rest(0)];
  return [0xf0 | (value >> 18), rest(12), rest(6), rest(0)];
}
