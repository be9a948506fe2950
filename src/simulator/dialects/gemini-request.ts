import { type Json, isJson } from "../../kit/index.ts";
import { ANY_JSON, isSigned, type Question, thinksByName, type Tool, toolsToCall, type ToolUse } from "../answer.ts";
import { asText, isBase64, SimError } from "../fields.ts";

/** What a body asks for. */
export interface GenerateRequest {
  readonly question: Question;
  /** Whether the client sees thoughts; they are counted in any case. */
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
  messageWith(body, "", BODY);
  const contents = parseContents(body["contents"]);
  const config =
    body["generationConfig"] === undefined ? {} : messageWith(body["generationConfig"], "generation_config", CONFIG);
  const thinking = parseThinking(config["thinkingConfig"]);
  const newest = model.includes("gemini-3");
  const signs = newest || thinksByName(model);
  if (signs) checkSignatures(contents);
  checkFormat(config);
  const system = body["systemInstruction"] === undefined ? [] : [textOf(systemParts(body["systemInstruction"]))];
  const questions = contents.filter(({ role }) => role === "user").map(({ parts }) => textOf(parts));
  const tools = parseTools(body["tools"]);
  return {
    question: {
      model,
      prompt: [...system, ...contents.flatMap(({ parts }) => parts.map(promptText))],
      userText: questions.findLast((text) => text !== "") ?? "",
      choices: count(config["candidateCount"], "candidate_count", MAXIMUM_CANDIDATES) ?? 1,
      maximum: count(config["maxOutputTokens"], "max_output_tokens") ?? Infinity,
      stop: parseStop(config["stopSequences"]),
      calls: toolsToCall({
        tools,
        choice: parseChoice(body["toolConfig"], tools),
        parallel: true,
        userText: questions.findLast((text) => text !== "") ?? "",
        answered: contents.at(-1)?.parts.some(({ functionResponse }) => functionResponse !== undefined) ?? false,
      }),
      thinks: thinking.asked ?? signs,
      schema: schemaOf(config),
    },
    thoughts: thinking.visible,
    signs,
  };
}

function systemParts(value: unknown): readonly Json[] {
  return parseParts(messageWith(value, "system_instruction", ["role", "parts"])["parts"], "system_instruction.parts");
}

/** The words of a part; a function's answer counts as the text that it holds. */
function promptText(part: Json): string {
  const { functionResponse: answered } = part;
  if (!isJson(answered) || !isJson(answered["response"])) return textOf([part]);
  return Object.values(answered["response"])
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join(" ");
}

function parseThinking(value: unknown): { readonly asked?: boolean; readonly visible: boolean } {
  const at = "generation_config.thinking_config";
  const { thinkingBudget, thinkingLevel, includeThoughts } = messageWith(value ?? {}, at, [
    "thinkingBudget",
    "thinkingLevel",
    "includeThoughts",
  ]);
  if (thinkingBudget !== undefined && !Number.isInteger(thinkingBudget))
    throw invalid(`${at}.thinking_budget`, "must be an integer");
  if (thinkingBudget !== undefined && thinkingLevel !== undefined)
    throw new SimError(400, "You can only set only one of thinking budget and thinking level.");
  if (thinkingLevel !== undefined && !LEVELS.has(JSON.stringify(thinkingLevel).toLowerCase()))
    throw new SimError(400, `Invalid value at '${at}.thinking_level'`);
  const visible = includeThoughts === true;
  if (thinkingBudget === 0) return { asked: false, visible };
  return { asked: visible || thinkingBudget !== undefined ? true : undefined, visible };
}

function checkFormat({ responseMimeType: type, responseSchema: schema, responseJsonSchema: full }: Json): void {
  if (schema !== undefined) checkSchema(schema, "generation_config.response_schema");
  if (schema !== undefined && full !== undefined)
    throw new SimError(400, "Only one of response_schema and response_json_schema may be set.");
  if ((schema !== undefined || full !== undefined) && type !== "application/json")
    throw invalid("generation_config.response_mime_type", "must be application/json with a response schema");
}

function schemaOf({ responseMimeType: type, responseSchema: schema, responseJsonSchema: full }: Json): unknown {
  if (type !== "application/json") return undefined;
  return lowerCased(schema ?? full ?? ANY_JSON);
}

function parseTools(value: unknown): readonly Tool[] {
  return listOrNothing(value, "tools").flatMap((tool, outer) => {
    const at = `tools[${outer}]`;
    if (!isJson(tool)) throw new SimError(400, `Invalid value at '${at}', expected an object.`);
    if ("type" in tool || "function" in tool) messageWith(tool, at, ["functionDeclarations"]);
    return listOrNothing(tool["functionDeclarations"], `${at}.function_declarations`).map((declared, index): Tool => {
      const place = `${at}.function_declarations[${index}]`;
      const { name, parameters, parametersJsonSchema: full } = messageWith(declared, place, FUNCTION);
      if (typeof name !== "string" || !FUNCTION_NAME.test(name)) {
        throw invalid(
          `${place}.name`,
          "Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.",
        );
      }
      if (parameters !== undefined && full !== undefined)
        throw invalid(place, "parameters and parameters_json_schema may not both be set");
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
  const { functionCallingConfig: config } = messageWith(value, "tool_config", [
    "functionCallingConfig",
    "retrievalConfig",
  ]);
  if (config === undefined) return "auto";
  const at = "tool_config.function_calling_config";
  const { mode = "AUTO", allowedFunctionNames: names } = messageWith(config, at, ["mode", "allowedFunctionNames"]);
  if (!["AUTO", "ANY", "NONE", "VALIDATED"].includes(asText(mode)))
    throw new SimError(400, `Invalid value at '${at}.mode'`);
  if (names !== undefined && mode !== "ANY" && mode !== "VALIDATED")
    throw new SimError(400, "allowed_function_names should only be set when function calling mode is ANY.");
  const only = listOrNothing(names, `${at}.allowed_function_names`).map(asText);
  const stray = only.find((name) => !tools.some((tool) => tool.name === name));
  if (stray !== undefined) throw new SimError(400, `allowed_function_names contains unknown function ${stray}.`);
  if (mode === "NONE") return "none";
  if (mode !== "ANY") return "auto";
  return only.length > 0 ? { only } : "required";
}

function parseStop(value: unknown): readonly string[] {
  const stops = listOrNothing(value, "generation_config.stop_sequences");
  if (stops.length > MAXIMUM_STOPS) throw invalid("generation_config.stop_sequences", "must have at most 5 elements");
  return stops.map((stop) => {
    if (typeof stop === "string" && stop !== "") return stop;
    throw invalid("generation_config.stop_sequences", "must not be empty");
  });
}

function count(value: unknown, name: string, maximum = 2 ** 31): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= maximum) return value;
  throw invalid(`generation_config.${name}`, `must be a positive integer of at most ${maximum}`);
}

/** All that a schema in `parameters` or `responseSchema` may say: a part of OpenAPI's. */
const NAMES = (
  "type format title description nullable enum default example anyOf propertyOrdering properties " +
  "required minProperties maxProperties items minItems maxItems minLength maxLength pattern minimum " +
  "maximum"
).split(" ");

/** @throws SimError 400 for a schema that says more. */
export function checkSchema(value: unknown, at: string): void {
  const { properties, items, anyOf } = messageWith(value, at, NAMES);
  if (isJson(properties)) {
    for (const [name, inner] of Object.entries(properties)) checkSchema(inner, `${at}.properties[${name}]`);
  }
  if (items !== undefined) checkSchema(items, `${at}.items`);
  if (Array.isArray(anyOf)) for (const [index, inner] of anyOf.entries()) checkSchema(inner, `${at}.any_of[${index}]`);
}

export interface Content {
  readonly role: "user" | "model";
  readonly parts: readonly Json[];
}

const DATA = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
];
const PART = [...DATA, "thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"];
/** What the documentation gives to those who never had a signature. */
const EXCUSES: ReadonlySet<unknown> = new Set(
  "context_engineering_is_the_way_to_go skip_thought_signature_validator".split(" "),
);

/** @throws SimError 400 for what is no conversation. */
export function parseContents(value: unknown): readonly Content[] {
  const contents = listOrNothing(value, "contents").map((content, index): Content => {
    const at = `contents[${index}]`;
    const { role = "user", parts } = messageWith(content, at, ["role", "parts"]);
    if (role !== "user" && role !== "model") throw new SimError(400, "Please use a valid role: user, model.");
    return { role, parts: parseParts(parts, `${at}.parts`) };
  });
  if (contents.length === 0) throw invalid("contents", "contents is not specified");
  checkTurns(contents);
  return contents;
}

/** @throws SimError 400 */
export function parseParts(value: unknown, at: string): readonly Json[] {
  const parts = listOrNothing(value, at).map((part, index) => parsePart(part, `${at}[${index}]`));
  if (parts.length === 0) throw invalid(at, "must include at least one parts field");
  return parts;
}

export function textOf(parts: readonly Json[]): string {
  return parts
    .map(({ text, thought }) => (typeof text === "string" && thought !== true ? text : ""))
    .join(" ")
    .trim();
}

function parsePart(value: unknown, at: string): Json {
  const part = messageWith(value, at, PART);
  const data = DATA.filter((name) => part[name] !== undefined);
  if (data.length !== 1) throw invalid(`${at}.data`, "required oneof field 'data' must have one initialized field");
  const { text, functionCall: call, functionResponse: response, inlineData: inline } = part;
  if (text !== undefined && typeof text !== "string")
    throw new SimError(400, `Invalid value at '${at}.text' (TYPE_STRING)`);
  if (call !== undefined) {
    const { name, args } = messageWith(call, `${at}.function_call`, ["id", "name", "args"]);
    checkNamed(name, `${at}.function_call.name`);
    if (args !== undefined) checkStruct(args, `${at}.function_call.args`);
  }
  if (response !== undefined) {
    const names = ["id", "name", "response", "parts", "willContinue", "scheduling"];
    const { name, response: given } = messageWith(response, `${at}.function_response`, names);
    checkNamed(name, `${at}.function_response.name`);
    checkStruct(given, `${at}.function_response.response`);
  }
  if (inline !== undefined) {
    const { mimeType, data: bytes } = messageWith(inline, `${at}.inline_data`, ["mimeType", "data", "displayName"]);
    checkNamed(mimeType, `${at}.inline_data.mime_type`);
    if (typeof bytes !== "string" || !isBase64(bytes, /[^A-Za-z0-9+/_-]/))
      throw new SimError(400, `Invalid value at '${at}.inline_data.data' (TYPE_BYTES), Base64 decoding failed`);
  }
  return part;
}

function checkNamed(value: unknown, at: string): void {
  if (typeof value !== "string" || value === "") throw invalid(at, "Name cannot be empty.");
}

function checkStruct(value: unknown, at: string): void {
  if (!isJson(value)) throw new SimError(400, `Invalid value at '${at}' (type.googleapis.com/google.protobuf.Struct)`);
}

/** A turn that calls functions is answered by the next one, call by call. */
function checkTurns(contents: readonly Content[]): void {
  const count = (content: Content | undefined, name: string) =>
    content?.parts.filter((part) => part[name] !== undefined).length ?? 0;
  for (const [index, content] of contents.entries()) {
    const responses = count(content, "functionResponse");
    const calls = count(contents[index - 1], "functionCall");
    if (responses > 0 || calls > 0) {
      if (responses === calls) continue;
      throw new SimError(
        400,
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
      );
    }
    if (count(content, "functionCall") > 0 && (index === 0 || contents[index - 1]?.role === "model"))
      throw new SimError(
        400,
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      );
  }
}

/** Each step of the current turn that calls functions brings back the signature that its first call came with. */
export function checkSignatures(contents: readonly Content[]): void {
  const begin = contents.findLastIndex(({ role, parts }) => role === "user" && textOf(parts) !== "");
  for (const [offset, { role, parts }] of contents.slice(begin + 1).entries()) {
    if (role !== "model") continue;
    const part = parts.find(({ functionCall }) => functionCall !== undefined);
    if (!part || !isJson(part["functionCall"])) continue;
    const { thoughtSignature: signature } = part;
    const name = asText(part["functionCall"]["name"]);
    if (signature === undefined) {
      throw new SimError(
        400,
        `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${begin + 2 + offset}.`,
      );
    }
    if (!EXCUSES.has(signature) && !isSigned("gemini", signature, name))
      throw new SimError(400, "Thought signature is not valid.");
  }
}

/** 400 about one place of the request. */
export function invalid(at: string, what: string): SimError {
  return new SimError(400, `* GenerateContentRequest.${at}: ${what}`);
}

/** An object with no other names than these. @throws SimError 400 as the interface refuses what its messages do not have. */
export function messageWith(value: unknown, at: string, names: readonly string[]): Json {
  if (!isJson(value)) throw new SimError(400, `Invalid value at '${at}', expected an object.`);
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown === undefined) return value;
  throw new SimError(400, `Invalid JSON payload received. Unknown name "${unknown}" at '${at}': Cannot find field.`);
}

/** A list, or nothing. @throws SimError 400 */
export function listOrNothing(value: unknown, at: string): readonly unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw new SimError(400, `Invalid value at '${at}', expected a list.`);
}
