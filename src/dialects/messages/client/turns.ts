import { invalidRequest, isJson, type Json } from "../../../kit/index.ts";
import { given, guardDepth, objects, stringOf } from "../../canonical/json.ts";
import { type BlockPlace, isMadeCitation, isUsual } from "../../canonical/message.ts";
import type { MessageSource, SourcedMessage } from "../../canonical/parameters.ts";
import { leftover, nativePart, unsealedData } from "../native.ts";

/** The `system` field as leading system messages. */
export function readSystem(system: unknown): readonly SourcedMessage[] {
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
export function readTurns(messages: unknown): readonly SourcedMessage[] {
  return objects(messages).flatMap((message, index) => readTurn(message, `/messages/${index}`));
}

/** @param whole the list of blocks that it was read from. */
function placed(message: Json, at: string, lists: MessageSource["lists"], whole = `${at}/content`): SourcedMessage {
  return { message, place: { at, whole, lists } };
}

function readTurn({ role, content, ...rest }: Json, at: string): readonly SourcedMessage[] {
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

function readResult(
  { type: _type, tool_use_id, content, is_error, cache_control, ...rest }: Json,
  at: string,
): SourcedMessage {
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
): { readonly message: Json; readonly lists: MessageSource["lists"] } {
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
  const thoughts = details.map((detail) => stringOf(detail["text"])).join("");
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

function writeInput(input: unknown, pointer: string): string {
  return guardDepth(
    () => JSON.stringify(isJson(input) ? input : {}),
    () => invalidRequest(pointer, "is nested too deeply"),
  );
}

const IMAGE_TYPE = /^image\/[a-z\d.+-]+$/;
const PDF_TYPE = /^application\/pdf$/;
/** Takes URLs of any scheme. `kit/references.ts` decides which of them are sent. */
const ADDRESS = /^[a-z][a-z\d+.-]*:\/\//i;

/** The canonical part of a content block; one that has no other place travels whole, as a native part. */
function readPart(block: Json): Json {
  switch (block["type"]) {
    case "text":
      return readText(block) ?? nativePart(block);
    case "image":
      return readImage(block) ?? nativePart(block);
    case "document":
      return readDocument(block) ?? nativePart(block);
    default:
      return nativePart(block);
  }
}

/** A lone text without further fields is written as a string: the form that every upstream takes. */
function readContent(blocks: readonly Json[]): string | readonly Json[] {
  const parts = blocks.map(readPart);
  const [only] = parts;
  if (parts.length !== 1 || only === undefined || Object.keys(only).length !== 2) return parts;
  return typeof only["text"] === "string" ? only["text"] : parts;
}

function readText({ type, text, cache_control, citations, ...rest }: Json): Json | null {
  if (typeof text !== "string") return null;
  const own = { ...rest, ...given("citations", ownCitations(citations)) };
  return { ...leftover(own), type, text, ...given("cache_control", cache_control) };
}

/** Citations that a provider takes back: those that the gateway made of other providers' annotations have served. */
function ownCitations(citations: unknown): unknown {
  if (!Array.isArray(citations) || !citations.some(isMadeCitation)) return citations;
  const own = citations.filter((citation) => !isMadeCitation(citation));
  return own.length > 0 ? own : null;
}

function readImage({ type: _type, source, cache_control, ...rest }: Json): Json | null {
  if (!isJson(source)) return null;
  const url = source["type"] === "url" ? addressOf(source) : dataUrl(source, IMAGE_TYPE);
  if (url === null) return null;
  return { ...leftover(rest), type: "image_url", image_url: { url }, ...given("cache_control", cache_control) };
}

function readDocument({ type: _type, source, title, context, citations, cache_control, ...rest }: Json): Json | null {
  if (!isJson(source)) return null;
  const place = documentPlace(source);
  if (place === null) return null;
  const file = {
    ...place,
    ...given("filename", title),
    ...given("context", context),
    ...given("citations", citations),
  };
  return { ...leftover(rest), type: "file", file, ...given("cache_control", cache_control) };
}

function documentPlace(source: Json): Json | null {
  const { type, file_id, data, media_type } = source;
  const file_url = type === "url" ? addressOf(source) : null;
  if (file_url !== null) return { file_url };
  if (type === "file") return typeof file_id === "string" ? { file_id } : null;
  if (type === "text" && media_type === "text/plain" && typeof data === "string") {
    return { file_data: `data:text/plain;base64,${Buffer.from(data, "utf8").toString("base64")}` };
  }
  const file_data = dataUrl(source, PDF_TYPE);
  return file_data === null ? null : { file_data };
}

function addressOf({ url }: Json): string | null {
  return typeof url === "string" && ADDRESS.test(url) ? url : null;
}

function dataUrl({ type, media_type, data }: Json, types: RegExp): string | null {
  if (type !== "base64" || typeof data !== "string") return null;
  if (typeof media_type !== "string" || !types.test(media_type)) return null;
  return `data:${media_type};base64,${data}`;
}
