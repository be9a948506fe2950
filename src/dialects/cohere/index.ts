import { isJson, type Json } from "../../kit/index.ts";
import { type EmbeddingAnswer, embeddingCodec, textsOf } from "../endpoints/embedding.ts";
import { errorMessage } from "../canonical/errors.ts";
import { pick } from "../canonical/json.ts";
import { getJson } from "../canonical/requests.ts";
import { rerankCodec } from "../endpoints/rerank.ts";
import type { UpstreamDialect } from "../dialect.ts";
import { chatRequest, FORM } from "./request.ts";

/** Cohere's API, version 2; its version 1 under a base URL that ends with it. */
export const cohere: UpstreamDialect = {
  name: "cohere",

  codecs: {
    chat: { type: "answer", request: chatRequest, ...FORM },
    embedding: embeddingCodec({
      path: "/v2/embed",
      body: (body) => ({
        texts: textsOf(body["input"]),
        // Every model since v3 demands it; a client that embeds queries says so.
        input_type: "search_document",
        ...pick(body, ["input_type", "truncate"], { dimensions: "output_dimension" }),
        embedding_types: ["float"],
      }),
      read: readEmbeddings,
      // https://docs.cohere.com/reference/embed: `texts`.
      limits: { inputs: 96 },
    }),
    rerank: rerankCodec({ path: "/v2/rerank" }),
  },

  probe: (apiKey) => getJson("/v1/models", apiKey),
  errorMessage,
};

/** `{embeddings: {float: […]}}`, or the bare list of version 1. */
function readEmbeddings({ embeddings, meta }: Json): EmbeddingAnswer {
  const vectors = isJson(embeddings) ? embeddings["float"] : embeddings;
  const billed = isJson(meta) && isJson(meta["billed_units"]) ? meta["billed_units"] : {};
  return {
    data: Array.isArray(vectors) ? vectors.map((embedding: unknown) => ({ embedding })) : null,
    tokens: billed["input_tokens"],
  };
}
