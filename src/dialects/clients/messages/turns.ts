import { invalidRequest, isJson, type Json } from "../../../kit/index.ts";
import { type BlockPlace, isUsual } from "../../anthropic/native.ts";
import { given, leftover, objects, text } from "./fields.ts";
import { readContent } from "./parts.ts";

/** The `system` field as leading system messages. */
export function readSystem(system: unknown): readonly Json[] {
  if (typeof system === "string") return system === "" ? [] : [{ role: "system", content: system }];
  const blocks = objects(system);
  return blocks.length === 0 ? [] : [{ role: "system", content: readContent(blocks) }];
}

/**
 * The canonical messages of Messages turns: a user turn's tool results come first, each as a message of its own.
 * @throws GatewayError when a tool's input is nested too deeply to be written.
 */
export function readTurns(messages: unknown): readonly Placed[] {
  return objects(messages).flatMap((message, index) => readTurn(message, `/messages/${index}`));
}

/** A canonical message, and where in the client's body it was. */
export interface Placed {
  readonly message: Json;
  readonly place: string;
}

function readTurn({ role, content, ...rest }: Json, place: string): readonly Placed[] {
  if (!Array.isArray(content)) return [{ place, message: { ...leftover(rest), role, content } }];
  const blocks = objects(content);
  if (role === "assistant")
    return [{ place, message: { ...leftover(rest), ...readAssistant(blocks, `${place}/content`) } }];
  const results = blocks.flatMap((block, index) =>
    isResult(block) ? [{ place: `${place}/content/${index}`, message: readResult(block) }] : [],
  );
  const others = blocks.filter((block) => !isResult(block));
  if (others.length === 0 && results.length > 0) return results;
  return [...results, { place, message: { ...leftover(rest), role, content: readContent(others) } }];
}

function isResult({ type, tool_use_id }: Json): boolean {
  return type === "tool_result" && typeof tool_use_id === "string";
}

function readResult({ type: _type, tool_use_id, content, is_error, cache_control, ...rest }: Json): Json {
  return {
    ...leftover(rest),
    role: "tool",
    tool_call_id: tool_use_id,
    content: Array.isArray(content) ? readContent(objects(content)) : (content ?? ""),
    ...given("is_error", is_error),
    ...given("cache_control", cache_control),
  };
}

function readAssistant(blocks: readonly Json[], pointer: string): Json {
  const details: Json[] = [];
  const content: Json[] = [];
  const calls: Json[] = [];
  const order = blocks.map((block, index): BlockPlace => {
    const detail = readReasoning(block);
    const call = readCall(block, `${pointer}/${index}`);
    if (detail !== null) details.push(detail);
    else if (call !== null) calls.push(call);
    else content.push(block);
    return detail !== null ? "reasoning" : call !== null ? "tool_call" : "content";
  });
  const thoughts = details.map((detail) => text(detail["text"])).join("");
  const silent = content.length === 0 && blocks.length > 0;
  return {
    role: "assistant",
    content: silent ? null : readContent(content),
    ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(isUsual(order) ? {} : { block_order: order }),
  };
}

function readReasoning({ type, thinking, signature, data, ...rest }: Json): Json | null {
  if (type === "thinking" && typeof thinking === "string") {
    const signed = typeof signature === "string" && signature !== "" ? { signature } : {};
    return { ...leftover(rest), type: "reasoning.text", text: thinking, ...signed };
  }
  if (type === "redacted_thinking" && typeof data === "string") {
    return { ...leftover(rest), type: "reasoning.encrypted", data };
  }
  return null;
}

function readCall({ type, id, name, input, cache_control, ...rest }: Json, pointer: string): Json | null {
  if (type !== "tool_use" || typeof id !== "string" || typeof name !== "string") return null;
  return {
    ...leftover(rest),
    id,
    type: "function",
    function: { name, arguments: writeInput(input, `${pointer}/input`) },
    ...given("cache_control", cache_control),
  };
}

/** `JSON.parse` accepts deeper nesting than `JSON.stringify` can write: that is the client's fault, not a 500. */
function writeInput(input: unknown, pointer: string): string {
  try {
    return JSON.stringify(isJson(input) ? input : {});
  } catch (error) {
    if (error instanceof RangeError) throw invalidRequest(pointer, "is nested too deeply");
    throw error;
  }
}
