import { type Call, isJson, type Json, type Target } from "../../kit/index.ts";
import { takingCustomTools } from "../canonical/custom-tools.ts";
import { takingFunctions } from "../canonical/legacy-functions.ts";
import { betaPointer } from "../canonical/betas.ts";
import { jsonToolForm, mustCall, requestedSchema, withJsonTool } from "../canonical/json-tool.ts";
import { guardDepth } from "../canonical/json.ts";
import { readBy } from "../canonical/parameters.ts";
import { ownModelOnly, type PaidExtras } from "../canonical/own-model.ts";
import { numberAt, outputLimit, type Report, stopsOf } from "../canonical/report.ts";
import { getJson, postJson } from "../canonical/requests.ts";
import { type NameRules, namingTools } from "../canonical/tool-names.ts";
import { restrictedChoice } from "../canonical/restricted-choice.ts";
import type { AnswerForm, UpstreamDialect, UpstreamRequest } from "../dialect.ts";
import { ofMessages } from "../messages/native.ts";
import { rulesOf } from "../messages/models.ts";
import { claudeOutput, SCHEMA_AT } from "../messages/output.ts";
import { claudeThinks } from "../messages/thinking.ts";
import { fitSchema } from "../schemas/fit.ts";
import { CLAUDE_SCHEMAS } from "../schemas/rules.ts";
import { thinksByName } from "../thinking.ts";
import { chatAnswer, ConverseStreamReader } from "./answer.ts";
import { awsCredentials, errorMessage, exceptionName } from "./aws.ts";
import { withFitPoints } from "./cache-points.ts";
import { conversationOf } from "./messages.ts";
import {
  claudeFields,
  goesOn,
  hasStructuredOutput,
  maxOutputOf,
  reasoningFields,
  responsePaths,
  takesSystem,
  takesToolChoice,
  topK,
  type Translation,
  translationOf,
} from "./models.ts";
import { toolsOf } from "./tools.ts";

/** ToolSpecification.name: `[a-zA-Z0-9_-]+`, 1 to 64 (AWS, API_runtime_ToolSpecification). */
const NAMES: NameRules = { toolName: 64, toolNameCharacters: "word" };

/** How answers are read. */
const FORM: AnswerForm = {
  answer: chatAnswer,
  decoder: () => new ConverseStreamReader(),
  streamType: "application/vnd.amazon.eventstream",
};

const codec = takingCustomTools(namingTools({ type: "answer", request: chatRequest, ...FORM }, NAMES));

/** Tiers are rates (https://aws.amazon.com/bedrock/pricing). */
const PAID: PaidExtras = { fields: new Set(["service_tier"]), beta: () => undefined };

/**
 * Betas are a list among the model's own fields (https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html).
 * Converse has the form of none of them, so only those go there that `accepts` names.
 */
function betasFor({ headers }: Call, { claude, report }: Translation): Json {
  const names = (headers?.["anthropic-beta"] ?? "").split(",").filter((name) => name !== "");
  if (claude === null) for (const name of names) report.dropOwn(betaPointer(name));
  return claude === null || names.length === 0 ? {} : { anthropic_beta: names };
}

/** Amazon Bedrock's Converse, for chat models of every family. Keys of AWS sign their requests, others are bearer tokens. */
export const bedrock: UpstreamDialect = {
  name: "bedrock",
  thinks(call, model) {
    const name = model.toLowerCase();
    return name.includes("claude") ? claudeThinks(call, rulesOf(name)) : thinksByName(call, name);
  },
  signing: { by: "aws", service: "bedrock" },
  codecs: { chat: ownModelOnly(takingFunctions(codec), PAID) },
  at: ({ accepts }) => ({ ...bedrock, codecs: { chat: ownModelOnly(takingFunctions(codec), PAID, accepts) } }),
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
  const { choice, names } = restrictedChoice(call.body["tool_choice"]);
  const asked = { ...call.body, tool_choice: choice };
  const output = guardDepth(() => outputOf(asked, target.model, translation), tooDeep);
  const betas = betasFor(call, translation);
  const writing = { target, translation, effortThinks: !ofMessages(call), names, betas };
  const body = guardDepth(() => converseBody(output, writing), tooDeep);
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

interface Writing {
  readonly target: Target;
  readonly translation: Translation;
  /** A client of another format than Claude's means by an effort that the model thinks. */
  readonly effortThinks: boolean;
  /** Names of the functions that may be called; null: all of them. */
  readonly names: ReadonlySet<string> | null;
  /** `anthropic_beta`, or nothing. */
  readonly betas: Json;
}

function converseBody(output: Output, { target, translation, effortThinks, names, betas }: Writing): Json {
  const { body: asked, config, tool } = output;
  const { model, maxOutput } = target;
  // "JSON outputs are not compatible with message prefilling."
  const takes = { system: takesSystem(model), prefill: goesOn(translation) && Object.keys(config).length === 0 };
  const { system, messages } = conversationOf(asked["messages"], takes, translation);
  const callable = names === null || tool === null ? names : names.union(new Set([tool]));
  const { toolConfig, choice, forced = false } = toolsOf(asked, { turns: messages, names: callable }, translation);
  const { claude: rules } = translation;
  const { body, fields, turns } =
    rules === null
      ? { body: asked, fields: reasoningFields(asked, model, translation), turns: messages }
      : claudeFields(asked, { rules, turns: messages, forced, configured: maxOutput, effortThinks }, translation);
  const more = { ...topK(body, translation), ...fields, ...choice, ...betas };
  const request = {
    ...(system === undefined ? {} : { system }),
    messages: turns,
    ...inferenceOf(body, target, translation),
    ...(toolConfig ? { toolConfig } : {}),
    ...config,
    ...(Object.keys(more).length > 0 ? { additionalModelRequestFields: more } : {}),
    ...responsePaths(body, translation),
    ...requestOf(body, translation),
  };
  return withFitPoints(request, model, translation);
}

const TIERS: ReadonlySet<unknown> = new Set(["default", "flex", "priority"]);
/** Keys and values of `requestMetadata`. */
const METADATA = /^[A-Za-z0-9\s:_@$#=/+,.-]{1,256}$/;
const MAX_METADATA_ENTRIES = 16;
const MAX_TEMPERATURE = 1;

/** `inferenceConfig`, or nothing. @throws GatewayError for a value of the wrong type. */
function inferenceOf(body: Json, { model, maxOutput }: Target, translation: Translation): Json {
  for (const name of ["max_completion_tokens", "max_tokens"]) numberAt(body, name, translation.report);
  const most = Math.min(maxOutputOf(model) ?? Infinity, maxOutput ?? Infinity);
  const config = {
    maxTokens: outputLimit(body, most === Infinity ? null : most, translation.report),
    temperature: temperatureOf(body, translation),
    topP: numberAt(body, "top_p", translation.report),
    stopSequences: visibleStops(body, translation),
  };
  return Object.values(config).some((value) => value !== undefined) ? { inferenceConfig: config } : {};
}

/** Claude refuses others: "each stop sequence must contain non-whitespace". */
function visibleStops(body: Json, { family, report }: Translation): readonly string[] | undefined {
  const stops = stopsOf(body, report);
  if (family !== "anthropic" || stops === undefined) return stops;
  const kept = stops.filter((stop) => stop.trim() !== "");
  if (kept.length < stops.length) report.drop("/stop");
  return kept.length > 0 ? kept : undefined;
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
function outputOf(body: Json, model: string, { family, claude, report }: Translation): Output {
  const structured = hasStructuredOutput(model);
  if (claude !== null) {
    const { forcedTools } = claude;
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
