import { invalidRequest } from "../../kit/index.ts";
import type { AnswerCodec } from "../dialect.ts";
import { postJson } from "../requests.ts";
import { readAnswer } from "./answer.ts";
import { MAX_CHOICES } from "./chunks.ts";
import { ChatDecoder } from "./decoder.ts";
import { chatBody } from "./request.ts";

export { producedText } from "./produced.ts";

/** Chat completions, the upstream half. */
export const chat = {
  type: "answer",

  request(call, target, apiKey) {
    // Their stream could not be read: what the client asked for must not look like the upstream's failure.
    if (call.stream && (call.answers ?? 1) > MAX_CHOICES) throw invalidRequest("/n", `is more than ${MAX_CHOICES}`);
    const { body, dropped } = chatBody(call, target.model);
    const accept = call.stream ? "text/event-stream" : "application/json";
    return { ...postJson("/chat/completions", apiKey, body, accept), dropped };
  },

  answer: readAnswer,

  decoder: () => new ChatDecoder(),
} satisfies AnswerCodec;
