import { flacFrame, flacHead } from "./flac.ts";
import { opusFrame, opusHead } from "./ogg.ts";
import { wavHead } from "./wav.ts";

/** A way of writing sound of 24 kHz, mono. Frames differ by seed and place, so that a lost or foreign one shows. */
export interface AudioFormat {
  readonly contentType: string;
  /** Samples of a frame. */
  readonly samples: number;
  /** A frame has as many bytes at least. */
  readonly bytes: number;
  /** What stands before `frames` frames. */
  head(frames: number, seed: number): Uint8Array;
  frame(index: number, frames: number, seed: number): Uint8Array;
}

export const RATE = 24_000;

const LOUDNESS = 4_000;
/** Samples of a wave: each fits a frame of PCM as a whole number of times. */
const WAVES = [24, 32, 36, 48, 64, 72];
const PCM_SAMPLES = 576;

const pcm: AudioFormat = {
  contentType: "audio/pcm",
  samples: PCM_SAMPLES,
  bytes: PCM_SAMPLES * 2,
  head: () => new Uint8Array(),
  frame: (index, _, seed) => tone(WAVES[(seed + index) % WAVES.length] ?? PCM_SAMPLES),
};

export const AUDIO = {
  mp3: {
    contentType: "audio/mpeg",
    samples: 576,
    bytes: 96,
    head: () => new Uint8Array(),
    frame: (index, _, seed) => {
      // MPEG-2 layer III of 32 kbit/s without any main data: silence. The place is in bytes that decoders skip.
      const frame = Buffer.alloc(96);
      frame.writeUInt32BE(0xfff3_44c4);
      frame.writeUInt32BE(seed, 88);
      frame.writeUInt32BE(index, 92);
      return frame;
    },
  },
  opus: { contentType: "audio/opus", samples: 480, bytes: 31, head: (_, seed) => opusHead(seed), frame: opusFrame },
  aac: {
    contentType: "audio/aac",
    samples: 1_024,
    bytes: 11,
    head: () => new Uint8Array(),
    // ADTS, low complexity: one channel without any bands, silent at every gain.
    frame: (index, _, seed) => {
      const gain = (seed + index) & 0xff;
      return Uint8Array.from([0xff, 0xf1, 0x58, 0x40, 0x01, 0x7f, 0xfc, gain >> 7, (gain << 1) & 0xff, 0, 0x07]);
    },
  },
  flac: {
    contentType: "audio/flac",
    samples: 576,
    bytes: 11,
    head: flacHead,
    frame: (index, _, seed) => flacFrame(index, (seed + index) & 0xff),
  },
  wav: { ...pcm, contentType: "audio/wav", head: (frames) => wavHead(frames * pcm.bytes, RATE) },
  pcm,
} satisfies Record<string, AudioFormat>;

function tone(wave: number): Buffer {
  const period = Buffer.alloc(wave * 2);
  for (let at = 0; at < wave; at++) {
    period.writeInt16LE(Math.round(LOUDNESS * Math.sin((2 * Math.PI * at) / wave)), at * 2);
  }
  return Buffer.alloc(PCM_SAMPLES * 2, period);
}
