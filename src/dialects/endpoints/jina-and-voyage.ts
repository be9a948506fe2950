import { errorMessage } from "../canonical/errors.ts";
import { pick } from "../canonical/json.ts";
import { withOwnModels } from "../canonical/own-model.ts";
import { getJson } from "../canonical/requests.ts";
import type { UpstreamDialect } from "../dialect.ts";
import { embeddingCodec, textsOf } from "./embedding.ts";
import { rerankCodec } from "./rerank.ts";

/** Jina's API. It has no `encoding_format`: its answers are floats. */
export const jina: UpstreamDialect = {
  name: "jina",

  codecs: withOwnModels({
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
  }),

  probe: (apiKey) => getJson("/v1/models", apiKey),
  errorMessage,
};

/** Voyage's API. It refuses fields that it does not know, and `encoding_format: "float"`. */
export const voyage: UpstreamDialect = {
  name: "voyage",

  codecs: withOwnModels({
    embedding: embeddingCodec({
      path: "/v1/embeddings",
      body: (body) => ({
        input: textsOf(body["input"]),
        ...pick(body, ["input_type", "truncation"], { dimensions: "output_dimension" }),
      }),
      // https://docs.voyageai.com/reference/embeddings-api: `input`, with the fewest tokens that any model takes.
      limits: { inputs: 1_000, tokens: 120_000 },
    }),
    rerank: rerankCodec({
      path: "/v1/rerank",
      body: (body) => pick(body, ["query", "documents", "truncation"], { top_n: "top_k" }),
    }),
  }),

  probe: (apiKey) => getJson("/v1/models", apiKey),
  errorMessage,
};
