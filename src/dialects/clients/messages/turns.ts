import { invalidRequest, isJson, type Json } from "../../../kit/index.ts";
import { type BlockPlace, isUsual } from "../../block-order.ts";
import type { Folded, Placed } from "../../folded.ts";
import { given, leftover, objects, text, unsealedData } from "./fields.ts";
import { readContent } from "./parts.ts";

/** The `system` field as leading system messages. */
export function readSystem(system: unknown): readonly Placed[] {
  const at = "/system";
  if (typeof system === "string") {
    return system === "" ? [] : [placed({ role: "system", content: system }, at, { content: [at] })];
  }
  const blocks = objects(system);
  if (blocks.length === 0) return [];
  const content = blocks.map((_, index) => `${at}/${index}`);
  return [placed({ role: "system", content: readContent(blocks) }, at, { content }, at)];
}

/**
 * The canonical messages of Messages turns: a user turn's tool results come first, each as a message of its own.
 * @throws GatewayError when a tool's input is nested too deeply to be written.
 */
export function readTurns(messages: unknown): readonly Placed[] {
  return objects(messages).flatMap((message, index) => readTurn(message, `/messages/${index}`));
}

/** @param whole the list of blocks that it was read from. */
function placed(message: Json, at: string, lists: Folded["lists"], whole = `${at}/content`): Placed {
  return { message, place: { at, whole, lists } };
}

function readTurn({ role, content, ...rest }: Json, at: string): readonly Placed[] {
  const whole = `${at}/content`;
  if (!Array.isArray(content)) return [placed({ ...leftover(rest), role, content }, at, { content: [whole] })];
  const blocks = objects(content);
  if (role === "assistant") {
    const { message, lists } = readAssistant(blocks, whole);
    return [placed({ ...leftover(rest), ...message }, at, lists)];
  }
  const results = blocks.flatMap((block, index) => (isResult(block) ? [readResult(block, `${whole}/${index}`)] : []));
  const others = [...blocks.entries()].filter(([, block]) => !isResult(block));
  if (others.length === 0 && results.length > 0) return results;
  const message = { ...leftover(rest), role, content: readContent(others.map(([, block]) => block)) };
  return [...results, placed(message, at, { content: others.map(([index]) => `${whole}/${index}`) })];
}

function isResult({ type, tool_use_id }: Json): boolean {
  return type === "tool_result" && typeof tool_use_id === "string";
}

function readResult({ type: _type, tool_use_id, content, is_error, cache_control, ...rest }: Json, at: string): Placed {
  const whole = `${at}/content`;
  const blocks = Array.isArray(content) ? objects(content) : null;
  const message = {
    ...leftover(rest),
    role: "tool",
    tool_call_id: tool_use_id,
    content: blocks === null ? (content ?? "") : readContent(blocks),
    ...given("is_error", is_error),
    ...given("cache_control", cache_control),
  };
  return placed(message, at, { content: blocks?.map((_, index) => `${whole}/${index}`) ?? [whole] });
}

function readAssistant(
  blocks: readonly Json[],
  whole: string,
): { readonly message: Json; readonly lists: Folded["lists"] } {
  const details: Json[] = [];
  const content: Json[] = [];
  const calls: Json[] = [];
  const lists = { reasoning: [] as string[], content: [] as string[], tool_call: [] as string[] };
  const order = blocks.map((block, index): BlockPlace => {
    const at = `${whole}/${index}`;
    const detail = readReasoning(block);
    const call = readCall(block, at);
    if (detail !== null) details.push(detail);
    else if (call !== null) calls.push(call);
    else content.push(block);
    const place = detail !== null ? "reasoning" : call !== null ? "tool_call" : "content";
    lists[place].push(at);
    return place;
  });
  const thoughts = details.map((detail) => text(detail["text"])).join("");
  const silent = content.length === 0 && blocks.length > 0;
  const message = {
    role: "assistant",
    content: silent ? null : readContent(content),
    ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(isUsual(order) ? {} : { block_order: order }),
  };
  return {
    message,
    lists: { content: lists.content, reasoning_details: lists.reasoning, tool_calls: lists.tool_call },
  };
}

function readReasoning({ type, thinking, signature, data, ...rest }: Json): Json | null {
  if (type === "thinking" && typeof thinking === "string") {
    const signed = typeof signature === "string" && signature !== "" ? { signature } : {};
    return { ...leftover(rest), type: "reasoning.text", text: thinking, ...signed };
  }
  if (type === "redacted_thinking" && typeof data === "string") {
    return { ...leftover(rest), type: "reasoning.encrypted", ...unsealedData(data) };
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
