import { isJson, type Json } from "../../kit/index.ts";
import { append, objects } from "../canonical/json.ts";
import { asksAboutMedia, standInFor } from "../canonical/left-out.ts";
import {
  ASSISTANT_FIELDS,
  FILE_PART_FIELDS,
  inOrder,
  MESSAGE_FIELDS,
  NO_OUTPUT,
  SEE_DOCUMENTS,
  TEXT_PART_FIELDS,
} from "../canonical/message.ts";
import type { Report } from "../canonical/report.ts";
import { pairedMessages } from "../canonical/tool-pairs.ts";
import { argumentsObject, writtenCalls } from "../canonical/tools.ts";
import { dropOrigin } from "../messages/cache.ts";
import { claudeReasoning } from "../messages/thinking.ts";
import { cachePoint } from "./cache-points.ts";
import { documentBlock, imageOf } from "./media.ts";
import { readsReasoning, readsStatus, takesResultMedia, type Translation } from "./models.ts";

const TOOL_RESULT_FIELDS: ReadonlySet<string> = new Set([...MESSAGE_FIELDS, "tool_call_id", "is_error"]);

interface Conversation {
  /** Left out: none. */
  readonly system?: readonly Json[];
  readonly messages: readonly Json[];
}

interface Turn extends Json {
  readonly role: "user" | "assistant";
  readonly content: Json[];
}

/** What a user says who has nothing to say: Converse demands a turn of theirs. */
const NOTHING_SAID: Json = { text: "." };
/** What a user says behind an assistant's words from which the model does not go on by itself. */
const GO_ON: Json = { text: "Continue." };
/** Begins a tool's result that cannot be marked as an error. */
const FAILED = "[The tool failed.]";

/** What a model takes of an order of roles. */
interface Takes {
  readonly system: boolean;
  readonly prefill: boolean;
}

/**
 * `system` and `messages` of a conversation, in the order that Converse demands: the user begins, the roles alternate, tool
 * results are parts of the user turn behind the calls. System messages amid it join the first ones.
 * @param takes what the model does: it has a system prompt, or the first user's turn begins with it; it goes on from the
 * assistant's own words, or the user has the last.
 * @throws GatewayError for a message that cannot be written down, AttemptError for a question of which nothing would be left.
 */
export function conversationOf(messages: unknown, takes: Takes, translation: Translation): Conversation {
  const { report } = translation;
  if (!Array.isArray(messages)) throw report.refusal("/messages", "must be a list");
  const system: Json[] = [];
  const spoken: Turn[] = [];
  const placed = pairedMessages(messages);
  const last = placed.at(-1)?.message;
  for (const { message, at } of placed) {
    if (!isJson(message)) throw report.refusal(at, "must be an object");
    switch (message["role"]) {
      case "system":
      case "developer":
        report.dropUnknown(message, MESSAGE_FIELDS, at);
        append(system, marked(textContent(message["content"], `${at}/content`, translation), message, at, translation));
        break;
      case "user":
        add(spoken, "user", userBlocks(message, at, message === last, translation));
        break;
      case "assistant":
        add(spoken, "assistant", assistantBlocks(message, at, translation));
        break;
      case "tool":
        add(spoken, "user", toolResult(message, at, translation));
        break;
      default:
        throw report.refusal(`${at}/role`, "must be system, developer, user, assistant or tool");
    }
  }
  const turns = withoutLastThoughts(spoken, translation);
  const asked = turns.length === 0 || !takes.system ? system : [];
  // A request with instructions alone asks what they say.
  if (asked.length > 0) add(turns, "user", asked, "before");
  else if (turns[0]?.role !== "user") turns.unshift({ role: "user", content: [NOTHING_SAID] });
  end(turns, placed.at(-1)?.at ?? "/messages", takes.prefill, translation);
  for (const { role, content } of turns) if (role === "user") explainDocuments(content);
  const kept = asked.length > 0 ? [] : system;
  return { ...(kept.length > 0 ? { system: kept } : {}), messages: turns };
}

/** "The final block in an assistant message cannot be `thinking`": without what was to follow it, it is of no use. */
function withoutLastThoughts(turns: readonly Turn[], { origins, report }: Translation): Turn[] {
  const kept: Turn[] = [];
  for (const { role, content } of turns) {
    const end = role === "user" ? content.length : content.findLastIndex((block) => !("reasoningContent" in block)) + 1;
    for (const block of content.slice(end)) dropOrigin(origins.get(block), report);
    add(kept, role, content.slice(0, end));
  }
  return kept;
}

/** A conversation that the assistant ends: some models go on from its words, others want the user to have the last. */
function end(turns: Turn[], at: string, goesOn: boolean, translation: Translation): void {
  if (turns.at(-1)?.role !== "assistant") return;
  if (goesOn) {
    if (translation.family === "anthropic") withoutTrailingBlank(turns);
    return;
  }
  translation.report.drop(at);
  add(turns, "user", [GO_ON]);
}

/** Claude refuses to go on from white space ("final assistant content cannot end with trailing whitespace",
 * https://github.com/langchain-ai/langchain-aws/pull/599). */
function withoutTrailingBlank(turns: readonly Turn[]): void {
  const { role, content = [] } = turns.at(-1) ?? {};
  const block = content.at(-1);
  if (role === "assistant" && typeof block?.["text"] === "string") {
    content.splice(-1, 1, { ...block, text: block["text"].trimEnd() });
  }
}

/** Converse: "A text block must be included when a document is provided." */
function explainDocuments(content: Json[]): void {
  const documents = content.some((block) => "document" in block);
  if (documents && !content.some((block) => "text" in block)) content.push({ text: SEE_DOCUMENTS });
}

function add(turns: Turn[], role: Turn["role"], blocks: readonly Json[], where: "before" | "behind" = "behind"): void {
  if (blocks.length === 0) return;
  const next = turns.at(where === "before" ? 0 : -1);
  if (next?.role !== role) turns.splice(where === "before" ? 0 : turns.length, 0, { role, content: [...blocks] });
  else if (where === "before") next.content.unshift(...blocks);
  else append(next.content, blocks);
}

/** @param isQuestion nothing follows it. */
function userBlocks(message: Json, at: string, isQuestion: boolean, translation: Translation): readonly Json[] {
  const { report } = translation;
  const { content } = message;
  const before = report.count;
  const blocks = contentBlocks(content, `${at}/content`, translation);
  const lost =
    blocks.length === 0 && report.count > before ? objects(content).filter(({ type }) => type !== "text") : [];
  // A question without the image it is about is another question.
  if (lost.length > 0 && isQuestion && asksAboutMedia(message)) throw report.unsupported(`${at}/content`);
  report.dropUnknown(message, MESSAGE_FIELDS, at);
  const told = lost.map((part) => ({ text: standInFor(part).text }));
  return marked(told.length > 0 ? told : blocks, message, at, translation);
}

function toolResult(message: Json, at: string, translation: Translation): readonly Json[] {
  const { family, report, toolId } = translation;
  const { tool_call_id: id, is_error: failed } = message;
  if (typeof id !== "string" || id === "")
    throw report.refusal(`${at}/tool_call_id`, "must be a string that is not empty");
  report.dropUnknown(message, TOOL_RESULT_FIELDS, at);
  const blocks = contentBlocks(message["content"], `${at}/content`, { ...translation, isResult: true });
  // A result holds no cache points: one within it follows it.
  const content = blocks.filter((block) => !("cachePoint" in block));
  const points = blocks.filter((block) => "cachePoint" in block).slice(-1);
  if (failed === true && !readsStatus(family)) report.drop(`${at}/is_error`);
  // Claude: "all content must be type `text` if `is_error` is true".
  const says = failed === true && family === "anthropic" && content.some((block) => !("text" in block));
  const status = failed === true && readsStatus(family) && !says ? { status: "error" } : {};
  const told = says ? [{ text: FAILED }, ...content] : content;
  const result = { toolUseId: toolId(id), content: told.length > 0 ? told : [{ text: NO_OUTPUT }], ...status };
  return [{ toolResult: result }, ...(points.length > 0 ? points : cachePoint(message, at, translation))];
}

function marked(blocks: readonly Json[], message: Json, at: string, translation: Translation): readonly Json[] {
  return blocks.length === 0 ? [] : [...blocks, ...cachePoint(message, at, translation)];
}

/** The blocks of an assistant turn. @throws GatewayError for a message that cannot be written down. */
function assistantBlocks(message: Json, at: string, translation: Translation): readonly Json[] {
  const { report } = translation;
  report.dropUnknown(message, ASSISTANT_FIELDS, at);
  const { content, refusal } = message;
  const contents = contentGroups(content, `${at}/content`, translation);
  if (typeof refusal === "string" && refusal.trim() !== "") contents.push([{ text: refusal }]);
  const lists = {
    reasoning: reasoningBlocks(message, at, translation),
    content: contents.map(group),
    tool_call: toolUses(message["tool_calls"], `${at}/tool_calls`, translation).map(group),
  };
  const blocks = inOrder(lists, message["block_order"]).flatMap(({ blocks }) => blocks as readonly Json[]);
  return blocks.length === 0 ? [] : [...blocks, ...cachePoint(message, at, translation)];
}

/** What one item of the message became, so that the order of the items is known. */
function group(blocks: readonly Json[]): { readonly blocks: readonly Json[] } {
  return { blocks };
}

/** Models take back only what they signed: other reasoning is reported. */
function reasoningBlocks(message: Json, at: string, { family, report, origins }: Translation): Json[] {
  const details: readonly unknown[] = Array.isArray(message["reasoning_details"]) ? message["reasoning_details"] : [];
  const blocks = details.map((detail, index) => {
    const block = isJson(detail) && readsReasoning(family) ? reasoningBlock(detail) : null;
    const place = `${at}/reasoning_details/${index}`;
    if (block === null) report.drop(place);
    else origins.set(block, { at: place });
    return group(block === null ? [] : [block]);
  });
  // The same thoughts as the details, in their own form.
  for (const name of details.length > 0 ? [] : ["reasoning_content", "reasoning"]) {
    if (typeof message[name] === "string" && message[name] !== "") report.drop(`${at}/${name}`);
  }
  return blocks;
}

function reasoningBlock(detail: Json): Json | null {
  const own = claudeReasoning(detail);
  if (own === null) return null;
  return { reasoningContent: "data" in own ? { redactedContent: own.data } : { reasoningText: own } };
}

function toolUses(calls: unknown, at: string, translation: Translation): readonly (readonly Json[])[] {
  const { report, toolId } = translation;
  return writtenCalls(calls, at, report, ({ call, at, id, name, written }) => {
    const toolUse = { toolUseId: toolId(id), name, input: argumentsObject(written) };
    return [{ toolUse }, ...cachePoint(call, at, translation)];
  });
}

/**
 * The blocks of a message's content; texts without a visible character, which Converse refuses, are left out.
 * @param at pointer to it.
 * @throws GatewayError for content that is none.
 */
function contentBlocks(content: unknown, at: string, translation: Translation): Json[] {
  return contentGroups(content, at, translation).flat();
}

/** The same, part by part. */
function contentGroups(content: unknown, at: string, translation: Translation): (readonly Json[])[] {
  if (content === null || content === undefined) return [];
  if (typeof content === "string") return [textBlocks(content)];
  if (!Array.isArray(content)) throw translation.report.refusal(at, "must be a string or a list of parts");
  return content.map((part: unknown, index) => partBlocks(part, `${at}/${index}`, translation));
}

/** As `contentBlocks`; blocks other than texts and cache points are reported. */
function textContent(content: unknown, at: string, translation: Translation): Json[] {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  const blocks = parts.flatMap((part, index) => {
    const place = `${at}/${index}`;
    if (!isJson(part) || part["type"] === "text" || part["type"] === "refusal")
      return partBlocks(part, place, translation);
    translation.report.drop(place);
    return [];
  });
  return Array.isArray(content) ? blocks : contentBlocks(content, at, translation);
}

function partBlocks(part: unknown, at: string, translation: Translation): readonly Json[] {
  const { report } = translation;
  if (!isJson(part)) throw report.refusal(at, "must be an object");
  const blocks = knownBlocks(part, at, translation) ?? withoutForm(part, at, translation);
  return blocks.length === 0 ? [] : [...blocks, ...cachePoint(part, at, translation)];
}

/** A part that Converse has no block for. */
function withoutForm(part: Json, at: string, { report, isResult = false }: Translation): readonly Json[] {
  const { text, isWhole } = standInFor(part);
  if (!isResult || !isWhole) report.drop(at);
  return isResult ? [{ text }] : [];
}

/** null for a part without a form in Converse. */
function knownBlocks(part: Json, at: string, translation: Translation): readonly Json[] | null {
  const { report, documentName, family, isResult } = translation;
  const isMedium = part["type"] === "image_url" || part["type"] === "file";
  if (isMedium && isResult === true && !takesResultMedia(family)) return null;
  switch (part["type"]) {
    case "text":
      return textPart(part, "text", at, report);
    case "refusal":
      return textPart(part, "refusal", at, report);
    case "image_url":
      return listed(imageOf(part, at, report));
    case "file": {
      const { file } = part;
      const document = isJson(file) ? documentBlock(file, documentName, `${at}/file`, report) : null;
      if (document !== null) report.dropUnknown(part, FILE_PART_FIELDS, at);
      return listed(document);
    }
    default:
      return null;
  }
}

function textPart(part: Json, name: "text" | "refusal", at: string, report: Report): readonly Json[] {
  const text = part[name];
  if (typeof text !== "string") throw report.refusal(`${at}/${name}`, "must be a string");
  report.dropUnknown(part, TEXT_PART_FIELDS, at);
  return textBlocks(text);
}

function listed(block: Json | null): readonly Json[] | null {
  return block === null ? null : [block];
}

function textBlocks(text: string): Json[] {
  return text.trim() === "" ? [] : [{ text }];
}
