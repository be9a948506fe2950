import { isJson, type Json } from "../../src/kit/index.ts";
import type { Recorded } from "./recordings.ts";

/*
 * The complete answer that a provider would have sent in place of a stream, put together from its payloads by the
 * provider's own rules and apart from the codecs. Anthropic's is left to its own SDK.
 */

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);
const object = (value: unknown): Json => (isJson(value) ? value : {});
const words = (value: unknown): string => (typeof value === "string" ? value : "");
const last = (payloads: readonly Json[], name: string): unknown =>
  payloads.findLast((payload) => isJson(payload[name]))?.[name];

function openai(payloads: readonly Json[]): Json {
  const choices = payloads.flatMap((payload) => list(payload["choices"]));
  const deltas = choices.map((choice) => object(choice["delta"]));
  const text = (name: string): string => deltas.map((delta) => words(delta[name])).join("");
  const calls: { id: string; name: string; arguments: string }[] = [];
  for (const { index, id, function: called } of deltas.flatMap((delta) => list(delta["tool_calls"]))) {
    const call = (calls[Number(index)] ??= { id: "", name: "", arguments: "" });
    call.id ||= words(id);
    call.name ||= words(object(called)["name"]);
    call.arguments += words(object(called)["arguments"]);
  }
  const message = {
    role: "assistant",
    content: text("content") || (calls.length > 0 ? null : ""),
    ...Object.fromEntries(
      ["reasoning_content", "reasoning"].flatMap((name) => (text(name) ? [[name, text(name)]] : [])),
    ),
    ...(calls.length > 0
      ? { tool_calls: calls.map(({ id, ...called }) => ({ id, type: "function", function: called })) }
      : {}),
  };
  const finish_reason = choices.findLast((choice) => choice["finish_reason"] != null)?.["finish_reason"];
  const usage = last(payloads, "usage") ?? object(last(payloads, "x_groq"))["usage"];
  return { object: "chat.completion", choices: [{ index: 0, message, finish_reason }], usage };
}

function gemini(payloads: readonly Json[]): Json {
  const candidates = payloads.flatMap((payload) => list(payload["candidates"]));
  const parts = candidates.flatMap(({ content }) => list(object(content)["parts"]));
  const ended = candidates.findLast(({ finishReason }) => finishReason !== undefined);
  return { ...payloads.at(-1), candidates: [{ ...ended, content: { role: "model", parts } }] };
}

function bedrock(payloads: readonly Json[]): Json {
  const blocks: Record<string, Record<string, unknown>>[] = [];
  const at = (event: Json): Record<string, Record<string, unknown>> =>
    (blocks[Number(event["contentBlockIndex"])] ??= {});
  for (const { contentBlockStart, contentBlockDelta } of payloads) {
    if (isJson(contentBlockStart)) {
      const { toolUse } = object(contentBlockStart["start"]);
      if (isJson(toolUse)) at(contentBlockStart)["toolUse"] = { ...toolUse, input: "" };
    }
    if (!isJson(contentBlockDelta)) continue;
    const block = at(contentBlockDelta) as Record<string, unknown>;
    const { text, toolUse, reasoningContent } = object(contentBlockDelta["delta"]);
    if (typeof text === "string") block["text"] = words(block["text"]) + text;
    if (isJson(toolUse)) {
      const begun = object(block["toolUse"]);
      block["toolUse"] = { ...begun, input: words(begun["input"]) + words(toolUse["input"]) };
    }
    if (isJson(reasoningContent)) {
      const { reasoningText } = object(block["reasoningContent"]);
      const { text: before, signature } = object(reasoningText);
      const { text: more, signature: sealed } = reasoningContent;
      const said = { text: words(before) + words(more), signature: words(signature) + words(sealed) };
      block["reasoningContent"] = { reasoningText: said };
    }
  }
  const content = blocks.map((block) => {
    const { toolUse } = block;
    if (toolUse === undefined) return block;
    return { toolUse: { ...toolUse, input: JSON.parse(words(toolUse["input"]) || "{}") as unknown } };
  });
  const { stopReason } = object(last(payloads, "messageStop"));
  const { usage } = object(last(payloads, "metadata"));
  return { output: { message: { role: "assistant", content } }, stopReason, usage };
}

function cohere(payloads: readonly Json[]): Json {
  const content: Record<string, unknown>[] = [];
  const calls: { id?: unknown; type: string; function: { name?: unknown; arguments: string } }[] = [];
  let plan = "";
  let ending: Json = {};
  for (const { type, index, delta } of payloads) {
    const { message, ...rest } = object(delta);
    const { content: block, tool_plan, tool_calls: call } = object(message);
    if (type === "content-start") content[Number(index)] = { ...object(block) };
    if (type === "content-delta") {
      for (const [name, text] of Object.entries(object(block))) {
        content[Number(index)]![name] = words(content[Number(index)]![name]) + words(text);
      }
    }
    plan += words(tool_plan);
    const { id, function: called } = object(call);
    const { name, arguments: args } = object(called);
    if (type === "tool-call-start") calls.push({ id, type: "function", function: { name, arguments: words(args) } });
    if (type === "tool-call-delta") calls.at(-1)!.function.arguments += words(args);
    if (type === "message-end") ending = rest;
  }
  return {
    id: payloads[0]?.["id"],
    message: {
      role: "assistant",
      ...(content.length > 0 ? { content } : {}),
      ...(plan === "" ? {} : { tool_plan: plan }),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    },
    ...ending,
  };
}

export const COMPLETE: Readonly<Record<Exclude<Recorded, "anthropic">, (payloads: readonly Json[]) => Json>> = {
  openai,
  gemini,
  bedrock,
  cohere,
};
