import { errorMessage } from "../canonical/errors.ts";
import { ownModelOnly } from "../canonical/own-model.ts";
import { type NameRules, namingTools } from "../canonical/tool-names.ts";
import type { AnswerCodec, Location, UpstreamDialect } from "../dialect.ts";
import { getJson } from "../canonical/requests.ts";
import { answer } from "./answer.ts";
import { credentials, VERSION } from "./headers.ts";
import { PAID } from "./paid.ts";
import { request } from "./request.ts";
import { MessagesStreamReader } from "./stream.ts";

/** "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'" (https://platform.claude.com/docs/en/api/messages, tools). */
const NAMES: NameRules = { toolName: 128, toolNameCharacters: "word" };

const messages = {
  type: "answer",
  request,
  answer,
  decoder: (call) => new MessagesStreamReader(call),
} satisfies AnswerCodec;
/** Messages, the upstream half. */
const codec = namingTools(messages, NAMES);

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
