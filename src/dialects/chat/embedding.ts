import { embeddingCodec } from "../canonical/embeddings.ts";

/** `encoding_format` travels; upstreams that do not know it answer as they like, and either encoding is taken. */
export const embedding = embeddingCodec({ path: "/embeddings" });
