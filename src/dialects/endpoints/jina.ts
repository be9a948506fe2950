import type { UpstreamDialect } from "../dialect.ts";
import { embeddingCodec, textsOf } from "./embedding.ts";
import { errorMessage } from "../canonical/errors.ts";
import { pick } from "../canonical/json.ts";
import { getJson } from "../canonical/requests.ts";
import { rerankCodec } from "./rerank.ts";

/** Jina's API. It has no `encoding_format`: its answers are floats. */
export const jina: UpstreamDialect = {
  name: "jina",

  codecs: {
    embedding: embeddingCodec({
      path: "/v1/embeddings",
      body: (body) => ({
        input: textsOf(body["input"]),
        ...pick(body, ["dimensions", "task", "late_chunking", "truncate", "normalized", "prompt_name"]),
      }),
    }),
    rerank: rerankCodec({
      path: "/v1/rerank",
      body: (body) => ({ ...pick(body, ["query", "documents", "top_n"]), return_documents: false }),
    }),
  },

  probe: (apiKey) => getJson("/v1/models", apiKey),
  errorMessage,
};
