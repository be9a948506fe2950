import {
  ANY_MODEL,
  type AnswerExtras,
  type AnswerFormat,
  apiError,
  type Bill,
  type Call,
  type GatewayError,
  isJson,
  type Json,
  mediaBytes,
  mediaTokens,
  type StandIn,
  type StreamEvent,
  type StreamFormat,
} from "../../kit/index.ts";
import type { LongText } from "../canonical/media.ts";
import { pageCitations } from "../canonical/message.ts";
import { producedText } from "../canonical/produced.ts";
import { promptSize, promptText } from "../canonical/prompt.ts";
import { readUsage } from "../canonical/usage.ts";
import { type Shape, ShapedChunk } from "../canonical/chunk-shapes.ts";

/** More than any model can write: what a client allows beyond it holds no more, and money can always be computed. */
const MAX_OUTPUT_TOKENS = 1_000_000_000;
/** The same for `n`: so many answers of the default hold come to MAX_OUTPUT_TOKENS. */
const MAX_ANSWERS = 1_000_000;

/**
 * The canonical call of a chat-completions body that its schema has accepted.
 * @param longTexts texts that are not in the body yet, by what stands for them.
 */
export function readChat(body: Json, longTexts?: ReadonlyMap<string, LongText>): Call {
  const { bytes, media } = promptSize(body, longTexts);
  return {
    kind: "chat",
    model: String(body["model"]),
    stream: body["stream"] === true,
    body,
    promptBytes: bytes + mediaBytes(mediaTokens(media, ANY_MODEL)),
    ...(media.length > 0 && { media }),
    maxOutput: maxOutput(body),
    answers: answers(body),
  };
}

function maxOutput(body: Json): number | null {
  const limit = body["max_completion_tokens"] ?? body["max_tokens"];
  if (typeof limit !== "number" || Number.isNaN(limit)) return null;
  return Math.ceil(Math.min(Math.max(limit, 0) * answers(body), MAX_OUTPUT_TOKENS));
}

function answers({ n }: Json): number {
  return typeof n === "number" && n > 1 ? Math.min(Math.ceil(n), MAX_ANSWERS) : 1;
}

/** Answers to a chat-completions client: `model` is the route, usage is sent only to clients that asked for it. */
export function chatFormat(call: Call, standIn: StandIn = UNKNOWN): AnswerFormat & { readonly stream: StreamFormat } {
  const options = call.body["stream_options"];
  const wantsUsage = isJson(options) && options["include_usage"] === true;
  return new ChatFormat(call, new ChatStream(call.model, wantsUsage, standIn));
}

const UNKNOWN: StandIn = { id: "unknown", created: 0 };

class ChatFormat implements AnswerFormat {
  readonly stream: ChatStream;
  readonly contentType = "application/json";
  readonly #call: Call;

  constructor(call: Call, stream: ChatStream) {
    this.#call = call;
    this.stream = stream;
  }

  answer(body: Json, extras: AnswerExtras): string {
    const { id, created, choices } = body;
    return JSON.stringify({
      ...body,
      choices: choicesForClients(choices, "message"),
      id: typeof id === "string" && id !== "" ? id : `chatcmpl-${extras.id}`,
      object: "chat.completion",
      created: Number.isSafeInteger(created) ? created : extras.created,
      model: this.#call.model,
      usage: wholeUsage(body) ?? billedUsage(extras.bill),
      latency_ms: extras.latencyMs,
      provider: extras.provider,
    });
  }

  promptText(): string {
    return promptText(this.#call.body);
  }

  producedText(body: Json): string {
    const { choices } = body;
    if (!Array.isArray(choices)) return "";
    return choices
      .map((choice) => (isJson(choice) && isJson(choice["message"]) ? producedText(choice["message"]) : ""))
      .join("");
  }
}

/** Of a stream that has said nothing yet. */
const NOTHING: Json = {};
/** No chunk has it: JSON.stringify would write the character as it is. */
const PROBE = String.raw`"\u007f"`;

class ChatStream implements StreamFormat {
  readonly heartbeat = ": keep-alive\n\n";
  readonly #model: string;
  readonly #wantsUsage: boolean;
  #usageSent = false;
  #last = NOTHING;
  /** Made with the first event: most answers are no stream. */
  #splice: ModelSplice | null = null;
  readonly #standIn: StandIn;
  /** Of the chunk before. */
  #shape: Shape | null = null;
  /** What the lines of its chunks begin and end with; null where that cannot be told. */
  #before: string | null = null;
  #after = "";

  constructor(model: string, wantsUsage: boolean, standIn: StandIn) {
    this.#model = model;
    this.#wantsUsage = wantsUsage;
    this.#standIn = standIn;
  }

  event(event: StreamEvent): string {
    const shape = ShapedChunk.shapeOf(event);
    const { raw } = event;
    if (shape === null || raw === undefined) return this.#line(event);
    if (shape !== this.#shape) this.#learn(event, raw, shape);
    if (this.#before === null) return this.#line(event);
    if (this.#wantsUsage) this.#last = event.data;
    return this.#before + raw.slice(shape.before.length, raw.length - shape.after.length) + this.#after;
  }

  /** The lines of a shape's chunks differ as the chunks do, unless they are written anew. */
  #learn(event: StreamEvent, raw: string, shape: Shape): void {
    const [before = "", after = "", more] = this.#line({ ...event, raw: shape.before + PROBE + shape.after }).split(
      PROBE,
    );
    const value = raw.slice(shape.before.length, raw.length - shape.after.length);
    const isKnown = more === undefined && before + value + after === this.#line(event);
    this.#shape = shape;
    this.#before = isKnown ? before : null;
    this.#after = after;
  }

  #line(event: StreamEvent): string {
    const { raw } = event;
    const choices = choicesForClients(event.data["choices"], "delta");
    const same = choices === event.data["choices"];
    const data = same ? event.data : { ...event.data, choices };
    if (this.#wantsUsage) this.#last = data;
    // An event without choices only counts.
    const counts = event.usage !== undefined || event.text !== "";
    const counted = event.usage !== undefined;
    const shows = this.#wantsUsage && isJson(data["usage"]);
    if (counts && !shows && (!Array.isArray(data["choices"]) || data["choices"].length === 0)) return "";
    this.#usageSent ||= counted && shows;
    const hide = !this.#wantsUsage && (counted || data["usage"] !== undefined);
    const whole = isText(data["id"]) && typeof data["created"] === "number";
    this.#splice ??= new ModelSplice(this.#model);
    const text = raw === undefined || !same || !whole || (hide && counted) ? null : this.#splice.write(raw, data, hide);
    return `data: ${text ?? this.#rewrite(data)}\n\n`;
  }

  failure(error: GatewayError): string {
    return `data: ${JSON.stringify({ error: apiError(error) })}\n\ndata: [DONE]\n\n`;
  }

  done(bill: Bill): string {
    if (!this.#wantsUsage || this.#usageSent) return "data: [DONE]\n\n";
    const chunk = { ...this.#last, choices: [], usage: billedUsage(bill) };
    return `data: ${this.#rewrite(chunk)}\n\ndata: [DONE]\n\n`;
  }

  killed(): string {
    return "data: [DONE]\n\n";
  }

  #rewrite(data: Json): string {
    const { id, created } = data;
    const chunk: Record<string, unknown> = { ...data, object: "chat.completion.chunk", model: this.#model };
    // Some upstream dialects have neither.
    if (!isText(id)) chunk["id"] = `chatcmpl-${this.#standIn.id}`;
    if (typeof created !== "number") chunk["created"] = this.#standIn.created;
    // Left out of the text; deleted it would make the object, and writing it, twice as slow.
    if (!this.#wantsUsage && "usage" in data) chunk["usage"] = undefined;
    return JSON.stringify(chunk);
  }
}

/** The choices as clients of this format take them; the very same list where nothing is to be taken out. */
function choicesForClients(choices: unknown, part: "message" | "delta"): unknown {
  if (!Array.isArray(choices)) return choices;
  let changed: unknown[] | null = null;
  for (let at = 0; at < choices.length; at++) {
    const choice: unknown = choices[at];
    const own = isJson(choice) ? choice[part] : null;
    if (!isJson(choice) || !isJson(own)) continue;
    const kept = partForClients(own);
    if (kept === own) continue;
    changed ??= [...choices];
    changed[at] = { ...choice, [part]: kept };
  }
  return changed ?? choices;
}

/** Without annotations that clients refuse, and the order of blocks, which only the Messages format has. */
function partForClients(part: Json): Json {
  const { annotations: all, block_order: order } = part;
  const kept = Array.isArray(all) ? pageCitations(all) : null;
  if (order === undefined && (kept === null || kept === all)) return part;
  const { annotations: _all, block_order: _order, ...rest } = part;
  return kept === null || kept.length === 0 ? rest : { ...rest, annotations: kept };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** The upstream's own usage, its total added where it left that out; null when it is no usage. */
function wholeUsage(body: Json): Json | null {
  const { usage } = body;
  const counted = isJson(usage) ? readUsage(body) : null;
  if (!isJson(usage) || counted === null) return null;
  const total = usage["total_tokens"];
  return Number.isSafeInteger(total) ? usage : { ...usage, total_tokens: counted.prompt + counted.completion };
}

function billedUsage({ usage }: Bill): Json {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion,
    total_tokens: usage.prompt + usage.completion,
  };
}

/*
 * Where a field stands in the text of an object, found without reading all of it. In valid JSON a quote behind a comma or
 * a brace opens a text if a letter follows: inside one it would be escaped, and behind one comes no letter. So
 * `,"usage":null` is a field wherever it is found, and one of the outermost object if nothing but plain fields stand
 * between it and either end. Of two fields of one name in one object nothing is said.
 */

/** A field without escapes whose value is neither an object nor a list. */
const PLAIN = String.raw`"[^"\\]*":(?:"[^"\\]*"|[\w.+-]+)`;
const PLAIN_HEAD = new RegExp(`^\\{(?:${PLAIN},)*$`);
const PLAIN_TAIL = new RegExp(`^(?:,${PLAIN})*\\}$`);
const NO_USAGE = ',"usage":null';

/** Exchanges the model inside the texts of one stream's chunks, which mostly begin alike. */
export class ModelSplice {
  readonly #member: string;
  /** The beginning up to the model that was found last, and what replaces it. */
  #head = "";
  #newHead = "";
  #model: string | null = null;

  /** @param model the route. */
  constructor(model: string) {
    this.#member = `"model":${JSON.stringify(model)}`;
  }

  /**
   * @param raw `data` as text.
   * @param hideUsage whether a usage of null is taken out.
   * @returns the text of one line; null where that is not known to be the same as `data` written anew.
   */
  write(raw: string, data: Json, hideUsage: boolean): string | null {
    const { model } = data;
    if (typeof model !== "string" || raw.includes("\n")) return null;
    const at = hideUsage ? raw.lastIndexOf(NO_USAGE) : raw.length;
    const after = raw.slice(at + NO_USAGE.length);
    if (hideUsage && (at < 0 || !PLAIN_TAIL.test(after))) return null;
    const begin = this.#head.length;
    // Not `startsWith`, which takes twice as long.
    if (model === this.#model && begin <= at && raw.slice(0, begin) === this.#head) {
      return this.#newHead + raw.slice(begin, at) + after;
    }
    return this.#exchange(raw.slice(0, at) + after, model);
  }

  #exchange(text: string, model: string): string | null {
    const member = `"model":${JSON.stringify(model)}`;
    const at = text.indexOf(member);
    const before = text.slice(0, at);
    const after = text.slice(at + member.length);
    if (at < 1 || after.includes('"model"')) return null;
    if (PLAIN_HEAD.test(before)) {
      this.#head = before + member;
      this.#newHead = before + this.#member;
      this.#model = model;
    } else if (!before.endsWith(",") || !PLAIN_TAIL.test(after)) return null;
    return before + this.#member + after;
  }
}
