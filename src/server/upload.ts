import { randomUUID } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { GatewayError, invalidRequest, type Upload } from "../kit/index.ts";

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
export async function storeUpload(file: Readable, name: string | undefined, mediaType: string): Promise<StoredUpload> {
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
