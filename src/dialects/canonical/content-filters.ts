import { AttemptError, isJson, type Json, type StreamEvent } from "../../kit/index.ts";
import type { RefusalRow } from "./refusals-table.ts";

const GITHUB = "https://github.com";
const STATUSES = [400, 403, 422, 451] as const;

/**
 * Refusals by a provider's content filter. They are the client's fault: another request of the same client may be fine, and
 * neither key nor upstream has a share in it. A target that says `fail_over_on: [content_filter]` goes on all the same.
 */
export const CONTENT_FILTERS: readonly Omit<RefusalRow, "failure">[] = [
  {
    code: /^(content_filter|content_filtered|responsibleaipolicyviolation|content_policy_violation|moderation_blocked)$/,
    source: `${GITHUB}/compl-ai/compl-ai/issues/20 (Azure), ${GITHUB}/pollinations/pollinations/issues/12067 (OpenAI's images), ${GITHUB}/MoonshotAI/kimi-cli/issues/1002 (Moonshot)`,
  },
  {
    code: /^(data_inspection_failed|datainspectionfailed)$/,
    source: `${GITHUB}/QwenLM/Qwen/issues/938, ${GITHUB}/camel-ai/owl/issues/432 (Alibaba)`,
  },
  { status: STATUSES, code: /^flagged_input$/, source: "https://openrouter.ai/docs/api-reference/errors" },
  { vendor: "zai", code: /^1301$/, source: "https://docs.z.ai/api-reference/api-code" },
  {
    status: STATUSES,
    code: /^invalid_prompt$/,
    text: /flagged|usage policy/i,
    source: `${GITHUB}/BeehiveInnovations/pal-mcp-server/issues/178 (OpenAI)`,
  },
  {
    status: [400, 422],
    text: /^(invalid prompt: )?your prompt was flagged|blocked by (our )?content filter|content exists risk|request was rejected (as a result of our|by the|by our) safety system|rejected because it was considered high risk|data may contain inappropriate content|content management policy/i,
    source: `${GITHUB}/anthropics/claude-code/issues/6195 (Anthropic), ${GITHUB}/NousResearch/hermes-agent/pull/115233 (DeepSeek), ${GITHUB}/jeffstric/ZJT/issues/480 (OpenAI's images), ${GITHUB}/QwenLM/qwen-code/issues/2905 (Alibaba)`,
  },
  {
    status: [403],
    text: /moderation|flagged|usage guidelines|safety_check_type/i,
    source: `https://openrouter.ai/docs/api-reference/errors, ${GITHUB}/UKGovernmentBEIS/inspect_ai/pull/2267 (xAI)`,
  },
];

/** Ends by which a provider withdraws the whole answer, whatever stands in it. https://docs.aws.amazon.com/bedrock/latest/userguide/guardrails-use-converse-api.html, https://docs.claude.com/en/api/handling-stop-reasons */
const WITHDRAWN: ReadonlySet<unknown> = new Set(["guardrail_intervened", "refusal"]);

/** The failure of a 200 in which the provider's content filter refused. */
export function filterRefusal(): AttemptError {
  return new AttemptError("client_fault", "the provider's content filter refused the request", {
    filtered: true,
    code: "content_filter",
  });
}

/** Whether a complete answer is nothing but the refusal of a content filter. */
export function isFilteredAnswer({ choices }: Json): boolean {
  if (!Array.isArray(choices) || choices.length === 0) return false;
  return choices.every((choice: unknown) => {
    if (!isJson(choice) || choice["finish_reason"] !== "content_filter") return false;
    const { message, native_finish_reason: word } = choice;
    if (WITHDRAWN.has(word) || !isJson(message)) return true;
    return isNothing(message["content"]) && isNothing(message["tool_calls"]);
  });
}

/** Whether the events with which a stream begins are nothing but the refusal of a content filter. */
export function isFilteredBeginning(events: readonly StreamEvent[]): boolean {
  let isRefused = false;
  for (const { data, text } of events) {
    if (text !== "") return false;
    const { choices } = data;
    for (const choice of Array.isArray(choices) ? choices.filter(isJson) : []) {
      const { delta, finish_reason: finish } = choice;
      if (finish === "content_filter") isRefused = true;
      else if ((finish ?? null) !== null || (isJson(delta) && Object.entries(delta).some(isContent))) return false;
    }
  }
  return isRefused;
}

/** Events of the client's own format only announce something: their content would be a delta of its own. */
function isContent([name, value]: readonly [string, unknown]): boolean {
  return name !== "role" && name !== "native" && !isNothing(value);
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
}
