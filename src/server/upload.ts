import type { Readable } from "node:stream";
import { invalidRequest, type Upload } from "../kit/index.ts";
import { Spool } from "./spool.ts";

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/;
/** Upstreams refuse a file that has no name. */
const NAMELESS = "file";

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
  const bytes = new Spool();
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
    name: name === undefined || name === "" ? NAMELESS : name,
    contentType: known ? mediaType : "application/octet-stream",
    size: bytes.size,
    read: () => bytes.read(),
    dispose: () => bytes.dispose(),
  };
}
