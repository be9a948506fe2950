import { isJson, type Json } from "../../kit/index.ts";
import { inOrder } from "../block-order.ts";
import { ASSISTANT_FIELDS } from "../fields.ts";
import { inputOf } from "../functions.ts";
import { claudeReasoning } from "../reasoning.ts";
import { contentGroups } from "./content.ts";
import { readsReasoning } from "./family.ts";
import { cachePoint, type Translation } from "./translation.ts";

/** `extra_content` is another provider's state. */
const CALL: ReadonlySet<string> = new Set(["id", "type", "index", "function", "cache_control", "extra_content"]);

/** The blocks of an assistant turn. @throws GatewayError for a message that cannot be written down. */
export function assistantBlocks(message: Json, at: string, translation: Translation): readonly Json[] {
  const { report } = translation;
  report.dropBeside(message, ASSISTANT_FIELDS, at);
  const { content, refusal } = message;
  const said = contentGroups(content, `${at}/content`, translation);
  if (typeof refusal === "string" && refusal.trim() !== "") said.push([{ text: refusal }]);
  const lists = {
    reasoning: reasoningBlocks(message, at, translation),
    content: said.map(group),
    tool_call: toolUses(message["tool_calls"], `${at}/tool_calls`, translation).map(group),
  };
  const blocks = inOrder(lists, message["block_order"]).flatMap(({ blocks }) => blocks as readonly Json[]);
  return blocks.length === 0 ? [] : [...blocks, ...cachePoint(message, at, translation)];
}

/** What one item of the message became, so that the order of the items can be told. */
function group(blocks: readonly Json[]): { readonly blocks: readonly Json[] } {
  return { blocks };
}

/** Models take back only what they signed: other reasoning is reported. */
function reasoningBlocks(message: Json, at: string, { family, report }: Translation): Json[] {
  const details: readonly unknown[] = Array.isArray(message["reasoning_details"]) ? message["reasoning_details"] : [];
  const blocks = details.map((detail, index) => {
    const block = isJson(detail) && readsReasoning(family) ? reasoningBlock(detail) : null;
    if (block === null) report.drop(`${at}/reasoning_details/${index}`);
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

function toolUses(calls: unknown, at: string, translation: Translation): (readonly Json[])[] {
  if (calls === null || calls === undefined) return [];
  if (!Array.isArray(calls)) throw translation.report.refusal(at, "must be a list");
  return calls.map((call: unknown, index) => toolUse(call, `${at}/${index}`, translation));
}

function toolUse(call: unknown, at: string, translation: Translation): readonly Json[] {
  const { report, toolId } = translation;
  if (!isJson(call)) throw report.refusal(at, "must be an object");
  const { id, function: called } = call;
  if (!isJson(called)) {
    report.drop(at);
    return [];
  }
  const { name } = called;
  if (typeof id !== "string" || id === "") throw report.refusal(`${at}/id`, "must be a string that is not empty");
  if (typeof name !== "string" || name === "") throw report.refusal(`${at}/function/name`, "must be a string");
  report.dropBeside(call, CALL, at);
  const toolUse = { toolUseId: toolId(id), name, input: inputOf(called["arguments"]) };
  return [{ toolUse }, ...cachePoint(call, at, translation)];
}
