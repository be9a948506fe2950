import { createHash } from "node:crypto";
import { readdirSync, readlinkSync, statSync } from "node:fs";
import type { InferenceRequest } from "../../src/kit/index.ts";
import { type Answer, GOOD, type RawConnection, send, start, type Started, type StartOptions } from "./support.ts";

export const KIB = 1024;
export const MIB = 1024 * KIB;
export const TRANSCRIPTIONS = "/v1/audio/transcriptions";
export const BOUNDARY = "----boundary1234567890";
export const FORM_HEADERS = {
  authorization: `Bearer ${GOOD}`,
  "content-type": `multipart/form-data; boundary=${BOUNDARY}`,
};

export interface Part {
  readonly name?: string;
  readonly fileName?: string;
  readonly type?: string;
  readonly value: string | Uint8Array;
}

export const MODEL: Part = { name: "model", value: "route/x" };

export function filePart(value: string | Uint8Array, more: Partial<Part> = {}): Part {
  return { name: "file", fileName: "a.mp3", type: "audio/mpeg", value, ...more };
}

export const FILE = filePart("bytes");

/** A form as clients write it. */
export function form(parts: readonly Part[], ending = `--${BOUNDARY}--\r\n`): Buffer {
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

/** The head of a chunked upload. */
export function chunkedHead(boundary = BOUNDARY): string {
  return (
    `POST ${TRANSCRIPTIONS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${GOOD}\r\n` +
    `Content-Type: multipart/form-data; boundary=${boundary}\r\nTransfer-Encoding: chunked\r\n\r\n`
  );
}

export function chunk(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}

/** Sends a request's bytes to the server, in pieces. */
export async function sendPieces({ socket }: RawConnection, pieces: Iterable<Uint8Array>): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return;
    socket.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A server that says what it was sent; bodies may have 8 MiB. */
export function serve(options: StartOptions = {}): Promise<Started> {
  return start({ run: describeUpload, ...options, settings: { bodyLimit: 8 * MIB, ...options.settings } });
}

export function post(port: number, body: Buffer, headers: Record<string, string> = FORM_HEADERS): Promise<Answer> {
  return send(port, { path: TRANSCRIPTIONS, headers, body });
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export interface Taken {
  readonly body: unknown;
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  /** Of the bytes as read twice, at the same time. */
  readonly digests: readonly string[];
}

/** A pipeline that answers with what it was given. */
export async function describeUpload({ client, body: read }: InferenceRequest): Promise<void> {
  const { call } = read!;
  const upload = call.upload!;
  const { name, contentType, size } = upload;
  const digests = await Promise.all([digestOf(upload.read()), digestOf(upload.read())]);
  const taken: Taken = { body: call.body, name, contentType, size, digests };
  client.answer(200, "application/json", JSON.stringify(taken), {});
}

export async function digestOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const digest = createHash("sha256");
  for await (const piece of bytes) digest.update(piece);
  return digest.digest("hex");
}

/** What this process holds open: the names of files and sockets, those of deleted files too. */
export function openFiles(): readonly string[] {
  return descriptors().map(({ name }) => name);
}

/** The sizes of the uploads that lie in files, in bytes. */
export function openUploads(): readonly number[] {
  return descriptors()
    .filter(({ name }) => name.includes("/upload-"))
    .map(({ fd }) => statSync(`/proc/self/fd/${fd}`, { throwIfNoEntry: false })?.size ?? 0);
}

function descriptors(): readonly { readonly fd: string; readonly name: string }[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [{ fd, name: readlinkSync(`/proc/self/fd/${fd}`) }];
    } catch {
      return [];
    }
  });
}
