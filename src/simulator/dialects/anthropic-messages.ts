import { isJson, type Json } from "../../kit/index.ts";
import { isSigned } from "../answer.ts";
import { asText, SimError } from "../fields.ts";

/** One block, and its place as the interface names it. */
export interface Block {
  readonly at: string;
  readonly value: Json;
}

export interface Turn {
  readonly role: "user" | "assistant" | "system";
  readonly blocks: readonly Block[];
}

interface ConversationRules {
  /** As from version 2026-10-21. */
  readonly strict: boolean;
  /** Thinking with a budget. */
  readonly thinks: boolean;
}

const ROLES = ["user", "assistant", "system"] as const;
const ID = /^[a-zA-Z0-9_-]+$/;
/** Parts of OpenAI's; an unknown block may be newer than the simulator. */
const OPENAI_PARTS: ReadonlySet<string> = new Set(
  "image_url input_audio file input_text output_text input_image native function".split(" "),
);

/** @throws SimError 400 for what is no list of messages, beginning with the user's. */
export function turnsOf(value: unknown): readonly Turn[] {
  if (value === undefined) throw invalid("messages", "Field required");
  if (!Array.isArray(value)) throw invalid("messages", "Input should be a valid list");
  if (value.length === 0) throw invalid("messages", "at least one message is required");
  const turns = value.map((message: unknown, index): Turn => {
    if (!isJson(message)) throw invalid(`messages.${index}`, "Input should be a valid dictionary");
    const role = ROLES.find((one) => one === message["role"]);
    if (!role)
      throw invalid(
        "messages",
        `Unexpected role "${asText(message["role"])}". Allowed roles are "user", "assistant" and "system".`,
      );
    const extra = ["tool_calls", "tool_call_id", "name", "reasoning_content", "reasoning_details", "refusal"].find(
      (name) => name in message,
    );
    if (extra !== undefined) throw invalid(`messages.${index}.${extra}`, "Extra inputs are not permitted");
    const blocks = blocksOf(message["content"], `messages.${index}.content`);
    if (blocks.length === 0 && index < value.length - 1)
      throw invalid(
        `messages.${index}`,
        "all messages must have non-empty content except for the optional final assistant message",
      );
    return { role, blocks };
  });
  if (turns[0]?.role !== "user") throw invalid("messages", 'first message must use the "user" role');
  return turns;
}

/** A content's blocks; text alone is one. @throws SimError 400 */
export function blocksOf(content: unknown, at: string): readonly Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ at, value: { type: "text", text: content } }];
  if (!Array.isArray(content))
    throw invalid(at, content === undefined ? "Field required" : "Input should be a valid list");
  return content.map((block: unknown, index) => {
    if (!isJson(block) || typeof block["type"] !== "string")
      throw invalid(`${at}.${index}`, "Unable to extract tag using discriminator 'type'");
    return { at: `${at}.${index}`, value: block };
  });
}

/** @throws SimError 400 for blocks that are wrong in themselves or where they stand. */
export function checkMessages(turns: readonly Turn[], rules: ConversationRules): void {
  for (const { role, blocks } of turns) for (const block of blocks) checkBlock(block, role, rules);
  checkTools(turns);
  if (rules.thinks) checkThinking(turns);
}

function checkBlock({ at, value }: Block, role: Turn["role"], { strict }: ConversationRules): void {
  const { type, text, citations } = value;
  const only = (allowed: Turn["role"]) => {
    if (role !== allowed) throw invalid(at, `\`${asText(type)}\` blocks can only be in \`${allowed}\` messages`);
  };
  if (OPENAI_PARTS.has(asText(type)))
    throw invalid(at, `Input tag '${asText(type)}' found using 'type' does not match any of the expected tags`);
  switch (type) {
    case "text":
      if (typeof text !== "string") throw invalid(`${at}.text`, "Field required");
      if (text === "") throw new SimError(400, "messages: text content blocks must be non-empty");
      if (strict && role === "user" && Array.isArray(citations) && citations.length > 0)
        throw invalid(`${at}.citations`, "is not supported on user text blocks in this version of the API");
      return;
    case "image":
    case "document":
      if (!isJson(value["source"])) throw invalid(`${at}.${type}.source`, "Field required");
      if (type === "document" && strict && role === "assistant")
        throw invalid(at, "document blocks are not supported in assistant messages in this version of the API");
      return;
    case "tool_use":
      only("assistant");
      if (typeof value["id"] !== "string" || !ID.test(value["id"]))
        throw invalid(`${at}.tool_use.id`, "String should match pattern '^[a-zA-Z0-9_-]+$'");
      if (typeof value["name"] !== "string") throw invalid(`${at}.tool_use.name`, "Field required");
      if (!isJson(value["input"])) throw invalid(`${at}.tool_use.input`, "Input should be a valid dictionary");
      return;
    case "tool_result":
      only("user");
      if (value["content"] !== undefined)
        for (const inner of blocksOf(value["content"], `${at}.content`))
          checkBlock(inner, "user", { strict, thinks: false });
      return;
    case "thinking":
      only("assistant");
      if (!isSigned("claude", value["signature"], asText(value["thinking"])))
        throw invalid(at, "Invalid `signature` in `thinking` block");
      return;
    case "redacted_thinking":
      only("assistant");
      if (!isSigned("claude", value["data"], "")) throw invalid(at, "Invalid `data` in `redacted_thinking` block");
  }
}

/** Every use of a tool is answered at the beginning of the user's very next message, and nothing else is. */
function checkTools(turns: readonly Turn[]): void {
  const merged = turns
    .filter(({ role }) => role !== "system")
    .reduce<Turn[]>((all, turn) => {
      const last = all.at(-1);
      if (last?.role !== turn.role) return [...all, turn];
      return [...all.slice(0, -1), { role: turn.role, blocks: [...last.blocks, ...turn.blocks] }];
    }, []);
  for (const [index, { role, blocks }] of merged.entries()) {
    const next = merged[index + 1];
    const results = blocks.filter(({ value }) => value["type"] === "tool_result");
    const used = idsOf(role === "user" ? merged[index - 1] : undefined, "tool_use", "id");
    const stray = results.find(({ value }) => !used.includes(asText(value["tool_use_id"])));
    if (stray) {
      throw invalid(
        stray.at,
        `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${asText(stray.value["tool_use_id"])}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    if (role !== "assistant") continue;
    const answered = idsOf(next, "tool_result", "tool_use_id");
    const missing = idsOf({ role, blocks }, "tool_use", "id").filter((id) => !answered.includes(id));
    if (missing.length > 0) {
      throw new SimError(
        400,
        `messages: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
    }
    // Behind other content a result is not found.
    if (
      next &&
      answered.length > 0 &&
      next.blocks.slice(0, answered.length).some(({ value }) => value["type"] !== "tool_result")
    )
      throw invalid("messages", "`tool_result` blocks must come first in the content of a user message");
  }
}

/** With a budget, the assistant's message of the running tool loop begins with its thinking. */
function checkThinking(turns: readonly Turn[]): void {
  if (!turns.at(-1)?.blocks.some(({ value }) => value["type"] === "tool_result")) return;
  const [first] = turns.findLast(({ role }) => role === "assistant")?.blocks ?? [];
  if (!first || ["thinking", "redacted_thinking"].includes(asText(first.value["type"]))) return;
  throw invalid(
    first.at,
    `Expected \`thinking\` or \`redacted_thinking\`, but found \`${asText(first.value["type"])}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
  );
}

function idsOf(turn: Turn | undefined, type: string, name: string): readonly string[] {
  return (turn?.blocks ?? []).filter(({ value }) => value["type"] === type).map(({ value }) => asText(value[name]));
}

/** 400 about one place of the request, named as the interface names it. */
export function invalid(at: string, what: string): SimError {
  return new SimError(400, `${at}: ${what}`);
}
