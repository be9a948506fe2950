import { isJson, type Json } from "../../kit/index.ts";
import { SimError } from "../error.ts";
import { isSigned } from "../signature.ts";
import { bad, list, message } from "./refusal.ts";
import { shown } from "../shown.ts";

export interface Content {
  readonly role: "user" | "model";
  readonly parts: readonly Json[];
}

const DATA = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
];
const PART = [...DATA, "thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"];
/** What the documentation gives to those who never had a signature. */
const EXCUSES: ReadonlySet<unknown> = new Set(
  "context_engineering_is_the_way_to_go skip_thought_signature_validator".split(" "),
);

/** @throws SimError 400 for what is no conversation. */
export function parseContents(value: unknown): readonly Content[] {
  const contents = list(value, "contents").map((content, index): Content => {
    const at = `contents[${index}]`;
    const { role = "user", parts } = message(content, at, ["role", "parts"]);
    if (role !== "user" && role !== "model") throw new SimError(400, "Please use a valid role: user, model.");
    return { role, parts: parseParts(parts, `${at}.parts`) };
  });
  if (contents.length === 0) throw bad("contents", "contents is not specified");
  checkTurns(contents);
  return contents;
}

/** @throws SimError 400 */
export function parseParts(value: unknown, at: string): readonly Json[] {
  const parts = list(value, at).map((part, index) => parsePart(part, `${at}[${index}]`));
  if (parts.length === 0) throw bad(at, "must include at least one parts field");
  return parts;
}

export function textOf(parts: readonly Json[]): string {
  return parts
    .map(({ text, thought }) => (typeof text === "string" && thought !== true ? text : ""))
    .join(" ")
    .trim();
}

function parsePart(value: unknown, at: string): Json {
  const part = message(value, at, PART);
  const data = DATA.filter((name) => part[name] !== undefined);
  if (data.length !== 1) throw bad(`${at}.data`, "required oneof field 'data' must have one initialized field");
  const { text, functionCall: call, functionResponse: response, inlineData: inline } = part;
  if (text !== undefined && typeof text !== "string")
    throw new SimError(400, `Invalid value at '${at}.text' (TYPE_STRING)`);
  if (call !== undefined) {
    const { name, args } = message(call, `${at}.function_call`, ["id", "name", "args"]);
    checkNamed(name, `${at}.function_call.name`);
    if (args !== undefined) checkStruct(args, `${at}.function_call.args`);
  }
  if (response !== undefined) {
    const names = ["id", "name", "response", "parts", "willContinue", "scheduling"];
    const { name, response: given } = message(response, `${at}.function_response`, names);
    checkNamed(name, `${at}.function_response.name`);
    checkStruct(given, `${at}.function_response.response`);
  }
  if (inline !== undefined) {
    const { mimeType, data: bytes } = message(inline, `${at}.inline_data`, ["mimeType", "data", "displayName"]);
    checkNamed(mimeType, `${at}.inline_data.mime_type`);
    if (typeof bytes !== "string" || !/^[A-Za-z0-9+/_-]*=*$/.test(bytes))
      throw new SimError(400, `Invalid value at '${at}.inline_data.data' (TYPE_BYTES), Base64 decoding failed`);
  }
  return part;
}

function checkNamed(value: unknown, at: string): void {
  if (typeof value !== "string" || value === "") throw bad(at, "Name cannot be empty.");
}

function checkStruct(value: unknown, at: string): void {
  if (!isJson(value)) throw new SimError(400, `Invalid value at '${at}' (type.googleapis.com/google.protobuf.Struct)`);
}

/** A turn that calls functions is answered by the next one, call by call. */
function checkTurns(contents: readonly Content[]): void {
  const count = (content: Content | undefined, name: string) =>
    content?.parts.filter((part) => part[name] !== undefined).length ?? 0;
  for (const [index, content] of contents.entries()) {
    const responses = count(content, "functionResponse");
    const calls = count(contents[index - 1], "functionCall");
    if (responses > 0 || calls > 0) {
      if (responses === calls) continue;
      throw new SimError(
        400,
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
      );
    }
    if (count(content, "functionCall") > 0 && (index === 0 || contents[index - 1]?.role === "model"))
      throw new SimError(
        400,
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      );
  }
}

/** Each step of the current turn that calls functions brings back the signature that its first call came with. */
export function checkSignatures(contents: readonly Content[]): void {
  const begin = contents.findLastIndex(({ role, parts }) => role === "user" && textOf(parts) !== "");
  for (const [offset, { role, parts }] of contents.slice(begin + 1).entries()) {
    if (role !== "model") continue;
    const part = parts.find(({ functionCall }) => functionCall !== undefined);
    if (!part || !isJson(part["functionCall"])) continue;
    const { thoughtSignature: signature } = part;
    const name = shown(part["functionCall"]["name"]);
    if (signature === undefined) {
      throw new SimError(
        400,
        `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${begin + 2 + offset}.`,
      );
    }
    if (!EXCUSES.has(signature) && !isSigned("gemini", signature, name))
      throw new SimError(400, "Thought signature is not valid.");
  }
}
