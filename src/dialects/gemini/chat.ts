import type { AnswerCodec } from "../dialect.ts";
import { chatAnswer } from "./answer.ts";
import { chatRequest } from "./request.ts";
import { GeminiDecoder } from "./stream.ts";

/** `generateContent` and `streamGenerateContent`. */
export const chat = {
  type: "answer",
  request: chatRequest,
  answer: chatAnswer,
  decoder: (call) => new GeminiDecoder(call),
} satisfies AnswerCodec;
