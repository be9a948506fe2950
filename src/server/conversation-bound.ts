import { isJson, type Json } from "../kit/index.ts";

/**
 * Values of what a conversation is given in: reading it, and writing it for an upstream, take each into the hand a few
 * times, in one turn of the event loop. Of plain messages that is 16,666.
 */
export const MAX_CONVERSATION_VALUES = 50_000;
/**
 * Characters of what models called tools with, which upstreams want as text or as an object: it is parsed, or written, in
 * one piece. More than any model can read.
 */
export const MAX_ARGUMENT_CHARACTERS = 4 * 1024 * 1024;
/** A tool is its type, its function and what that says of itself. Schemas have a bound of their own. */
const VALUES_A_TOOL = 4;
const TOOLS: ReadonlySet<string> = new Set(["tools", "functions"]);
/** Hold schemas. */
const FORMATS: ReadonlySet<string> = new Set(["response_format", "output_config", "text"]);
/** What tools are called with: JSON text, or the object itself. */
const ARGUMENTS: ReadonlySet<string> = new Set(["arguments", "input"]);

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

interface Excess {
  /** The field that comes to it. */
  readonly pointer: string;
  readonly what: string;
}

/**
 * What of a conversation is more than the gateway reads in one turn of the event loop; null when nothing is. Stops as soon
 * as it is known.
 * @param fields those that the gateway reads; others travel as they are.
 */
export function conversationExcess(body: Json, fields: readonly string[]): Excess | null {
  const count = new Count();
  for (const field of fields) {
    const value = body[field];
    if (FORMATS.has(field)) continue;
    if (TOOLS.has(field)) count.values -= VALUES_A_TOOL * (Array.isArray(value) ? value.length : 0);
    else count.add(value);
    if (count.values < 0) {
      const values = `${MAX_CONVERSATION_VALUES} values in one conversation`;
      return { pointer: `/${field}`, what: `makes it more than ${values}: send fewer messages, parts and tool calls` };
    }
    if (count.characters < 0) {
      const characters = `${MAX_ARGUMENT_CHARACTERS} characters of tool calls in one conversation`;
      return { pointer: `/${field}`, what: `makes it more than ${characters}: send fewer or shorter ones` };
    }
  }
  return null;
}

/** What is left of both bounds. */
class Count {
  values = MAX_CONVERSATION_VALUES;
  characters = MAX_ARGUMENT_CHARACTERS;

  /** @param isArgument whether it is what a tool was called with, or in it. */
  add(value: unknown, isArgument = false): void {
    this.values -= 1;
    if (typeof value === "string") {
      if (isArgument) this.characters -= value.length;
    } else if (Array.isArray(value)) {
      for (let index = 0; index < value.length && this.#goesOn; index++) this.add(value[index], isArgument);
    } else if (isJson(value)) {
      for (const name in value) {
        const inner = value[name];
        if (ARGUMENTS.has(name) && typeof inner === "string") this.#addText(inner);
        else this.add(inner, isArgument || ARGUMENTS.has(name));
        if (!this.#goesOn) return;
      }
    }
  }

  get #goesOn(): boolean {
    return this.values >= 0 && this.characters >= 0;
  }

  /** Counts the values of a JSON text; of any other text what would be values if it were one. */
  #addText(text: string): void {
    this.values -= 1;
    this.characters -= text.length;
    if (this.characters < 0) return;
    let values = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === COMMA || code === OPEN_LIST || code === OPEN_OBJECT) values += 1;
      else if (code === QUOTE) {
        for (at += 1; at < text.length; at++) {
          const inner = text.charCodeAt(at);
          if (inner === QUOTE) break;
          if (inner === BACKSLASH) at += 1;
        }
      }
    }
    this.values -= values;
  }
}
