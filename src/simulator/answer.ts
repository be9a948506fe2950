import { hash } from "node:crypto";
import { example } from "./example.ts";
import { asNumber } from "./fields.ts";
import type { Script } from "./script.ts";

/** A request for an answer, in no dialect's own terms. */
export interface Question {
  readonly model: string;
  /** Every text of the prompt. */
  readonly prompt: readonly string[];
  /** The last thing the user said. */
  readonly userText: string;
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
  /** Each is one event of a stream; joined they are the text. */
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
  /** The usage that the answer states: none for a script that says so. */
  readonly claims?: Counts;
}

/** Fixed, so that the same request gets the same bytes: 2026-01-01. */
export const CREATED_SECONDS = 1_767_225_600;
const MAXIMUM_ECHO_CHARACTERS = 500;
const SPACE = 0x20;
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
  const completion = choices.reduce((sum, choice) => sum + choice.tokens, 0);
  const usage = countsOf({ prompt, completion, reasoning: countTokens(reasoning) }, script);
  return { seed, model: question.model, choices, prompt, usage, ...(!script.no_usage && { claims: usage }) };
}

/** Whether a model of this name thinks without being asked to. */
export function thinksByName(model: string): boolean {
  return /reason|think/.test(model);
}

function choose(question: Question, script: Script, seed: string): Choice {
  const thinks = question.thinks ?? thinksByName(question.model);
  const reasoning = thinks ? tokensOf(REASONING).slice(0, question.maximum) : [];
  const left = question.maximum - reasoning.length;
  const calls = question.calls.map((tool, index) => call(tool, `${seed}${index}`));
  const callTokens = calls.reduce((sum, made) => sum + countTokens(`${made.name} ${made.arguments}`), 0);
  if (calls.length > 0 && callTokens <= left) {
    const tokens = reasoning.length + callTokens;
    return { reasoning, content: [], calls, finish: "tool_calls", stopped: null, tokens };
  }
  const { text, stopped } = beforeStop(textFor(question, script.chunks), question.stop);
  const whole = calls.length > 0 ? [] : tokensOf(text);
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
function textFor({ userText, schema }: Question, chunks?: number): string {
  if (schema !== undefined) return JSON.stringify(example(schema), null, 1).replaceAll(/\n */g, " ");
  if (chunks === 0) return "";
  const text = `This is a simulated answer. You said: ${userText.slice(0, MAXIMUM_ECHO_CHARACTERS).toWellFormed()}`;
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
function tokensOf(text: string): readonly string[] {
  return text.match(/[\0- ]*[^\0- ]+/g) ?? [];
}

/** Joins tokens into `chunks` texts (one a token without), none shorter than `bytes`. */
function group(all: readonly string[], chunks = all.length, bytes = 0): readonly string[] {
  const size = Math.min(chunks, all.length);
  if (size === all.length && bytes === 0) return all;
  return Array.from({ length: size }, (_, index) => {
    const from = Math.floor((index * all.length) / size);
    const text = all.slice(from, Math.floor(((index + 1) * all.length) / size)).join("");
    return text + "~".repeat(Math.max(0, bytes - Buffer.byteLength(text)));
  });
}

/** Of an answer to a dialect that gives one. */
export function onlyChoice({ choices }: Answer): Choice {
  const [choice] = choices;
  if (!choice) throw new Error("an answer without a choice");
  return choice;
}

/** What a request says of its tools, in no dialect's own terms. */
export interface ToolUse {
  readonly tools: readonly Tool[];
  /** `{ only }`: one of these, whatever the user says. */
  readonly choice: "auto" | "required" | "none" | { readonly only: readonly string[] };
  /** Whether an answer may have several calls. */
  readonly parallel: boolean;
  /** The last thing the user said. */
  readonly userText: string;
  /** A tool has answered. */
  readonly answered: boolean;
}

/**
 * The tools to call: the one the request demands, else those the user names, else the first when the user speaks of a tool
 * or a function. None once a tool has answered, so that a tool loop ends.
 */
export function toolsToCall({ tools, choice, parallel, userText, answered }: ToolUse): readonly Tool[] {
  if (answered || choice === "none") return [];
  const first = tools.slice(0, 1);
  if (typeof choice === "object") return tools.filter((tool) => choice.only.includes(tool.name)).slice(0, 1);
  const named = tools.filter((tool) => userText.includes(tool.name));
  if (named.length === 0) return choice === "required" || /\b(tool|function)s?\b/i.test(userText) ? first : [];
  return parallel ? named : named.slice(0, 1);
}

/** Tokens as an answer claims them, in OpenAI's sense whatever the dialect. Numbers, unless the script claims otherwise. */
export interface Counts {
  /** Includes `cached` and `cacheWrite`. */
  readonly prompt: unknown;
  /** Includes `reasoning`. */
  readonly completion: unknown;
  readonly cached: unknown;
  readonly cacheWrite: unknown;
  readonly reasoning: number;
}

/** What a script claims, else what was counted; cached tokens that it claims come on top of the prompt's own. */
export function countsOf(
  counted: { readonly prompt: number; readonly completion: number; readonly reasoning: number },
  script: Script,
): Counts {
  const cached = script["usage.cached"] ?? 0;
  const cacheWrite = script["usage.cache_write"] ?? 0;
  return {
    prompt: script["usage.prompt"] ?? counted.prompt + asNumber(cached) + asNumber(cacheWrite),
    completion: script["usage.completion"] ?? counted.completion,
    cached,
    cacheWrite,
    reasoning: counted.reasoning,
  };
}

/** `whole` less `parts`; something that is no number stays as it is. */
export function subtract(whole: unknown, ...parts: readonly unknown[]): unknown {
  return typeof whole === "number" ? parts.reduce<number>((rest, part) => rest - asNumber(part), whole) : whole;
}

const ARGUMENT_DELTA_CHARACTERS = 12;

/** The arguments of a call as a stream brings them. The token of the call's name is in none of them. */
export function* argumentDeltas(call: ToolCall): Generator<{ readonly text: string; readonly tokens: number }> {
  for (let at = 0; at < call.arguments.length; at += ARGUMENT_DELTA_CHARACTERS) {
    const text = call.arguments.slice(at, at + ARGUMENT_DELTA_CHARACTERS);
    // A word that two deltas share counts with the one it starts in, so that the sum is the whole call's.
    const tokens = countTokens(call.arguments.slice(0, at + text.length)) - countTokens(call.arguments.slice(0, at));
    yield { text, tokens };
  }
}

/** Tokens of a call, name and arguments. */
export function callTokens({ name, arguments: text }: ToolCall): number {
  return countTokens(`${name} ${text}`);
}

/**
 * What a provider makes of something so that it knows it again when it comes back: base64, different for every request
 * (`seed`), good for the same `text` at the same provider only. `claude` signs alike wherever it is served: "signature values
 * are compatible across platforms" (https://platform.claude.com/docs/en/build-with-claude/extended-thinking).
 */
export function sign(provider: string, seed: string, text: string): string {
  return Buffer.from(`${seed}.${hash("sha256", `${provider}:${seed}:${text}`)}`).toString("base64");
}

/** Whether this provider gave `signature` for this text. */
export function isSigned(provider: string, signature: unknown, text: string): boolean {
  if (typeof signature !== "string") return false;
  const [seed = ""] = Buffer.from(signature, "base64").toString().split(".");
  return sign(provider, seed, text) === signature;
}
