import type { UpstreamDialect } from "../dialect.ts";
import { chat } from "./chat.ts";
import { embedding, vertexEmbedding } from "./embedding.ts";
import { errorMessage } from "./errors.ts";
import { ownModelOnly, type PaidBeside } from "../own-model.ts";
import { get } from "./http.ts";

/** Tiers are rates, and searches are billed one by one (decisions 9.8; https://ai.google.dev/gemini-api/docs/pricing). */
const PAID: PaidBeside = { fields: new Set(["service_tier", "web_search_options"]) };

/** The end of an address of Vertex AI, whose models are those of a publisher. */
const PUBLISHER = /\/publishers\/[^/]+$/;

/** Google's Gemini API, version v1beta; Vertex AI under a base URL that ends with a publisher. */
export const gemini: UpstreamDialect = {
  name: "gemini",
  codecs: { chat: ownModelOnly(chat, PAID), embedding },
  at: ({ baseUrl, accepts }) => ({
    ...gemini,
    codecs: {
      chat: ownModelOnly(chat, PAID, accepts),
      embedding: PUBLISHER.test(baseUrl) ? vertexEmbedding : embedding,
    },
  }),
  probe: (apiKey) => get("/models", apiKey),
  errorMessage,
};
