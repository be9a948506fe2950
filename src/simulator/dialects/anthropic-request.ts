import { type Json, isJson } from "../../kit/index.ts";
import { isSigned, type Question, thinksByName, type Tool, toolsToCall, type ToolUse } from "../answer.ts";
import { asText, SimError } from "../fields.ts";

/** What a Messages body asks for. */
export interface MessagesRequest {
  readonly question: Question;
  readonly stream: boolean;
  /** How the thinking, if any, is shown. */
  readonly thinking: "summarized" | "omitted" | "redacted";
}

/** The version from which on sampling may not be asked for. */
const STRICT_VERSION = "2026-10-21";
/** Names of OpenAI's that this interface refuses; what it does not know itself may be newer than the simulator. */
const OPENAI_FIELDS = (
  "frequency_penalty presence_penalty logit_bias logprobs top_logprobs n seed stop user " +
  "max_completion_tokens response_format reasoning_effort parallel_tool_calls stream_options functions " +
  "function_call modalities audio prediction store verbosity web_search_options"
).split(" ");
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const MAXIMUM_MARKS = 4;

/** @throws SimError 400 in the interface's own words. */
export function parseMessages(body: Json, version: string | undefined): MessagesRequest {
  if (version === undefined) throw invalid("anthropic-version", "header is required");
  if (!/^\d{4}-\d{2}-\d{2}$/.test(version)) throw invalid("anthropic-version", `"${version}" is not a valid version`);
  const foreign = OPENAI_FIELDS.find((name) => name in body);
  if (foreign !== undefined) throw invalid(foreign, "Extra inputs are not permitted");
  const model = parseModel(body);
  const maximum = body["max_tokens"];
  if (maximum === undefined) throw invalid("max_tokens", "Field required");
  if (!Number.isInteger(maximum) || Number(maximum) < 1)
    throw invalid("max_tokens", "Input should be greater than or equal to 1");
  const thinking = parseThinking(body, Number(maximum));
  checkSampling(body, { strict: version >= STRICT_VERSION, thinks: thinking.asked === true });
  const turns = turnsOf(body["messages"]);
  checkMessages(turns, { strict: version >= STRICT_VERSION, thinks: thinking.budget });
  checkMarks(body);
  const { prompt, userText, answered } = readTexts(body, turns);
  const tools = parseTools(body["tools"]);
  const thinks = thinking.asked ?? thinksByName(model);
  return {
    question: {
      model,
      prompt,
      userText,
      choices: 1,
      maximum: Number(maximum),
      stop: parseStop(body["stop_sequences"]),
      calls: toolsToCall({ tools, ...parseChoice(body["tool_choice"], tools), userText, answered }),
      thinks,
      schema: schemaOf(body),
    },
    stream: body["stream"] === true,
    thinking: model.includes("redact") ? "redacted" : thinking.display,
  };
}

/** The texts of a prompt, and what the tools need to know of them. */
export function readTexts(
  body: Json,
  turns: readonly Turn[],
): Pick<ToolUse, "userText" | "answered"> & { readonly prompt: readonly string[] } {
  const userText = turns
    .filter(({ role }) => role === "user")
    .map(({ blocks }) => blocks.flatMap(({ value }) => (value["type"] === "text" ? textsOf(value) : [])).join(" "));
  return {
    prompt: [
      ...(body["system"] === undefined
        ? []
        : blocksOf(body["system"], "system").flatMap(({ value }) => textsOf(value))),
      ...turns.flatMap(({ blocks }) => blocks.flatMap(({ value }) => textsOf(value))),
    ],
    userText: userText.findLast((text) => text !== "") ?? "",
    answered: turns.at(-1)?.blocks.some(({ value }) => value["type"] === "tool_result") ?? false,
  };
}

export function parseModel(body: Json): string {
  const { model } = body;
  if (typeof model === "string" && model !== "") return model;
  throw invalid("model", model === undefined ? "Field required" : "Input should be a valid string");
}

function textsOf(block: Json): readonly string[] {
  const { type, text, content } = block;
  if (type === "text") return [asText(text)];
  if (type !== "tool_result") return [];
  if (typeof content === "string") return [content];
  return Array.isArray(content) ? content.flatMap((inner: unknown) => (isJson(inner) ? textsOf(inner) : [])) : [];
}

/** What `output_config.format`, or `output_format` before it, asks for. */
function schemaOf({ output_config: config, output_format: format }: Json): unknown {
  const asked = isJson(config) && isJson(config["format"]) ? config["format"] : format;
  return isJson(asked) && asked["type"] === "json_schema" ? asked["schema"] : undefined;
}

function parseStop(value: unknown): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw invalid("stop_sequences", "Input should be a valid list");
  return value.map((sequence: unknown, index) => {
    if (typeof sequence !== "string") throw invalid(`stop_sequences.${index}`, "Input should be a valid string");
    if (sequence.trim() === "") throw invalid("stop_sequences", "each stop sequence must contain non-whitespace");
    return sequence;
  });
}

/** Tools of the client's own; those of the provider are accepted and never called. */
function parseTools(value: unknown): readonly Tool[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw invalid("tools", "Input should be a valid list");
  const names = new Set<unknown>();
  return value.flatMap((tool: unknown, index): readonly Tool[] => {
    const at = `tools.${index}`;
    if (!isJson(tool)) throw invalid(at, "Input should be a valid dictionary");
    const { type = "custom", name, input_schema: parameters } = tool;
    if ("function" in tool) throw invalid(`${at}.function`, "Extra inputs are not permitted");
    if (names.has(name)) throw invalid("tools", "Tool names must be unique.");
    names.add(name);
    if (type !== "custom") return [];
    if (typeof name !== "string") throw invalid(`${at}.custom.name`, "Field required");
    if (!TOOL_NAME.test(name))
      throw invalid(`${at}.custom.name`, "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'");
    if (!isJson(parameters)) throw invalid(`${at}.custom.input_schema`, "Field required");
    if (parameters["type"] !== "object") throw invalid(`${at}.custom.input_schema.type`, "Input should be 'object'");
    return [{ name, parameters }];
  });
}

function parseChoice(value: unknown, tools: readonly Tool[]): Pick<ToolUse, "choice" | "parallel"> {
  if (value === undefined) return { choice: "auto", parallel: true };
  if (!isJson(value)) throw invalid("tool_choice", "Input should be a valid dictionary");
  const { type, name } = value;
  const parallel = value["disable_parallel_tool_use"] !== true;
  if (tools.length === 0 && type !== "none")
    throw invalid("tool_choice", "may only be specified while providing `tools`");
  if (type === "auto" || type === "none") return { choice: type, parallel };
  if (type === "any") return { choice: "required", parallel };
  if (type !== "tool")
    throw invalid("tool_choice", "Input tag does not match any of the expected tags: 'any', 'auto', 'none', 'tool'");
  if (!tools.some((tool) => tool.name === name))
    throw invalid("tool_choice", `Tool '${asText(name)}' not found in provided tools`);
  return { choice: { only: [asText(name)] }, parallel };
}

/** Marks of what to cache, wherever they are. */
function checkMarks({ system, messages, tools }: Json): void {
  let count = 0;
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isJson(value)) return;
    const { cache_control: mark, content } = value;
    if (isJson(mark)) {
      count++;
      if (mark["type"] !== "ephemeral") throw invalid("cache_control.type", "Input should be 'ephemeral'");
    }
    visit(content);
  };
  visit([system, tools, messages]);
  if (count <= MAXIMUM_MARKS) return;
  throw new SimError(400, `A maximum of ${MAXIMUM_MARKS} blocks with cache_control may be provided. Found ${count}.`);
}

const SAMPLING = ["temperature", "top_p", "top_k"];
const EFFORTS: readonly unknown[] = ["low", "medium", "high", "xhigh", "max"];
const LEAST_BUDGET = 1_024;

export interface Thinking {
  /** undefined: the request does not say. */
  readonly asked: boolean | undefined;
  /** Asked for with a budget, which has rules of its own. */
  readonly budget: boolean;
  readonly display: "summarized" | "omitted";
}

/** @throws SimError 400 */
export function parseThinking(body: Json, maximum: number): Thinking {
  const { thinking, tool_choice: choice, output_config: output } = body;
  const effort = isJson(output) ? output["effort"] : undefined;
  if (effort !== undefined && !EFFORTS.includes(effort)) {
    throw invalid("output_config.effort", `Input should be ${EFFORTS.map((one) => `'${asText(one)}'`).join(", ")}`);
  }
  if (thinking === undefined) return { asked: undefined, budget: false, display: "summarized" };
  const type = isJson(thinking) ? thinking["type"] : undefined;
  if (!isJson(thinking) || !["enabled", "adaptive", "between_tools", "disabled"].includes(asText(type))) {
    throw invalid(
      "thinking",
      "Input tag does not match any of the expected tags: 'adaptive', 'between_tools', 'disabled', 'enabled'",
    );
  }
  const { budget_tokens: budget, display } = thinking;
  if (type === "enabled") {
    if (!Number.isInteger(budget)) throw invalid("thinking.enabled.budget_tokens", "Field required");
    if (Number(budget) < LEAST_BUDGET)
      throw invalid("thinking.enabled.budget_tokens", "Input should be greater than or equal to 1024");
    if (Number(budget) >= maximum)
      throw new SimError(400, "`max_tokens` must be greater than `thinking.budget_tokens`.");
    if (isJson(choice) && (choice["type"] === "any" || choice["type"] === "tool"))
      throw new SimError(400, "Thinking may not be enabled when tool_choice forces tool use.");
  } else if (budget !== undefined)
    throw invalid(`thinking.${asText(type)}.budget_tokens`, "Extra inputs are not permitted");
  return {
    asked: type !== "disabled",
    budget: type === "enabled",
    display: display === "omitted" ? "omitted" : "summarized",
  };
}

/** @throws SimError 400 for what this version of the interface, or thinking, does not go with. */
export function checkSampling(
  body: Json,
  { strict, thinks }: { readonly strict: boolean; readonly thinks: boolean },
): void {
  const given = SAMPLING.filter((name) => body[name] !== undefined);
  const [first] = given;
  if (first !== undefined && strict) throw invalid(first, "is not supported in this version of the API");
  for (const name of given) {
    const value = body[name];
    if (typeof value !== "number") throw invalid(name, "Input should be a valid number");
    if (value < 0 || (name !== "top_k" && value > 1)) throw invalid(name, "range: 0..1");
  }
  if (!thinks) return;
  if (body["temperature"] !== undefined && body["temperature"] !== 1)
    throw new SimError(400, "`temperature` may only be set to 1 when thinking is enabled.");
  if (body["top_k"] !== undefined) throw new SimError(400, "`top_k` must be unset when thinking is enabled.");
}

/** One block, and its place as the interface names it. */
export interface Block {
  readonly at: string;
  readonly value: Json;
}

export interface Turn {
  readonly role: "user" | "assistant" | "system";
  readonly blocks: readonly Block[];
}

interface Rules {
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
export function checkMessages(turns: readonly Turn[], rules: Rules): void {
  for (const { role, blocks } of turns) for (const block of blocks) checkBlock(block, role, rules);
  checkTools(turns);
  if (rules.thinks) checkThinking(turns);
}

function checkBlock({ at, value }: Block, role: Turn["role"], { strict }: Rules): void {
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
