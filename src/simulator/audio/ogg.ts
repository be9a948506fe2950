import { crc } from "./crc.ts";

/** Counted at 48 kHz, as Opus always is. */
const SAMPLES = 960;
/** 20 ms of silence. */
const SILENCE = Buffer.from([0xf8, 0xff, 0xfe]);
const FIRST = 2;
const LAST = 4;

/** The two pages before the sound: 24 kHz mono, and who made it. */
export function opusHead(serial: number): Buffer {
  const head = Buffer.alloc(19);
  head.write("OpusHead", 0, "latin1");
  head.writeUInt8(1, 8);
  head.writeUInt8(1, 9);
  head.writeUInt32LE(24_000, 12);
  const vendor = Buffer.from("simulator");
  const tags = Buffer.alloc(16 + vendor.length);
  tags.write("OpusTags", 0, "latin1");
  tags.writeUInt32LE(vendor.length, 8);
  vendor.copy(tags, 12);
  return Buffer.concat([page(head, 0, 0, FIRST, serial), page(tags, 1, 0, 0, serial)]);
}

/** A page of one frame of 20 ms. */
export function opusFrame(index: number, frames: number, serial: number): Buffer {
  return page(SILENCE, index + 2, (index + 1) * SAMPLES, index === frames - 1 ? LAST : 0, serial);
}

function page(packet: Buffer, sequence: number, position: number, flags: number, serial: number): Buffer {
  const head = Buffer.alloc(28);
  head.write("OggS", 0, "latin1");
  head.writeUInt8(flags, 5);
  head.writeBigUInt64LE(BigInt(position), 6);
  head.writeUInt32LE(serial, 14);
  head.writeUInt32LE(sequence, 18);
  head.writeUInt8(1, 26);
  head.writeUInt8(packet.length, 27);
  const whole = Buffer.concat([head, packet]);
  whole.writeUInt32LE(crc(whole, 32, 0x04c1_1db7), 22);
  return whole;
}
