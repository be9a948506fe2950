const MAXIMUM = 0xffff_ffff;

/** The head of 16-bit mono PCM with `bytes` of samples. */
export function wavHead(bytes: number, rate: number): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(Math.min(bytes + 36, MAXIMUM), 4);
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(Math.min(bytes, MAXIMUM), 40);
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
      const there = Math.min(size, file.length - body);
      return bytesPerSecond > 0 ? Math.round((there * 1_000) / bytesPerSecond) : null;
    }
    at = body + size + (size % 2);
  }
  return null;
}
