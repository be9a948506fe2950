import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import {
  type Cancellation,
  escapeSegment,
  GatewayError,
  invalidRequest,
  type Json,
  type Upload,
} from "../kit/index.ts";
import type { ByteClaim } from "./byte-budget.ts";
import { type BodyParts, brokenOff, requireIdentity, tooLarge } from "./request-body.ts";
import { type HttpExchange, sendContinue } from "./respond.ts";

/** The one part that is a file. */
const FILE = "file";
const MAX_FIELDS = 64;
const MAX_NAME_CHARACTERS = 128;
const MAX_VALUE_BYTES = 64 * 1024;
const FORM_TYPE = /^multipart\/form-data *(?:;|$)/i;

/** A form with its file; text fields as they came, those named `…[]` as lists. */
interface Form {
  readonly fields: Json;
  readonly upload: StoredUpload;
}

/** @throws GatewayError 415 unless the body is announced as a plain form. */
function requireForm({ headers }: IncomingMessage): void {
  if (!FORM_TYPE.test(headers["content-type"] ?? "")) {
    throw new GatewayError("UNSUPPORTED_MEDIA_TYPE", "Content-Type must be multipart/form-data");
  }
  requireIdentity(headers);
}

/**
 * A form of at most `limit` bytes whose parts may come in any order. Its file is written away as it comes, no faster than
 * it can be. The caller disposes of the upload; when this throws there is none.
 * @throws GatewayError 415, 413, 400 for anything but whole fields and one file or when the client leaves, 503 when the
 * gateway stops or there is no space.
 */
export async function readForm(http: HttpExchange, limit: number, { signal, claim }: BodyParts): Promise<Form> {
  const { req } = http;
  requireForm(req);
  sendContinue(http, limit);
  const announcedBytes = Number(req.headers["content-length"] ?? 0);
  if (announcedBytes > limit) throw tooLarge(limit);
  if (req.destroyed || signal?.aborted) throw brokenOff(signal);
  claim?.hold(announcedBytes);
  return new FormReader(req, { limit, announcedBytes, signal, claim }).read();
}

class FormReader {
  readonly #req: IncomingMessage;
  readonly #limit: number;
  readonly #announcedBytes: number;
  readonly #signal: Cancellation | undefined;
  readonly #claim: ByteClaim | undefined;
  readonly #parser: BusboyInstance;
  readonly #done = Promise.withResolvers<Form>();
  readonly #fields = new Map<string, string | string[]>();
  #received = 0;
  #file: Readable | null = null;
  #upload: StoredUpload | null = null;
  #parsed = false;
  #over = false;

  constructor(
    req: IncomingMessage,
    bounds: {
      readonly limit: number;
      readonly announcedBytes: number;
      readonly signal: Cancellation | undefined;
      readonly claim: ByteClaim | undefined;
    },
  ) {
    this.#req = req;
    this.#limit = bounds.limit;
    this.#announcedBytes = bounds.announcedBytes;
    this.#signal = bounds.signal;
    this.#claim = bounds.claim;
    this.#parser = createParser(req);
  }

  read(): Promise<Form> {
    this.#parser
      .on("drain", () => this.#over || this.#req.resume())
      .on("error", () => this.#fail(invalidRequest("/", "must be a whole multipart/form-data body")))
      .on("fieldsLimit", () => this.#fail(tooManyFields()))
      .on("partsLimit", () => this.#fail(tooManyFields()))
      .on("field", (name, value, _nameCut, valueCut) => this.#attempt(() => this.#addField(name, value, valueCut)))
      .on("file", (name, stream, fileName, _encoding, mediaType) => {
        // Called when the body ends too early, also after everyone has stopped listening.
        stream.on("error", () => {});
        this.#attempt(() => this.#addFile(name, stream, fileName, mediaType));
        if (this.#over) stream.resume();
      })
      .on("finish", () => this.#attempt(() => this.#finish()));
    this.#req.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onClose);
    this.#signal?.addEventListener("abort", this.#onClose);
    return this.#done.promise;
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#received += chunk.length;
    if (this.#received > this.#limit) return this.#fail(tooLarge(this.#limit));
    if (this.#received > this.#announcedBytes) this.#attempt(() => this.#claim?.hold(this.#received));
    if (!this.#over && !this.#parser.write(chunk)) this.#req.pause();
  };

  readonly #onEnd = (): void => {
    this.#req.off("close", this.#onClose);
    this.#parser.end();
  };

  readonly #onClose = (): void => this.#fail(brokenOff(this.#signal));

  #addField(name: string | undefined, value: string, cut: boolean): void {
    const pointer = pointerTo(name);
    if (cut) throw invalidRequest(pointer, `must be at most ${MAX_VALUE_BYTES} bytes`);
    const known = this.#fields.get(name!);
    if (Array.isArray(known)) known.push(value);
    else if (known === undefined) this.#fields.set(name!, name!.endsWith("[]") ? [value] : value);
    else throw invalidRequest(pointer, "must be given once");
  }

  #addFile(name: string | undefined, stream: Readable, fileName: string | undefined, mediaType: string): void {
    if (name !== FILE) throw invalidRequest(pointerTo(name), "must be text: only /file is a file");
    if (this.#file !== null) throw invalidRequest(`/${FILE}`, "must be given once");
    this.#file = stream;
    this.#store(stream, fileName, mediaType).catch((error: unknown) => this.#fail(error));
  }

  async #store(stream: Readable, fileName: string | undefined, mediaType: string): Promise<void> {
    const upload = await storeUpload(stream, fileName, mediaType);
    if (this.#over) return upload.dispose();
    this.#upload = upload;
    this.#resolveWhenComplete();
  }

  #finish(): void {
    if (this.#file === null) throw invalidRequest(`/${FILE}`, "is required");
    this.#parsed = true;
    this.#resolveWhenComplete();
  }

  /** The form's end and the last write to disk come in any order. */
  #resolveWhenComplete(): void {
    if (!this.#parsed || this.#upload === null) return;
    this.#stop();
    // An own property for every field, whatever it is called.
    this.#done.resolve({ fields: Object.fromEntries(this.#fields), upload: this.#upload });
  }

  #attempt(step: () => void): void {
    if (this.#over) return;
    try {
      step();
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(reason: unknown): void {
    if (this.#over) return;
    this.#stop();
    this.#parser.destroy();
    // Ends its storing, which cleans up after itself.
    this.#file?.destroy();
    // The file has no name: whatever closing it says, nothing is left of it.
    this.#upload?.dispose().catch(() => {});
    this.#done.reject(reason);
  }

  #stop(): void {
    this.#over = true;
    this.#req.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onClose);
    this.#signal?.removeEventListener("abort", this.#onClose);
    this.#req.pause();
  }
}

function createParser({ headers }: IncomingMessage): BusboyInstance {
  try {
    return new Busboy({
      headers: { ...headers, "content-type": headers["content-type"] ?? "" },
      limits: {
        fields: MAX_FIELDS,
        fieldSize: MAX_VALUE_BYTES,
        parts: MAX_FIELDS + 2,
        headerPairs: 16,
        headerSize: 16 * 1024,
      },
      isPartAFile: (name, _type, fileName) => name === FILE || fileName !== undefined,
    });
  } catch {
    throw invalidRequest("/", "must name its boundary in Content-Type");
  }
}

/** The JSON pointer to a field. @throws GatewayError 400 for a name that is missing or too long. */
function pointerTo(name: string | undefined): string {
  if (name === undefined || name === "") throw invalidRequest("/", "has a part without a name");
  if (name.length > MAX_NAME_CHARACTERS)
    throw invalidRequest("/", `has a field whose name is longer than ${MAX_NAME_CHARACTERS} characters`);
  return `/${escapeSegment(name)}`;
}

function tooManyFields(): GatewayError {
  return invalidRequest("/", `must not have more than ${MAX_FIELDS} fields`);
}

/** Of one upload, what stays in memory; what is longer goes to a file. */
const MEMORY_BYTES = 1024 * 1024;
const BLOCK_BYTES = 64 * 1024;
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/;
/** Upstreams refuse a file that has no name. */
const DEFAULT_NAME = "file";

/** An upload that takes up room until it is given back. */
export interface StoredUpload extends Upload {
  dispose(): Promise<void>;
}

/**
 * Takes a file in, no faster than it can be written away.
 * @param mediaType of its part, `text/plain` for one that names none.
 * @throws GatewayError 400 for an empty one, INTERNAL when there is no place for it; nothing is held then.
 */
async function storeUpload(file: Readable, name: string | undefined, mediaType: string): Promise<StoredUpload> {
  const bytes = new UploadBuffer();
  try {
    for await (const chunk of file) await bytes.write(chunk as Buffer);
    await bytes.finish();
    if (bytes.size === 0) throw invalidRequest("/file", "must not be empty");
  } catch (error) {
    await bytes.dispose();
    throw error;
  }
  const known = MEDIA_TYPE.test(mediaType) && mediaType !== "text/plain";
  return {
    name: name === undefined || name === "" ? DEFAULT_NAME : name,
    contentType: known ? mediaType : "application/octet-stream",
    size: bytes.size,
    read: () => bytes.read(),
    dispose: () => bytes.dispose(),
  };
}

/** The bytes of one upload, written once and read as often as wanted; the memory it takes is bounded. */
export class UploadBuffer {
  #size = 0;
  /** Full but for the last one, and not in the file. */
  #blocks: Buffer[] = [];
  /** Free bytes of the last block. */
  #free = 0;
  #file: FileHandle | null = null;

  get size(): number {
    return this.#size;
  }

  /** One at a time. @throws GatewayError INTERNAL when there is no place for it. */
  async write(chunk: Uint8Array): Promise<void> {
    this.#size += chunk.length;
    // Copied together: kept one by one, chunks of a byte would take hundreds of times their size.
    for (let at = 0; at < chunk.length;) {
      if (this.#free === 0) {
        this.#blocks.push(Buffer.allocUnsafeSlow(BLOCK_BYTES));
        this.#free = BLOCK_BYTES;
      }
      const part = chunk.subarray(at, at + this.#free);
      this.#blocks.at(-1)!.set(part, BLOCK_BYTES - this.#free);
      this.#free -= part.length;
      at += part.length;
    }
    if (this.#size > MEMORY_BYTES && this.#blocks.length > 1)
      await this.#flush(this.#blocks.splice(0, this.#blocks.length - 1));
  }

  /** After the last write. @throws GatewayError INTERNAL when there is no place for it. */
  async finish(): Promise<void> {
    const last = this.#blocks.pop();
    if (last === undefined) return;
    const rest = last.subarray(0, BLOCK_BYTES - this.#free);
    if (this.#file === null) this.#blocks.push(rest);
    else await this.#flush([rest]);
  }

  /** Chunks of the whole, which are their taker's to keep. @throws GatewayError INTERNAL */
  async *read(): AsyncGenerator<Uint8Array> {
    const file = this.#file;
    const size = this.#size;
    if (file === null) yield* this.#blocks;
    else
      for (let at = 0; at < size; at += BLOCK_BYTES) yield await readBlock(file, at, Math.min(BLOCK_BYTES, size - at));
  }

  /** Gives everything back; may be called again. Readers that are still at it fail. */
  async dispose(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    this.#blocks = [];
    await file?.close();
  }

  async #flush(blocks: readonly Buffer[]): Promise<void> {
    try {
      this.#file ??= await openNameless();
      for (const block of blocks) await this.#file.writeFile(block);
    } catch (cause) {
      const place = `an upload cannot be kept in ${tmpdir()}`;
      throw new GatewayError("INTERNAL", `${place}: free space there or point TMPDIR at a folder with room`, { cause });
    }
  }
}

async function readBlock(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const block = Buffer.allocUnsafeSlow(length);
  let read = 0;
  while (read < length) {
    const { bytesRead } = await file.read(block, read, length - read, position + read).catch((cause: unknown) => {
      throw new GatewayError("INTERNAL", "an upload cannot be read back", { cause });
    });
    if (bytesRead === 0) throw new GatewayError("INTERNAL", "an upload's temporary file has become shorter");
    read += bytesRead;
  }
  return block;
}

/** Unlinked at once: whatever ends the process, nothing is left behind. */
async function openNameless(): Promise<FileHandle> {
  const path = join(tmpdir(), `upload-${randomUUID()}`);
  const file = await open(path, "wx+", 0o600);
  try {
    await unlink(path);
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
}
