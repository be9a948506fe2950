import { type Call, isJson, type Json, type Target } from "../../kit/index.ts";
import { jsonToolForm, wantedSchema } from "../canonical/json-tool.ts";
import { Report } from "../canonical/report.ts";
import { postJson } from "../canonical/requests.ts";
import type { AnswerForm, UpstreamRequest } from "../dialect.ts";
import { answer } from "./answer.ts";
import { cacheControl } from "./blocks.ts";
import { callsWithoutThinking, type ClaudeOutput, claudeOutput } from "./claude.ts";
import { betasOf, headersOf, versionOf } from "./headers.ts";
import { conversation } from "./messages.ts";
import { type ModelRules, rulesOf } from "./models.ts";
import { ofMessages } from "./native.ts";
import { maxTokensOf, metadataOf, samplingOf, serviceTier, stopSequences, thinkingOf } from "./options.ts";
import { MessagesStreamReader } from "./stream.ts";
import { forced, toolChoiceOf, toolsOf } from "./tools.ts";

/** Canonical fields that are carried, or reported by what carries them. */
const CARRIED: ReadonlySet<string> = new Set(
  (
    "messages tools tool_choice parallel_tool_calls max_tokens max_completion_tokens stop temperature top_p top_k " +
    "reasoning_effort thinking response_format user safety_identifier service_tier cache_control"
  ).split(" "),
);

/** Reads answers without what only a Messages client knows: a tool's call is not what such a client is shown. */
const PLAIN: AnswerForm = {
  answer: (body, call) => answer(body, { ...call, dialect: "chat" }),
  decoder: (call) => new MessagesStreamReader({ ...call, dialect: "chat" }),
};

/** @throws GatewayError when the call cannot be written down. */
export function request(call: Call, target: Target, apiKey: string): UpstreamRequest {
  const report = new Report(call);
  report.dropFields(CARRIED);
  const rules = rulesOf(target.model);
  const output = outputOf(call, rules, report);
  const body = messagesBody(call, { target, rules, output, report });
  if (!ofMessages(call)) report.dropNative();
  const sent = postJson("/v1/messages", "", body, call.stream ? "text/event-stream" : "application/json");
  return {
    ...sent,
    headers: { ...sent.headers, ...headersOf(call, apiKey) },
    dropped: report.dropped,
    ...(output.tool === null ? {} : { form: jsonToolForm(PLAIN, output.tool) }),
  };
}

/** Of a model that nobody knows what a Messages client asks stands as it is. */
function outputOf(call: Call, rules: ModelRules, report: Report): ClaudeOutput {
  const schema = ofMessages(call) && !rules.known ? wantedSchema(call.body["response_format"]) : null;
  return schema === null ? claudeOutput(call.body, rules, report) : { body: call.body, schema, tool: null };
}

interface Writing {
  readonly target: Target;
  readonly rules: ModelRules;
  readonly output: ClaudeOutput;
  readonly report: Report;
}

function messagesBody(call: Call, { target, rules, output, report }: Writing): Json {
  const { body } = output;
  const verbatim = ofMessages(call);
  const maxTokens = maxTokensOf(body, rules, report, { betas: betasOf(call), configured: target.maxOutput });
  const { system, messages } = conversation(body["messages"], report, verbatim);
  const tools = toolsOf(body["tools"], { verbatim, strict: rules.structured, report });
  const choice = toolChoiceOf(body, tools.length > 0, { rules, verbatim, report });
  const { thinking, effort } = thinkingOf({
    body,
    rules,
    maxTokens,
    verbatim,
    report,
    forced: forced(choice),
    unthoughtCalls: callsWithoutThinking(messages, kindOf),
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
    ...samplingOf({ body, rules, version: versionOf(call), thinks, verbatim, report }),
    ...stopSequences(body["stop"], verbatim, report),
    ...metadataOf(body, report),
    ...serviceTier(body["service_tier"], verbatim, report),
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
