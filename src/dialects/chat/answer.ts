import { isJson, type Json } from "../../kit/index.ts";
import { finishOf, isCanonicalFinish } from "../canonical/answer.ts";
import { producedText } from "../canonical/produced.ts";
import { malformed } from "../canonical/errors.ts";
import { isText } from "../canonical/json.ts";
import { parseAnswer } from "../canonical/requests.ts";
import { argumentsText, madeId } from "../canonical/tools.ts";
import { canonicalUsage, readUsage, reportedUsage } from "../canonical/usage.ts";
import type { Decoded } from "../dialect.ts";

/** A complete answer in the canonical form. @throws AttemptError for a body that is none. */
export function readAnswer(bytes: Uint8Array): Decoded {
  const body = parseAnswer(bytes);
  const { choices } = body;
  if (!Array.isArray(choices) || choices.length === 0) throw malformed("an answer without choices");
  const usage = readUsage(body);
  const counts = usage === null ? body["usage"] : canonicalUsage(reportedUsage(body) ?? {}, usage);
  if (counts === body["usage"] && choices.every(isCanonical)) return { body, usage };
  const read = choices.map((choice: unknown, position) => readChoice(choice, position, body["id"]));
  return { body: { ...body, choices: read, ...(usage !== null && { usage: counts }) }, usage };
}

/** Whether a choice of text alone would be read to one that says the same. */
function isCanonical(choice: unknown): boolean {
  if (!isJson(choice) || !isJson(choice["message"])) return false;
  const { index, message, finish_reason: finish } = choice;
  const { role, content, reasoning, reasoning_content: thoughts, tool_calls: calls } = message;
  if (role !== "assistant" || (typeof content !== "string" && content !== null)) return false;
  if (reasoning !== undefined || (thoughts !== undefined && !isText(thoughts)) || calls !== undefined) return false;
  return Number.isSafeInteger(index) && isCanonicalFinish(finish, false);
}

function readChoice(choice: unknown, position: number, id: unknown): Json {
  if (!isJson(choice) || !isJson(choice["message"])) throw malformed("an answer without choices");
  const { index, message, finish_reason: finish } = choice;
  const { tool_calls, ...fields } = withText(message);
  const content = fields["content"] ?? null;
  if (fields["reasoning_content"] === null) delete fields["reasoning_content"];
  const seed = `${typeof id === "string" ? id : ""}/${position}`;
  const calls = Array.isArray(tool_calls) ? readCalls(tool_calls, seed) : [];
  const called = calls.length > 0;
  return {
    ...choice,
    index: typeof index === "number" && Number.isSafeInteger(index) ? index : position,
    message: { ...fields, role: "assistant", content, ...(called && { tool_calls: calls }) },
    ...(isText(finish) ? finishOf("openai", finish, { called }) : { finish_reason: called ? "tool_calls" : "stop" }),
  };
}

/** Every call with a type and an id of its own, its arguments as JSON text. */
function readCalls(calls: readonly unknown[], seed: string): readonly Json[] {
  const ids = new Set<string>();
  return calls.map((call, position) => {
    if (!isJson(call)) throw malformed("a tool call that is none");
    const own = isText(call["id"]) && !ids.has(call["id"]) ? call["id"] : madeId(`${seed}/${position}`);
    ids.add(own);
    if (!isJson(call["function"])) {
      if (!isText(call["type"])) throw malformed("a tool call without a function");
      // Another kind of tool, such as `custom`.
      return { ...call, id: own };
    }
    const { name, arguments: args, ...inner } = call["function"];
    if (!isText(name)) throw malformed("a tool call without a name");
    const called = { ...inner, name, arguments: argumentsText(args) || "{}" };
    return { ...call, id: own, type: "function", function: called };
  });
}

/**
 * The fields of a delta or message with its content as text and its thoughts as `reasoning_content`: Groq, OpenRouter and
 * vLLM call them `reasoning`, Mistral sends both as parts of the content.
 */
function withText(part: Json): Record<string, unknown> {
  const { content, reasoning, reasoning_content: thoughts, ...rest } = part;
  const fields: Record<string, unknown> = rest;
  const parts = Array.isArray(content) ? readParts(content) : { text: text(content), thoughts: "" };
  if (parts.text !== null || content === null) fields["content"] = parts.text;
  // Some upstreams say the same under both names.
  const own = text(thoughts) || text(reasoning);
  if (own !== null || parts.thoughts !== "") fields["reasoning_content"] = (own ?? "") + parts.thoughts;
  return fields;
}

interface Parts {
  readonly text: string | null;
  readonly thoughts: string;
}

/** `{type: "text", text}` and Mistral's `{type: "thinking", thinking: [{type: "text", text}]}`. */
function readParts(parts: readonly unknown[]): Parts {
  let content: string | null = null;
  let thoughts = "";
  for (const part of parts) {
    if (!isJson(part)) continue;
    if (part["type"] === "thinking") thoughts += textIn(part["thinking"]);
    else content = (content ?? "") + textIn([part]);
  }
  return { text: content, thoughts };
}

function textIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  return value.map((part: unknown) => (isJson(part) ? (text(part["text"]) ?? "") : "")).join("");
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Puts the deltas of one streamed choice into the canonical form. */
export class ChoiceReader {
  readonly index: number;
  /** Names the choice. */
  readonly #seed: string;
  /** null before the first tool call: most answers have none. */
  #calls: CallDeltas | null = null;
  #begun = false;
  /** Its finish reason was seen. */
  finished = false;
  /** What the last piece produced. */
  text = "";

  /** @param seed names the answer. */
  constructor(index: number, seed: string) {
    this.index = index;
    this.#seed = seed;
  }

  /**
   * @returns the very same object when it is canonical already; null for one that says nothing after its finish.
   * @throws AttemptError for an answer that broke off.
   */
  read(choice: Json): Json | null {
    return this.#isCanonical(choice) ? choice : this.#rewritten(choice);
  }

  /** The finish of a choice that the upstream ended without one. */
  end(): Json {
    this.finished = true;
    return { index: this.index, delta: {}, finish_reason: this.#called ? "tool_calls" : "stop" };
  }

  get #called(): boolean {
    return this.#calls?.any ?? false;
  }

  #deltas(): CallDeltas {
    return (this.#calls ??= new CallDeltas(`${this.#seed}/${this.index}`));
  }

  #isCanonical({ index, delta, finish_reason: finish }: Json): boolean {
    if (index !== this.index || !isJson(delta)) return false;
    const first = !this.#begun;
    if (first && delta["role"] !== "assistant") return false;
    if (finish !== null && (this.finished || delta["tool_calls"] !== undefined)) return false;
    if (finish !== null && !isCanonicalFinish(finish, this.#called)) return false;
    let calls: unknown;
    let text = "";
    /** It has nothing but a text. */
    let isPlain = true;
    for (const name in delta) {
      const value = delta[name];
      if (name === "content" || name === "refusal") {
        // OpenAI's own first delta says null; elsewhere some clients take it for the end of a text.
        if (typeof value === "string") text += value;
        else if (!first || value !== null) return false;
      } else if (name === "reasoning_content") {
        if (typeof value !== "string") return false;
        text += value;
      } else if (name === "tool_calls") calls = value;
      else if (value === null || name === "reasoning" || (name === "role" && value !== "assistant")) return false;
      else isPlain &&= name === "role";
    }
    // Last, because it counts the calls.
    if (calls !== undefined && !this.#deltas().accept(calls)) return false;
    this.text = isPlain && calls === undefined ? text : producedText(delta);
    this.#begun = true;
    this.finished ||= finish !== null;
    return true;
  }

  #rewritten({ message, ...choice }: Json): Json | null {
    const part = isJson(choice["delta"]) ? choice["delta"] : isJson(message) ? message : {};
    const { role: _role, tool_calls, ...others } = withText(part);
    const fields = Object.entries(others).filter(([, value]) => value !== null);
    const calls = tool_calls === undefined ? [] : this.#deltas().read(tool_calls);
    const role = this.#begun ? {} : { role: "assistant" };
    this.#begun = true;
    const delta = { ...role, ...Object.fromEntries(fields), ...(calls.length > 0 && { tool_calls: calls }) };
    this.text = producedText(delta);
    if (this.finished && calls.length === 0 && fields.every(([, value]) => value === "")) return null;
    const { finish_reason: word } = choice;
    const ends = !this.finished && isText(word);
    const finish = ends ? finishOf("openai", word, { called: this.#called }) : null;
    this.finished ||= finish !== null;
    return { ...choice, index: this.index, delta, ...(finish ?? { finish_reason: null }) };
  }
}

/** More than any model makes at once; what is kept of a stream is bounded. */
const MAX_CALLS = 1024;
/** Characters of arguments that wait for a name. */
const MAX_HELD_CHARACTERS = 1024 * 1024;

/** One tool call of a choice while its deltas come. */
interface OpenCall {
  /** The upstream's number for it; null without one. */
  readonly number: number | null;
  id: string;
  name: string;
  /** Of arguments that came before the name. */
  held: string;
  /** Arguments have come. */
  begun: boolean;
  /** Of a `custom` tool, which takes free text. */
  free: boolean;
  /** In the canonical stream; -1 until its name is known. */
  index: number;
}

/**
 * Numbers the tool calls of one choice from 0 and gives each its id, type and name once, in its first delta. Upstreams
 * leave out indexes and types (Mistral), count from 1 (Anthropic's), give every call the same index (Google's), or repeat
 * ids, names and empty ones.
 */
class CallDeltas {
  /** Names the answer: ids are made of it where the upstream gives none. */
  readonly #seed: string;
  readonly #calls: OpenCall[] = [];
  readonly #ids = new Set<string>();
  #begunCalls = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** Whether the choice has tool calls. */
  get any(): boolean {
    return this.#begunCalls > 0;
  }

  /** Notes a list that is one canonical delta; false for any other, which is left to `read`. */
  accept(list: unknown): boolean {
    if (!Array.isArray(list) || list.length !== 1) return false;
    const [delta] = list as readonly unknown[];
    if (!isJson(delta) || !isJson(delta["function"])) return false;
    const { index, id, type } = delta;
    const { name, arguments: args } = delta["function"];
    if (typeof args !== "string") return false;
    if (id === undefined && type === undefined && name === undefined) {
      const call = this.#calls.findLast(({ number }) => number === index);
      if (call === undefined || call.index !== index) return false;
      call.begun ||= args !== "";
      return true;
    }
    if (index !== this.#begunCalls || this.#calls.some(({ number }) => number === index)) return false;
    if (this.#calls.length >= MAX_CALLS) return false;
    if (!isText(id) || this.#ids.has(id) || type !== "function" || !isText(name)) return false;
    this.#ids.add(id);
    this.#calls.push({ number: index, id, name, held: "", begun: args !== "", free: false, index: this.#begunCalls++ });
    return true;
  }

  /** The canonical deltas for those of an upstream. @throws AttemptError for more than can be kept. */
  read(list: unknown): readonly Json[] {
    return Array.isArray(list) ? list.flatMap((delta: unknown) => (isJson(delta) ? this.#delta(delta) : [])) : [];
  }

  #delta(delta: Json): readonly Json[] {
    const { index, id, type: _type, function: called, custom, ...rest } = delta;
    const free = !isJson(called) && isJson(custom);
    const { name, arguments: args, input, ...inner } = isJson(called) ? called : isJson(custom) ? custom : {};
    const given = isText(name) ? name : "";
    const call = this.#find(index, id, given);
    const sent = free ? input : args;
    // An object is the whole of the arguments, so it cannot follow some.
    const text = typeof sent === "string" || !call.begun ? argumentsText(sent) : "";
    call.begun ||= text !== "";
    if (call.index >= 0) {
      if (text === "" && Object.keys(rest).length === 0) return [];
      return [{ index: call.index, ...rest, ...written(call.free, text) }];
    }
    call.held += text;
    if (call.held.length > MAX_HELD_CHARACTERS) throw malformed("a tool call without a name");
    if (isText(id)) call.id = id;
    call.name = given;
    if (given === "") return [];
    call.free = free;
    call.index = this.#begunCalls++;
    call.id = this.#unique(call.id);
    const type = free ? "custom" : "function";
    return [{ index: call.index, id: call.id, type, ...rest, ...written(free, call.held, { ...inner, name: given }) }];
  }

  /** The call a delta belongs to, begun where it is new. */
  #find(index: unknown, id: unknown, name: string): OpenCall {
    const number = typeof index === "number" && Number.isInteger(index) ? index : null;
    const known =
      number === null
        ? (this.#calls.findLast((call) => isText(id) && call.id === id) ?? this.#calls.at(-1))
        : this.#calls.findLast((call) => call.number === number);
    if (known !== undefined && !isAnother(known, id, name, number)) return known;
    if (this.#calls.length >= MAX_CALLS) throw malformed("more tool calls than can be answered");
    const call = { number, id: "", name: "", held: "", begun: false, free: false, index: -1 };
    this.#calls.push(call);
    return call;
  }

  #unique(id: string): string {
    const own = id === "" || this.#ids.has(id) ? madeId(`${this.#seed}/${this.#begunCalls}`) : id;
    this.#ids.add(own);
    return own;
  }
}

/** Whether a delta that would belong to `known` begins another call: under a new id, or without any number or id. */
function isAnother(known: OpenCall, id: unknown, name: string, number: number | null): boolean {
  if (name === "" || known.name === "") return false;
  if (isText(id)) return id !== known.id;
  return number === null;
}

/** A piece of what a tool is called with, under the names of its kind. */
function written(free: boolean, text: string, more: Json = {}): Json {
  return free ? { custom: { ...more, input: text } } : { function: { ...more, arguments: text } };
}
