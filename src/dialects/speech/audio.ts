import type { Upload } from "../../kit/index.ts";

/** Where a WAV file's data begin is looked for in so many bytes. */
const HEAD = 64 * 1024;
/** What the estimate of other files goes by: 128 kbit/s. */
const BYTES_PER_SECOND = 16_000;
const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;

/** Milliseconds of audio in a file: exact by the header of a WAV file, else an estimate by its size. */
export async function audioMilliseconds(upload: Upload): Promise<number> {
  return wavMilliseconds(await readHead(upload), upload.size) ?? Math.ceil((upload.size * 1000) / BYTES_PER_SECOND);
}

async function readHead(upload: Upload): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let missing = HEAD;
  for await (const chunk of upload.read()) {
    chunks.push(chunk.subarray(0, missing));
    missing -= chunk.length;
    if (missing <= 0) break;
  }
  return Buffer.concat(chunks);
}

/**
 * Milliseconds by the header of a WAV file (RIFF/WAVE, RF64), rounded half up; null for anything else.
 * @param head its first bytes.
 * @param size bytes of the whole file.
 */
export function wavMilliseconds(head: Uint8Array, size: number): number | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const name = (at: number): string => String.fromCharCode(...head.subarray(at, at + 4));
  if (!["RIFF", "RF64", "BW64"].includes(name(0)) || name(8) !== "WAVE") return null;
  let perSecond: number | null = null;
  for (let at = 12; at + 8 <= head.length;) {
    const length = view.getUint32(at + 4, true);
    const start = at + 8;
    if (name(at) === "fmt ") perSecond = bytesPerSecond(view, start, length);
    if (name(at) === "data") {
      // Written while recording, the length is 0 or all ones; a cut file holds less than it says.
      const rest = Math.max(0, size - start);
      const bytes = length === 0 ? rest : Math.min(length, rest);
      return perSecond === null ? null : Math.round((bytes * 1000) / perSecond);
    }
    // Chunks begin at even places.
    at = start + length + (length % 2);
  }
  return null;
}

/** Of a `fmt ` chunk; null when it is not plausible: a forged one must not make an hour look like a moment. */
function bytesPerSecond(view: DataView, start: number, length: number): number | null {
  if (length < 16 || start + length > view.byteLength) return null;
  const declared = view.getUint16(start, true);
  const format = declared === EXTENSIBLE && length >= 40 ? view.getUint16(start + 24, true) : declared;
  const rate = view.getUint32(start + 4, true);
  if (format !== PCM && format !== FLOAT) return within(view.getUint32(start + 8, true), 100, 1_000_000);
  const channels = within(view.getUint16(start + 2, true), 1, 64);
  const bits = within(view.getUint16(start + 14, true), 1, 64);
  if (channels === null || bits === null || within(rate, 1_000, 768_000) === null) return null;
  return rate * channels * Math.ceil(bits / 8);
}

function within(value: number, least: number, most: number): number | null {
  return value >= least && value <= most ? value : null;
}

interface Speed {
  /** null: the voice's own. */
  readonly speed: number | null;
  /** Whether it is what the client asked for. */
  readonly exact: boolean;
}

/** A client's `speed` as near as a provider with these bounds comes to it. */
export function speedWithin(asked: unknown, least: number, most: number): Speed {
  if (typeof asked !== "number" || asked === 1) return { speed: null, exact: true };
  const speed = Math.min(Math.max(asked, least), most);
  return { speed: speed === 1 ? null : speed, exact: speed === asked };
}
