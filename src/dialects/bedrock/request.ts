import type { Call, Json, Target } from "../../kit/index.ts";
import type { AnswerForm, UpstreamRequest } from "../dialect.ts";
import { jsonToolForm } from "../json-tool.ts";
import type { Report } from "../report.ts";
import { postJson } from "../requests.ts";
import { chatAnswer } from "./answer.ts";
import { settled } from "./claude.ts";
import { awsCredentials } from "./credentials.ts";
import { conversationOf } from "./messages.ts";
import { reasoningFields, responsePaths, topK } from "./model-fields.ts";
import { inferenceOf, requestOf } from "./options.ts";
import { type Output, outputOf } from "./output.ts";
import { ConverseDecoder } from "./stream.ts";
import { toolsOf } from "./tools.ts";
import { type Translation, translationOf } from "./translation.ts";

/** Top-level fields that are read here; what of them cannot be said is reported where they are read. */
const READ: ReadonlySet<string> = new Set([
  "messages",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop",
  "response_format",
  "reasoning_effort",
  "thinking",
  "service_tier",
  "metadata",
]);

/** How answers are read. */
export const FORM: AnswerForm = {
  answer: chatAnswer,
  decoder: () => new ConverseDecoder(),
  streamType: "application/vnd.amazon.eventstream",
};

/**
 * A canonical call as Converse takes it (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html).
 * @throws GatewayError for a call that cannot be written down, AttemptError for a message of which nothing would be left.
 */
export function chatRequest(call: Call, target: Target, apiKey: string): UpstreamRequest {
  const translation = translationOf(call, target.model);
  const { report } = translation;
  const output = shallow(report, () => outputOf(call.body, target.model, translation));
  const body = shallow(report, () => converseBody(output, target.model, translation));
  report.dropRest(READ);
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

/** A schema nested deeper than the call stack is the client's fault, not a 500. */
function shallow<T>(report: Report, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) throw report.refusal("/", "is nested too deeply");
    throw error;
  }
}

function converseBody({ body: asked, config }: Output, model: string, translation: Translation): Json {
  const conversation = conversationOf(asked["messages"], translation);
  const { messages: turns } = conversation;
  const { toolConfig, choice, forced = false } = toolsOf(asked, turns, translation);
  const { body, fields: reasoning } =
    translation.family === "anthropic"
      ? settled(asked, { model, turns, forced }, translation)
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
