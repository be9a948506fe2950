import { type Json, isJson } from "../../kit/index.ts";
import { type Question, thinksByName, type Tool, toolsToCall, type ToolUse } from "../answer.ts";
import { asText, SimError } from "../fields.ts";
import { blocksOf, checkMessages, invalid, type Turn, turnsOf } from "./anthropic-messages.ts";

/** What a Messages body asks for. */
export interface MessagesRequest {
  readonly question: Question;
  readonly stream: boolean;
  /** In which form the thinking, if any, is sent. */
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
  // None: only the cache of prompts is filled.
  if (!Number.isInteger(maximum) || Number(maximum) < 0)
    throw invalid("max_tokens", "Input should be greater than or equal to 0");
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
const MINIMUM_BUDGET_TOKENS = 1_024;

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
  if (effort !== undefined && effort !== null && !EFFORTS.includes(effort)) {
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
    if (Number(budget) < MINIMUM_BUDGET_TOKENS)
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
