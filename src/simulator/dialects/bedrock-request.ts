import { type Json, isJson } from "../../kit/index.ts";
import { isSigned, type Question, thinksByName, type Tool, toolsToCall, type ToolUse } from "../answer.ts";
import { asText, isBase64, SimError } from "../fields.ts";

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** @throws SimError 400 in the service's own words. */
export function parseConverse(body: Json, model: string): Question {
  const turns = parseTurns(body["messages"]);
  const inference = objectOf(body["inferenceConfig"], "inferenceConfig");
  const extra = objectOf(body["additionalModelRequestFields"], "additionalModelRequestFields");
  const config = body["toolConfig"] === undefined ? undefined : objectOf(body["toolConfig"], "toolConfig");
  if (config === undefined && usesTools(turns)) {
    throw invalid("The toolConfig field must be defined when using toolUse and toolResult content blocks.");
  }
  checkSampling(inference);
  const question = turns
    .filter(({ role }) => role === "user")
    .map(({ content }) => content.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join(" "))
    .findLast((text) => text !== "");
  const tools = config === undefined ? [] : parseTools(config["tools"]);
  const thinking = isJson(extra["thinking"]) ? extra["thinking"]["type"] : undefined;
  return {
    model,
    prompt: [...systemTexts(body["system"]), ...turns.flatMap(({ content }) => content.flatMap(textsOf))],
    userText: question ?? "",
    choices: 1,
    maximum: maximumOf(inference["maxTokens"]),
    stop: stopsOf(inference["stopSequences"]),
    calls: toolsToCall({
      tools,
      choice: parseChoice(config?.["toolChoice"], tools),
      parallel: true,
      userText: question ?? "",
      answered: turns.at(-1)?.content.some(({ toolResult }) => toolResult !== undefined) ?? false,
    }),
    thinks: thinking === undefined ? thinksByName(model) : thinking !== "disabled",
    schema: schemaOf(body["outputConfig"]),
  };
}

/** What `outputConfig.textFormat` asks for: its schema is JSON text. */
function schemaOf(config: unknown): unknown {
  const format = isJson(config) ? config["textFormat"] : undefined;
  const structure = isJson(format) && isJson(format["structure"]) ? format["structure"]["jsonSchema"] : undefined;
  if (!isJson(structure)) return undefined;
  try {
    return JSON.parse(asText(structure["schema"])) as unknown;
  } catch {
    throw invalid("The value at outputConfig.textFormat.structure.jsonSchema.schema is not valid JSON.");
  }
}

function objectOf(value: unknown, name: string): Json {
  if (value === undefined) return {};
  if (isJson(value)) return value;
  throw invalid(`The value at ${name} is not an object.`);
}

function systemTexts(value: unknown): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw invalid("The value at system is not a list.");
  return value.flatMap((block: unknown, index) => {
    if (!isJson(block) || Object.keys(block).length !== 1)
      throw invalid(`The SystemContentBlock object at system.${index} must set one key.`);
    if (block["text"] === "")
      throw invalid(`The text field in the SystemContentBlock object at system.${index} is blank.`);
    return textsOf(block);
  });
}

function checkSampling(inference: Json): void {
  for (const name of ["temperature", "topP"]) {
    const value = inference[name];
    if (value === undefined || (typeof value === "number" && value >= 0 && value <= 1)) continue;
    throw invalid(
      `1 validation error detected: Value at 'inferenceConfig.${name}' failed to satisfy constraint: Member must have value less than or equal to 1`,
    );
  }
}

function maximumOf(value: unknown): number {
  if (value === undefined) return Infinity;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1) return value;
  throw invalid(
    "1 validation error detected: Value at 'inferenceConfig.maxTokens' failed to satisfy constraint: Member must have value greater than or equal to 1",
  );
}

function stopsOf(value: unknown): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value) && value.every((stop) => typeof stop === "string" && stop !== "")) return value;
  throw invalid(
    "Value at 'inferenceConfig.stopSequences' failed to satisfy constraint: Member must have length greater than or equal to 1",
  );
}

function parseTools(value: unknown): readonly Tool[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw invalid(
      "1 validation error detected: Value at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1",
    );
  }
  return value.flatMap((tool: unknown, index): readonly Tool[] => {
    const at = `toolConfig.tools.${index}`;
    if (!isJson(tool) || Object.keys(tool).length !== 1) throw invalid(`The Tool object at ${at} must set one key.`);
    const { toolSpec: spec } = tool;
    if (spec === undefined) return [];
    if (!isJson(spec) || typeof spec["name"] !== "string" || !TOOL_NAME.test(spec["name"])) {
      throw invalid(
        `Value at '${at}.toolSpec.name' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+`,
      );
    }
    if (spec["description"] === "")
      throw invalid(
        `Value at '${at}.toolSpec.description' failed to satisfy constraint: Member must have length greater than or equal to 1`,
      );
    const schema = isJson(spec["inputSchema"]) ? spec["inputSchema"]["json"] : undefined;
    if (!isJson(schema) || schema["type"] !== "object")
      throw invalid(`The value at ${at}.toolSpec.inputSchema.json.type must be one of the following: object.`);
    return [{ name: spec["name"], parameters: schema }];
  });
}

function parseChoice(value: unknown, tools: readonly Tool[]): ToolUse["choice"] {
  if (value === undefined) return "auto";
  if (!isJson(value) || Object.keys(value).length !== 1)
    throw invalid(
      "The ToolChoice object at toolConfig.toolChoice must set one of the following keys: auto, any, tool.",
    );
  if (value["auto"] !== undefined) return "auto";
  if (value["any"] !== undefined) return "required";
  const name = isJson(value["tool"]) ? value["tool"]["name"] : undefined;
  if (tools.some((tool) => tool.name === name)) return { only: [asText(name)] };
  throw invalid("The tool name at toolConfig.toolChoice.tool is not defined in toolConfig.tools.");
}

export interface Turn {
  readonly role: "user" | "assistant";
  readonly content: readonly Json[];
}

const BLOCKS = [
  "text",
  "image",
  "document",
  "video",
  "audio",
  "toolUse",
  "toolResult",
  "guardContent",
  "cachePoint",
  "reasoningContent",
  "citationsContent",
  "searchResult",
];
const ID = /^[a-zA-Z0-9_-]{1,64}$/;
const DOCUMENT = /^(?!.*\s{2})[a-zA-Z0-9\s()[\]-]{1,200}$/;

/** @throws SimError 400 for what is no conversation of the user and the assistant in turn. */
export function parseTurns(value: unknown): readonly Turn[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw invalid(
      "1 validation error detected: Value at 'messages' failed to satisfy constraint: Member must not be null",
    );
  }
  const turns = value.map((message: unknown, index): Turn => {
    if (!isJson(message)) throw invalid(`messages.${index}: expected an object`);
    const { role, content } = message;
    if (role !== "user" && role !== "assistant") {
      throw invalid(
        `1 validation error detected: Value '${asText(role)}' at 'messages.${index + 1}.member.role' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant]`,
      );
    }
    if (!Array.isArray(content) || content.length === 0) {
      throw invalid(
        `The content field in the Message object at messages.${index} is empty. Add a ContentBlock object to the content field and try again.`,
      );
    }
    const blocks = content.map((block: unknown, at) => checkBlock(block, role, `messages.${index}.content.${at}`));
    if (blocks.some(({ document }) => document !== undefined) && !blocks.some(({ text }) => text !== undefined)) {
      throw invalid("A text block must be included when a document is provided.");
    }
    return { role, content: blocks };
  });
  if (turns[0]?.role !== "user") {
    throw invalid(
      "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
    );
  }
  if (turns.some(({ role }, index) => role === turns[index - 1]?.role)) {
    throw invalid(
      "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
    );
  }
  checkResults(turns);
  return turns;
}

export function usesTools(turns: readonly Turn[]): boolean {
  return turns.some(({ content }) =>
    content.some(({ toolUse, toolResult }) => toolUse !== undefined || toolResult !== undefined),
  );
}

/** Every text of a block; what a tool gave as JSON is its text. */
export function textsOf({ text, toolResult }: Json): readonly string[] {
  if (typeof text === "string") return [text];
  const content: unknown = isJson(toolResult) ? toolResult["content"] : undefined;
  if (!Array.isArray(content)) return [];
  return content.filter(isJson).flatMap((inner) => {
    if (typeof inner["text"] === "string") return [inner["text"]];
    return inner["json"] === undefined ? [] : [JSON.stringify(inner["json"])];
  });
}

function checkBlock(value: unknown, role: Turn["role"], at: string): Json {
  const names = isJson(value) ? Object.keys(value) : [];
  const [name] = names;
  // A union: the service takes exactly one of its members.
  if (!isJson(value) || names.length !== 1 || !BLOCKS.includes(asText(name))) {
    throw invalid(`The ContentBlock object at ${at} must set one of the following keys: ${BLOCKS.join(", ")}.`);
  }
  const { text, toolUse: use, toolResult: result, reasoningContent: reasoning, image, document } = value;
  if (text !== undefined && (typeof text !== "string" || text.trim() === "")) {
    throw invalid(
      `The text field in the ContentBlock object at ${at} is blank. Add text to the text field, and try again.`,
    );
  }
  if (use !== undefined) {
    if (role !== "assistant" || !isJson(use)) throw invalid(`The toolUse block at ${at} is not allowed here.`);
    checkId(use["toolUseId"], `${at}.toolUse.toolUseId`);
    checkId(use["name"], `${at}.toolUse.name`);
    if (!isJson(use["input"]))
      throw invalid(
        `The format of the value at ${at}.toolUse.input is invalid. Provide a json object for the field and try again.`,
      );
  }
  if (result !== undefined) {
    if (role !== "user" || !isJson(result)) throw invalid(`The toolResult block at ${at} is not allowed here.`);
    checkId(result["toolUseId"], `${at}.toolResult.toolUseId`);
    if (!Array.isArray(result["content"])) throw invalid(`The content field at ${at}.toolResult is missing.`);
    if (result["status"] !== undefined && result["status"] !== "success" && result["status"] !== "error")
      throw invalid(`Value at ${at}.toolResult.status must satisfy enum value set: [success, error]`);
  }
  if (reasoning !== undefined) checkReasoning(reasoning, role, at);
  if (image !== undefined) checkBlob(image, `${at}.image`);
  if (document !== undefined) {
    checkBlob(document, `${at}.document`);
    if (!isJson(document) || !DOCUMENT.test(asText(document["name"])))
      throw invalid(
        "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets. The name can't contain more than one consecutive whitespace character.",
      );
  }
  return value;
}

function checkReasoning(value: unknown, role: Turn["role"], at: string): void {
  const { reasoningText: reasoning, redactedContent: redacted } = isJson(value) ? value : {};
  const good =
    redacted === undefined
      ? isJson(reasoning) && isSigned("claude", reasoning["signature"], asText(reasoning["text"]))
      : isSigned("claude", redacted, "");
  if (role !== "assistant" || !good) throw invalid(`${at}: Invalid \`signature\` in \`thinking\` block`);
}

function checkBlob(value: unknown, at: string): void {
  const { format, source } = isJson(value) ? value : {};
  const { bytes, s3Location, text, content } = isJson(source) ? source : {};
  const other = s3Location ?? text ?? content;
  if (typeof format !== "string" || (other === undefined && (typeof bytes !== "string" || !isBase64(bytes))))
    throw invalid(`The format or source at ${at} is not valid.`);
}

function checkId(value: unknown, at: string): void {
  if (typeof value === "string" && ID.test(value)) return;
  throw invalid(
    `1 validation error detected: Value at '${at}' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+`,
  );
}

/** The turn behind uses of tools answers each of them, and nothing else. */
function checkResults(turns: readonly Turn[]): void {
  const ids = (turn: Turn | undefined, name: string) =>
    (turn?.content ?? [])
      .map((block) => block[name])
      .filter(isJson)
      .map(({ toolUseId }) => asText(toolUseId));
  for (const [index, turn] of turns.entries()) {
    const used = ids(turns[index - 1], "toolUse");
    const answered = ids(turn, "toolResult");
    const missing = used.filter((id) => !answered.includes(id));
    if (missing.length > 0)
      throw invalid(
        `Expected toolResult blocks at messages.${index}.content for the following Ids: ${missing.join(", ")}`,
      );
    if (answered.length > used.length || answered.some((id) => !used.includes(id)))
      throw invalid(
        `The number of toolResult blocks at messages.${index}.content exceeds the number of toolUse blocks of previous turn.`,
      );
  }
  const open = ids(turns.at(-1), "toolUse");
  if (open.length > 0) throw invalid(`Expected toolResult blocks for the following Ids: ${open.join(", ")}`);
}

export function invalid(message: string): SimError {
  return new SimError(400, message);
}
