import type { AnswerCodec, Location, UpstreamDialect } from "../dialect.ts";
import { errorMessage } from "../errors.ts";
import { ownModelOnly } from "../own-model.ts";
import { getJson } from "../requests.ts";
import { answer } from "./answer.ts";
import { credentials, VERSION } from "./headers.ts";
import { PAID } from "./paid.ts";
import { request } from "./request.ts";
import { MessagesDecoder } from "./stream.ts";

/** Messages, the upstream half. */
const codec = { type: "answer", request, answer, decoder: (call) => new MessagesDecoder(call) } satisfies AnswerCodec;

export const anthropic: UpstreamDialect = {
  name: "anthropic",
  codecs: { chat: ownModelOnly(codec, PAID) },
  at: ({ accepts }: Location) => ({ ...anthropic, codecs: { chat: ownModelOnly(codec, PAID, accepts) } }),
  probe(apiKey) {
    const sent = getJson("/v1/models", "");
    return { ...sent, headers: { ...sent.headers, ...credentials(apiKey), "anthropic-version": VERSION } };
  },
  errorMessage,
};
