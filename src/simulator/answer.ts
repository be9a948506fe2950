import { hash } from "node:crypto";
import { example } from "./example.ts";
import type { Script } from "./script.ts";
import { type Counts, countsOf } from "./counts.ts";

/** A request for an answer, in no dialect's own terms. */
export interface Question {
  readonly model: string;
  /** Every text of the prompt. */
  readonly prompt: readonly string[];
  /** The last thing the user said. */
  readonly said: string;
  readonly choices: number;
  readonly maximum: number;
  readonly stop: readonly string[];
  /** Tools to call in this answer. */
  readonly calls: readonly Tool[];
  /** Left out: when the model's name says so. */
  readonly thinks?: boolean;
  /** The JSON Schema that the answer's text is to be an instance of. */
  readonly schema?: unknown;
}

/** Of an answer that is to be JSON, whatever else. */
export const ANY_JSON = Object.freeze({ type: "object", properties: { answer: { type: "string" } } });

export interface Tool {
  readonly name: string;
  readonly parameters: unknown;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export interface Choice {
  /** Each piece is one event of a stream; joined they are the text. */
  readonly reasoning: readonly string[];
  readonly content: readonly string[];
  readonly calls: readonly ToolCall[];
  readonly finish: "stop" | "length" | "tool_calls";
  /** The stop sequence that ended it. */
  readonly stopped: string | null;
  /** Tokens of all of it. */
  readonly tokens: number;
}

export interface Answer {
  /** 24 hexadecimal digits that depend on the request alone. */
  readonly seed: string;
  readonly model: string;
  readonly choices: readonly Choice[];
  /** Tokens of the prompt, whatever is claimed. */
  readonly prompt: number;
  readonly usage: Counts;
}

const MAXIMUM_ECHO = 500;
const SPACE = 32;
const FILLER = " simulated";
const REASONING = "Simulated reasoning: the answer repeats the question.";

/** Tokens as the simulator counts them: one for each run of characters beyond U+0020. */
export function countTokens(text: string): number {
  let count = 0;
  let inside = false;
  // A loop, for prompts are long: a regular expression would cost more than the rest of an answer.
  for (let at = 0; at < text.length; at++) {
    const letter = text.charCodeAt(at) > SPACE;
    if (letter && !inside) count++;
    inside = letter;
  }
  return count;
}

/**
 * The answer to a question: the same for the same `source` (the request's text) and script. Usage is the words of the
 * prompt's texts, and the words of content, reasoning, tool names and tool arguments of every choice.
 */
export function answer(question: Question, script: Script, source: string): Answer {
  const seed = hash("sha256", source).slice(0, 24);
  const choices = Array.from({ length: question.choices }, (_, index) => choose(question, script, `${seed}${index}`));
  const reasoning = choices.flatMap((choice) => choice.reasoning).join("");
  const prompt = question.prompt.reduce((sum, text) => sum + countTokens(text), 0);
  return {
    seed,
    model: question.model,
    choices,
    prompt,
    usage: countsOf(
      {
        prompt,
        completion: choices.reduce((sum, choice) => sum + choice.tokens, 0),
        reasoning: countTokens(reasoning),
      },
      script,
    ),
  };
}

/** Whether a model of this name thinks without being asked to. */
export function thinksByName(model: string): boolean {
  return /reason|think/.test(model);
}

function choose(question: Question, script: Script, seed: string): Choice {
  const thinks = question.thinks ?? thinksByName(question.model);
  const reasoning = thinks ? words(REASONING).slice(0, question.maximum) : [];
  const left = question.maximum - reasoning.length;
  const calls = question.calls.map((tool, index) => call(tool, `${seed}${index}`));
  const callTokens = calls.reduce((sum, made) => sum + countTokens(`${made.name} ${made.arguments}`), 0);
  if (calls.length > 0 && callTokens <= left) {
    const tokens = reasoning.length + callTokens;
    return { reasoning, content: [], calls, finish: "tool_calls", stopped: null, tokens };
  }
  const { text, stopped } = beforeStop(say(question, script.chunks), question.stop);
  const whole = calls.length > 0 ? [] : words(text);
  const content = whole.slice(0, left);
  const finish = content.length < whole.length || calls.length > 0 ? "length" : "stop";
  return {
    reasoning,
    content: group(content, script.chunks, script.chunk_bytes),
    calls: [],
    finish,
    stopped: finish === "stop" ? stopped : null,
    tokens: reasoning.length + content.length,
  };
}

function call(tool: Tool, seed: string): ToolCall {
  return { id: `call_${seed.slice(-24)}`, name: tool.name, arguments: JSON.stringify(example(tool.parameters)) };
}

/** The text of an answer, made long enough for `chunks` events of a word each; JSON stays as it is. */
function say({ said, schema }: Question, chunks?: number): string {
  if (schema !== undefined) return JSON.stringify(example(schema), null, 1).replaceAll(/\n */g, " ");
  if (chunks === 0) return "";
  const text = `This is a simulated answer. You said: ${said.slice(0, MAXIMUM_ECHO).toWellFormed()}`;
  return text + FILLER.repeat(Math.max(0, (chunks ?? 0) - countTokens(text)));
}

function beforeStop(text: string, stop: readonly string[]): { readonly text: string; readonly stopped: string | null } {
  const found = stop
    .map((sequence) => ({ sequence, at: text.indexOf(sequence) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at);
  const [first] = found;
  return first ? { text: text.slice(0, first.at), stopped: first.sequence } : { text, stopped: null };
}

/** Tokens with what stands before them. */
function words(text: string): readonly string[] {
  return text.match(/[\0- ]*[^\0- ]+/g) ?? [];
}

/** Joins words into `chunks` pieces (one a word without), none shorter than `bytes`. */
function group(all: readonly string[], chunks = all.length, bytes = 0): readonly string[] {
  const size = Math.min(chunks, all.length);
  if (size === all.length && bytes === 0) return all;
  return Array.from({ length: size }, (_, index) => {
    const from = Math.floor((index * all.length) / size);
    const piece = all.slice(from, Math.floor(((index + 1) * all.length) / size)).join("");
    return piece + "~".repeat(Math.max(0, bytes - Buffer.byteLength(piece)));
  });
}

/** Of an answer to a dialect that gives one. */
export function onlyChoice({ choices }: Answer): Choice {
  const [choice] = choices;
  if (!choice) throw new Error("an answer without a choice");
  return choice;
}
