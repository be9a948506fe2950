import { invalidRequest, isJson, type Json } from "../../kit/index.ts";
import { inOrder } from "../block-order.ts";
import { parseJson } from "../json.ts";
import { cacheControl, contentBlocks, type Translation } from "./blocks.ts";
import { nativeFields } from "./native.ts";

/**
 * The blocks of an assistant message: what it thought, what it said, what it called.
 * @throws GatewayError for a message that is none.
 */
export function assistantBlocks(message: Json, at: string, translation: Translation): readonly Json[] {
  const lists = {
    reasoning: thinkingBlocks(message, at, translation),
    content: [
      ...contentBlocks(message["content"], `${at}/content`, { ...translation, textOnly: !translation.verbatim }),
      ...contentBlocks(message["refusal"], `${at}/refusal`, translation),
    ],
    tool_call: toolUses(message["tool_calls"], `${at}/tool_calls`, translation),
  };
  return inOrder(lists, translation.verbatim ? message["block_order"] : null);
}

/** The API wants its own thinking back word for word, and refuses any that it has not signed. */
function thinkingBlocks(message: Json, at: string, { lose, verbatim }: Translation): Json[] {
  const details = message["reasoning_details"] ?? [];
  if (!Array.isArray(details)) throw invalidRequest(`${at}/reasoning_details`, "must be a list");
  const blocks: Json[] = [];
  details.forEach((detail: unknown, index) => {
    const block = isJson(detail) ? thinkingBlock(detail, verbatim) : null;
    if (block) blocks.push(block);
    else lose(`${at}/reasoning_details/${index}`);
  });
  // The same text as in the details, for clients that show it; without them it is all there is, and unsigned.
  for (const name of details.length > 0 ? [] : ["reasoning_content", "reasoning"]) {
    if (typeof message[name] === "string" && message[name] !== "") lose(`${at}/${name}`);
  }
  return blocks;
}

/** How the other dialects mark what only their provider can read. */
const FOREIGN = /^[a-z]+\d+\./;

function own(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !FOREIGN.test(value);
}

function thinkingBlock(detail: Json, verbatim: boolean): Json | null {
  const { type, text, signature, data, id } = detail;
  const fields = nativeFields(detail, verbatim);
  if (type === "reasoning.text" && own(signature)) {
    return { ...fields, type: "thinking", thinking: typeof text === "string" ? text : "", signature };
  }
  // One with an id is an item of OpenAI's, encrypted for OpenAI.
  if (type !== "reasoning.encrypted" || !own(data) || typeof id === "string") return null;
  return { ...fields, type: "redacted_thinking", data };
}

function toolUses(calls: unknown, at: string, translation: Translation): Json[] {
  if (calls === null || calls === undefined) return [];
  if (!Array.isArray(calls)) throw invalidRequest(at, "must be a list");
  return calls.flatMap((call: unknown, index) => toolUse(call, `${at}/${index}`, translation));
}

function toolUse(call: unknown, at: string, { lose, toolId, verbatim }: Translation): readonly Json[] {
  if (!isJson(call)) throw invalidRequest(at, "must be an object");
  const called = call["function"];
  if (!isJson(called)) {
    lose(at);
    return [];
  }
  const { id } = call;
  const { name } = called;
  if (typeof id !== "string" || id === "") throw invalidRequest(`${at}/id`, "must be a string that is not empty");
  if (typeof name !== "string") throw invalidRequest(`${at}/function/name`, "must be a string");
  const input = inputOf(called["arguments"]);
  return [{ ...nativeFields(call, verbatim), type: "tool_use", id: toolId(id), name, input, ...cacheControl(call) }];
}

/** The API takes objects only: what a model wrote instead, such as cut off JSON, goes as the text it is. */
function inputOf(written: unknown): Json {
  if (isJson(written)) return written;
  if (typeof written !== "string" || written.trim() === "") return {};
  const input = parseJson(written);
  return isJson(input) ? input : { _raw: written };
}
