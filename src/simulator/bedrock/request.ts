import { isJson, type Json } from "../../kit/index.ts";
import type { Question, Tool } from "../answer.ts";
import { thinksByName } from "../answer.ts";
import { type ToolUse, toolsToCall } from "../tools.ts";
import { invalid, parseTurns, textsOf, usesTools } from "./messages.ts";
import { shown } from "../shown.ts";

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
  const said = turns
    .filter(({ role }) => role === "user")
    .map(({ content }) => content.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join(" "))
    .findLast((text) => text !== "");
  const tools = config === undefined ? [] : parseTools(config["tools"]);
  const thinking = isJson(extra["thinking"]) ? extra["thinking"]["type"] : undefined;
  return {
    model,
    prompt: [...systemTexts(body["system"]), ...turns.flatMap(({ content }) => content.flatMap(textsOf))],
    said: said ?? "",
    choices: 1,
    maximum: maximumOf(inference["maxTokens"]),
    stop: stopsOf(inference["stopSequences"]),
    calls: toolsToCall({
      tools,
      choice: parseChoice(config?.["toolChoice"], tools),
      parallel: true,
      said: said ?? "",
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
    return JSON.parse(shown(structure["schema"])) as unknown;
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
  if (tools.some((tool) => tool.name === name)) return { only: [shown(name)] };
  throw invalid("The tool name at toolConfig.toolChoice.tool is not defined in toolConfig.tools.");
}
