import type { Upload } from "../../../src/kit/index.ts";

/** A file that is read in these pieces. */
export function upload(
  chunks: readonly Uint8Array[],
  more: { readonly name?: string; readonly contentType?: string } = {},
): Upload {
  return {
    name: more.name ?? "speech.wav",
    contentType: more.contentType ?? "audio/wav",
    size: chunks.reduce((sum, chunk) => sum + chunk.length, 0),
    async *read() {
      yield* chunks;
    },
  };
}

export async function collect(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}
