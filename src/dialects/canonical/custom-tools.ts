import { type Call, isJson, type Json, type StreamEvent, type Target } from "../../kit/index.ts";
import type { AnswerCodec, AnswerForm, Decoded, StreamReader } from "../dialect.ts";
import { RewritingReader } from "./answer.ts";
import { changed, Edits, objects, parseJson, stringOf } from "./json.ts";

/*
 * Tools that take free text (`custom`) in place of arguments: OpenAI's own
 * (https://developers.openai.com/api/docs/guides/function-calling#custom-tools). Any other target is asked by a function of
 * one text, and what it calls is told as the client asked.
 */

/** A tool that takes free text, as a function of one text. */
export function freeformFunction({ description, format }: Json, name: string): Json {
  const texts = typeof description === "string" ? [description] : [];
  const grammar = grammarOf(format);
  if (grammar !== null) texts.push(grammar);
  return {
    name,
    ...(texts.length > 0 && { description: texts.join("\n\n") }),
    parameters: {
      type: "object",
      properties: { input: { type: "string", description: "The tool's input: plain text, not JSON inside of it." } },
      required: ["input"],
      additionalProperties: false,
    },
  };
}

/** Chat completions have the grammar in an object of its own. */
function grammarOf(format: unknown): string | null {
  if (!isJson(format) || format["type"] !== "grammar") return null;
  const { syntax, definition } = isJson(format["grammar"]) ? format["grammar"] : format;
  if (typeof syntax !== "string" || typeof definition !== "string") return null;
  return `The input must match this ${syntax} grammar:\n${definition}`;
}

/** The free text in the arguments of a custom tool's call; of other arguments their text. */
export function freeformInput(args: string): string {
  const read = parseJson(args);
  const input = isJson(read) ? read["input"] : undefined;
  return typeof input === "string" ? input : args;
}

/** What arguments of one text begin with, as far as the text. */
const WRAPPED = /^\s*\{\s*"input"\s*:\s*"/;
/** What can be read of a JSON text that goes on: whole characters and escapes, up to its end. */
const READABLE = /(?:[^"\\]+|\\(?:u[\da-fA-F]{4}|[^u]))*/y;
/** The first half of a character that comes as two escapes or units. */
const HALF = /(?:\\u[dD][89abAB][\da-fA-F]{2}|[\uD800-\uDBFF])$/;

/** The free text in arguments that come piece by piece. */
export class FreeformReader {
  #arguments = "";
  /** Where the untold text begins in the arguments; -1 before it has begun. */
  #next = -1;
  #told = "";

  /** @returns the text that is known by now and was not told before. */
  add(delta: string): string {
    this.#arguments += delta;
    if (this.#next < 0) this.#next = WRAPPED.exec(this.#arguments)?.[0].length ?? -1;
    if (this.#next < 0) return "";
    READABLE.lastIndex = this.#next;
    const text = READABLE.exec(this.#arguments)?.[0] ?? "";
    const whole = text.slice(0, text.length - (HALF.exec(text)?.[0].length ?? 0));
    const read = parseJson(`"${whole}"`);
    if (typeof read !== "string") return "";
    this.#next += whole.length;
    this.#told += read;
    return read;
  }

  /** The whole text, and its untold end. Arguments in another shape are known only at their end. */
  end(): { readonly input: string; readonly rest: string } {
    const input = freeformInput(this.#arguments);
    return { input, rest: input.startsWith(this.#told) ? input.slice(this.#told.length) : "" };
  }
}

/**
 * The codec of a dialect that knows functions alone, for clients that have custom tools.
 * @param takes whether the target knows custom tools too.
 */
export function takingCustomTools<Codec extends AnswerCodec>(
  codec: Codec,
  takes: (call: Call, target: Target) => boolean = () => false,
): Codec {
  return {
    ...codec,
    request(call, target, apiKey) {
      const body = withFunctions(call.body);
      if (body === call.body || takes(call, target)) return codec.request(call, target, apiKey);
      const { dropped = [], form, ...request } = codec.request({ ...call, body }, target, apiKey);
      const told = [...dropped.flatMap((pointer) => asCustomPointer(pointer, call.body)), ...grammars(call.body)];
      const names = customNames(call.body);
      return {
        ...request,
        ...(told.length > 0 && { dropped: [...new Set(told)] }),
        ...(names.size > 0 ? { form: customForm(form ?? codec, names) } : form !== undefined && { form }),
      };
    },
  };
}

/** The body with functions in place of custom tools, and of calls of them; the very same without any. */
function withFunctions(body: Json): Json {
  const edits = new Edits(body);
  edits.set("tools", changed(body["tools"], asFunction));
  edits.set(
    "messages",
    changed(body["messages"], (message) => {
      const edited = new Edits(message);
      if (message["tool_calls"] !== undefined) edited.set("tool_calls", changed(message["tool_calls"], asFunctionCall));
      return edited.object;
    }),
  );
  const { tool_choice: choice } = body;
  if (isJson(choice)) edits.set("tool_choice", asFunctionChoice(choice));
  return edits.object;
}

function asFunction(tool: Json): Json {
  const { custom, type: _type, ...rest } = tool;
  if (!isCustom(tool) || !isJson(custom)) return tool;
  return { ...rest, type: "function", function: freeformFunction(custom, stringOf(custom["name"])) };
}

function asFunctionCall(call: Json): Json {
  const { custom, type: _type, ...rest } = call;
  if (!isCustom(call) || !isJson(custom)) return call;
  const written = JSON.stringify({ input: stringOf(custom["input"]) });
  return { ...rest, type: "function", function: { name: custom["name"], arguments: written } };
}

function asFunctionChoice(choice: Json): Json {
  const { custom, allowed_tools: allowed } = choice;
  if (isCustom(choice) && isJson(custom)) return { type: "function", function: { name: custom["name"] } };
  if (!isJson(allowed)) return choice;
  const tools = changed(allowed["tools"], asFunctionChoice);
  return tools === allowed["tools"] ? choice : { ...choice, allowed_tools: { ...allowed, tools } };
}

function isCustom({ type, custom }: Json): boolean {
  return type === "custom" && isJson(custom) && stringOf(custom["name"]) !== "";
}

/** Names of custom tools that are no names of functions too. */
function customNames({ tools }: Json): ReadonlySet<unknown> {
  const all = objects(tools);
  const functions = new Set(all.map((tool) => nameIn(tool["function"])));
  const custom = all.filter(isCustom).map((tool) => nameIn(tool["custom"]));
  return new Set(custom.filter((name) => !functions.has(name)));
}

function nameIn(described: unknown): unknown {
  return isJson(described) ? described["name"] : undefined;
}

/** A pointer into the client's own body; none for what this file wrote into a function. */
function asCustomPointer(pointer: string, { tools }: Json): readonly string[] {
  const [, at, inner] = /^\/tools\/(\d+)(\/.*)?$/.exec(pointer) ?? [];
  const tool = Array.isArray(tools) && at !== undefined ? (tools as readonly unknown[])[Number(at)] : undefined;
  return isJson(tool) && isCustom(tool) && inner?.startsWith("/function") === true ? [] : [pointer];
}

/** Grammars are said, but nothing holds a model to them. */
function grammars({ tools }: Json): readonly string[] {
  return objects(tools).flatMap(({ custom }, index) =>
    isJson(custom) && grammarOf(custom["format"]) !== null ? [`/tools/${index}/custom/format`] : [],
  );
}

/** What reads answers in which custom tools are called as functions. */
function customForm(form: AnswerForm, names: ReadonlySet<unknown>): AnswerForm {
  const { decoder } = form;
  return {
    ...form,
    answer: (bytes, call) => answered(form.answer(bytes, call), names),
    decoder: decoder === null ? null : (call) => new CustomCallReader(decoder(call), names),
  };
}

function answered({ body, usage }: Decoded, names: ReadonlySet<unknown>): Decoded {
  const choices = changed(body["choices"], (choice) => {
    const { message } = choice;
    if (!isJson(message)) return choice;
    const calls = changed(message["tool_calls"], (call) => {
      const { function: called, type: _type, ...rest } = call;
      if (!isJson(called) || !names.has(called["name"])) return call;
      const input = freeformInput(stringOf(called["arguments"]));
      return { ...rest, type: "custom", custom: { name: called["name"], input } };
    });
    return calls === message["tool_calls"] ? choice : { ...choice, message: { ...message, tool_calls: calls } };
  });
  return { body: choices === body["choices"] ? body : { ...body, choices }, usage };
}

class CustomCallReader extends RewritingReader {
  readonly #names: ReadonlySet<unknown>;
  /** Calls of custom tools by their places in the choices. */
  readonly #calls = new Map<unknown, Map<unknown, FreeformReader>>();

  constructor(inner: StreamReader, names: ReadonlySet<unknown>) {
    super(inner);
    this.#names = names;
  }

  /** Without the upstream's own text where that is not what is said. */
  protected override rewrite(event: StreamEvent): StreamEvent {
    const choices = changed(event.data["choices"], (choice) => this.#choice(choice));
    if (choices === event.data["choices"]) return event;
    const { raw: _raw, ...rest } = event;
    return { ...rest, data: { ...event.data, choices } };
  }

  #choice(choice: Json): Json {
    const { index: place, delta, finish_reason: reason } = choice;
    const { tool_calls: calls, ...fields } = isJson(delta) ? delta : {};
    const known = this.#calls.get(place) ?? new Map<unknown, FreeformReader>();
    this.#calls.set(place, known);
    const written = changed(calls, (call) => this.#call(call, known));
    const ended = reason !== null && reason !== undefined ? restOf(known) : [];
    if (written === calls && ended.length === 0) return choice;
    const said = [...objects(written), ...ended].filter((call) => call["id"] !== undefined || !saysNothing(call));
    return { ...choice, delta: { ...fields, ...(said.length > 0 && { tool_calls: said }) } };
  }

  #call(call: Json, known: Map<unknown, FreeformReader>): Json {
    const { function: called, type, ...rest } = call;
    if (!isJson(called)) return call;
    const { name, arguments: args, ...inner } = called;
    const { index } = call;
    if (this.#names.has(name)) known.set(index, new FreeformReader());
    const reader = known.get(index);
    if (reader === undefined) return call;
    const input = reader.add(stringOf(args));
    const begins = type !== undefined && { type: "custom" };
    return { ...rest, ...begins, custom: { ...(name !== undefined && { name }), ...inner, input } };
  }
}

/** What of the texts was not told while they came. */
function restOf(known: Map<unknown, FreeformReader>): readonly Json[] {
  const rests = [...known].map(([index, reader]) => ({ index, custom: { input: reader.end().rest } }));
  known.clear();
  return rests.filter(({ custom }) => custom.input !== "");
}

function saysNothing({ custom }: Json): boolean {
  return isJson(custom) && custom["input"] === "";
}
