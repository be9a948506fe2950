import type { AnswerCodec } from "../dialect.ts";
import { chatRequest, FORM } from "./request.ts";

/** `generateContent` and `streamGenerateContent`. */
export const chat = { type: "answer", request: chatRequest, ...FORM } satisfies AnswerCodec;
