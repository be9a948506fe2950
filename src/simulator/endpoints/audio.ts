/** A way of writing sound of 24 kHz, mono. Frames differ by seed and place, so that a lost or foreign one shows. */
export interface AudioFormat {
  readonly contentType: string;
  /** Samples of a frame. */
  readonly samples: number;
  /** A frame has at least as many bytes. */
  readonly bytes: number;
  /** What stands before `frames` frames; without it the file begins with the first one. */
  head?(frames: number, seed: number): Uint8Array;
  frame(index: number, frames: number, seed: number): Uint8Array;
}

export const SAMPLE_RATE_HZ = 24_000;
const FRAME_SAMPLES = 576;
const WAVE_AMPLITUDE = 4_000;
/** Samples of a wave: each fits a frame of PCM as a whole number of times. */
const WAVE_PERIODS = [24, 32, 36, 48, 64, 72];

const pcm: AudioFormat = {
  contentType: "audio/pcm",
  samples: FRAME_SAMPLES,
  bytes: FRAME_SAMPLES * 2,
  frame: (index, _, seed) => sineFrame(WAVE_PERIODS[(seed + index) % WAVE_PERIODS.length] ?? FRAME_SAMPLES),
};

export const AUDIO = {
  mp3: { contentType: "audio/mpeg", samples: FRAME_SAMPLES, bytes: 96, frame: mp3Frame },
  opus: { contentType: "audio/opus", samples: 480, bytes: 31, head: oggHead, frame: oggFrame },
  aac: { contentType: "audio/aac", samples: 1_024, bytes: 11, frame: aacFrame },
  flac: { contentType: "audio/flac", samples: FRAME_SAMPLES, bytes: 11, head: flacHead, frame: flacFrame },
  wav: { ...pcm, contentType: "audio/wav", head: (frames) => wavHead(frames * pcm.bytes, SAMPLE_RATE_HZ) },
  pcm,
} satisfies Record<string, AudioFormat>;

function sineFrame(period: number): Buffer {
  const wave = Buffer.alloc(period * 2);
  for (let at = 0; at < period; at++) {
    wave.writeInt16LE(Math.round(WAVE_AMPLITUDE * Math.sin((2 * Math.PI * at) / period)), at * 2);
  }
  return Buffer.alloc(FRAME_SAMPLES * 2, wave);
}

/** MPEG-2 layer III of 32 kbit/s without any main data: silence. Seed and place are in bytes that decoders skip. */
function mp3Frame(index: number, _frames: number, seed: number): Buffer {
  const frame = Buffer.alloc(96);
  frame.writeUInt32BE(0xfff3_44c4);
  frame.writeUInt32BE(seed, 88);
  frame.writeUInt32BE(index, 92);
  return frame;
}

/** ADTS, low complexity: one channel without any bands, silent at every gain. */
function aacFrame(index: number, _frames: number, seed: number): Uint8Array {
  const gain = (seed + index) & 0xff;
  return Uint8Array.from([0xff, 0xf1, 0x58, 0x40, 0x01, 0x7f, 0xfc, gain >> 7, (gain << 1) & 0xff, 0, 0x07]);
}

const WAV_SIZE_LIMIT_BYTES = 0xffff_ffff;

/** The head of 16-bit mono PCM with `bytes` of samples. */
function wavHead(bytes: number, rate: number): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0", 0, "latin1");
  head.writeUInt32LE(Math.min(bytes + 36, WAV_SIZE_LIMIT_BYTES), 4);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.write("\x02\0\x10\0data", 32, "latin1");
  head.writeUInt32LE(Math.min(bytes, WAV_SIZE_LIMIT_BYTES), 40);
  return head;
}

/** Milliseconds of a WAV file; null for anything that is none. Of samples that are promised only those there count. */
export function wavMilliseconds(file: Buffer): number | null {
  const tag = (at: number) => file.toString("latin1", at, at + 4);
  if (file.length < 12 || tag(0) !== "RIFF" || tag(8) !== "WAVE") return null;
  let bytesPerSecond = 0;
  for (let at = 12; at + 8 <= file.length;) {
    const size = file.readUInt32LE(at + 4);
    const body = at + 8;
    if (tag(at) === "fmt " && body + 12 <= file.length) bytesPerSecond = file.readUInt32LE(body + 8);
    if (tag(at) === "data") {
      const available = Math.min(size, file.length - body);
      return bytesPerSecond > 0 ? Math.round((available * 1_000) / bytesPerSecond) : null;
    }
    at = body + size + (size % 2);
  }
  return null;
}

/** The stream's marker and its one metadata block: 24 kHz, mono, 16 bits. */
function flacHead(frames: number): Buffer {
  const head = Buffer.alloc(42);
  head.write("fLaC", 0, "latin1");
  head.writeUInt32BE(0x8000_0022, 4);
  head.writeUInt16BE(FRAME_SAMPLES, 8);
  head.writeUInt16BE(FRAME_SAMPLES, 10);
  const samples = BigInt(frames * FRAME_SAMPLES) & 0xf_ffff_ffffn;
  head.writeBigUInt64BE((BigInt(SAMPLE_RATE_HZ) << 44n) | (15n << 36n) | samples, 18);
  return head;
}

/** Frames are numbered as UTF-8 writes a code point, which has no surrogates: after 22 minutes numbers begin again. */
const FLAC_NUMBERS = 0xd800;

/** One frame of the same sample over and over: silence. */
function flacFrame(index: number, _frames: number, seed: number): Buffer {
  const number = Buffer.from(String.fromCodePoint(index % FLAC_NUMBERS));
  const head = [0xff, 0xf8, 0x27, 0x08, ...number];
  const frame = [...head, crc(head, 8, 0x07), 0, 0, (seed + index) & 0xff];
  const sum = crc(frame, 16, 0x8005);
  return Buffer.from([...frame, sum >> 8, sum & 0xff]);
}

/** 20 ms, counted at 48 kHz, as Opus always is. */
const OPUS_FRAME_SAMPLES = 960;
const OPUS_SILENCE = Buffer.from([0xf8, 0xff, 0xfe]);
const OGG_FIRST_PAGE = 2;
const OGG_LAST_PAGE = 4;

/** The two pages before the sound: 24 kHz mono, and who made it. */
function oggHead(_frames: number, serial: number): Buffer {
  const head = Buffer.from("OpusHead\x01\x01\0\0\0\0\0\0\0\0\0", "latin1");
  head.writeUInt32LE(SAMPLE_RATE_HZ, 12);
  const tags = Buffer.from("OpusTags\x09\0\0\0simulator\0\0\0\0", "latin1");
  return Buffer.concat([oggPage(head, 0, 0, OGG_FIRST_PAGE, serial), oggPage(tags, 1, 0, 0, serial)]);
}

/** A page of one frame of 20 ms. */
function oggFrame(index: number, frames: number, serial: number): Buffer {
  const flags = index === frames - 1 ? OGG_LAST_PAGE : 0;
  return oggPage(OPUS_SILENCE, index + 2, (index + 1) * OPUS_FRAME_SAMPLES, flags, serial);
}

function oggPage(packet: Buffer, sequence: number, position: number, flags: number, serial: number): Buffer {
  const head = Buffer.alloc(28);
  head.write("OggS", 0, "latin1");
  head.writeUInt8(flags, 5);
  head.writeBigUInt64LE(BigInt(position), 6);
  head.writeUInt32LE(serial, 14);
  head.writeUInt32LE(sequence, 18);
  head.writeUInt8(1, 26);
  head.writeUInt8(packet.length, 27);
  const page = Buffer.concat([head, packet]);
  page.writeUInt32LE(crc(page, 32, 0x04c1_1db7), 22);
  return page;
}

/** The check sum of FLAC and Ogg: most significant bit first, nothing inverted, starting from 0. */
function crc(bytes: Iterable<number>, width: 8 | 16 | 32, polynomial: number): number {
  // Kept at the top of 32 bits, where one shift serves every width.
  const aligned = polynomial << (32 - width);
  let register = 0;
  for (const byte of bytes) {
    register ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) register = register < 0 ? (register << 1) ^ aligned : register << 1;
  }
  return register >>> (32 - width);
}
