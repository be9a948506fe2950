import { type Call, type Json, type Target } from "../../kit/index.ts";
import type { AnswerForm, UpstreamRequest } from "../dialect.ts";
import { pick } from "../fields.ts";
import { jsonToolForm } from "../json-tool.ts";
import { Report } from "../report.ts";
import { postJson } from "../requests.ts";
import { chatAnswer } from "./answer.ts";
import { messagesOf } from "./messages.ts";
import { formatOf, modelOf, samplingOf, thinkingOf } from "./options.ts";
import { CohereDecoder } from "./stream.ts";
import { toolsOf } from "./tools.ts";

/** Cohere's own fields, which a client of its models may send. */
const OWN = ["citation_options", "safety_mode", "priority"] as const;
/** Top-level fields that are read; what of them cannot be said is reported where they are read. */
const READ: ReadonlySet<string> = new Set([
  "messages",
  "documents",
  "tools",
  "tool_choice",
  "response_format",
  "reasoning_effort",
  "thinking",
  "stop",
  "max_tokens",
  "max_completion_tokens",
  "temperature",
  "top_p",
  "top_k",
  "seed",
  "frequency_penalty",
  "presence_penalty",
  ...OWN,
]);

/** How answers are read. */
export const FORM: AnswerForm = { answer: chatAnswer, decoder: () => new CohereDecoder() };

/**
 * A canonical call as version 2 of Cohere's chat takes it (https://docs.cohere.com/reference/chat).
 * @throws GatewayError for a call that cannot be written down.
 */
export function chatRequest(call: Call, target: Target, apiKey: string): UpstreamRequest {
  const report = new Report(call);
  const { body, tool } = chatBody(call.body, target.model, report);
  report.dropRest(READ);
  const accept = call.stream ? "text/event-stream" : "application/json";
  const request = postJson("/v2/chat", apiKey, { model: target.model, ...body, stream: call.stream }, accept);
  return { ...request, dropped: report.dropped, ...(tool !== null && { form: jsonToolForm(FORM, tool) }) };
}

function chatBody(asked: Json, name: string, report: Report): { readonly body: Json; readonly tool: string | null } {
  const model = modelOf(name);
  const { messages, documents } = messagesOf(asked["messages"], report);
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
