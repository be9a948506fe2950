import type { AnswerCodec } from "../dialect.ts";
import { type NameRules, namingTools } from "../vendors/tool-names.ts";
import { chatRequest, FORM } from "./request.ts";

/** FunctionDeclaration.name: letters, digits, `_`, `:`, `.` and `-`, 64 at most (https://ai.google.dev/api/caching). */
const NAMES: NameRules = { toolName: 64, toolNameCharacters: "any" };

const codec = { type: "answer", request: chatRequest, ...FORM } satisfies AnswerCodec;

/** `generateContent` and `streamGenerateContent`. */
export const chat = namingTools(codec, NAMES);
