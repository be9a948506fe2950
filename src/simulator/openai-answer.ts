import type { Answer, Choice, ToolCall } from "./answer.ts";
import { countTokens } from "./answer.ts";
import { argumentPieces } from "./pieces.ts";
import type { Part } from "./part.ts";

/** Fixed, so that the same request gets the same bytes: 2026-01-01. */
export const CREATED = 1_767_225_600;
const FINGERPRINT = "simulated";
export const CONTENT_FILTER = { hate: { filtered: false, severity: "safe" } };
export const PROMPT_FILTER = [{ prompt_index: 0, content_filter_results: CONTENT_FILTER }];

export const DONE = "data: [DONE]\n\n";

/** The body of a `chat.completion`. `withUsage` false leaves the token counts out; `finish` stands for the true reason. */
export function completion(answer: Answer, withUsage: boolean, finish?: string): Part<string> {
  const body = {
    id: idOf(answer),
    object: "chat.completion",
    created: CREATED,
    model: answer.model,
    choices: answer.choices.map((choice, index) => ({
      index,
      message: messageOf(choice),
      logprobs: null,
      finish_reason: finish ?? choice.finish,
    })),
    usage: withUsage ? usageOf(answer) : undefined,
    system_fingerprint: FINGERPRINT,
  };
  return {
    data: JSON.stringify(body),
    tokens: answer.choices.reduce((sum, choice) => sum + choice.tokens, 0),
    claims: withUsage ? answer.usage : undefined,
    units: { prompt: answer.prompt },
  };
}

/** The events of a stream without their ending: with `withUsage` the counts come last and are null until then. */
export function* chunks(answer: Answer, withUsage: boolean, word?: string): Generator<Part<string>> {
  // Only what differs is serialised for each event: a long stream's cost is here.
  const head = `data: ${JSON.stringify({
    id: idOf(answer),
    object: "chat.completion.chunk",
    created: CREATED,
    model: answer.model,
    system_fingerprint: FINGERPRINT,
  }).slice(0, -1)},"choices":[`;
  const tail = withUsage ? '],"usage":null}\n\n' : "]}\n\n";
  let units: Part["units"] = { prompt: answer.prompt };
  for (const [index, choice] of answer.choices.entries()) {
    for (const { delta, finish, tokens } of deltas(choice)) {
      const reason = finish === undefined ? "null" : JSON.stringify(word ?? finish);
      const data = `${head}{"index":${index},"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${reason}}${tail}`;
      yield { data, tokens, units };
      units = undefined;
    }
  }
  if (withUsage) {
    yield { data: `${head}],"usage":${JSON.stringify(usageOf(answer))}}\n\n`, claims: answer.usage };
  }
}

/** The first chunk of Azure: what its filter makes of the prompt, and no choices. */
export function azureFirst(): Part<string> {
  const first = { choices: [], created: 0, id: "", model: "", object: "", prompt_filter_results: PROMPT_FILTER };
  return { data: `data: ${JSON.stringify(first)}\n\n` };
}

interface Delta {
  readonly delta: object;
  readonly finish?: string;
  readonly tokens: number;
}

function* deltas({ reasoning, content, calls, finish }: Choice): Generator<Delta> {
  yield { delta: { role: "assistant", content: calls.length > 0 ? null : "", refusal: null }, tokens: 0 };
  for (const piece of reasoning) yield { delta: { reasoning_content: piece }, tokens: countTokens(piece) };
  for (const piece of content) yield { delta: { content: piece }, tokens: countTokens(piece) };
  for (const [index, call] of calls.entries()) yield* callDeltas(call, index);
  yield { delta: {}, finish, tokens: 0 };
}

function* callDeltas(call: ToolCall, index: number): Generator<Delta> {
  const { id, name } = call;
  yield { delta: { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }, tokens: 1 };
  for (const { text, tokens } of argumentPieces(call)) {
    yield { delta: { tool_calls: [{ index, function: { arguments: text } }] }, tokens };
  }
}

function messageOf({ reasoning, content, calls }: Choice): object {
  return {
    role: "assistant",
    content: calls.length > 0 ? null : content.join(""),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join("") }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, arguments: text }) => ({
        id,
        type: "function",
        function: { name, arguments: text },
      })),
    }),
    refusal: null,
  };
}

function usageOf({ usage }: Answer): object {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion,
    total_tokens: Number(usage.prompt) + Number(usage.completion),
    prompt_tokens_details: {
      cached_tokens: usage.cached,
      ...(usage.cacheWrite !== 0 && { cache_write_tokens: usage.cacheWrite }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

function idOf(answer: Answer): string {
  return `chatcmpl-sim-${answer.seed}`;
}
