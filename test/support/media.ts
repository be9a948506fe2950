/** Heads of files, as far as they say how large the file is: no picture, page or sound is in them. */

function bytes(length: number, write: (view: DataView) => void, texts: Readonly<Record<number, string>>): Buffer {
  const buffer = Buffer.alloc(length);
  for (const [at, text] of Object.entries(texts)) buffer.write(text, Number(at), "latin1");
  write(new DataView(buffer.buffer, buffer.byteOffset, length));
  return buffer;
}

export function png(width: number, height: number): Buffer {
  const texts = { 0: "\u0089PNG\r\n\u001A\n\0\0\0\rIHDR" };
  return bytes(
    33,
    (view) => {
      view.setUint32(16, width);
      view.setUint32(20, height);
    },
    texts,
  );
}

export function gif(width: number, height: number): Buffer {
  return bytes(
    13,
    (view) => {
      view.setUint16(6, width, true);
      view.setUint16(8, height, true);
    },
    { 0: "GIF89a" },
  );
}

/** @param before bytes of what a camera writes in front of the frame. */
export function jpeg(width: number, height: number, before: readonly number[] = [16]): Buffer {
  const segments = before.map((length) =>
    bytes(
      length + 2,
      (view) => {
        view.setUint16(0, 0xffe1);
        view.setUint16(2, length);
      },
      {},
    ),
  );
  const frame = bytes(
    19,
    (view) => {
      view.setUint16(0, 0xffc2);
      view.setUint16(2, 17);
      view.setUint8(4, 8);
      view.setUint16(5, height);
      view.setUint16(7, width);
    },
    {},
  );
  return Buffer.concat([Buffer.from([0xff, 0xd8]), ...segments, frame]);
}

function riff(chunk: string, write: (view: DataView) => void, texts: Readonly<Record<number, string>> = {}): Buffer {
  return bytes(40, write, { 0: "RIFF", 8: `WEBP${chunk}`, ...texts });
}

/** Lossy, lossless, and with more than a picture. */
export const webp = {
  lossy: (width: number, height: number): Buffer =>
    riff(
      "VP8 ",
      (view) => {
        view.setUint16(26, width, true);
        view.setUint16(28, height, true);
      },
      { 23: "\u009D\u0001*" },
    ),
  lossless: (width: number, height: number): Buffer =>
    riff("VP8L", (view) => {
      view.setUint8(20, 0x2f);
      view.setUint32(21, (width - 1) | ((height - 1) << 14), true);
    }),
  extended: (width: number, height: number): Buffer =>
    riff("VP8X", (view) => {
      view.setUint32(24, width - 1, true);
      view.setUint32(27, height - 1, true);
    }),
} as const;

export function dataUrl(type: string, file: Buffer): string {
  return `data:${type};base64,${file.toString("base64")}`;
}

/** A recording of so many seconds: its head, and silence of 8,000 bytes a second. */
export function wav(seconds: number): Buffer {
  const data = seconds * 8_000;
  const head = bytes(
    44,
    (view) => {
      view.setUint32(4, 36 + data, true);
      view.setUint32(16, 16, true);
      view.setUint16(20, 1, true);
      view.setUint16(22, 1, true);
      view.setUint32(24, 8_000, true);
      view.setUint32(28, 8_000, true);
      view.setUint16(32, 1, true);
      view.setUint16(34, 8, true);
      view.setUint32(40, data, true);
    },
    { 0: "RIFF", 8: "WAVEfmt ", 36: "data" },
  );
  return Buffer.concat([head, Buffer.alloc(data)]);
}

/** A file of so many pages. @param padding bytes between its pages and their tree. */
export function pdf(pages: number, padding = 0): Buffer {
  const page = "<< /Type /Page /Parent 1 0 R >>\n";
  const tree = `1 0 obj << /Type /Pages /Kids [] /Count ${pages} >> endobj\n`;
  return Buffer.from(`%PDF-1.7\n${padding > 0 ? "" : page.repeat(pages)}${" ".repeat(padding)}${tree}%%EOF`, "latin1");
}
