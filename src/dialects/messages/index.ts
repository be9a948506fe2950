import { type Accepts, type Call, isJson, type Json, type Target } from "../../kit/index.ts";
import { takingCustomTools } from "../canonical/custom-tools.ts";
import { takingFunctions } from "../canonical/legacy-functions.ts";
import { errorMessage } from "../canonical/errors.ts";
import { jsonToolForm, requestedSchema } from "../canonical/json-tool.ts";
import { changed, Edits, stringOf } from "../canonical/json.ts";
import { hasSourceMap, readBy } from "../canonical/parameters.ts";
import { ownModelOnly, type PaidExtras } from "../canonical/own-model.ts";
import { Report, without } from "../canonical/report.ts";
import { type NameRules, namingTools } from "../canonical/tool-names.ts";
import { restrictedChoice } from "../canonical/restricted-choice.ts";
import { namedTool } from "../canonical/tools.ts";
import type { AnswerCodec, AnswerForm, UpstreamDialect } from "../dialect.ts";
import { fitSchema } from "../schemas/fit.ts";
import { CLAUDE_SCHEMAS, CLAUDE_TOOLS } from "../schemas/rules.ts";
import { answer } from "./answer.ts";
import { cacheControl, dropOrigin, type Origins, withFitMarks } from "./cache.ts";
import { conversation } from "./messages.ts";
import { type ModelRules, rulesOf } from "./models.ts";
import { nativeFields, ofMessages } from "./native.ts";
import { maxTokensOf, metadataOf, samplingOf, serviceTier, stopSequences } from "./options.ts";
import { type ClaudeOutput, claudeOutput } from "./output.ts";
import { API, API_PAID, betasOf, type Place } from "./place.ts";
import { withFitNames } from "./property-names.ts";
import { MessagesStreamReader } from "./stream.ts";
import { claudeThinks, type KindOf, mustHaveThought, thinkingOf, withFitThoughts } from "./thinking.ts";
import { isVertex, VERTEX, VERTEX_PAID } from "./vertex.ts";

/** "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'" (https://platform.claude.com/docs/en/api/messages, tools). */
const NAMES: NameRules = { toolName: 128, toolNameCharacters: "word" };

/** Messages, the upstream half. */
function dialectAt(place: Place, paid: PaidExtras, accepts?: Accepts): UpstreamDialect {
  const codec = {
    type: "answer",
    request: requestAt(place),
    answer,
    decoder: (call) => new MessagesStreamReader(call),
  } satisfies AnswerCodec;
  return {
    name: "anthropic",
    thinks: (call, model) => claudeThinks(call, rulesOf(model)),
    codecs: { chat: ownModelOnly(takingFunctions(takingCustomTools(namingTools(codec, NAMES))), paid, accepts) },
    probe: (apiKey) => place.probe(apiKey),
    errorMessage,
  };
}

/** Anthropic's API; Claude on Vertex AI under a base URL that ends with the publisher. */
export const anthropic: UpstreamDialect = {
  ...dialectAt(API, API_PAID),
  at: ({ baseUrl, accepts }) =>
    isVertex(baseUrl)
      ? { ...dialectAt(VERTEX, VERTEX_PAID, accepts), signing: { by: "google" } }
      : dialectAt(API, API_PAID, accepts),
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
    const { choice, names } = restrictedChoice(call.body["tool_choice"]);
    const output = outputOf({ ...call, body: { ...call.body, tool_choice: choice } }, rules, report);
    const body = messagesBody(call, { place, target, rules, output, names, report });
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
  /** Names of the functions that may be called; null: all of them. */
  readonly names: ReadonlySet<string> | null;
  readonly report: Report;
}

function messagesBody(call: Call, { place, target, rules, output, names, report }: Writing): Json {
  const { body, tool } = output;
  const sameFormat = ofMessages(call);
  const origins: Origins = new Map();
  const betas = betasOf(call);
  const maxTokens = maxTokensOf(body, rules, report, { betas, configured: target.maxOutput });
  // "JSON outputs are not compatible with message prefilling."
  const goesOn = rules.prefill && output.schema === null;
  const reading = { sameFormat, rules: { ...rules, prefill: goesOn }, origins, inlineMedia: place.inlineMedia };
  const { system, messages } = conversation(body["messages"], report, reading);
  const callable = names === null || tool === null ? names : names.union(new Set([tool]));
  const tools = toolsOf(body["tools"], { sameFormat, strict: rules.structured, names: callable, origins, report });
  const natives = nativesOf(call, { rules, origins, report });
  const hasTools = tools.length > 0 || natives["tools"] !== undefined;
  const choice = toolChoiceOf(body, hasTools, { rules, report });
  const { thinking, effort } = thinkingOf({
    body,
    rules,
    maxTokens,
    report,
    effortThinks: !sameFormat,
    forced: isForced(choice) || isForced(natives["tool_choice"]),
    unthought: mustHaveThought(messages, kindOf),
  });
  const { schema } = output;
  const thinks = thinking !== undefined && thinking["type"] !== "disabled";
  const drop = (block: Json): void => dropOrigin(origins.get(block), report);
  const written = {
    model: target.model,
    max_tokens: maxTokens,
    ...(system === undefined ? {} : { system }),
    messages: withFitThoughts(messages, rules, { thinks, kindOf, drop }),
    ...(tools.length > 0 ? { tools } : {}),
    ...(choice ? { tool_choice: choice } : {}),
    ...(thinking ? { thinking } : {}),
    ...(effort !== undefined || schema !== null
      ? { output_config: { ...(effort ? { effort } : {}), ...(schema && { format: { type: "json_schema", schema } }) } }
      : {}),
    ...samplingOf({ body, rules, version: place.versionOf(call), thinks, sameFormat, report }),
    ...stopSequences(body["stop"], report),
    ...metadataOf(body, sameFormat, report),
    ...serviceTier(body["service_tier"], sameFormat, report),
    ...cacheControl(body, "", origins),
    ...(call.stream ? { stream: true } : {}),
  };
  const asked = isJson(body["thinking"]) && body["thinking"]["type"] !== "disabled";
  const own = asked && !thinks ? withoutThinkingEdits(natives, report) : natives;
  const marks = { scope: betas?.includes(SCOPE_BETA) === true, ttl: true };
  return withFitMarks(withNatives(written, own), marks, { origins, report });
}

/** Asks for marks whose caches are shared (https://github.com/BerriAI/litellm, anthropic_beta_headers_config.json). */
const SCOPE_BETA = "prompt-caching-scope-";

/** A Messages client's own fields, as far as the model takes them. */
function nativesOf(
  call: Call,
  { rules, origins, report }: { readonly rules: ModelRules; readonly origins: Origins; readonly report: Report },
): Json {
  if (!ofMessages(call)) return {};
  const { native = {} } = call;
  const places = hasSourceMap(call) ? call.sourceMap.records : [];
  const isForcing = !rules.forcedTools && isForced(native["tool_choice"]);
  if (isForcing) report.dropOwn("/tool_choice");
  const edits = new Edits(isForcing ? without(native, ["tool_choice"]) : native);
  edits.set(
    "tools",
    changed(native["tools"], (tool, index) => {
      const mark = cacheControl(tool, places[index] ?? "/tools", origins, { isOwn: true });
      return mark["cache_control"] === undefined ? tool : { ...tool, ...mark };
    }),
  );
  return edits.object;
}

/** "`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive": it goes where thinking had to go. */
function withoutThinkingEdits(native: Json, report: Report): Json {
  const { context_management: management, ...rest } = native;
  if (!isJson(management) || !Array.isArray(management["edits"])) return native;
  const edits = management["edits"].filter((edit: unknown, index) => {
    const isKept = !isJson(edit) || !stringOf(edit["type"]).startsWith("clear_thinking_");
    if (!isKept) report.dropOwn(`/context_management/edits/${index}`);
    return isKept;
  });
  const { edits: _edits, ...others } = management;
  const isEmpty = edits.length + Object.keys(others).length === 0;
  return isEmpty ? rest : { ...rest, context_management: { ...others, ...(edits.length > 0 ? { edits } : {}) } };
}

/** A Messages client's own fields, wherever the translation has none. */
function withNatives(written: Json, native: Json): Json {
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

const kindOf: KindOf = ({ type }) => {
  if (type === "thinking" || type === "redacted_thinking") return "thought";
  return type === "tool_use" ? "call" : null;
};

interface ToolOptions {
  readonly sameFormat: boolean;
  /** The model holds calls to the schemas of strict tools. */
  readonly strict: boolean;
  /** Names of the functions that may be called; null: all of them. */
  readonly names: ReadonlySet<string> | null;
  readonly origins: Origins;
  readonly report: Report;
}

/** @throws GatewayError for a list that is none. */
function toolsOf(tools: unknown, options: ToolOptions): readonly Json[] {
  const { report, names } = options;
  if (tools === null || tools === undefined) return [];
  if (!Array.isArray(tools)) throw report.refusal("/tools", "must be a list");
  const taken = new Set<unknown>();
  return tools.flatMap((tool: unknown, index) => {
    const at = `/tools/${index}`;
    if (!isJson(tool)) throw report.refusal(at, "must be an object");
    const { name } = isJson(tool["function"]) ? tool["function"] : {};
    if (names !== null && !names.has(stringOf(name))) return [];
    const made = isJson(tool["function"]) ? functionTool(tool, at, options) : null;
    // "Tool names must be unique."
    const isSent = made !== null && !taken.has(name);
    taken.add(name);
    if (!isSent) report.drop(at);
    return isSent ? [made] : [];
  });
}

function functionTool(tool: Json, at: string, { sameFormat, strict: holds, origins, report }: ToolOptions): Json {
  const { name, description, parameters, strict } = isJson(tool["function"]) ? tool["function"] : {};
  if (typeof name !== "string") throw report.refusal(`${at}/function/name`, "must be a string");
  const given = inputSchema(parameters, `${at}/function/parameters`, report);
  const schema = withFitNames(given, (place) => report.drop(`${at}/function/parameters${place}`));
  const input = sameFormat
    ? { input_schema: schema, ...(typeof strict === "boolean" ? { strict } : {}) }
    : claudeInput(schema, strict === true, holds, `${at}/function`, report);
  return {
    ...nativeFields(tool, sameFormat),
    name,
    ...(typeof description === "string" ? { description } : {}),
    ...input,
    ...cacheControl(tool, at, origins),
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
  readonly report: Report;
}

/** Left out: the API's own default. */
function toolChoiceOf(body: Json, hasTools: boolean, { rules, report }: ChoiceOptions): Json | null {
  const asked = canonicalChoice(body["tool_choice"]);
  // Without tools there is nothing to choose, and some models refuse to be made to call one.
  const isRefused = asked === null || (isForced(asked) && (!hasTools || !rules.forcedTools));
  if (isRefused) report.drop("/tool_choice");
  if (!hasTools) return null;
  const choice = isRefused ? null : asked;
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
  const name = namedTool(choice);
  return name === null ? null : { type: "tool", name };
}

/** Whether the model must call a tool. */
function isForced(choice: unknown): boolean {
  return isJson(choice) && (choice["type"] === "any" || choice["type"] === "tool");
}
