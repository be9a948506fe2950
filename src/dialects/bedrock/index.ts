import { type Call, isJson, type Json, type Target } from "../../kit/index.ts";
import { jsonToolForm, mustCall, requestedSchema, withJsonTool } from "../canonical/json-tool.ts";
import { guardDepth } from "../canonical/json.ts";
import { readBy } from "../canonical/parameters.ts";
import { numberAt, ownModelOnly, type PaidExtras, type Report, stopsOf } from "../canonical/report.ts";
import { getJson, postJson } from "../canonical/requests.ts";
import { type NameRules, namingTools } from "../canonical/tool-names.ts";
import { describedFunction, FUNCTION_FIELDS, namedTool, TOOL_FIELDS } from "../canonical/tools.ts";
import type { AnswerForm, UpstreamDialect, UpstreamRequest } from "../dialect.ts";
import { claudeOutput, rulesOf, SCHEMA_AT } from "../messages/models.ts";
import { fitSchema } from "../schemas/fit.ts";
import { CLAUDE_SCHEMAS, CLAUDE_TOOLS } from "../schemas/rules.ts";
import { chatAnswer, ConverseStreamReader } from "./answer.ts";
import { awsCredentials, errorMessage, exceptionName } from "./aws.ts";
import { conversationOf } from "./messages.ts";
import {
  cachePoint,
  claudeFields,
  hasStructuredOutput,
  reasoningFields,
  responsePaths,
  takesToolChoice,
  topK,
  type Translation,
  translationOf,
} from "./models.ts";

/** ToolSpecification.name: `[a-zA-Z0-9_-]+`, 1 to 64 (AWS, API_runtime_ToolSpecification). */
const NAMES: NameRules = { toolName: 64, toolNameCharacters: "word" };

/** How answers are read. */
const FORM: AnswerForm = {
  answer: chatAnswer,
  decoder: () => new ConverseStreamReader(),
  streamType: "application/vnd.amazon.eventstream",
};

const codec = namingTools({ type: "answer", request: chatRequest, ...FORM }, NAMES);

/** Tiers are rates (https://aws.amazon.com/bedrock/pricing). */
const PAID: PaidExtras = { fields: new Set(["service_tier"]) };

/** Amazon Bedrock's Converse, for chat models of every family. Keys of AWS sign their requests, others are bearer tokens. */
export const bedrock: UpstreamDialect = {
  name: "bedrock",
  signing: { by: "aws", service: "bedrock" },
  codecs: { chat: ownModelOnly(codec, PAID) },
  at: ({ accepts }) => ({ ...bedrock, codecs: { chat: ownModelOnly(codec, PAID, accepts) } }),
  // The one list that the runtime has: jobs that run by themselves.
  probe: (apiKey) => getJson("/async-invoke?maxResults=1", awsCredentials(apiKey) === null ? apiKey : ""),
  errorMessage,
  codeOf(headers) {
    const type = headers["x-amzn-errortype"];
    return typeof type === "string" ? exceptionName(type) : "";
  },
};

/** Top-level fields that are read here; what of them cannot be said is reported where they are read. */
const READ = readBy("bedrock");

/**
 * A canonical call as Converse takes it (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html).
 * @throws GatewayError for a call that cannot be written down, AttemptError for a message of which nothing would be left.
 */
function chatRequest(call: Call, target: Target, apiKey: string): UpstreamRequest {
  const translation = translationOf(call, target.model);
  const { report } = translation;
  // A schema nested deeper than the call stack is the client's fault, not a 500.
  const tooDeep = (): Error => report.refusal("/", "is nested too deeply");
  const output = guardDepth(() => outputOf(call.body, target.model, translation), tooDeep);
  const body = guardDepth(() => converseBody(output, target.model, translation), tooDeep);
  report.dropUnread(READ);
  const operation = call.stream ? "converse-stream" : "converse";
  const accept = call.stream ? "application/vnd.amazon.eventstream" : "application/json";
  // What is signed is no bearer token.
  const bearer = awsCredentials(apiKey) === null ? apiKey : "";
  const request = postJson(`/model/${encodeURIComponent(target.model)}/${operation}`, bearer, body, accept);
  return {
    ...request,
    dropped: report.dropped,
    ...(output.tool !== null && { form: jsonToolForm(FORM, output.tool) }),
  };
}

function converseBody({ body: asked, config }: Output, model: string, translation: Translation): Json {
  const conversation = conversationOf(asked["messages"], translation);
  const { messages: turns } = conversation;
  const { toolConfig, choice, forced = false } = toolsOf(asked, turns, translation);
  const { body, fields: reasoning } =
    translation.family === "anthropic"
      ? claudeFields(asked, { model, turns, forced }, translation)
      : { body: asked, fields: reasoningFields(asked, model, translation) };
  const fields = { ...topK(body, translation), ...reasoning, ...choice };
  return {
    ...conversation,
    ...inferenceOf(body, translation),
    ...(toolConfig ? { toolConfig } : {}),
    ...config,
    ...(Object.keys(fields).length > 0 ? { additionalModelRequestFields: fields } : {}),
    ...responsePaths(body, translation),
    ...requestOf(body, translation),
  };
}

const TIERS: ReadonlySet<unknown> = new Set(["default", "flex", "priority"]);
/** Keys and values of `requestMetadata`. */
const METADATA = /^[A-Za-z0-9\s:_@$#=/+,.-]{1,256}$/;
const MAX_METADATA_ENTRIES = 16;
const MAX_TEMPERATURE = 1;

/** `inferenceConfig`, or nothing. @throws GatewayError for a value of the wrong type. */
function inferenceOf(body: Json, translation: Translation): Json {
  const config = {
    maxTokens:
      numberAt(body, "max_completion_tokens", translation.report) ?? numberAt(body, "max_tokens", translation.report),
    temperature: temperatureOf(body, translation),
    topP: numberAt(body, "top_p", translation.report),
    stopSequences: stopsOf(body, translation.report),
  };
  return Object.values(config).some((value) => value !== undefined) ? { inferenceConfig: config } : {};
}

/** OpenAI's goes up to 2. */
function temperatureOf(body: Json, translation: Translation): number | undefined {
  const temperature = numberAt(body, "temperature", translation.report);
  if (temperature === undefined || temperature <= MAX_TEMPERATURE) return temperature;
  translation.report.drop("/temperature");
  return MAX_TEMPERATURE;
}

/** Fields about the request as a whole. */
function requestOf({ service_tier: tier, metadata }: Json, { report }: Translation): Json {
  const known = TIERS.has(tier);
  if (!known && tier !== undefined && tier !== null && tier !== "auto") report.drop("/service_tier");
  const entries = isJson(metadata) ? Object.entries(metadata) : [];
  const fits =
    entries.length <= MAX_METADATA_ENTRIES &&
    entries.flat().every((text) => typeof text === "string" && METADATA.test(text));
  if (!fits) report.drop("/metadata");
  return {
    ...(known ? { serviceTier: { type: tier } } : {}),
    ...(fits && entries.length > 0 ? { requestMetadata: metadata } : {}),
  };
}

/** How structured output is asked of a model. */
interface Output {
  /** The canonical body to be written: with a tool in place of the format where the model is asked by one. */
  readonly body: Json;
  /** `outputConfig`, or nothing. */
  readonly config: Json;
  /** The name of the tool that stands in for it; null: none. */
  readonly tool: string | null;
}

/** Claude's way for Claude; other models have structured output of their own, or are made to call a tool. */
function outputOf(body: Json, model: string, { family, report }: Translation): Output {
  const structured = hasStructuredOutput(model);
  if (family === "anthropic") {
    const { forcedTools } = rulesOf(model.toLowerCase());
    const output = claudeOutput(body, { structured: structured || !forcedTools, forcedTools }, report);
    // That only one tool is called could be said to Claude alone, beside Converse's own choice of a tool.
    const asked = { ...output.body, parallel_tool_calls: body["parallel_tool_calls"] };
    return { body: asked, config: configOf(body, output.schema, report), tool: output.tool };
  }
  const { response_format: format } = body;
  const schema = requestedSchema(format);
  if (schema === null) {
    if (isJson(format) && format["type"] !== "text") report.drop("/response_format");
    return { body, config: {}, tool: null };
  }
  if (structured) {
    const fitted = fitSchema(schema, CLAUDE_SCHEMAS, report.schemaWork);
    report.dropWithin(fitted, SCHEMA_AT);
    return { body, config: configOf(body, fitted.schema, report), tool: null };
  }
  const forced = takesToolChoice(family);
  const tool = withJsonTool(body, schema, forced ? "required" : "auto");
  if ((tool === null || !forced) && !mustCall(body)) report.drop("/response_format");
  return { body: tool?.body ?? body, config: {}, tool: tool?.name ?? null };
}

function configOf({ response_format: format }: Json, schema: Json | null, report: Report): Json {
  if (schema === null) return {};
  const { name, description } = isJson(format) && isJson(format["json_schema"]) ? format["json_schema"] : {};
  const jsonSchema = {
    schema: guardDepth(
      () => JSON.stringify(schema),
      () => report.refusal("/response_format", "is nested too deeply"),
    ),
    ...(typeof name === "string" ? { name } : {}),
    ...(typeof description === "string" ? { description } : {}),
  };
  return { outputConfig: { textFormat: { type: "json_schema", structure: { jsonSchema } } } };
}

/** What of a request's tools goes where. */
interface Tools {
  readonly toolConfig?: Json;
  /** For `additionalModelRequestFields`: a choice that Converse itself cannot say. */
  readonly choice?: Json;
  /** A tool must be called. */
  readonly forced?: boolean;
}

/**
 * @param turns the conversation in Converse's form: one that has tool calls in it needs tools, also where the client lists
 * none any more.
 * @throws GatewayError for tools that cannot be written down.
 */
function toolsOf(body: Json, turns: unknown, translation: Translation): Tools {
  const { report } = translation;
  const listed = body["tools"] ?? [];
  if (!Array.isArray(listed)) throw report.refusal("/tools", "must be a list");
  const choice = body["tool_choice"] ?? "auto";
  const used = usedTools(turns);
  if (choice === "none" && used.length === 0) return {};
  const given = listed.flatMap((tool: unknown, index) => toolSpec(tool, `/tools/${index}`, translation));
  const tools = given.length > 0 ? given : used.map((name) => spec({ name }, ANY_INPUT));
  if (tools.length === 0) {
    if (choice !== "auto") report.drop("/tool_choice");
    return {};
  }
  const forced = choice === "required" || namedTool(choice) !== null;
  return {
    toolConfig: { tools, ...choiceOf(choice, body, translation) },
    ...single(choice, body, translation),
    forced,
  };
}

function toolSpec(listed: unknown, at: string, translation: Translation): readonly Json[] {
  const { report } = translation;
  const found = describedFunction(listed, at, report);
  if (found === null) return [];
  const { tool, described } = found;
  report.dropUnknown(tool, TOOL_FIELDS, at);
  report.dropUnknown(described, FUNCTION_FIELDS, `${at}/function`);
  return [spec(described, inputSchema(described, `${at}/function`, translation)), ...cachePoint(tool, at, translation)];
}

function spec({ name, description }: Json, input: Json): Json {
  const described = typeof description === "string" && description.trim() !== "" ? { description } : {};
  return { toolSpec: { name, ...described, ...input } };
}

const ANY_INPUT: Json = { inputSchema: { json: { type: "object" } } };

/** Converse takes schemas of objects only, and `$schema` of none of its models. */
function inputSchema({ parameters, strict }: Json, at: string, { family, strictTools, report }: Translation): Json {
  const { $schema: _dialect, ...rest } = isJson(parameters) ? parameters : {};
  const schema = { type: "object", ...rest };
  // A function without parameters takes none.
  const own = isJson(parameters) ? schema : { ...schema, properties: {} };
  const held = strict === true && strictTools ? fitSchema(own, CLAUDE_SCHEMAS, report.schemaWork) : null;
  if (held?.shaped === true) {
    report.dropWithin(held, `${at}/parameters`);
    return { inputSchema: { json: held.schema }, strict: true };
  }
  if (strict === true) report.drop(`${at}/strict`);
  if (family !== "anthropic") return { inputSchema: { json: schema } };
  const taken = fitSchema(schema, CLAUDE_TOOLS, report.schemaWork);
  report.dropWithin(taken, `${at}/parameters`);
  return { inputSchema: { json: taken.schema } };
}

function choiceOf(choice: unknown, body: Json, { family, report }: Translation): Json {
  // Said among the model's own fields, it must not be said here: Converse refuses both.
  if (isSingle(body) && family === "anthropic") return {};
  if (choice === "auto") return {};
  if (choice === "required") return { toolChoice: { any: {} } };
  const name = namedTool(choice);
  if (name === null) report.drop("/tool_choice");
  return name === null ? {} : { toolChoice: { tool: { name } } };
}

/** At most one call at a time; a field of Claude's own. */
function single(choice: unknown, body: Json, { family, report }: Translation): { readonly choice?: Json } {
  if (!isSingle(body)) return {};
  if (family !== "anthropic") {
    report.drop("/parallel_tool_calls");
    return {};
  }
  const name = namedTool(choice);
  if (name === null && choice !== "auto" && choice !== "required") report.drop("/tool_choice");
  const own = name !== null ? { type: "tool", name } : { type: choice === "required" ? "any" : "auto" };
  return { choice: { tool_choice: { ...own, disable_parallel_tool_use: true } } };
}

function isSingle(body: Json): boolean {
  return body["parallel_tool_calls"] === false;
}

/** The names of the tools that were called, each once. */
function usedTools(turns: unknown): readonly string[] {
  const blocks = Array.isArray(turns) ? turns.flatMap((turn: unknown) => (isJson(turn) ? turn["content"] : [])) : [];
  const names = blocks.map((block: unknown) => {
    if (!isJson(block)) return undefined;
    // A result alone, its call gone: any tool will do.
    if (isJson(block["toolResult"])) return "tool";
    return isJson(block["toolUse"]) ? block["toolUse"]["name"] : undefined;
  });
  const called = new Set(names.filter((name) => typeof name === "string"));
  if (called.size > 1) called.delete("tool");
  return [...called];
}
