import { type Call, invalidRequest, isJson, type Json, type Target } from "../../kit/index.ts";
import { errorMessage } from "../canonical/errors.ts";
import { jsonToolForm, mustCall, requestedSchema, withJsonTool } from "../canonical/json-tool.ts";
import { guardDepth, list } from "../canonical/json.ts";
import { takingCustomTools } from "../canonical/custom-tools.ts";
import { takingFunctions } from "../canonical/legacy-functions.ts";
import { readBy } from "../canonical/parameters.ts";
import { dropMarks, MARKS } from "../canonical/marks.ts";
import { ownModelOnly, type PaidExtras } from "../canonical/own-model.ts";
import { Report } from "../canonical/report.ts";
import { type NameRules, namingTools } from "../canonical/tool-names.ts";
import { mostUseful } from "../canonical/tools.ts";
import type { AnswerCodec, UpstreamDialect, UpstreamRequest } from "../dialect.ts";
import { fitSchema } from "../schemas/fit.ts";
import { GEMINI_SCHEMAS } from "../schemas/rules.ts";
import { thinksByName } from "../thinking.ts";
import { FORM } from "./answer.ts";
import { contentsOf } from "./contents.ts";
import { embedding, vertexEmbedding } from "./embedding.ts";
import { answersFormattedWithTools, type Family, familyOf, generationOf, get, type Place, post } from "./models.ts";

/** Top-level fields that are read here; what of them cannot be said is reported where they are read. */
const READ = readBy("gemini");

const TIERS: Readonly<Record<string, string>> = { default: "standard", flex: "flex", priority: "priority" };

/** A canonical call as `generateContent` takes it. @throws GatewayError for a message that cannot be written down. */
function chatRequest(call: Call, target: Target, apiKey: string, place: Place): UpstreamRequest {
  const report = new Report(call);
  dropMarks(call.body, report);
  const { body: asked, tool } = withoutFormat(call.body, target.model, report);
  // A schema nested deeper than the call stack is the client's fault, not a 500.
  const body = guardDepth(
    () => generateContent(asked, familyOf(target.model, place), report),
    () => invalidRequest("/", "is nested too deeply"),
  );
  report.dropUnread(READ);
  const request = call.stream
    ? post(target.model, "streamGenerateContent?alt=sse", apiKey, body, "text/event-stream")
    : post(target.model, "generateContent", apiKey, body);
  return { ...request, dropped: report.dropped, ...(tool !== null && { form: jsonToolForm(FORM, tool) }) };
}

/** The body with a tool in place of its format, for a model that takes the one or the other. */
function withoutFormat(
  body: Json,
  model: string,
  report: Report,
): { readonly body: Json; readonly tool: string | null } {
  const { tools, tool_choice: choice, response_format: format } = body;
  const none = { body, tool: null };
  const both = isJson(format) && format["type"] !== "text" && Array.isArray(tools) && tools.length > 0;
  if (!both || answersFormattedWithTools(familyOf(model))) return none;
  // Functions that may not be called only stand in the way.
  if (choice === "none") return { body: { ...body, tools: undefined, tool_choice: undefined }, tool: null };
  const schema = requestedSchema(format);
  const tool = schema && withJsonTool(body, schema);
  if (tool !== null) return { body: tool.body, tool: tool.name };
  if (!mustCall(body)) report.drop("/response_format");
  return { body: { ...body, response_format: undefined }, tool: null };
}

function generateContent(body: Json, family: Family, report: Report): Json {
  const extra = extraOf(body, report);
  const own = generationOf(withoutReplaced(body, extra.generationConfig, report), family, report);
  const generationConfig = { ...own, ...extra.generationConfig };
  return {
    ...contentsOf(body["messages"], family, report),
    ...toolsOf(body, report),
    ...(Object.keys(generationConfig).length > 0 && { generationConfig }),
    ...tierOf(body["service_tier"], report),
    ...extra.request,
  };
}

/** A client that writes Gemini's own thinking settings has said all of it: the API refuses two kinds of amount. */
function withoutReplaced(body: Json, extra: Json, report: Report): Json {
  if (extra["thinkingConfig"] === undefined) return body;
  for (const field of ["reasoning_effort", "thinking"]) {
    if (body[field] !== undefined && body[field] !== null) report.drop(`/${field}`);
  }
  return { ...body, reasoning_effort: undefined, thinking: undefined };
}

function tierOf(tier: unknown, report: Report): Json {
  if (tier === undefined || tier === null || tier === "auto") return {};
  const serviceTier = typeof tier === "string" && Object.hasOwn(TIERS, tier) ? TIERS[tier] : undefined;
  if (serviceTier === undefined) report.drop("/service_tier");
  return serviceTier === undefined ? {} : { serviceTier };
}

/** Fields of `extra_body.google`, as Google's own OpenAI endpoint names them, and where they belong. */
const OF_CONFIG: Readonly<Record<string, string>> = {
  thinking_config: "thinkingConfig",
  media_resolution: "mediaResolution",
  image_config: "imageConfig",
};
const OF_REQUEST: Readonly<Record<string, string>> = {
  safety_settings: "safetySettings",
  cached_content: "cachedContent",
};

interface Extra {
  readonly generationConfig: Json;
  readonly request: Json;
}

/** What a client that knows Gemini says in its terms; inner names may be written either way, the API takes both. */
function extraOf({ extra_body: extra }: Json, report: Report): Extra {
  if (!isJson(extra)) {
    if (extra !== undefined && extra !== null) report.drop("/extra_body");
    return { generationConfig: {}, request: {} };
  }
  report.dropUnknown(extra, new Set(["google"]), "/extra_body");
  const google = isJson(extra["google"]) ? extra["google"] : {};
  const known = new Set([...Object.keys(OF_CONFIG), ...Object.keys(OF_REQUEST)]);
  report.dropUnknown(google, known, "/extra_body/google");
  return { generationConfig: renamed(google, OF_CONFIG), request: renamed(google, OF_REQUEST) };
}

function renamed(google: Json, names: Readonly<Record<string, string>>): Json {
  const fields = Object.entries(names).map(([from, to]) => [to, google[from]] as const);
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined && value !== null));
}

interface ToolFields {
  readonly tools?: readonly Json[];
  readonly toolConfig?: Json;
}

const DECLARED_FIELDS: ReadonlySet<string> = new Set(["type", "function", ...MARKS]);

function toolsOf(body: Json, report: Report): ToolFields {
  const declared = declarations(body, report);
  const search = searchTool(body["web_search_options"], report);
  const tools = [...(declared.functions.length > 0 ? [{ functionDeclarations: declared.functions }] : []), ...search];
  const config =
    declared.functions.length > 0
      ? callingMode(body["tool_choice"], declared.strict, report)
      : unusedChoice(body, report);
  // Gemini cannot be kept from calling several functions at once.
  if (body["parallel_tool_calls"] === false && declared.functions.length > 0) report.drop("/parallel_tool_calls");
  return {
    ...(tools.length > 0 && { tools }),
    ...(config && { toolConfig: { functionCallingConfig: config } }),
  };
}

/** "At most 512 function declarations can be specified" (https://github.com/google-gemini/gemini-cli/issues/19083). */
const MAX_FUNCTIONS = 512;

function declarations(body: Json, report: Report): { readonly functions: readonly Json[]; readonly strict: boolean } {
  const functions: Json[] = [];
  let strict = false;
  const listed = list(body["tools"]);
  const fitting = mostUseful(
    body,
    listed.map(() => true),
    MAX_FUNCTIONS,
  );
  for (const [index, tool] of listed.entries()) {
    const at = `/tools/${index}`;
    const declared =
      isJson(tool) && (tool["type"] === "function" || tool["type"] === undefined) ? tool["function"] : null;
    if (!isJson(tool) || !isJson(declared) || !fitting.has(index)) {
      report.drop(at);
      continue;
    }
    const { name, description, parameters } = declared;
    if (typeof name !== "string" || name === "") throw report.refusal(`${at}/function/name`, "must be a name");
    strict ||= declared["strict"] === true;
    functions.push({
      name,
      ...(typeof description === "string" && description !== "" && { description }),
      ...(isJson(parameters) &&
        Object.keys(parameters).length > 0 && {
          parametersJsonSchema: fitSchema(parameters, GEMINI_SCHEMAS, report.schemaWork).schema,
        }),
    });
    report.dropUnknown(tool, DECLARED_FIELDS, at);
  }
  return { functions, strict };
}

/** Gemini's own search; how much it reads and where it takes the user to be cannot be said. */
function searchTool(options: unknown, report: Report): readonly Json[] {
  if (!isJson(options)) return [];
  report.dropUnknown(options, new Set(), "/web_search_options");
  return [{ googleSearch: {} }];
}

/** `VALIDATED` holds calls to their schemas, as `ANY` does, and may be restricted, as `AUTO` may not. */
function callingMode(choice: unknown, strict: boolean, report: Report): Json | null {
  const auto = strict ? { mode: "VALIDATED" } : null;
  if (choice === undefined || choice === null || choice === "auto") return auto;
  if (choice === "none") return { mode: "NONE" };
  if (choice === "required") return { mode: "ANY" };
  const { type, function: named, allowed_tools: allowed } = isJson(choice) ? choice : {};
  if (type === "function" && isJson(named) && typeof named["name"] === "string") {
    return { mode: "ANY", allowedFunctionNames: [named["name"]] };
  }
  const names = type === "allowed_tools" && isJson(allowed) ? namesOf(allowed["tools"]) : [];
  if (isJson(allowed) && names.length > 0) {
    return { mode: allowed["mode"] === "required" ? "ANY" : "VALIDATED", allowedFunctionNames: names };
  }
  report.drop("/tool_choice");
  return auto;
}

function namesOf(tools: unknown): readonly string[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown) => {
    const name = isJson(tool) && isJson(tool["function"]) ? tool["function"]["name"] : null;
    return typeof name === "string" ? [name] : [];
  });
}

/** Without functions there is nothing to choose from; only a choice that demands one is missed. */
function unusedChoice({ tool_choice: choice }: Json, report: Report): null {
  const demands = choice === "required" || isJson(choice);
  if (demands) report.drop("/tool_choice");
  return null;
}

/** FunctionDeclaration.name: a letter or `_`, then letters, digits, `_`, `:`, `.`, `-`, 64 at most (https://ai.google.dev/api/caching). */
const NAMES: NameRules = { toolName: 64, toolNameCharacters: "any", toolNameStart: /^[a-z_]/i };

function codecAt(place: Place) {
  const codec = {
    type: "answer",
    request: (call, target, apiKey) => chatRequest(call, target, apiKey, place),
    ...FORM,
  } satisfies AnswerCodec;
  return takingFunctions(takingCustomTools(namingTools(codec, NAMES)));
}

/** `generateContent` and `streamGenerateContent`. */
export const chat: AnswerCodec & { readonly decoder: NonNullable<AnswerCodec["decoder"]> } = codecAt("gemini");

/** Tiers are rates, and searches are billed one by one (https://ai.google.dev/gemini-api/docs/pricing). */
const PAID: PaidExtras = { fields: new Set(["service_tier", "web_search_options"]) };

/** The end of an address of Vertex AI, whose models are those of a publisher. */
const PUBLISHER = /\/publishers\/[^/]+$/;

/** Google's Gemini API, version v1beta; Vertex AI under a base URL that ends with a publisher. */
export const gemini: UpstreamDialect = {
  name: "gemini",
  thinks: thinksByName,
  cachesUnasked: true,
  signing: { by: "google" },
  codecs: { chat: ownModelOnly(chat, PAID), embedding },
  at: ({ baseUrl, accepts }) => ({
    ...gemini,
    codecs: {
      chat: ownModelOnly(PUBLISHER.test(baseUrl) ? codecAt("vertex") : chat, PAID, accepts),
      embedding: PUBLISHER.test(baseUrl) ? vertexEmbedding : embedding,
    },
  }),
  probe: (apiKey) => get("/models", apiKey),
  errorMessage,
};
