import type { Answer, Choice } from "../answer.ts";
import { countTokens, onlyChoice } from "../answer.ts";
import { less, numeric } from "../counts.ts";
import type { Part } from "../part.ts";
import { argumentPieces } from "../pieces.ts";
import type { Script } from "../script.ts";
import { sign } from "../signature.ts";
import { eventFrame } from "./frames.ts";

const LATENCY = 1;
const REASONS: Readonly<Record<Choice["finish"], string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
};

/** The body of a whole answer. */
export function converse(answer: Answer, script: Script): Part<string> {
  const choice = onlyChoice(answer);
  const body = {
    metrics: { latencyMs: LATENCY },
    output: { message: { content: contentOf(choice, answer), role: "assistant" } },
    stopReason: reasonOf(choice, script),
    usage: script.no_usage ? undefined : usageOf(answer),
  };
  return {
    data: JSON.stringify(body),
    tokens: choice.tokens,
    claims: script.no_usage ? undefined : answer.usage,
    units: { prompt: answer.prompt },
  };
}

/** The events of a stream. A block is announced only where it is the use of a tool. */
export function* events(answer: Answer, script: Script): Generator<Part<Uint8Array>> {
  const choice = onlyChoice(answer);
  yield { data: eventFrame("messageStart", { role: "assistant" }), units: { prompt: answer.prompt } };
  for (const [contentBlockIndex, block] of blocksOf(choice, answer).entries()) {
    const { start, deltas } = block;
    if (start) yield { data: eventFrame("contentBlockStart", { contentBlockIndex, start }), tokens: 1 };
    for (const { delta, tokens } of deltas) {
      yield { data: eventFrame("contentBlockDelta", { contentBlockIndex, delta }), tokens };
    }
    yield { data: eventFrame("contentBlockStop", { contentBlockIndex }) };
  }
  const stop: Part<Uint8Array> = { data: eventFrame("messageStop", { stopReason: reasonOf(choice, script) }) };
  if (script.metadata !== "before") yield stop;
  const usage = script.no_usage ? undefined : usageOf(answer);
  yield {
    data: eventFrame("metadata", { metrics: { latencyMs: LATENCY }, usage }),
    claims: script.no_usage ? undefined : answer.usage,
  };
  if (script.metadata === "before") yield stop;
}

interface Streamed {
  readonly start?: object;
  readonly deltas: readonly { readonly delta: object; readonly tokens: number }[];
}

function blocksOf({ reasoning, content, calls }: Choice, { seed, model }: Answer): readonly Streamed[] {
  const blocks: Streamed[] = [];
  if (reasoning.length > 0) {
    const tokens = reasoning.reduce((sum, piece) => sum + countTokens(piece), 0);
    const signature = {
      delta: { reasoningContent: { signature: sign("claude", seed, reasoning.join("")) } },
      tokens: 0,
    };
    const told = reasoning.map((text) => ({ delta: { reasoningContent: { text } }, tokens: countTokens(text) }));
    const redacted = { delta: { reasoningContent: { redactedContent: sign("claude", seed, "") } }, tokens };
    blocks.push({ deltas: isRedacted(model) ? [redacted] : [...told, signature] });
  }
  if (content.length > 0)
    blocks.push({ deltas: content.map((text) => ({ delta: { text }, tokens: countTokens(text) })) });
  for (const call of calls) {
    const deltas = [...argumentPieces(call)].map(({ text, tokens }) => ({
      delta: { toolUse: { input: text } },
      tokens,
    }));
    blocks.push({ start: { toolUse: { toolUseId: idOf(call.id), name: call.name } }, deltas });
  }
  return blocks;
}

function contentOf({ reasoning, content, calls }: Choice, { seed, model }: Answer): readonly object[] {
  const blocks: object[] = [];
  if (reasoning.length > 0) {
    const text = reasoning.join("");
    const reasoningContent = isRedacted(model)
      ? { redactedContent: sign("claude", seed, "") }
      : { reasoningText: { text, signature: sign("claude", seed, text) } };
    blocks.push({ reasoningContent });
  }
  if (content.length > 0) blocks.push({ text: content.join("") });
  for (const { id, name, arguments: text } of calls) {
    blocks.push({ toolUse: { toolUseId: idOf(id), name, input: JSON.parse(text) as unknown } });
  }
  return blocks;
}

function reasonOf({ finish, stopped }: Choice, script: Script): string {
  return script.finish ?? (stopped === null ? REASONS[finish] : "stop_sequence");
}

/** Input tokens are those that neither came from the cache nor went there. */
function usageOf({ usage }: Answer): object {
  const { prompt, completion, cached, cacheWrite } = usage;
  return {
    inputTokens: less(prompt, cached, cacheWrite),
    outputTokens: completion,
    totalTokens: numeric(prompt) + numeric(completion),
    cacheReadInputTokens: cached,
    cacheWriteInputTokens: cacheWrite,
  };
}

function isRedacted(model: string): boolean {
  return model.includes("redact");
}

function idOf(id: string): string {
  return id.replace("call_", "tooluse_");
}
