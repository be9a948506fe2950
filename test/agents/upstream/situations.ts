import { isJson, type Json } from "../../../src/kit/index.ts";
import { SimError } from "../../../src/simulator/fields.ts";
import { parseScript, type Script } from "../../../src/simulator/script.ts";
import type { SpeakerName } from "./speakers.ts";

/** What the provider does with one request of an errand, beside answering it. */
export type Fault = { readonly refuse: SimError } | { readonly script: Script };

/** One request of an errand as its provider sees it. */
export interface Moment {
  readonly speaker: SpeakerName;
  readonly body: Json;
  /** Requests of the errand so far, this one included. Titles and summaries, which offer no tools, do not count. */
  readonly count: number;
  /** Files whose content the agent has read. */
  readonly found: number;
  /** Faults that this run has met before. */
  readonly faults: number;
}

/** What an agent meets during its errand. Each is run twice: at the provider itself, and through the gateway. */
export interface Situation {
  readonly name: string;
  /** `tool`: two files are read, one after the other. */
  readonly task: "plain" | "tool";
  /** True: the agent can still do its errand. False: it must give up, for a reason that it can tell its user. */
  readonly recovers: boolean;
  /** The gateway has a second target, of another vendor, which never fails. */
  readonly fallback?: true;
  readonly fault: (moment: Moment) => Fault | null;
}

export const SITUATIONS: readonly Situation[] = [
  { name: "plain", task: "plain", recovers: true, fault: () => null },
  { name: "tool", task: "tool", recovers: true, fault: () => null },
  {
    name: "failover",
    task: "tool",
    recovers: true,
    fallback: true,
    fault: ({ speaker, found, faults }) =>
      found === 1 && faults === 0 ? { refuse: new SimError(...OVERLOADED[speaker]) } : null,
  },
  {
    name: "rate-limit",
    task: "plain",
    recovers: true,
    fault: ({ speaker, count }) => {
      if (count > 1) return null;
      const code = speaker === "anthropic" ? undefined : "rate_limit_exceeded";
      return { refuse: new SimError(429, "Rate limit reached. Please try again in 1s.", { retryAfter: "1", code }) };
    },
  },
  {
    name: "refused-parameter",
    task: "plain",
    recovers: false,
    fault: ({ speaker, body }) => ({ refuse: refusedParameter(speaker, body) }),
  },
  {
    name: "cut",
    task: "plain",
    recovers: true,
    fault: ({ speaker, count }) =>
      count === 1 ? { script: parseScript({ reset_after: EVENTS_TO_CONTENT[speaker], chunk_delay: "20ms" }) } : null,
  },
  {
    // Some agents make their conversation shorter and go on, others give up.
    name: "overflow",
    task: "plain",
    recovers: false,
    fault: ({ speaker, count }) => (count === 1 ? { refuse: overflow(speaker) } : null),
  },
];

/** Status and message of a provider that has no room for a moment. */
const OVERLOADED: Readonly<Record<SpeakerName, readonly [number, string]>> = {
  anthropic: [529, "Overloaded"],
  openai: [503, "The server is currently overloaded, please try again later."],
  responses: [503, "The server is currently overloaded, please try again later."],
  gemini: [503, "The model is overloaded. Please try again later."],
  bedrock: [503, "The service is temporarily unavailable."],
};

/** Events of a stream up to its first text, and one more. */
const EVENTS_TO_CONTENT: Readonly<Record<SpeakerName, number>> = {
  openai: 3,
  anthropic: 5,
  responses: 6,
  gemini: 2,
  bedrock: 3,
};

/**
 * A field that stands in the agent's own body, refused as its provider words it:
 * https://community.openai.com/t/max-tokens-is-too-large/ for the limit of output, and Anthropic's of the same
 * (https://github.com/anthropics/claude-code/issues/1443). Agents that send no limit are refused another field.
 */
function refusedParameter(speaker: SpeakerName, body: Json): SimError {
  const limit = ["max_tokens", "max_completion_tokens", "max_output_tokens"].find((name) => name in body);
  if (speaker === "anthropic") {
    const asked = String(body["max_tokens"]);
    return new SimError(
      400,
      `max_tokens: ${asked} > 1024, which is the maximum allowed number of output tokens for ${String(body["model"])}`,
    );
  }
  if (limit !== undefined) {
    const message = `${limit} is too large: ${String(body[limit])}. This model supports at most 16 completion tokens, whereas you provided ${String(body[limit])}.`;
    return new SimError(400, message, { param: limit, code: "invalid_value" });
  }
  const param = ["parallel_tool_calls", "tool_choice", "temperature"].find((name) => name in body) ?? "tools";
  const message = `Unsupported parameter: '${param}' is not supported with this model.`;
  return new SimError(400, message, { param, code: "unsupported_parameter" });
}

/** A prompt that is too long, in the words that agents look for. */
function overflow(speaker: SpeakerName): SimError {
  switch (speaker) {
    case "anthropic":
      return new SimError(400, "prompt is too long: 213462 tokens > 200000 maximum");
    case "responses":
      return new SimError(
        400,
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        { param: "input", code: "context_length_exceeded" },
      );
    default:
      return new SimError(
        400,
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 213462 tokens. Please reduce the length of the messages.",
        { param: "messages", code: "context_length_exceeded" },
      );
  }
}

/** Whether a request belongs to the errand itself: agents ask for titles and summaries beside it, without tools. */
export function offersTools(body: Json): boolean {
  const { tools, toolConfig } = body;
  return (Array.isArray(tools) && tools.length > 0) || isJson(toolConfig);
}
