import { isJson, type Json, type StreamEvent } from "../../kit/index.ts";
import type { AnswerCodec, AnswerForm, StreamReader } from "../dialect.ts";
import { RewritingReader } from "./answer.ts";
import { changed, Edits } from "./json.ts";
import { sha256 } from "./tools.ts";

/**
 * The codec of a dialect whose names of tools are bounded: longer ones, and those of other characters, are sent under
 * shorter ones and put back in the answer.
 */
export function namingTools<Codec extends AnswerCodec>(codec: Codec, rules: NameRules): Codec {
  return {
    ...codec,
    request(call, target, apiKey) {
      const names = new ToolNames(rules);
      const body = withSentNames(call.body, names);
      if (!names.changed) return codec.request(call, target, apiKey);
      const request = codec.request({ ...call, body }, target, apiKey);
      return { ...request, form: namedForm(request.form ?? codec, names) };
    },
  };
}

/** What reads answers in which tools are called by the names that they have in the request. @param form of the codec. */
export function namedForm(form: AnswerForm, names: ToolNames): AnswerForm {
  const { decoder } = form;
  return {
    ...form,
    answer(bytes, call) {
      const { body, usage } = form.answer(bytes, call);
      return { body: withNames(body, "message", names), usage };
    },
    decoder: decoder === null ? null : (call) => new ToolNameReader(decoder(call), names),
  };
}

class ToolNameReader extends RewritingReader {
  readonly #names: ToolNames;

  constructor(inner: StreamReader, names: ToolNames) {
    super(inner);
    this.#names = names;
  }

  /** Without the upstream's own text where that is not what is said. */
  protected override rewrite(event: StreamEvent): StreamEvent {
    const data = withNames(event.data, "delta", this.#names);
    if (data === event.data) return event;
    const { raw: _raw, ...rest } = event;
    return { ...rest, data };
  }
}

/** A canonical body with the names that are sent; the very same where all of them fit. */
function withSentNames(body: Json, names: ToolNames): Json {
  const edits = new Edits(body);
  const sent = (name: string): string => names.written(name);
  edits.set(
    "tools",
    changed(body["tools"], (tool) => named(tool, sent)),
  );
  edits.set(
    "messages",
    changed(body["messages"], (message) => {
      const edited = new Edits(message);
      const { tool_calls: calls, role, name } = message;
      if (calls !== undefined) {
        edited.set(
          "tool_calls",
          changed(calls, (call) => named(call, sent)),
        );
      }
      if (role === "tool" && typeof name === "string") edited.set("name", sent(name));
      return edited.object;
    }),
  );
  const { tool_choice: choice } = body;
  if (isJson(choice)) edits.set("tool_choice", namedChoice(choice, sent));
  return edits.object;
}

/** A choice of tools under other names; the very same where none changes. */
export function namedChoice(choice: Json, sent: (name: string) => string): Json {
  const edits = new Edits(named(choice, sent));
  const { allowed_tools: allowed } = choice;
  if (isJson(allowed)) {
    const inner = new Edits(allowed);
    inner.set(
      "tools",
      changed(allowed["tools"], (tool) => named(tool, sent)),
    );
    edits.set("allowed_tools", inner.object);
  }
  return edits.object;
}

/** An answer or chunk with the client's own names of tools; the very same where it calls none by another. */
function withNames(body: Json, part: "message" | "delta", names: ToolNames): Json {
  const choices = changed(body["choices"], (choice) => {
    const message = choice[part];
    if (!isJson(message) || message["tool_calls"] === undefined) return choice;
    const edits = new Edits(message);
    edits.set(
      "tool_calls",
      changed(message["tool_calls"], (call) => named(call, (name) => names.read(name))),
    );
    return edits.object === message ? choice : { ...choice, [part]: edits.object };
  });
  return choices === body["choices"] ? body : { ...body, choices };
}

/** A tool, a choice of one or a call, under another name. */
function named(tool: Json, nameOf: (name: string) => string): Json {
  const edits = new Edits(tool);
  for (const kind of ["function", "custom"]) {
    const described = tool[kind];
    if (!isJson(described) || typeof described["name"] !== "string") continue;
    const inner = new Edits(described);
    inner.set("name", nameOf(described["name"]));
    edits.set(kind, inner.object);
  }
  return edits.object;
}

const NOT_WORD = /[^\w-]/g;
/** Characters of the digest that keeps shortened names apart. */
const DIGEST_CHARACTERS = 8;

/** What names of tools an upstream takes. */
export interface NameRules {
  /** Characters of the longest. */
  readonly toolName: number;
  /** `word`: letters, digits, `_` and `-`. */
  readonly toolNameCharacters: "any" | "word";
  /** The first character of a name; by default any of the allowed ones. */
  readonly toolNameStart?: RegExp;
}

/** The names of one request's tools as an upstream takes them, and back. Equal names stay equal, different ones different. */
export class ToolNames {
  readonly #rules: NameRules;
  /** Of both directions; made with the first name that has to be changed. */
  #names: { readonly short: Map<string, string>; readonly own: Map<string, string> } | null = null;

  constructor(rules: NameRules) {
    this.#rules = rules;
  }

  /** Whether any name was changed: only then has an answer names to be put back. */
  get changed(): boolean {
    return this.#names !== null;
  }

  /** The very same name where the upstream takes it. */
  written(name: string): string {
    if (this.#fits(name)) return name;
    this.#names ??= { short: new Map(), own: new Map() };
    const { short, own } = this.#names;
    const known = short.get(name);
    if (known !== undefined) return known;
    let made = this.#made(name, name);
    for (let n = 2; own.has(made); n++) made = this.#made(name, `${n}/${name}`);
    short.set(name, made);
    own.set(made, name);
    return made;
  }

  /** The client's own name for one that a model calls. */
  read(name: string): string {
    return this.#names?.own.get(name) ?? name;
  }

  #fits(name: string): boolean {
    const { toolName, toolNameCharacters, toolNameStart } = this.#rules;
    const begins = toolNameStart === undefined || toolNameStart.test(name);
    return begins && name.length <= toolName && (toolNameCharacters === "any" || name.search(NOT_WORD) < 0);
  }

  #made(name: string, seed: string): string {
    const { toolName, toolNameStart } = this.#rules;
    const digest = sha256(seed).slice(0, DIGEST_CHARACTERS);
    const room = Math.max(0, Math.min(toolName, 1024) - digest.length - 1);
    const word = name.replaceAll(NOT_WORD, "_");
    const begun = toolNameStart === undefined || toolNameStart.test(word) ? word : `tool_${word}`;
    return `${begun.slice(0, room)}_${digest}`.slice(-toolName);
  }
}
