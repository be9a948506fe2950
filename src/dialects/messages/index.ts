import type { Accepts } from "../../kit/index.ts";
import { errorMessage } from "../canonical/errors.ts";
import { ownModelOnly } from "../canonical/report.ts";
import { type NameRules, namingTools } from "../canonical/tool-names.ts";
import type { AnswerCodec, UpstreamDialect } from "../dialect.ts";
import { answer } from "./answer.ts";
import { API_PRICES, paidExtrasAt, type PlacePrices } from "./paid.ts";
import { API, type Place } from "./place.ts";
import { requestAt } from "./request.ts";
import { MessagesStreamReader } from "./stream.ts";
import { isVertex, VERTEX_PRICES, vertexAt } from "./vertex.ts";

/** "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'" (https://platform.claude.com/docs/en/api/messages, tools). */
const NAMES: NameRules = { toolName: 128, toolNameCharacters: "word" };

/** Messages, the upstream half. */
function dialectAt(place: Place, prices: PlacePrices, accepts?: Accepts): UpstreamDialect {
  const codec = {
    type: "answer",
    request: requestAt(place),
    answer,
    decoder: (call) => new MessagesStreamReader(call),
  } satisfies AnswerCodec;
  return {
    name: "anthropic",
    codecs: { chat: ownModelOnly(namingTools(codec, NAMES), paidExtrasAt(prices), accepts) },
    probe: (apiKey) => place.probe(apiKey),
    errorMessage,
  };
}

/** Anthropic's API; Claude on Vertex AI under a base URL that ends with the publisher. */
export const anthropic: UpstreamDialect = {
  ...dialectAt(API, API_PRICES),
  at: ({ baseUrl, accepts }) =>
    isVertex(baseUrl)
      ? { ...dialectAt(vertexAt(accepts), VERTEX_PRICES, accepts), signing: { by: "google" } }
      : dialectAt(API, API_PRICES, accepts),
};
