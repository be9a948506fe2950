import { type Call, isJson, type Json } from "../../kit/index.ts";
import { pick } from "../canonical/json.ts";
import { droppedUnknown, droppedNative, pointersOf } from "../canonical/report.ts";
import type { Rules } from "../vendors/rules.ts";
import type { ToolNames } from "../canonical/tool-names.ts";
import { fitted } from "./fitted.ts";
import { writeMessages } from "./messages.ts";

export interface ChatBody {
  readonly body: Json;
  /** JSON pointers into the client's body. */
  readonly dropped: readonly string[];
  /** What tools are called in the body. */
  readonly names: ToolNames;
}

/** Upstreams refuse these where there are no tools. */
const OF_TOOLS: ReadonlySet<string> = new Set(["tool_choice", "parallel_tool_calls"]);
/** `cache_control` marks what is cached unasked. */
const OF_A_TOOL: ReadonlySet<string> = new Set(["type", "function", "cache_control"]);

/**
 * The body for an upstream of OpenAI's dialect: what the target takes of it, by the table of vendors. What a chat client
 * wrote travels as it came as far as that goes, what nobody here knows included; a body of another client dialect is
 * brought down to what OpenAI's API has.
 */
export function chatBody(call: Call, model: string, rules: Rules): ChatBody {
  const translated = (call.dialect ?? "chat") !== "chat";
  const { body, dropped, names } = fitted(call.body, rules, translated);
  const written = translated ? translatedBody(call, body) : { body, dropped: [] };
  return {
    body: { ...written.body, model, ...streamFields(call, written.body, rules) },
    dropped: [...pointersOf(call, [...dropped, ...written.dropped]), ...(translated ? droppedNative(call) : [])],
    names,
  };
}

/** The gateway meters streams by the upstream's own count (decisions 5.6). */
function streamFields({ stream }: Call, { stream_options: options }: Json, { streamOptions }: Rules): Json {
  if (!stream) return {};
  if (!streamOptions) return { stream: true };
  return { stream: true, stream_options: { ...(isJson(options) && options), include_usage: true } };
}

interface Translated {
  readonly body: Json;
  /** Canonical pointers. */
  readonly dropped: readonly string[];
}

function translatedBody(call: Call, body: Json): Translated {
  const messages = writeMessages({ ...call, body });
  const { tools, dropped } = writeTools(body["tools"]);
  const carried = Object.entries(body).filter(
    ([name, value]) => value !== null && !(tools.length === 0 && OF_TOOLS.has(name)),
  );
  return {
    body: {
      ...Object.fromEntries(carried),
      messages: messages.messages,
      tools: tools.length > 0 ? tools : undefined,
    },
    dropped: [...messages.dropped, ...dropped],
  };
}

/** The functions of a canonical body; tools that run at a provider of another dialect have no form here. */
function writeTools(value: unknown): { readonly tools: readonly Json[]; readonly dropped: readonly string[] } {
  const tools: Json[] = [];
  const dropped: string[] = [];
  for (const [index, tool] of (Array.isArray(value) ? (value as readonly unknown[]) : []).entries()) {
    const at = `/tools/${index}`;
    if (!isJson(tool) || !isJson(tool["function"])) {
      dropped.push(at);
      continue;
    }
    dropped.push(...droppedUnknown(tool, OF_A_TOOL, at));
    tools.push({ type: "function", function: pick(tool["function"], ["name", "description", "parameters", "strict"]) });
  }
  return { tools, dropped };
}
