import { ownModelOnly, type PaidBeside } from "../canonical/report.ts";
import { type NameRules, namingTools } from "../canonical/tool-names.ts";
import type { AnswerCodec, UpstreamDialect } from "../dialect.ts";
import { FORM } from "./answer.ts";
import { embedding, vertexEmbedding } from "./embedding.ts";
import { errorMessage, get } from "./http.ts";
import { chatRequest } from "./request.ts";

/** FunctionDeclaration.name: letters, digits, `_`, `:`, `.` and `-`, 64 at most (https://ai.google.dev/api/caching). */
const NAMES: NameRules = { toolName: 64, toolNameCharacters: "any" };

const codec = { type: "answer", request: chatRequest, ...FORM } satisfies AnswerCodec;

/** `generateContent` and `streamGenerateContent`. */
export const chat = namingTools(codec, NAMES);

/** Tiers are rates, and searches are billed one by one (https://ai.google.dev/gemini-api/docs/pricing). */
const PAID: PaidBeside = { fields: new Set(["service_tier", "web_search_options"]) };

/** The end of an address of Vertex AI, whose models are those of a publisher. */
const PUBLISHER = /\/publishers\/[^/]+$/;

/** Google's Gemini API, version v1beta; Vertex AI under a base URL that ends with a publisher. */
export const gemini: UpstreamDialect = {
  name: "gemini",
  signing: { by: "google" },
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
