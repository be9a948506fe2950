import type { AnswerCodec } from "../dialect.ts";
import { chatAnswer } from "./answer.ts";
import { chatRequest } from "./request.ts";
import { CohereDecoder } from "./stream.ts";

/** Chat, version 2. */
export const chat: AnswerCodec = {
  type: "answer",
  request: chatRequest,
  answer: chatAnswer,
  decoder: () => new CohereDecoder(),
};
