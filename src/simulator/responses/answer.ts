import type { Json } from "../../kit/index.ts";
import { type Answer, type Choice, countTokens, onlyChoice, type ToolCall } from "../answer.ts";
import { numeric } from "../counts.ts";
import { CREATED } from "../openai-answer.ts";
import type { Part } from "../part.ts";
import { argumentPieces } from "../pieces.ts";
import type { Script } from "../script.ts";
import { sign } from "../signature.ts";
import type { ResponsesRequest } from "./request.ts";

type Shown = Pick<ResponsesRequest, "summary" | "encrypted" | "echo">;

/** The body of a `response` that is over. */
export function response(answer: Answer, shown: Shown, script: Script): Part<string> {
  return {
    data: JSON.stringify(ended(answer, shown, script)),
    tokens: onlyChoice(answer).tokens,
    claims: script.no_usage ? undefined : answer.usage,
    units: { prompt: answer.prompt },
  };
}

/** The events of a stream, numbered; the last one is its ending, with the whole response in it. */
export function* events(answer: Answer, shown: Shown, script: Script): Generator<Part<string>> {
  let number = 0;
  const event = (type: string, data: object): string => {
    return `event: ${type}\ndata: ${JSON.stringify({ type, ...data, sequence_number: number++ })}\n\n`;
  };
  const begun = head(answer, shown, "in_progress");
  yield { data: event("response.created", { response: begun }), units: { prompt: answer.prompt } };
  yield { data: event("response.in_progress", { response: begun }) };
  for (const [output_index, item] of streamedItems(answer, shown).entries()) {
    yield { data: event("response.output_item.added", { output_index, item: item.start }), tokens: item.tokens };
    for (const { type, data, tokens } of item.events) {
      yield { data: event(type, { item_id: item.id, output_index, ...data }), ...(tokens !== undefined && { tokens }) };
    }
    yield { data: event("response.output_item.done", { output_index, item: item.end }) };
  }
  if (script.no_done) return;
  const last = ended(answer, shown, script);
  yield {
    data: event(`response.${last.status}`, { response: last }),
    claims: script.no_usage ? undefined : answer.usage,
    uncounted: true,
  };
}

interface ResponseBody extends Json {
  readonly status: string;
}

function ended(answer: Answer, shown: Shown, script: Script): ResponseBody {
  const choice = onlyChoice(answer);
  const reason = script.finish ?? (choice.finish === "length" ? "max_output_tokens" : undefined);
  const status = reason === undefined ? "completed" : "incomplete";
  return {
    ...head(answer, shown, status),
    incomplete_details: reason === undefined ? null : { reason },
    output: streamedItems(answer, shown).map(({ end }) => end),
    usage: script.no_usage ? null : usageOf(answer),
  };
}

function head({ seed, model }: Answer, { echo }: Shown, status: string): ResponseBody {
  return {
    id: `resp_sim_${seed}`,
    object: "response",
    created_at: CREATED,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    model,
    output: [],
    previous_response_id: null,
    service_tier: "default",
    top_logprobs: 0,
    usage: null,
    ...echo,
  };
}

interface StreamedItem {
  readonly id: string;
  readonly start: object;
  readonly end: object;
  /** In the start itself. */
  readonly tokens: number;
  readonly events: readonly { readonly type: string; readonly data: object; readonly tokens?: number }[];
}

function streamedItems(answer: Answer, shown: Shown): readonly StreamedItem[] {
  const choice = onlyChoice(answer);
  const { reasoning, content, calls } = choice;
  return [
    ...(reasoning.length > 0 ? [reasoningItem(choice, answer.seed, shown)] : []),
    ...(content.length > 0 || calls.length === 0 ? [messageItem(choice, answer)] : []),
    ...calls.map((call) => callItem(call)),
  ];
}

/** Its text is told only as a summary that was asked for; its tokens are counted all the same. */
function reasoningItem({ reasoning }: Choice, seed: string, { summary, encrypted }: Shown): StreamedItem {
  const id = `rs_sim_${seed}`;
  const text = reasoning.join("");
  const all = reasoning.reduce((sum, piece) => sum + countTokens(piece), 0);
  const item = { id, type: "reasoning", ...(encrypted && { encrypted_content: sealed(seed) }) };
  if (!summary) {
    const whole = { ...item, summary: [] };
    return { id, start: whole, end: whole, tokens: all, events: [] };
  }
  const at = { summary_index: 0 };
  return {
    id,
    start: { ...item, summary: [] },
    end: { ...item, summary: [{ type: "summary_text", text }] },
    tokens: 0,
    events: [
      {
        type: "response.reasoning_summary_part.added",
        data: { ...at, part: { type: "summary_text", text: "" } },
      },
      ...reasoning.map((delta) => ({
        type: "response.reasoning_summary_text.delta",
        data: { ...at, delta },
        tokens: countTokens(delta),
      })),
      { type: "response.reasoning_summary_text.done", data: { ...at, text } },
      { type: "response.reasoning_summary_part.done", data: { ...at, part: { type: "summary_text", text } } },
    ],
  };
}

function textPart(text: string): object {
  return { type: "output_text", annotations: [], logprobs: [], text };
}

function messageItem({ content, finish }: Choice, { seed, model }: Answer): StreamedItem {
  const id = `msg_sim_${seed}`;
  const text = content.join("");
  const item = { id, type: "message", role: "assistant", ...(hasPhases(model) && { phase: "final_answer" }) };
  const at = { content_index: 0 };
  return {
    id,
    start: { ...item, status: "in_progress", content: [] },
    end: { ...item, status: finish === "length" ? "incomplete" : "completed", content: [textPart(text)] },
    tokens: 0,
    events: [
      { type: "response.content_part.added", data: { ...at, part: textPart("") } },
      ...content.map((delta) => ({
        type: "response.output_text.delta",
        data: { ...at, delta, logprobs: [] },
        tokens: countTokens(delta),
      })),
      { type: "response.output_text.done", data: { ...at, text, logprobs: [] } },
      { type: "response.content_part.done", data: { ...at, part: textPart(text) } },
    ],
  };
}

function callItem(call: ToolCall): StreamedItem {
  const id = call.id.replace("call_", "fc_");
  const item = { id, type: "function_call", call_id: call.id, name: call.name };
  return {
    id,
    start: { ...item, status: "in_progress", arguments: "" },
    end: { ...item, status: "completed", arguments: call.arguments },
    tokens: 1,
    events: [
      ...[...argumentPieces(call)].map(({ text, tokens }) => ({
        type: "response.function_call_arguments.delta",
        data: { delta: text },
        tokens,
      })),
      { type: "response.function_call_arguments.done", data: { name: call.name, arguments: call.arguments } },
    ],
  };
}

/** What the provider knows its own reasoning by when it comes back. */
export function sealed(seed: string): string {
  return sign("openai", seed, "reasoning");
}

/** Messages of the newer models say whether they are the answer or on the way to it. */
function hasPhases(model: string): boolean {
  return /^gpt-(?:5\.[3-9]|[6-9])/.test(model);
}

function usageOf({ usage }: Answer): object {
  return {
    input_tokens: usage.prompt,
    input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.completion,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: numeric(usage.prompt) + numeric(usage.completion),
  };
}
