import { isJson, type Json } from "../../kit/index.ts";
import { ANY_JSON, type Question, thinksByName, type Tool } from "../answer.ts";
import { SimError } from "../error.ts";
import { type ToolUse, toolsToCall } from "../tools.ts";
import { checkSignatures, parseContents, parseParts, textOf } from "./contents.ts";
import { bad, list, message } from "./refusal.ts";
import { checkSchema } from "./schema.ts";
import { shown } from "../shown.ts";

/** What a body asks for. */
export interface GenerateRequest {
  readonly question: Question;
  /** Whether thoughts are told, not only counted. */
  readonly thoughts: boolean;
  /** Whether function calls are signed, and must be when they come back. */
  readonly signs: boolean;
}

const BODY =
  "model contents systemInstruction tools toolConfig safetySettings generationConfig cachedContent labels sim".split(
    " ",
  );
const CONFIG = (
  "temperature topP topK candidateCount maxOutputTokens stopSequences seed thinkingConfig " +
  "presencePenalty frequencyPenalty responseLogprobs logprobs responseMimeType responseSchema " +
  "responseJsonSchema _responseJsonSchema responseModalities speechConfig mediaResolution imageConfig " +
  "enableEnhancedCivicAnswers audioTimestamp routingConfig"
).split(" ");
const FUNCTION = [
  "name",
  "description",
  "parameters",
  "parametersJsonSchema",
  "response",
  "responseJsonSchema",
  "behavior",
];
const FUNCTION_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/;
const LEVELS = new Set(["minimal", "low", "medium", "high"].map((level) => JSON.stringify(level)));
const MAXIMUM_CANDIDATES = 8;
const MAXIMUM_STOPS = 5;

/** @throws SimError 400 in the interface's own words. */
export function parseGenerate(body: Json, model: string): GenerateRequest {
  message(body, "", BODY);
  const contents = parseContents(body["contents"]);
  const config =
    body["generationConfig"] === undefined ? {} : message(body["generationConfig"], "generation_config", CONFIG);
  const thinking = parseThinking(config["thinkingConfig"]);
  const newest = model.includes("gemini-3");
  const signs = newest || thinksByName(model);
  if (signs) checkSignatures(contents);
  checkFormat(config);
  const system = body["systemInstruction"] === undefined ? [] : [textOf(systemParts(body["systemInstruction"]))];
  const said = contents.filter(({ role }) => role === "user").map(({ parts }) => textOf(parts));
  const tools = parseTools(body["tools"]);
  return {
    question: {
      model,
      prompt: [...system, ...contents.flatMap(({ parts }) => parts.map(promptText))],
      said: said.findLast((text) => text !== "") ?? "",
      choices: count(config["candidateCount"], "candidate_count", MAXIMUM_CANDIDATES) ?? 1,
      maximum: count(config["maxOutputTokens"], "max_output_tokens") ?? Infinity,
      stop: parseStop(config["stopSequences"]),
      calls: toolsToCall({
        tools,
        choice: parseChoice(body["toolConfig"], tools),
        parallel: true,
        said: said.findLast((text) => text !== "") ?? "",
        answered: contents.at(-1)?.parts.some(({ functionResponse }) => functionResponse !== undefined) ?? false,
      }),
      thinks: thinking.asked ?? signs,
      schema: schemaOf(config),
    },
    thoughts: thinking.told,
    signs,
  };
}

function systemParts(value: unknown): readonly Json[] {
  return parseParts(message(value, "system_instruction", ["role", "parts"])["parts"], "system_instruction.parts");
}

/** The words of a part; a function's answer counts as the text that it holds. */
function promptText(part: Json): string {
  const { functionResponse: answered } = part;
  if (!isJson(answered) || !isJson(answered["response"])) return textOf([part]);
  return Object.values(answered["response"])
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join(" ");
}

function parseThinking(value: unknown): { readonly asked?: boolean; readonly told: boolean } {
  const at = "generation_config.thinking_config";
  const { thinkingBudget, thinkingLevel, includeThoughts } = message(value ?? {}, at, [
    "thinkingBudget",
    "thinkingLevel",
    "includeThoughts",
  ]);
  if (thinkingBudget !== undefined && !Number.isInteger(thinkingBudget))
    throw bad(`${at}.thinking_budget`, "must be an integer");
  if (thinkingBudget !== undefined && thinkingLevel !== undefined)
    throw new SimError(400, "You can only set only one of thinking budget and thinking level.");
  if (thinkingLevel !== undefined && !LEVELS.has(JSON.stringify(thinkingLevel).toLowerCase()))
    throw new SimError(400, `Invalid value at '${at}.thinking_level'`);
  const told = includeThoughts === true;
  if (thinkingBudget === 0) return { asked: false, told };
  return { asked: told || thinkingBudget !== undefined ? true : undefined, told };
}

function checkFormat({ responseMimeType: type, responseSchema: schema, responseJsonSchema: full }: Json): void {
  if (schema !== undefined) checkSchema(schema, "generation_config.response_schema");
  if (schema !== undefined && full !== undefined)
    throw new SimError(400, "Only one of response_schema and response_json_schema may be set.");
  if ((schema !== undefined || full !== undefined) && type !== "application/json")
    throw bad("generation_config.response_mime_type", "must be application/json with a response schema");
}

function schemaOf({ responseMimeType: type, responseSchema: schema, responseJsonSchema: full }: Json): unknown {
  if (type !== "application/json") return undefined;
  return lowerCased(schema ?? full ?? ANY_JSON);
}

function parseTools(value: unknown): readonly Tool[] {
  return list(value, "tools").flatMap((tool, outer) => {
    const at = `tools[${outer}]`;
    if (!isJson(tool)) throw new SimError(400, `Invalid value at '${at}', expected an object.`);
    if ("type" in tool || "function" in tool) message(tool, at, ["functionDeclarations"]);
    return list(tool["functionDeclarations"], `${at}.function_declarations`).map((declared, index): Tool => {
      const place = `${at}.function_declarations[${index}]`;
      const { name, parameters, parametersJsonSchema: full } = message(declared, place, FUNCTION);
      if (typeof name !== "string" || !FUNCTION_NAME.test(name)) {
        throw bad(
          `${place}.name`,
          "Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.",
        );
      }
      if (parameters !== undefined && full !== undefined)
        throw bad(place, "parameters and parameters_json_schema may not both be set");
      if (parameters !== undefined) checkSchema(parameters, `${place}.parameters`);
      return { name, parameters: lowerCased(parameters ?? full ?? {}) };
    });
  });
}

/** Types may be written in capitals. */
function lowerCased(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowerCased);
  if (!isJson(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === "type" && typeof value === "string" ? value.toLowerCase() : lowerCased(value),
    ]),
  );
}

function parseChoice(value: unknown, tools: readonly Tool[]): ToolUse["choice"] {
  if (value === undefined) return "auto";
  const { functionCallingConfig: config } = message(value, "tool_config", ["functionCallingConfig", "retrievalConfig"]);
  if (config === undefined) return "auto";
  const at = "tool_config.function_calling_config";
  const { mode = "AUTO", allowedFunctionNames: names } = message(config, at, ["mode", "allowedFunctionNames"]);
  if (!["AUTO", "ANY", "NONE", "VALIDATED"].includes(shown(mode)))
    throw new SimError(400, `Invalid value at '${at}.mode'`);
  if (names !== undefined && mode !== "ANY" && mode !== "VALIDATED")
    throw new SimError(400, "allowed_function_names should only be set when function calling mode is ANY.");
  const only = list(names, `${at}.allowed_function_names`).map(shown);
  const stray = only.find((name) => !tools.some((tool) => tool.name === name));
  if (stray !== undefined) throw new SimError(400, `allowed_function_names contains unknown function ${stray}.`);
  if (mode === "NONE") return "none";
  if (mode !== "ANY") return "auto";
  return only.length > 0 ? { only } : "required";
}

function parseStop(value: unknown): readonly string[] {
  const stops = list(value, "generation_config.stop_sequences");
  if (stops.length > MAXIMUM_STOPS) throw bad("generation_config.stop_sequences", "must have at most 5 elements");
  return stops.map((stop) => {
    if (typeof stop === "string" && stop !== "") return stop;
    throw bad("generation_config.stop_sequences", "must not be empty");
  });
}

function count(value: unknown, name: string, maximum = 2 ** 31): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= maximum) return value;
  throw bad(`generation_config.${name}`, `must be a positive integer of at most ${maximum}`);
}
