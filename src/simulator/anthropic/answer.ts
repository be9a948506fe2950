import type { Answer, Choice } from "../answer.ts";
import { countTokens, onlyChoice } from "../answer.ts";
import { less } from "../counts.ts";
import type { Part } from "../part.ts";
import { argumentPieces } from "../pieces.ts";
import type { Script } from "../script.ts";
import { sign } from "../signature.ts";
import type { MessagesRequest } from "./request.ts";

type Shown = MessagesRequest["thinking"];

const REASONS: Readonly<Record<Choice["finish"], string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
};

/** The body of a `message`. */
export function message(answer: Answer, shown: Shown, script: Script): Part<string> {
  const choice = onlyChoice(answer);
  const body = {
    ...head(answer),
    content: contentOf(choice, answer.seed, shown),
    ...ending(choice, script),
    usage: script.no_usage ? undefined : usageOf(answer),
  };
  return {
    data: JSON.stringify(body),
    tokens: choice.tokens,
    claims: script.no_usage ? undefined : answer.usage,
    units: { prompt: answer.prompt },
  };
}

/** The events of a stream; the last one is its ending. */
export function* events(answer: Answer, shown: Shown, script: Script): Generator<Part<string>> {
  const choice = onlyChoice(answer);
  const usage = script.no_usage ? undefined : usageOf(answer);
  const start = {
    ...head(answer),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usage && { ...usage, output_tokens: 1 },
  };
  yield { data: event("message_start", { message: start }), units: { prompt: answer.prompt } };
  for (const [index, block] of blocksOf(choice, answer.seed, shown).entries()) {
    yield { data: event("content_block_start", { index, content_block: block.start }), tokens: block.tokens };
    if (index === 0) yield { data: event("ping", {}) };
    for (const { delta, tokens } of block.deltas)
      yield { data: event("content_block_delta", { index, delta }), tokens };
    yield { data: event("content_block_stop", { index }) };
  }
  yield {
    data: event("message_delta", { delta: ending(choice, script), usage }),
    claims: script.no_usage ? undefined : answer.usage,
  };
  if (!script.no_done) yield { data: event("message_stop", {}), uncounted: true };
}

/** An event by name, which its data repeats. */
export function event(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

interface Streamed {
  readonly start: object;
  /** In the start itself. */
  readonly tokens?: number;
  readonly deltas: readonly { readonly delta: object; readonly tokens: number }[];
}

function blocksOf({ reasoning, content, calls }: Choice, seed: string, shown: Shown): readonly Streamed[] {
  const blocks: Streamed[] = [];
  if (reasoning.length > 0) blocks.push(thinking(reasoning, seed, shown));
  if (content.length > 0) {
    const deltas = content.map((text) => ({ delta: { type: "text_delta", text }, tokens: countTokens(text) }));
    blocks.push({ start: { type: "text", text: "" }, deltas });
  }
  for (const call of calls) {
    const pieces = call.arguments === "{}" ? [] : [...argumentPieces(call)];
    const deltas = [{ text: "", tokens: 1 }, ...pieces].map(({ text, tokens }) => ({
      delta: { type: "input_json_delta", partial_json: text },
      tokens,
    }));
    blocks.push({
      start: { type: "tool_use", id: idOf(call.id), name: call.name, input: {} },
      tokens: pieces.length === 0 ? countTokens(call.arguments) : 0,
      deltas,
    });
  }
  return blocks;
}

function thinking(reasoning: readonly string[], seed: string, shown: Shown): Streamed {
  const all = reasoning.reduce((sum, piece) => sum + countTokens(piece), 0);
  if (shown === "redacted") {
    return { start: { type: "redacted_thinking", data: sign("claude", seed, "") }, tokens: all, deltas: [] };
  }
  const pieces = shown === "omitted" ? [] : reasoning;
  const signature = sign("claude", seed, pieces.join(""));
  return {
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [
      ...pieces.map((piece) => ({ delta: { type: "thinking_delta", thinking: piece }, tokens: countTokens(piece) })),
      { delta: { type: "signature_delta", signature }, tokens: shown === "omitted" ? all : 0 },
    ],
  };
}

function contentOf({ reasoning, content, calls }: Choice, seed: string, shown: Shown): readonly object[] {
  const blocks: object[] = [];
  if (reasoning.length > 0 && shown === "redacted")
    blocks.push({ type: "redacted_thinking", data: sign("claude", seed, "") });
  else if (reasoning.length > 0) {
    const text = shown === "omitted" ? "" : reasoning.join("");
    blocks.push({ type: "thinking", thinking: text, signature: sign("claude", seed, text) });
  }
  if (content.length > 0) blocks.push({ type: "text", text: content.join("") });
  for (const { id, name, arguments: text } of calls) {
    blocks.push({ type: "tool_use", id: idOf(id), name, input: JSON.parse(text) as unknown });
  }
  return blocks;
}

function head({ seed, model }: Answer): object {
  return { id: `msg_sim_${seed}`, type: "message", role: "assistant", model };
}

function ending({ finish, stopped }: Choice, script: Script): object {
  const reason = stopped === null ? REASONS[finish] : "stop_sequence";
  return { stop_reason: script.finish ?? reason, stop_sequence: script.finish === undefined ? stopped : null };
}

/** Input tokens are those that neither came from the cache nor went there. */
function usageOf({ usage }: Answer): object {
  const { prompt, completion, cached, cacheWrite, reasoning } = usage;
  return {
    input_tokens: less(prompt, cached, cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: 0 },
    output_tokens: completion,
    ...(reasoning > 0 && { output_tokens_details: { thinking_tokens: reasoning } }),
    service_tier: "standard",
  };
}

function idOf(id: string): string {
  return id.replace("call_", "toolu_");
}
