import type { AnswerCodec } from "../dialect.ts";
import { chatRequest, FORM } from "./request.ts";

/** Chat, version 2. */
export const chat: AnswerCodec = { type: "answer", request: chatRequest, ...FORM };
