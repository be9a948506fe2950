import type { AnswerCodec } from "../dialect.ts";
import { postJson } from "../requests.ts";
import { readAnswer } from "./answer.ts";
import { ChatDecoder } from "./decoder.ts";
import { chatBody } from "./request.ts";

export { producedText } from "./produced.ts";

/** Chat completions, the upstream half. */
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
