import { type Call, isJson, type Json } from "../../kit/index.ts";
import { dropped as droppedOf, droppedNative, pointersOf } from "../pointers.ts";
import { effortOf } from "./effort.ts";
import { writeMessages } from "./messages.ts";
import { withoutSignatures } from "./signatures.ts";
import { writeTools } from "./tools.ts";

export interface ChatBody {
  readonly body: Json;
  /** JSON pointers into the client's body. */
  readonly dropped: readonly string[];
}

/** What OpenAI's API knows, of what a canonical body can have; the rest is only for upstreams that say so. */
const CARRIED: ReadonlySet<string> = new Set([
  "messages",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "temperature",
  "top_p",
  "max_tokens",
  "max_completion_tokens",
  "stop",
  "seed",
  "n",
  "logprobs",
  "top_logprobs",
  "logit_bias",
  "frequency_penalty",
  "presence_penalty",
  "response_format",
  "reasoning_effort",
  "verbosity",
  "user",
  "metadata",
  "service_tier",
  "store",
  "prompt_cache_key",
  "prompt_cache_retention",
  "safety_identifier",
]);
/** Read into fields that are carried. */
const READ: ReadonlySet<string> = new Set([...CARRIED, "thinking"]);
/** Upstreams refuse these where there are no tools. */
const OF_TOOLS: ReadonlySet<string> = new Set(["tool_choice", "parallel_tool_calls"]);

/**
 * The body for an upstream of OpenAI's dialect. What a chat client wrote travels as it came, what it does not know of
 * included (decisions 1.2); a body of another client dialect is brought down to what OpenAI's API takes.
 */
export function chatBody(call: Call, model: string): ChatBody {
  const { dialect = "chat" } = call;
  const { body, dropped } = dialect === "chat" ? { body: withoutSignatures(call.body), dropped: [] } : translated(call);
  return { body: { ...body, model, ...(call.stream && streamFields(body)) }, dropped };
}

/** The gateway meters streams by the upstream's own count (decisions 5.6). */
function streamFields({ stream_options: options }: Json): Json {
  return { stream: true, stream_options: { ...(isJson(options) && options), include_usage: true } };
}

function translated(call: Call): ChatBody {
  const { body } = call;
  const messages = writeMessages(call);
  const tools = writeTools(body["tools"]);
  const { effort, lost } = effortOf(body);
  const carried = Object.entries(body).filter(
    ([name, value]) => CARRIED.has(name) && value !== null && !(tools.tools.length === 0 && OF_TOOLS.has(name)),
  );
  return {
    body: {
      ...Object.fromEntries(carried),
      messages: messages.messages,
      tools: tools.tools.length > 0 ? tools.tools : undefined,
      ...(effort !== null && { reasoning_effort: effort }),
    },
    dropped: [
      ...pointersOf(call, [...droppedOf(body, READ), ...lost, ...messages.dropped, ...tools.dropped]),
      ...droppedNative(call),
    ],
  };
}
