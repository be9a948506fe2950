import { isJson, type Json } from "../../../kit/index.ts";
import { nativeBlock, nativeFields } from "../../anthropic/native.ts";
import { inOrder } from "../../block-order.ts";
import { parseJson } from "../../json.ts";
import { list, objects, sealedData, text } from "./fields.ts";

/** The content blocks of a canonical answer, in their order. */
export function writeBlocks(message: Json): readonly Json[] {
  const lists = {
    reasoning: writeReasoning(message),
    content: writeContent(message),
    tool_call: objects(message["tool_calls"]).map(writeCall),
  };
  const order = list(message["block_order"]).filter(
    (place) => typeof place === "string" && Object.hasOwn(lists, place),
  );
  return inOrder(lists, order);
}

/** Details bring what must go back verbatim; a provider without them gives the text alone. */
function writeReasoning({ reasoning_details, reasoning_content }: Json): Json[] {
  const blocks = objects(reasoning_details).map(writeDetail);
  const whole = text(reasoning_content);
  if (whole === "" || blocks.some((block) => text(block["thinking"]) !== "")) return blocks;
  const signed = blocks.findIndex(({ type }) => type === "thinking");
  if (signed < 0) return [thinking(whole, ""), ...blocks];
  return blocks.map((block, index) => (index === signed ? { ...block, thinking: whole } : block));
}

function writeDetail(detail: Json): Json {
  const { type, summary, signature } = detail;
  const fields = nativeFields(detail, true);
  if (type === "reasoning.encrypted") return { ...fields, type: "redacted_thinking", data: sealedData(detail) };
  return { ...fields, ...thinking(text(detail["text"]) + text(summary), text(signature)) };
}

function thinking(thought: string, signature: string): Json {
  return { type: "thinking", thinking: thought, signature };
}

function writeContent({ content, refusal }: Json): Json[] {
  const blocks = typeof content === "string" ? said(content) : objects(content).map(writePart);
  return [...blocks.filter((block) => block !== null), ...said(text(refusal))];
}

function said(words: string): Json[] {
  return words === "" ? [] : [{ type: "text", text: words }];
}

/** null for a part that Messages has no block for. */
function writePart(part: Json): Json | null {
  if (part["type"] === "native") return nativeBlock(part);
  if (typeof part["text"] !== "string") return null;
  return { ...nativeFields(part, true), type: "text", text: part["text"] };
}

function writeCall(call: Json): Json {
  const { id, function: called } = call;
  const { name, arguments: args } = isJson(called) ? called : {};
  return {
    ...nativeFields(call, true),
    type: "tool_use",
    id: text(id),
    name: text(name),
    input: readInput(text(args)),
  };
}

/** A tool's input is an object: what is none is shown as it came, so that nobody takes it for a call without arguments. */
function readInput(args: string): Json {
  if (args.trim() === "") return {};
  const input = parseJson(args);
  return isJson(input) ? input : { _raw: args };
}
