import { type Call, invalidRequest, isJson, type Json, type Target } from "../../kit/index.ts";
import { errorMessage } from "../canonical/errors.ts";
import { jsonToolForm, mustCall, requestedSchema, withJsonTool } from "../canonical/json-tool.ts";
import { acceptsBeta, FORM_BETAS, withFieldBetas } from "../canonical/betas.ts";
import { takingCustomTools } from "../canonical/custom-tools.ts";
import { takingFunctions } from "../canonical/legacy-functions.ts";
import { withOwnModels } from "../canonical/own-model.ts";
import { Report } from "../canonical/report.ts";
import { getJson, type JsonRequest, postJson } from "../canonical/requests.ts";
import { namedForm } from "../canonical/tool-names.ts";
import { withAllowedTools } from "../canonical/tools.ts";
import type { AnswerCodec, AnswerForm, Location, UpstreamDialect } from "../dialect.ts";
import { responsesRequest, usesResponses } from "../responses/index.ts";
import type { Rules } from "../vendors/types.ts";
import { mayHaveResponses, rulesOf, vendorOf } from "../vendors/rules.ts";
import { readAnswer } from "./answer.ts";
import { embedding } from "../endpoints/embedding.ts";
import { image } from "../endpoints/image.ts";
import { withAllowedThinking } from "./history.ts";
import { chatBody } from "./request.ts";
import { thinksByName } from "../thinking.ts";
import { rerank } from "../endpoints/rerank.ts";
import { speech } from "../endpoints/speech.ts";
import { ChatStreamReader, MAX_CHOICES } from "./stream.ts";
import { transcription } from "../endpoints/transcription.ts";

/** How answers are read. */
const FORM = { answer: readAnswer, decoder: () => new ChatStreamReader() } satisfies AnswerForm;

/**
 * Chat, the upstream half, as one upstream takes it: chat completions, and the Responses API for what those refuse, or as
 * configured.
 * @param named the path of chat completions names the model: their body does without.
 */
export function chatAt(location: Location, dialect: "openai" | "azure" = "openai", named = false) {
  const accepted: ReadonlySet<string> = new Set(location.accepts?.fields);
  // The models of a configuration: few.
  const known = new Map<string, Rules>();
  const rulesFor = (model: string): Rules => {
    const rules = known.get(model) ?? rulesOf(location, model, dialect);
    known.set(model, rules);
    return rules;
  };
  const codec = {
    type: "answer",

    request(own: Call, target: Target, apiKey: string): JsonRequest {
      const rules = rulesFor(target.model);
      const atResponses = usesResponses(location.api, rules, own);
      // A proxy may hand betas on to Claude: fields that nobody knows travel to a server that takes them.
      const takesBetas = !atResponses && (own.dialect ?? "chat") === "chat" && rules.unknownFields;
      const isSent = (name: string): boolean => takesBetas && (FORM_BETAS.has(name) || acceptsBeta(name, accepted));
      const { call, dropped: lost } = withFieldBetas(own, isSent);
      if (atResponses) {
        const request = responsesRequest(call, target, apiKey, rules);
        return { ...request, dropped: union(lost, request.dropped) };
      }
      // Their stream could not be read: what the client asked for must not look like the upstream's failure.
      if (call.stream && (call.answers ?? 1) > MAX_CHOICES) throw invalidRequest("/n", `is more than ${MAX_CHOICES}`);
      const report = new Report(call);
      const allowed = withAllowedThinking(call, rules, report);
      const { call: asked, tool } = withoutSchema(prepared(allowed, rules, report), rules, report);
      // A target's own parameters are set in a body that is written.
      const writes = named || target.parameters !== undefined;
      const { body, text, names } = chatBody(asked, target.model, rules, report, writes);
      const accept = call.stream ? "text/event-stream" : "application/json";
      // What is undefined is not written.
      const written = named ? { ...body, model: undefined } : body;
      const request = {
        ...postJson("/chat/completions", apiKey, written, accept, text),
        dropped: union(lost, report.dropped),
      };
      if (tool === null) return names.changed ? { ...request, form: namedForm(FORM, names) } : request;
      return { ...request, form: jsonToolForm(names.changed ? namedForm(FORM, names) : FORM, tool) };
    },

    ...FORM,
  } satisfies AnswerCodec;
  // At a server of which nothing is known they travel as they came.
  if (dialect === "openai" && vendorOf(location) === "generic") return codec;
  const takesCustom = (call: Call, target: Target): boolean => {
    const rules = rulesFor(target.model);
    return rules.toolTypes.has("custom") || usesResponses(location.api, rules, call);
  };
  return takingFunctions(takingCustomTools(codec, takesCustom));
}

function union(first: readonly string[], second: readonly string[] = []): readonly string[] {
  return first.length === 0 ? second : [...first, ...second];
}

/** At a server of which nothing is known. */
export const chat = chatAt({ baseUrl: "", headers: {} });

/** A call whose choice of tools and `json_object` are asked as the target takes them; the very same where it takes them. */
function prepared(call: Call, rules: Rules, report: Report): Call {
  const { allowedTools, jsonObject, jsonObjectBesideTools } = rules;
  const body = withNamedFormat(allowedTools ? call.body : withAllowedTools(call.body), rules, report);
  const { response_format: format, tools } = body;
  const asked = isJson(format) && format["type"] === "json_object";
  const beside = Array.isArray(tools) && tools.length > 0 && body["tool_choice"] !== "none";
  if (!asked || (jsonObject === "any" && (jsonObjectBesideTools || !beside)))
    return body === call.body ? call : { ...call, body };
  if (jsonObject === "schema") return { ...call, body: { ...body, response_format: ANY_OBJECT } };
  // An answer that must be a call has no text to be JSON.
  if (!mustCall(body)) report.drop("/response_format");
  return { ...call, body: { ...body, response_format: undefined } };
}

/** A format of which only the name is given is any object; the very same body where the target takes it so. */
function withNamedFormat(body: Json, { openaiForms, structuredOutput }: Rules, report: Report): Json {
  const { response_format: format } = body;
  const taken = openaiForms && structuredOutput !== "never";
  if (taken || !isJson(format) || format["type"] !== "json_schema" || requestedSchema(format) !== null) return body;
  if (!mustCall(body)) report.drop("/response_format/json_schema");
  return { ...body, response_format: { type: "json_object" } };
}

const ANY_OBJECT: Json = { type: "json_schema", json_schema: { name: "json", schema: { type: "object" } } };

/** A call with a tool in place of a schema that the model does not take, alone or beside tools. */
function withoutSchema(
  call: Call,
  { structuredOutput, toolChoice }: Rules,
  report: Report,
): { readonly call: Call; readonly tool: string | null } {
  const { body } = call;
  const schema = structuredOutput === "beside_tools" ? null : requestedSchema(body["response_format"]);
  const { tools, tool_choice: choice } = body;
  const hasTools = Array.isArray(tools) && tools.length > 0 && choice !== "none";
  if (schema === null || (structuredOutput === "alone" && !hasTools)) return { call, tool: null };
  const forced = toolChoice !== "auto";
  const tool = withJsonTool(body, schema, forced ? "required" : "auto");
  if (!mustCall(body) && (tool === null || !forced)) report.drop("/response_format");
  if (tool !== null) return { call: { ...call, body: tool.body }, tool: tool.name };
  return { call: { ...call, body: { ...body, response_format: undefined } }, tool: null };
}

const CODECS = { chat, embedding, rerank, speech, transcription, image };

/** At a server of which nothing is known. */
export const openai: UpstreamDialect = {
  name: "openai",
  thinks: thinksByName,
  cachesUnasked: true,
  codecs: CODECS,
  mayHaveResponses,
  probe: (apiKey) => getJson("/models", apiKey),
  errorMessage,
  at(location) {
    return { ...this, vendor: vendorOf(location), codecs: codecsAt(location, chatAt(location), this.codecs) };
  },
};

/**
 * The codecs as one upstream is sent requests by them.
 * @param ownChat in place of the one for a server of which nothing is known.
 */
export function codecsAt(
  { accepts }: Location,
  ownChat: AnswerCodec,
  codecs: UpstreamDialect["codecs"] = CODECS,
): UpstreamDialect["codecs"] {
  return { ...withOwnModels(codecs, accepts), chat: codecs.chat === chat ? ownChat : codecs.chat };
}
