export interface WavFormat {
  /** 1 unless given: PCM. */
  readonly tag?: number;
  readonly channels: number;
  readonly rate: number;
  readonly bits: number;
  /** What the header says; unless given what the others come to. */
  readonly byteRate?: number;
  readonly extensible?: boolean;
}

export interface WavParts extends WavFormat {
  readonly frames: number;
  /** Instead of frames of silence. */
  readonly data?: Uint8Array;
  /** What the data chunk says it holds. */
  readonly length?: number;
  readonly before?: readonly Uint8Array[];
  readonly after?: readonly Uint8Array[];
}

/** A WAV file of silence. */
export function wav({ frames, before = [], after = [], length, ...rest }: WavParts): Buffer {
  const data = rest.data ?? Buffer.alloc((frames * rest.channels * rest.bits) / 8);
  const body = Buffer.concat([format(rest), ...before, chunk("data", data, length), ...after]);
  return Buffer.concat([Buffer.from("RIFF"), u32(4 + body.length), Buffer.from("WAVE"), body]);
}

/** A `fmt ` chunk. */
export function format({ tag = 1, channels, rate, bits, extensible = false, ...rest }: WavFormat): Buffer {
  const blockAlign = Math.ceil(bits / 8) * channels;
  const byteRate = rest.byteRate ?? rate * blockAlign;
  const head = [u16(extensible ? 0xfffe : tag), u16(channels), u32(rate), u32(byteRate), u16(blockAlign), u16(bits)];
  const guid = Buffer.from("000000001000800000aa00389b71", "hex");
  const tail = extensible ? [u16(22), u16(bits), u32(0), u16(tag), guid] : [];
  return chunk("fmt ", Buffer.concat([...head, ...tail]));
}

/** With the byte that fills up an odd one. */
export function chunk(name: string, data: Uint8Array, length = data.length): Buffer {
  return Buffer.concat([Buffer.from(name.padEnd(4, " "), "latin1"), u32(length), data, Buffer.alloc(data.length % 2)]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value & 0xffff);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}
