import { type Call, isJson, type Json, type Target } from "../../kit/index.ts";
import type { UpstreamRequest } from "../dialect.ts";
import { Report } from "../report.ts";
import { postJson } from "../requests.ts";
import { cacheControl } from "./blocks.ts";
import { betasOf, headersOf, versionOf } from "./headers.ts";
import { conversation } from "./messages.ts";
import { rulesOf } from "./models.ts";
import { ofMessages } from "./native.ts";
import {
  maxTokensOf,
  metadataOf,
  outputFormat,
  samplingOf,
  serviceTier,
  stopSequences,
  thinkingOf,
} from "./options.ts";
import { forced, toolChoiceOf, toolsOf } from "./tools.ts";

/** Canonical fields that are carried, or reported by what carries them. */
const CARRIED: ReadonlySet<string> = new Set(
  (
    "messages tools tool_choice parallel_tool_calls max_tokens max_completion_tokens stop temperature top_p top_k " +
    "reasoning_effort thinking response_format user safety_identifier service_tier cache_control"
  ).split(" "),
);

/** @throws GatewayError when the call cannot be written down. */
export function request(call: Call, target: Target, apiKey: string): UpstreamRequest {
  const report = new Report(call);
  report.dropFields(CARRIED);
  const body = messagesBody(call, target, report);
  if (!ofMessages(call)) report.dropNative();
  const sent = postJson("/v1/messages", "", body, call.stream ? "text/event-stream" : "application/json");
  return { ...sent, headers: { ...sent.headers, ...headersOf(call, apiKey) }, dropped: report.dropped };
}

function messagesBody(call: Call, target: Target, report: Report): Json {
  const { body } = call;
  const verbatim = ofMessages(call);
  const rules = rulesOf(target.model);
  const maxTokens = maxTokensOf(body, rules, report, { betas: betasOf(call), configured: target.maxOutput });
  const { system, messages } = conversation(body["messages"], report, verbatim);
  const tools = toolsOf(body["tools"], verbatim, report);
  const choice = toolChoiceOf(body, tools.length > 0, report);
  const { thinking, effort } = thinkingOf({
    body,
    rules,
    maxTokens,
    verbatim,
    report,
    forced: forced(choice),
    unthoughtCalls: callsWithoutThinking(messages),
  });
  const format = outputFormat(body["response_format"], report);
  const thinks = thinking !== undefined && thinking["type"] !== "disabled";
  const written = {
    model: target.model,
    max_tokens: maxTokens,
    ...(system === undefined ? {} : { system }),
    messages,
    ...(tools.length > 0 ? { tools } : {}),
    ...(choice ? { tool_choice: choice } : {}),
    ...(thinking ? { thinking } : {}),
    ...(effort !== undefined || format ? { output_config: { ...(effort ? { effort } : {}), ...format } } : {}),
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

/** Whether the last turn of the model called tools without a thinking block before them. */
function callsWithoutThinking(messages: readonly Json[]): boolean {
  const content = messages.findLast(({ role }) => role === "assistant")?.["content"];
  if (!Array.isArray(content)) return false;
  const types = content.map((block: unknown) => (isJson(block) ? block["type"] : null));
  return types.includes("tool_use") && types[0] !== "thinking" && types[0] !== "redacted_thinking";
}
