import type { Sent } from "./http.ts";

export const BOUNDARY = "----boundary0123456789";
export const FORM_TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** One part of a form; with a file name it is a file. */
export interface Part {
  readonly name?: string;
  readonly fileName?: string;
  readonly type?: string;
  readonly value: string | Uint8Array;
}

/** A form as clients write it. @param ending in place of the closing boundary. */
export function formOf(parts: readonly Part[], ending = `--${BOUNDARY}--\r\n`): Buffer {
  const written = parts.flatMap(({ name, fileName, type, value }) => {
    const disposition = ["form-data"];
    if (name !== undefined) disposition.push(`name="${name}"`);
    if (fileName !== undefined) disposition.push(`filename="${fileName}"`);
    const head = [`--${BOUNDARY}`, `Content-Disposition: ${disposition.join("; ")}`];
    if (type !== undefined) head.push(`Content-Type: ${type}`);
    return [Buffer.from(`${head.join("\r\n")}\r\n\r\n`), Buffer.from(value), Buffer.from("\r\n")];
  });
  return Buffer.concat([...written, Buffer.from(ending)]);
}

export function file(value: string | Uint8Array, more: Partial<Part> = {}): Part {
  return { name: "file", fileName: "speech.wav", type: "audio/wav", value, ...more };
}

export function text(name: string, value: string): Part {
  return { name, value };
}

/** What a form is sent with. */
export function formSent(body: Buffer, headers: Sent["headers"] = {}): Sent {
  return { headers: { "content-type": FORM_TYPE, ...headers }, body };
}

/** 16-bit mono PCM of silence at 8 kHz. */
export function wav(milliseconds: number): Buffer {
  const bytes = Math.round(milliseconds * 8) * 2;
  const head = Buffer.alloc(44);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(bytes + 36, 4);
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(16_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(bytes, 40);
  return Buffer.concat([head, Buffer.alloc(bytes)]);
}
