import type { IncomingMessage } from "node:http";
import { SimError } from "./error.ts";

const MAXIMUM_BODY = 64 * 1024 * 1024;

/** The whole body of a request. @throws SimError 413 beyond 64 MiB */
export function readBody(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      // Read to the end and thrown away: an answer before that would be lost in a reset.
      if (size <= MAXIMUM_BODY) chunks.push(chunk);
    });
    request.once("error", reject);
    request.once("end", () => {
      if (size <= MAXIMUM_BODY) resolve(Buffer.concat(chunks, size));
      else reject(new SimError(413, `The body is larger than ${MAXIMUM_BODY} bytes.`));
    });
  });
}
