import type { Answer, Choice } from "../answer.ts";
import { countTokens } from "../answer.ts";
import { less, numeric } from "../counts.ts";
import type { Part } from "../part.ts";
import { callTokens } from "../pieces.ts";
import type { Script } from "../script.ts";
import { sign } from "../signature.ts";
import type { GenerateRequest } from "./request.ts";

type Shown = Pick<GenerateRequest, "thoughts" | "signs">;

/** Something of one candidate, with the tokens that have gone into it. */
interface Piece {
  readonly index: number;
  readonly parts: readonly object[];
  readonly finish?: string;
  readonly tokens: number;
  readonly thoughts: number;
}

/** The body of an answer in one piece. */
export function generated(answer: Answer, shown: Shown, script: Script): Part<string> {
  const candidates = answer.choices.map((choice, index) => ({
    content: { parts: partsOf(choice, answer.seed, shown), role: "model" },
    finishReason: finishOf(choice, script),
    index,
  }));
  const body = { candidates, ...(script.no_usage ? {} : { usageMetadata: usageOf(answer) }), ...tail(answer) };
  return {
    data: JSON.stringify(body),
    tokens: answer.choices.reduce((sum, choice) => sum + choice.tokens, 0),
    claims: script.no_usage ? undefined : answer.usage,
    units: { prompt: answer.prompt },
  };
}

/** The answers of a stream, as JSON: each states what has been used up to it, the last one all. */
export function* pieces(answer: Answer, shown: Shown, script: Script): Generator<Part<string>> {
  const all = answer.choices.flatMap((choice, index) => [...piecesOf(choice, index, answer.seed, shown, script)]);
  let tokens = 0;
  let thoughts = 0;
  for (const [at, piece] of all.entries()) {
    const { index, parts, finish } = piece;
    const last = at === all.length - 1;
    tokens += piece.tokens;
    thoughts += piece.thoughts;
    const candidate = {
      content: { parts, role: "model" },
      ...(finish !== undefined && { finishReason: finish }),
      index,
    };
    const usageMetadata = last ? usageOf(answer) : running(answer, tokens, thoughts);
    yield {
      data: JSON.stringify({ candidates: [candidate], ...(script.no_usage ? {} : { usageMetadata }), ...tail(answer) }),
      tokens: piece.tokens + piece.thoughts,
      claims: last && !script.no_usage ? answer.usage : undefined,
      units: at === 0 ? { prompt: answer.prompt } : undefined,
    };
  }
}

function* piecesOf(choice: Choice, index: number, seed: string, shown: Shown, script: Script): Generator<Piece> {
  const thoughts = choice.reasoning.reduce((sum, piece) => sum + countTokens(piece), 0);
  if (shown.thoughts) {
    for (const text of choice.reasoning)
      yield { index, parts: [{ text, thought: true }], tokens: 0, thoughts: countTokens(text) };
  }
  // Thoughts that are not told are counted with what follows them.
  let untold = shown.thoughts ? 0 : thoughts;
  for (const text of choice.content) {
    yield { index, parts: [{ text }], tokens: countTokens(text), thoughts: untold };
    untold = 0;
  }
  if (choice.calls.length > 0) {
    const tokens = choice.calls.reduce((sum, call) => sum + callTokens(call), 0);
    yield { index, parts: callsOf(choice, seed, shown), tokens, thoughts: untold };
    untold = 0;
  }
  const signed = shown.signs && choice.calls.length === 0 && choice.content.length > 0;
  const parts = [{ text: "", ...(signed && { thoughtSignature: sign("gemini", seed, "") }) }];
  yield { index, parts, finish: finishOf(choice, script), tokens: 0, thoughts: untold };
}

function partsOf(choice: Choice, seed: string, shown: Shown): readonly object[] {
  const { reasoning, content, calls } = choice;
  const parts: object[] = [];
  if (shown.thoughts && reasoning.length > 0) parts.push({ text: reasoning.join(""), thought: true });
  if (content.length > 0) {
    parts.push({ text: content.join(""), ...(shown.signs && { thoughtSignature: sign("gemini", seed, "") }) });
  }
  return calls.length > 0 ? [...parts, ...callsOf(choice, seed, shown)] : parts;
}

/** Of several calls only the first is signed. */
function callsOf({ calls }: Choice, seed: string, { signs }: Shown): readonly object[] {
  return calls.map(({ name, arguments: text }, index) => ({
    functionCall: { name, args: JSON.parse(text) as unknown },
    ...(signs && index === 0 && { thoughtSignature: sign("gemini", seed, name) }),
  }));
}

/** Calls have no reason of their own. */
function finishOf({ finish }: Choice, script: Script): string {
  return script.finish ?? (finish === "length" ? "MAX_TOKENS" : "STOP");
}

function tail({ model, seed }: Answer): object {
  return { modelVersion: model, responseId: `sim-${seed}` };
}

/** Candidates' tokens are those without thoughts. */
function usageOf({ usage }: Answer): object {
  const { prompt, completion, cached, reasoning } = usage;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: less(completion, reasoning),
    totalTokenCount: numeric(prompt) + numeric(completion),
    ...(cached !== 0 && { cachedContentTokenCount: cached }),
    promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
  };
}

function running(answer: Answer, tokens: number, thoughts: number): object {
  return usageOf({ ...answer, usage: { ...answer.usage, completion: tokens + thoughts, reasoning: thoughts } });
}
