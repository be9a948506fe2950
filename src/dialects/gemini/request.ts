import { type Call, invalidRequest, isJson, type Json, type Target } from "../../kit/index.ts";
import type { AnswerForm, UpstreamRequest } from "../dialect.ts";
import { jsonToolForm, wantedSchema, withJsonTool } from "../json-tool.ts";
import { Report } from "../report.ts";
import { chatAnswer } from "./answer.ts";
import { contentsOf } from "./contents.ts";
import { extraOf } from "./extra.ts";
import { answersFormattedWithTools, familyOf } from "./family.ts";
import { generationOf } from "./generation.ts";
import { post } from "./http.ts";
import { GeminiDecoder } from "./stream.ts";
import { toolsOf } from "./tools.ts";

/** Top-level fields that are read here; what of them cannot be said is reported where they are read. */
const READ: ReadonlySet<string> = new Set([
  "messages",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "web_search_options",
  "temperature",
  "top_p",
  "top_k",
  "max_tokens",
  "max_completion_tokens",
  "stop",
  "seed",
  "n",
  "frequency_penalty",
  "presence_penalty",
  "logprobs",
  "top_logprobs",
  "response_format",
  "modalities",
  "reasoning_effort",
  "thinking",
  "service_tier",
  "extra_body",
]);

const TIERS: Readonly<Record<string, string>> = { default: "standard", flex: "flex", priority: "priority" };

/** How answers are read. */
export const FORM = {
  answer: chatAnswer,
  decoder: (call: Call) => new GeminiDecoder(call),
} satisfies AnswerForm;

/** A canonical call as `generateContent` takes it. @throws GatewayError for a message that cannot be written down. */
export function chatRequest(call: Call, target: Target, apiKey: string): UpstreamRequest {
  const report = new Report(call);
  const { body: asked, tool } = withoutFormat(call.body, target.model, report);
  const body = shallow(() => generateContent(asked, target.model, report));
  report.dropRest(READ);
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
  const schema = wantedSchema(format);
  const tool = schema && withJsonTool(body, schema);
  if (tool !== null) return { body: tool.body, tool: tool.name };
  if (choice !== "required" && !isJson(choice)) report.drop("/response_format");
  return { body: { ...body, response_format: undefined }, tool: null };
}

/** A schema nested deeper than the call stack is the client's fault, not a 500. */
function shallow<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) throw invalidRequest("/", "is nested too deeply");
    throw error;
  }
}

function generateContent(body: Json, model: string, report: Report): Json {
  const family = familyOf(model);
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
