import { type Call, isJson, type Json, type Usage } from "../../kit/index.ts";
import { malformed } from "../canonical/errors.ts";
import { type Finish, finishOf } from "../canonical/finish.ts";
import { extraFields, objects, stringOf } from "../canonical/json.ts";
import { annotationOf } from "../canonical/message.ts";
import { cacheWrites, tokenCount } from "../canonical/usage.ts";

/*
 * How what only the Messages format knows travels through the canonical middle between a Messages client and this
 * dialect; every other pair of formats goes without.
 *
 * - A block without a canonical part is `{type: "native", dialect: "messages", block}` among the parts, in its place.
 * - Fields beside the canonical ones of a block, tool or message are a field `native` of its canonical counterpart.
 * - `block_order` of an assistant message says in which of its lists the next block stands, where that is not reasoning,
 *   then content, then tool calls.
 * - In streams `delta.native` is `{dialect: "messages", event}`: an event of the Messages stream in its place, for what has
 *   no canonical delta. A complete answer has `native: {dialect: "messages", message}` beside its choices.
 */
const DIALECT = "messages";

/** The block of a native part. */
export function nativeBlock(part: Json): Json | null {
  const { type, dialect, block } = part;
  return type === "native" && dialect === DIALECT && isJson(block) ? block : null;
}

export function nativePart(block: Json): Json {
  return { type: "native", dialect: DIALECT, block };
}

/** The fields beside the canonical ones. */
export function nativeFields({ native }: Json, verbatim: boolean): Json {
  return verbatim && isJson(native) ? native : {};
}

/** `{native}` for fields without a canonical place, or nothing. */
export function withNative(fields: Json): Json {
  return Object.keys(fields).length === 0 ? {} : { native: fields };
}

export function nativeEvent(event: Json): Json {
  return { native: { dialect: DIALECT, event } };
}

export function nativeMessage(message: Json): Json {
  return { native: { dialect: DIALECT, message } };
}

/** Whether the client speaks this dialect itself. */
export function ofMessages(call: Call): boolean {
  return call.dialect === DIALECT;
}

/** The fields of a content block that have a canonical place, by its type. */
export const CANONICAL = {
  text: new Set(["type", "text"]),
  thinking: new Set(["type", "thinking", "signature"]),
  redacted_thinking: new Set(["type", "data"]),
  tool_use: new Set(["type", "id", "name", "input"]),
} satisfies Readonly<Record<string, ReadonlySet<string>>>;

/** A text field. @throws AttemptError when it is none. */
export function textField(block: Json, name: string): string {
  const value = block[name];
  if (typeof value !== "string") throw malformed(`a ${name} that is no text`);
  return value;
}

/** The id of a tool_use block: results are told apart by it. */
export function toolId(block: Json): string {
  const id = textField(block, "id");
  if (id === "") throw malformed("a tool call without an id");
  return id;
}

/**
 * The citations of one text block as annotations of the answer's text, in which the block stands from `start` to `end`
 * (UTF-16 units).
 */
export function annotationsOf(citations: unknown, start: number, end: number): readonly Json[] {
  return objects(citations).map((citation) => {
    const { type: location, title, cited_text: quote, document_title, document_index: index, file_id } = citation;
    const file = { filename: document_title ?? title, file_id, index, quote, location };
    return annotationOf(citation, file, { start_index: start, end_index: end });
  });
}

/**
 * The tool calls of an answer, and which of them it answers itself: a server tool that called them has its result in the
 * same answer (programmatic tool calling), or they have one of their own.
 */
export class CallLedger {
  readonly #made: { readonly id: unknown; readonly caller: unknown }[] = [];
  readonly #answered = new Set<unknown>();

  /** Notes a content block of any type. */
  note({ type, id, caller, tool_use_id: answered }: Json): void {
    if (type === "tool_use") this.#made.push({ id, caller: isJson(caller) ? caller["tool_id"] : undefined });
    else if (typeof answered === "string") this.#answered.add(answered);
  }

  /** Whether a call is left for the client to answer. */
  get open(): boolean {
    return this.#made.some(({ id, caller }) => !this.#answered.has(id) && !this.#answered.has(caller));
  }
}

/** How the answer ended; `native_finish_reason` is null where it was not told. */
export function stopOf({ stop_reason: word, stop_sequence: sequence }: Json, calls: CallLedger): Finish | NoStop {
  // A paused turn goes on at the provider, whatever it has called.
  if (typeof word === "string")
    return finishOf("anthropic", word, { called: word !== "pause_turn" && calls.open, sequence });
  const stopped = typeof sequence === "string" ? { stop_sequence: sequence } : {};
  return { finish_reason: calls.open ? "tool_calls" : "stop", native_finish_reason: null, ...stopped };
}

interface NoStop extends Omit<Finish, "native_finish_reason"> {
  readonly native_finish_reason: null;
}

/** Why the model would not go on. */
export function explanationOf({ stop_details: details }: Json): string | null {
  const explanation = isJson(details) ? details["explanation"] : null;
  return typeof explanation === "string" && explanation !== "" ? explanation : null;
}

/** Counts are cumulative and may be restated: the last word on each counts. */
export function restated(usage: Json, more: unknown): Json {
  const said = isJson(more) ? Object.entries(more).filter(([, value]) => value !== null) : [];
  return { ...usage, ...Object.fromEntries(said) };
}

/**
 * Iterations whose tokens the top level leaves out: the requests that a server-side compaction and an advisor make
 * beside the answer's own. Source: @anthropic-ai/sdk resources/beta/messages/messages.d.ts (`BetaUsage.iterations`),
 * https://platform.claude.com/docs/en/build-with-claude/compaction-threshold,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool.
 */
const BESIDE_TOP_LEVEL: ReadonlySet<unknown> = new Set(["compaction", "advisor_message"]);

/**
 * Everything the provider bills for: `server_tool_use` counts requests, whose tokens stand at the top level.
 * @returns null when a count is missing or not to be believed.
 */
export function usageOf(usage: Json): Usage | null {
  let sum = countsOf(usage);
  const { iterations } = usage;
  for (const one of Array.isArray(iterations) ? iterations : []) {
    if (!isJson(one) || !BESIDE_TOP_LEVEL.has(one["type"])) continue;
    const more = countsOf(one);
    if (sum !== null && more !== null) sum = added(sum, more);
  }
  return sum;
}

function added(a: Usage, b: Usage): Usage {
  return {
    prompt: a.prompt + b.prompt,
    completion: a.completion + b.completion,
    cached: a.cached + b.cached,
    reasoning: a.reasoning + b.reasoning,
    ...cacheWrites((a.cacheWrite ?? 0) + (b.cacheWrite ?? 0), (a.cacheWrite1h ?? 0) + (b.cacheWrite1h ?? 0)),
  };
}

function countsOf(usage: Json): Usage | null {
  const [input, output] = [tokenCount(usage["input_tokens"]), tokenCount(usage["output_tokens"])];
  const [cached, cacheWrite] = [
    tokenCount(usage["cache_read_input_tokens"] ?? 0),
    tokenCount(usage["cache_creation_input_tokens"] ?? 0),
  ];
  if (input === null || output === null || cached === null || cacheWrite === null) return null;
  const { cache_creation: created, output_tokens_details: details } = usage;
  const reasoning = isJson(details) ? (tokenCount(details["thinking_tokens"]) ?? 0) : 0;
  return {
    prompt: input + cached + cacheWrite,
    completion: output,
    cached,
    reasoning: Math.min(reasoning, output),
    ...cacheWrites(cacheWrite, isJson(created) ? created["ephemeral_1h_input_tokens"] : 0),
  };
}

/*
 * Encrypted reasoning of the Responses API goes back with the id of its item and to those alone that can read it, and a
 * block has no place for either: they stand before the data, as `responses1.<format>.<id>.<data>`.
 */
const OF_ITEM = /^responses1\.([\w-]*)\.([\w-]*)\./;
const WORD = /^[\w-]*$/;

/** The `data` of a block for a detail of encrypted reasoning. */
export function sealedData({ data, id, format = "" }: Json): string {
  const known = typeof id === "string" && WORD.test(id) && typeof format === "string" && WORD.test(format);
  return known ? `responses1.${format}.${id}.${stringOf(data)}` : stringOf(data);
}

/** The fields of the detail that a block's `data` stands for. */
export function unsealedData(sealed: string): Json {
  const [head, format, id] = OF_ITEM.exec(sealed) ?? [];
  if (head === undefined) return { data: sealed };
  return { data: sealed.slice(head.length), id, ...(format !== "" && { format }) };
}

/** The further fields of a Messages object, as its canonical counterpart carries them; null stands for "not given". */
export function leftover(fields: Json): Json {
  return withNative(extraFields(fields, NONE));
}

const NONE: ReadonlySet<string> = new Set();
