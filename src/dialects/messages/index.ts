import { type Accepts, type Call, isJson, type Json, type Target } from "../../kit/index.ts";
import { errorMessage } from "../canonical/errors.ts";
import { jsonToolForm, requestedSchema } from "../canonical/json-tool.ts";
import { readBy } from "../canonical/parameters.ts";
import { ownModelOnly, Report } from "../canonical/report.ts";
import { type NameRules, namingTools } from "../canonical/tool-names.ts";
import type { AnswerCodec, AnswerForm, UpstreamDialect } from "../dialect.ts";
import { fitSchema } from "../schemas/fit.ts";
import { CLAUDE_SCHEMAS, CLAUDE_TOOLS } from "../schemas/rules.ts";
import { answer } from "./answer.ts";
import { cacheControl } from "./blocks.ts";
import { conversation } from "./messages.ts";
import { callsWithoutThinking, type ClaudeOutput, claudeOutput, type ModelRules, rulesOf } from "./models.ts";
import { nativeFields, ofMessages } from "./native.ts";
import { maxTokensOf, metadataOf, samplingOf, serviceTier, stopSequences, thinkingOf } from "./options.ts";
import { API, API_PRICES, paidExtrasAt, type Place, type PlacePrices } from "./place.ts";
import { MessagesStreamReader } from "./stream.ts";
import { isVertex, VERTEX_PRICES, vertexAt } from "./vertex.ts";

/** "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'" (https://platform.claude.com/docs/en/api/messages, tools). */
const NAMES: NameRules = { toolName: 128, toolNameCharacters: "word" };

/** Messages, the upstream half. */
function dialectAt(place: Place, prices: PlacePrices, accepts?: Accepts): UpstreamDialect {
  const codec = {
    type: "answer",
    request: requestAt(place),
    answer,
    decoder: (call) => new MessagesStreamReader(call),
  } satisfies AnswerCodec;
  return {
    name: "anthropic",
    codecs: { chat: ownModelOnly(namingTools(codec, NAMES), paidExtrasAt(prices), accepts) },
    probe: (apiKey) => place.probe(apiKey),
    errorMessage,
  };
}

/** Anthropic's API; Claude on Vertex AI under a base URL that ends with the publisher. */
export const anthropic: UpstreamDialect = {
  ...dialectAt(API, API_PRICES),
  at: ({ baseUrl, accepts }) =>
    isVertex(baseUrl)
      ? { ...dialectAt(vertexAt(accepts), VERTEX_PRICES, accepts), signing: { by: "google" } }
      : dialectAt(API, API_PRICES, accepts),
};

/** Canonical fields that are carried, or reported by what carries them. */
const CARRIED = readBy("anthropic");

/** Reads answers without what only a Messages client knows: such a client gets no tool call where the tool stands for a schema. */
const PLAIN: AnswerForm = {
  answer: (body, call) => answer(body, { ...call, dialect: "chat" }),
  decoder: (call) => new MessagesStreamReader({ ...call, dialect: "chat" }),
};

/** Writes calls as they are sent to a place. */
function requestAt(place: Place): AnswerCodec["request"] {
  return (call, target, apiKey) => {
    const report = new Report(call);
    report.dropFields(CARRIED);
    const rules = rulesOf(target.model);
    const output = outputOf(call, rules, report);
    const body = messagesBody(call, { place, target, rules, output, report });
    if (!ofMessages(call)) report.dropNative();
    return {
      ...place.post(body, { call, target, apiKey }),
      dropped: report.dropped,
      ...(output.tool === null ? {} : { form: jsonToolForm(PLAIN, output.tool) }),
    };
  };
}

/** Of a model that nobody knows what a Messages client asks stands as it is. */
function outputOf(call: Call, rules: ModelRules, report: Report): ClaudeOutput {
  const schema = ofMessages(call) && !rules.known ? requestedSchema(call.body["response_format"]) : null;
  return schema === null ? claudeOutput(call.body, rules, report) : { body: call.body, schema, tool: null };
}

interface Writing {
  readonly place: Place;
  readonly target: Target;
  readonly rules: ModelRules;
  readonly output: ClaudeOutput;
  readonly report: Report;
}

function messagesBody(call: Call, { place, target, rules, output, report }: Writing): Json {
  const { body } = output;
  const sameFormat = ofMessages(call);
  const maxTokens = maxTokensOf(body, rules, report, {
    betas: place.betasOf(call),
    configured: target.maxOutput,
  });
  const { system, messages } = conversation(body["messages"], report, { sameFormat, inlineMedia: place.inlineMedia });
  const tools = toolsOf(body["tools"], { sameFormat, strict: rules.structured, report });
  const choice = toolChoiceOf(body, tools.length > 0, { rules, sameFormat, report });
  const { thinking, effort } = thinkingOf({
    body,
    rules,
    maxTokens,
    sameFormat,
    report,
    forced: forced(choice),
    calledWithoutThinking: callsWithoutThinking(messages, kindOf),
  });
  const { schema } = output;
  const thinks = thinking !== undefined && thinking["type"] !== "disabled";
  const written = {
    model: target.model,
    max_tokens: maxTokens,
    ...(system === undefined ? {} : { system }),
    messages,
    ...(tools.length > 0 ? { tools } : {}),
    ...(choice ? { tool_choice: choice } : {}),
    ...(thinking ? { thinking } : {}),
    ...(effort !== undefined || schema !== null
      ? { output_config: { ...(effort ? { effort } : {}), ...(schema && { format: { type: "json_schema", schema } }) } }
      : {}),
    ...samplingOf({ body, rules, version: place.versionOf(call), thinks, sameFormat, report }),
    ...stopSequences(body["stop"], sameFormat, report),
    ...metadataOf(body, report),
    ...serviceTier(body["service_tier"], sameFormat, report),
    ...cacheControl(body),
    ...(call.stream ? { stream: true } : {}),
  };
  return withNatives(written, call);
}

/** A Messages client's own fields, wherever the translation has none. */
function withNatives(written: Json, call: Call): Json {
  const native = ofMessages(call) ? (call.native ?? {}) : {};
  const merged: Record<string, unknown> = { ...native, ...written };
  for (const name of ["metadata", "output_config", "tool_choice"]) {
    const [theirs, ours] = [native[name], written[name]];
    if (isJson(theirs) && isJson(ours)) merged[name] = { ...theirs, ...ours };
  }
  // Server tools have no canonical form; the client's functions come before them.
  if (Array.isArray(native["tools"]))
    merged["tools"] = [...((written["tools"] as readonly Json[] | undefined) ?? []), ...native["tools"]];
  return merged;
}

function kindOf({ type }: Json): "thought" | "call" | null {
  if (type === "thinking" || type === "redacted_thinking") return "thought";
  return type === "tool_use" ? "call" : null;
}

interface ToolOptions {
  readonly sameFormat: boolean;
  /** The model holds calls to the schemas of strict tools. */
  readonly strict: boolean;
  readonly report: Report;
}

/** @throws GatewayError for a list that is none. */
function toolsOf(tools: unknown, options: ToolOptions): readonly Json[] {
  const { report } = options;
  if (tools === null || tools === undefined) return [];
  if (!Array.isArray(tools)) throw report.refusal("/tools", "must be a list");
  return tools.flatMap((tool: unknown, index) => {
    const at = `/tools/${index}`;
    if (!isJson(tool)) throw report.refusal(at, "must be an object");
    const made = isJson(tool["function"]) ? functionTool(tool, at, options) : null;
    if (made === null) report.drop(at);
    return made === null ? [] : [made];
  });
}

function functionTool(tool: Json, at: string, { sameFormat, strict: holds, report }: ToolOptions): Json {
  const { name, description, parameters, strict } = isJson(tool["function"]) ? tool["function"] : {};
  if (typeof name !== "string") throw report.refusal(`${at}/function/name`, "must be a string");
  const schema = inputSchema(parameters, `${at}/function/parameters`, report);
  const input = sameFormat
    ? { input_schema: schema, ...(typeof strict === "boolean" ? { strict } : {}) }
    : claudeInput(schema, strict === true, holds, `${at}/function`, report);
  return {
    ...nativeFields(tool, sameFormat),
    name,
    ...(typeof description === "string" ? { description } : {}),
    ...input,
    ...cacheControl(tool),
  };
}

/** The API demands a schema, of an object. */
function inputSchema(parameters: unknown, at: string, report: Report): Json {
  if (parameters === null || parameters === undefined) return { type: "object", properties: {} };
  if (!isJson(parameters)) throw report.refusal(at, "must be an object");
  return parameters["type"] === undefined ? { type: "object", ...parameters } : parameters;
}

/** A strict tool's schema is one that its calls can be held to; where there is none, the tool is not strict. */
function claudeInput(schema: Json, strict: boolean, holds: boolean, at: string, report: Report): Json {
  const held = strict && holds ? fitSchema(schema, CLAUDE_SCHEMAS, report.schemaWork) : null;
  if (held?.shaped === true) {
    report.dropWithin(held, `${at}/parameters`);
    return { input_schema: held.schema, strict: true };
  }
  if (strict) report.drop(`${at}/strict`);
  const taken = fitSchema(schema, CLAUDE_TOOLS, report.schemaWork);
  report.dropWithin(taken, `${at}/parameters`);
  return { input_schema: taken.schema };
}

interface ChoiceOptions {
  readonly rules: ModelRules;
  readonly sameFormat: boolean;
  readonly report: Report;
}

/** Left out: the API's own default. */
function toolChoiceOf(body: Json, hasTools: boolean, { rules, sameFormat, report }: ChoiceOptions): Json | null {
  const asked = canonicalChoice(body["tool_choice"]);
  // Some models refuse to be made to call a tool.
  const refused = asked === null || (!sameFormat && !rules.forcedTools && forced(asked));
  if (refused) report.drop("/tool_choice");
  const choice = refused ? null : asked;
  // Without tools there is nothing to choose, and the API refuses the field.
  if (!hasTools && !forced(choice)) return null;
  const type = choice?.["type"];
  const single = body["parallel_tool_calls"] === false && type !== "none";
  if (single) return { type: "auto", ...choice, disable_parallel_tool_use: true };
  return type === undefined ? null : choice;
}

/** Empty for "not said", null for what the API does not know. */
function canonicalChoice(choice: unknown): Json | null {
  if (choice === undefined || choice === null) return {};
  if (choice === "auto" || choice === "none") return { type: choice };
  if (choice === "required") return { type: "any" };
  if (!isJson(choice)) return null;
  const { function: named } = choice;
  return isJson(named) && typeof named["name"] === "string" ? { type: "tool", name: named["name"] } : null;
}

/** Whether the model must call a tool: it then may not think first. */
function forced(choice: Json | null): boolean {
  return choice?.["type"] === "any" || choice?.["type"] === "tool";
}
