import { type Call, isJson, type Json, type Target } from "../../kit/index.ts";
import { errorMessage } from "../canonical/errors.ts";
import { jsonToolForm, mustCall, requestedSchema, withJsonTool } from "../canonical/json-tool.ts";
import { pick } from "../canonical/json.ts";
import { takingCustomTools } from "../canonical/custom-tools.ts";
import { takingFunctions } from "../canonical/legacy-functions.ts";
import { dropMarks } from "../canonical/marks.ts";
import { ownModelOnly, withOwnModels } from "../canonical/own-model.ts";
import { copiedBy, readBy } from "../canonical/parameters.ts";
import { numberAt, outputLimit, Report, stopsOf } from "../canonical/report.ts";
import { getJson, postJson } from "../canonical/requests.ts";
import { describedFunction, FUNCTION_FIELDS, namedTool, TOOL_FIELDS, withAllowedTools } from "../canonical/tools.ts";
import type { AnswerForm, UpstreamDialect, UpstreamRequest } from "../dialect.ts";
import { type EmbeddingAnswer, embeddingCodec, textsOf } from "../endpoints/embedding.ts";
import { rerankCodec } from "../endpoints/rerank.ts";
import { fitSchema } from "../schemas/fit.ts";
import { COHERE_SCHEMAS } from "../schemas/rules.ts";
import { chatAnswer, CohereStreamReader } from "./answer.ts";
import { messagesOf } from "./messages.ts";

/** Cohere's own fields, which a client of its models may send. */
const OWN = copiedBy("cohere");
/** Top-level fields that are read; what of them cannot be said is reported where they are read. */
const READ = readBy("cohere");

/** How answers are read. */
const FORM: AnswerForm = { answer: chatAnswer, decoder: () => new CohereStreamReader() };

/**
 * A canonical call as version 2 of Cohere's chat takes it (https://docs.cohere.com/reference/chat).
 * @throws GatewayError for a call that cannot be written down.
 */
function chatRequest(call: Call, target: Target, apiKey: string): UpstreamRequest {
  const report = new Report(call);
  dropMarks(call.body, report);
  const { body, tool } = chatBody(call.body, target.model, report);
  report.dropUnread(READ);
  const accept = call.stream ? "text/event-stream" : "application/json";
  const request = postJson("/v2/chat", apiKey, { model: target.model, ...body, stream: call.stream }, accept);
  return { ...request, dropped: report.dropped, ...(tool !== null && { form: jsonToolForm(FORM, tool) }) };
}

function chatBody(own: Json, name: string, report: Report): { readonly body: Json; readonly tool: string | null } {
  const model = modelOf(name);
  const asked = withAllowedTools(own);
  const { messages, documents } = messagesOf(asked["messages"], model.images, report);
  const given: readonly unknown[] = Array.isArray(asked["documents"]) ? asked["documents"] : [];
  const all = [...given, ...documents];
  const { body, format, tool } = formatOf(asked, all.length > 0, report);
  const written = {
    messages,
    ...(all.length > 0 ? { documents: all } : {}),
    ...toolsOf(body, report),
    ...format,
    ...samplingOf(body, model, report),
    ...thinkingOf(body, model, report),
    ...pick(body, OWN),
  };
  return { body: written, tool };
}

const MAX_STOPS = 5;
/** `p` goes from 0.01 to 0.99; OpenAI's 1 and 0 stand for the nearest, which nobody can tell from them. */
const [MIN_P, MAX_P] = [0.01, 0.99];
const MAX_TOP_K_TOKENS = 500;

/** Sampling and limits under Cohere's names. @throws GatewayError for a value of the wrong type. */
function samplingOf(body: Json, { maxOutput }: Model, report: Report): Json {
  const number = (name: string): number | undefined => numberAt(body, name, report);
  for (const name of ["max_completion_tokens", "max_tokens"]) number(name);
  const topP = number("top_p");
  const fields = {
    max_tokens: outputLimit(body, maxOutput, report),
    temperature: number("temperature"),
    p: topP === undefined ? undefined : Math.min(Math.max(topP, MIN_P), MAX_P),
    k: within(number("top_k"), 0, MAX_TOP_K_TOKENS, "/top_k", report),
    seed: number("seed"),
    frequency_penalty: within(number("frequency_penalty"), 0, 1, "/frequency_penalty", report),
    presence_penalty: within(number("presence_penalty"), 0, 1, "/presence_penalty", report),
    stop_sequences: limitedStops(body, report),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** A value beyond what Cohere takes becomes the nearest, and is reported. */
function within(value: number | undefined, min: number, max: number, at: string, report: Report): number | undefined {
  if (value === undefined) return undefined;
  const nearest = Math.min(Math.max(value, min), max);
  if (nearest !== value) report.drop(at);
  return nearest;
}

/** Cohere takes so many. */
function limitedStops(body: Json, report: Report): readonly string[] | undefined {
  const stops = stopsOf(body, report);
  if (stops !== undefined && stops.length > MAX_STOPS) report.drop("/stop");
  return stops?.slice(0, MAX_STOPS);
}

interface Format {
  /** The canonical body to be written: with a tool in place of the format where the model is asked by one. */
  readonly body: Json;
  /** `response_format`, or nothing. */
  readonly format: Json;
  /** The name of the tool that stands in for it; null: none. */
  readonly tool: string | null;
}

/**
 * JSON, with a schema or without; "not supported when used in combinations with the `documents` or `tools` parameters"
 * (https://docs.cohere.com/reference/chat, response_format), so that a tool asks for it there, as it does for schemas that
 * Cohere does not take.
 * @param documents whether there are any.
 */
function formatOf(body: Json, documents: boolean, report: Report): Format {
  const { response_format: format, tools, tool_choice: choice } = body;
  if (!isJson(format) || format["type"] === "text") return { body, format: {}, tool: null };
  const { type } = format;
  const taken = !documents && !(Array.isArray(tools) && tools.length > 0 && choice !== "none");
  const schema = requestedSchema(format);
  const fitted = schema && fitSchema(schema, COHERE_SCHEMAS, report.schemaWork);
  if (fitted?.shaped === true && taken) {
    report.dropWithin(fitted, "/response_format/json_schema/schema");
    return { body, format: { response_format: { type: "json_object", json_schema: fitted.schema } }, tool: null };
  }
  const tool = schema === null ? null : withJsonTool(body, schema);
  if (tool !== null) return { body: tool.body, format: {}, tool: tool.name };
  const isJsonMode = type === "json_object" || type === "json_schema";
  if (!mustCall(body) && (!isJsonMode || !taken)) report.drop("/response_format");
  return { body, format: isJsonMode && taken ? { response_format: { type: "json_object" } } : {}, tool: null };
}

/** Whether the model thinks, and for how many tokens; how hard it tries cannot be said. */
function thinkingOf(body: Json, { thinks }: Model, report: Report): Json {
  const thinking = body["thinking"] ?? undefined;
  const effort = body["reasoning_effort"] ?? undefined;
  if (effort !== undefined && effort !== "none") report.drop("/reasoning_effort");
  const { type, budget_tokens: budget } = isJson(thinking) ? thinking : {};
  const off = thinking === undefined ? effort === "none" : type === "disabled";
  if (off) return thinks ? { thinking: { type: "disabled" } } : {};
  if (thinking === undefined) return {};
  if (!thinks || (type !== "enabled" && type !== "adaptive")) {
    report.drop("/thinking");
    return {};
  }
  return { thinking: { type: "enabled", ...(typeof budget === "number" ? { token_budget: budget } : {}) } };
}

/** What of a model shows in its name and changes how it is asked. */
interface Model {
  /** Knows the field `thinking` (https://docs.cohere.com/docs/reasoning); the others refuse it. */
  readonly thinks: boolean;
  /** Takes images (https://docs.cohere.com/docs/image-inputs). */
  readonly images: boolean;
  /** Output tokens (https://docs.cohere.com/docs/models); beyond them Cohere ends the answer. null: not known. */
  readonly maxOutput: number | null;
}

const MODELS: readonly (readonly [RegExp, Model])[] = [
  [/command-a-plus/, { thinks: true, images: true, maxOutput: 32_000 }],
  [/command-a-reasoning/, { thinks: true, images: false, maxOutput: 32_000 }],
  [/command-a-vision/, { thinks: false, images: true, maxOutput: 8_000 }],
  [/command-a/, { thinks: false, images: false, maxOutput: 8_000 }],
  [/c4ai-aya-vision/, { thinks: false, images: true, maxOutput: 4_000 }],
  [/command-r|c4ai-aya|command-light/, { thinks: false, images: false, maxOutput: 4_000 }],
];

function modelOf(name: string): Model {
  // Of a name that says nothing nothing is known: it may think.
  return (
    MODELS.find(([pattern]) => pattern.test(name.toLowerCase()))?.[1] ?? { thinks: true, images: true, maxOutput: null }
  );
}

interface Listed {
  readonly name: string;
  readonly description: unknown;
  readonly schema: Json;
  readonly strict: boolean;
  readonly at: string;
}

/** `tools`, `tool_choice` and `strict_tools`. @throws GatewayError for tools that cannot be written down. */
function toolsOf(body: Json, report: Report): Json {
  const listed = body["tools"] ?? [];
  if (!Array.isArray(listed)) throw report.refusal("/tools", "must be a list");
  const all = listed.flatMap((tool: unknown, index) => listedTool(tool, `/tools/${index}`, report));
  const choice = body["tool_choice"] ?? "auto";
  const named = namedTool(choice);
  // Only whether a tool must be called can be said: with one alone to choose from it is this one.
  const tools = named === null ? all : all.filter(({ name }) => name === named);
  if (tools.length > 0) return { ...writtenTools(tools, report), ...choiceOf(choice, named, report) };
  if (choice !== "auto" && choice !== "none") report.drop("/tool_choice");
  return all.length === 0 ? {} : { tools: all.map((tool) => writtenTool(tool, tool.schema)) };
}

function listedTool(listed: unknown, at: string, report: Report): readonly Listed[] {
  const found = describedFunction(listed, at, report);
  if (found === null) return [];
  const { tool, name, described } = found;
  const { description, parameters, strict } = described;
  report.dropUnknown(tool, TOOL_FIELDS, at);
  report.dropUnknown(described, FUNCTION_FIELDS, `${at}/function`);
  const schema = isJson(parameters) ? parameters : { type: "object", properties: {} };
  return [{ name, description, schema, strict: strict === true, at }];
}

/** All tools are strict or none is; the schemas of strict ones must be such that calls can be held to them. */
function writtenTools(tools: readonly Listed[], report: Report): Json {
  const fitted = tools.map(({ schema, strict }) =>
    strict ? fitSchema(schema, COHERE_SCHEMAS, report.schemaWork) : null,
  );
  if (fitted.every((one) => one?.shaped === true)) {
    for (const [index, { at }] of tools.entries()) report.dropWithin(fitted[index]!, `${at}/function/parameters`);
    return { tools: tools.map((tool, index) => writtenTool(tool, fitted[index]!.schema)), strict_tools: true };
  }
  for (const { strict, at } of tools) if (strict) report.drop(`${at}/function/strict`);
  return { tools: tools.map((tool) => writtenTool(tool, tool.schema)) };
}

function writtenTool({ name, description }: Listed, parameters: Json): Json {
  const described = typeof description === "string" ? { description } : {};
  return { type: "function", function: { name, ...described, parameters } };
}

function choiceOf(choice: unknown, named: string | null, report: Report): Json {
  if (choice === "required" || named !== null) return { tool_choice: "REQUIRED" };
  if (choice === "none") return { tool_choice: "NONE" };
  if (choice !== "auto") report.drop("/tool_choice");
  return {};
}

const CODECS: UpstreamDialect["codecs"] = {
  // It has no field that chooses another model or rate: what is unknown there stays behind.
  chat: ownModelOnly(takingFunctions(takingCustomTools({ type: "answer", request: chatRequest, ...FORM })), {
    fields: new Set(),
  }),
  embedding: embeddingCodec({
    path: "/v2/embed",
    body: (body) => ({
      texts: textsOf(body["input"]),
      // Every model since v3 demands it; a client that embeds queries says so.
      input_type: "search_document",
      ...pick(body, ["input_type", "truncate"], { dimensions: "output_dimension" }),
      embedding_types: ["float"],
    }),
    read: readEmbeddings,
    // https://docs.cohere.com/reference/embed: `texts`.
    limits: { inputs: 96 },
  }),
  rerank: rerankCodec({ path: "/v2/rerank" }),
};

/** Cohere's API, version 2; its version 1 under a base URL that ends with it. */
export const cohere: UpstreamDialect = {
  name: "cohere",
  cachesUnasked: true,
  codecs: withOwnModels(CODECS),
  at: ({ accepts }) => ({ ...cohere, codecs: withOwnModels(CODECS, accepts) }),
  probe: (apiKey) => getJson("/v1/models", apiKey),
  errorMessage,
};

/** `{embeddings: {float: […]}}`, or the bare list of version 1. */
function readEmbeddings({ embeddings, meta }: Json): EmbeddingAnswer {
  const vectors = isJson(embeddings) ? embeddings["float"] : embeddings;
  const billed = isJson(meta) && isJson(meta["billed_units"]) ? meta["billed_units"] : {};
  return {
    data: Array.isArray(vectors) ? vectors.map((embedding: unknown) => ({ embedding })) : null,
    tokens: billed["input_tokens"],
  };
}
