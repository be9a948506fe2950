import type { UpstreamDialect } from "../dialect.ts";
import { chat } from "./chat.ts";
import { embedding, vertexEmbedding } from "./embedding.ts";
import { errorMessage } from "./errors.ts";
import { get } from "./http.ts";

/** The end of an address of Vertex AI, whose models are those of a publisher. */
const PUBLISHER = /\/publishers\/[^/]+$/;

/** Google's Gemini API, version v1beta; Vertex AI under a base URL that ends with a publisher. */
export const gemini: UpstreamDialect = {
  name: "gemini",
  codecs: { chat, embedding },
  at: ({ baseUrl }) => (PUBLISHER.test(baseUrl) ? { ...gemini, codecs: { chat, embedding: vertexEmbedding } } : gemini),
  probe: (apiKey) => get("/models", apiKey),
  errorMessage,
};
