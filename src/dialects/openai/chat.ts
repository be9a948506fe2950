import type { AnswerCodec, Location } from "../dialect.ts";
import { postJson } from "../requests.ts";
import { responsesRequest, usesResponses } from "../responses/index.ts";
import { rulesOf } from "../vendors/rules.ts";
import { readAnswer } from "./answer.ts";
import { ChatDecoder } from "./decoder.ts";
import { chatBody } from "./request.ts";

export { producedText } from "./produced.ts";

/** Chat, the upstream half: chat completions, and the Responses API for what those refuse (decisions 9.6). */
export function chatAt(location: Location, dialect: "openai" | "azure"): AnswerCodec {
  return {
    ...chat,
    request(call, target, apiKey) {
      const rules = rulesOf(location, target.model, dialect);
      if (usesResponses(location.api, rules, call)) return responsesRequest(call, target, apiKey, rules);
      return chat.request(call, target, apiKey);
    },
  };
}

/** Chat completions. */
export const chat = {
  type: "answer",

  request(call, target, apiKey) {
    const { body, dropped } = chatBody(call, target.model);
    const accept = call.stream ? "text/event-stream" : "application/json";
    return { ...postJson("/chat/completions", apiKey, body, accept), dropped };
  },

  answer: readAnswer,

  decoder: () => new ChatDecoder(),
} satisfies AnswerCodec;
