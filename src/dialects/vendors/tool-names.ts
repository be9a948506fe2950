import { isJson, type Json, type StreamEvent } from "../../kit/index.ts";
import type { AnswerCodec, AnswerForm, StreamDecoder } from "../dialect.ts";
import { changed, Edits } from "../openai/edits.ts";
import { sha256 } from "../tool-ids.ts";
import type { Rules } from "./types.ts";

const NOT_WORD = /[^\w-]/g;
/** Characters of the digest that keeps shortened names apart. */
const DIGEST = 8;

/** What names of tools an upstream takes. */
export type NameRules = Pick<Rules, "toolName" | "toolNameCharacters">;

/** The names of one request's tools as an upstream takes them, and back. Equal names stay equal, different ones different. */
export class ToolNames {
  readonly #rules: NameRules;
  readonly #short = new Map<string, string>();
  readonly #own = new Map<string, string>();

  constructor(rules: NameRules) {
    this.#rules = rules;
  }

  /** Whether any name was changed: only then has an answer names to be put back. */
  get changed(): boolean {
    return this.#own.size > 0;
  }

  /** The very same name where the upstream takes it. */
  written(name: string): string {
    if (this.#fits(name)) return name;
    const known = this.#short.get(name);
    if (known !== undefined) return known;
    let short = this.#made(name, name);
    for (let n = 2; this.#own.has(short); n++) short = this.#made(name, `${n}/${name}`);
    this.#short.set(name, short);
    this.#own.set(short, name);
    return short;
  }

  /** The client's own name for one that a model calls. */
  read(name: string): string {
    return this.#own.get(name) ?? name;
  }

  #fits(name: string): boolean {
    const { toolName, toolNameCharacters } = this.#rules;
    return name.length <= toolName && (toolNameCharacters === "any" || name.search(NOT_WORD) < 0);
  }

  #made(name: string, seed: string): string {
    const { toolName } = this.#rules;
    const digest = sha256(seed).slice(0, DIGEST);
    const room = Math.max(0, Math.min(toolName, 1024) - digest.length - 1);
    return `${name.replaceAll(NOT_WORD, "_").slice(0, room)}_${digest}`.slice(-toolName);
  }
}

/**
 * The codec of a dialect whose names of tools are bounded: longer ones, and those of other characters, are sent under
 * shorter ones and put back in the answer (decisions 9.3).
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

function namedForm(form: AnswerForm, names: ToolNames): AnswerForm {
  const { decoder, streamType } = form;
  return {
    answer(bytes, call) {
      const { body, usage } = form.answer(bytes, call);
      return { body: withOwnNames(body, "message", names), usage };
    },
    decoder: decoder && ((call) => new NamedDecoder(decoder(call), names)),
    ...(streamType !== undefined && { streamType }),
  };
}

/** A stream whose events call tools by the client's names. */
class NamedDecoder implements StreamDecoder {
  readonly #decoder: StreamDecoder;
  readonly #names: ToolNames;

  constructor(decoder: StreamDecoder, names: ToolNames) {
    this.#decoder = decoder;
    this.#names = names;
  }

  get fault() {
    return this.#decoder.fault;
  }

  get done() {
    return this.#decoder.done;
  }

  get complete() {
    return this.#decoder.complete;
  }

  feed(chunk: Uint8Array) {
    return this.#named(this.#decoder.feed(chunk));
  }

  finish() {
    return this.#named(this.#decoder.finish());
  }

  #named(events: readonly StreamEvent[]): readonly StreamEvent[] {
    return events.map((event) => {
      const data = withOwnNames(event.data, "delta", this.#names);
      if (data === event.data) return event;
      const { raw: _raw, ...rest } = event;
      return { ...rest, data };
    });
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
      const said = new Edits(message);
      const { tool_calls: calls, role, name } = message;
      if (calls !== undefined) {
        said.set(
          "tool_calls",
          changed(calls, (call) => named(call, sent)),
        );
      }
      if (role === "tool" && typeof name === "string") said.set("name", sent(name));
      return said.object;
    }),
  );
  const { tool_choice: choice } = body;
  if (isJson(choice)) edits.set("tool_choice", namedChoice(choice, sent));
  return edits.object;
}

function namedChoice(choice: Json, sent: (name: string) => string): Json {
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
export function withOwnNames(body: Json, part: "message" | "delta", names: ToolNames): Json {
  const choices = changed(body["choices"], (choice) => {
    const said = choice[part];
    if (!isJson(said) || said["tool_calls"] === undefined) return choice;
    const edits = new Edits(said);
    edits.set(
      "tool_calls",
      changed(said["tool_calls"], (call) => named(call, (name) => names.read(name))),
    );
    return edits.object === said ? choice : { ...choice, [part]: edits.object };
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
