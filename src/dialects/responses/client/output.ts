import { stringOf } from "../../canonical/json.ts";
import { isJson, type Json } from "../../../kit/index.ts";
import { eventOf } from "../native.ts";
import type { Item, ItemParts, ItemStatus } from "./item.ts";
import { CustomItem, FunctionItem, ImageItem, inlined, MessageItem, ReasoningItem } from "./items.ts";
import { OwnItem, ownPrefix } from "./own-tools.ts";
import type { ToolName } from "./tools.ts";

export interface OutputParts {
  /** What the ids of its items are made of. */
  readonly id: string;
  readonly names: ReadonlyMap<string, ToolName>;
  /** Whether reasoning is sent as a summary. */
  readonly summary: boolean;
  /** Told of every step, in order. */
  readonly emit: (type: string, fields: Json) => void;
}

interface Opened<Kind extends Item> {
  readonly index: number;
  readonly item: Kind;
}

/** An upstream's item of the same format, as it was announced. */
interface Announced {
  readonly item: Json;
  /** The upstream's place of it. */
  readonly place: unknown;
}

interface OpenCall {
  id: string;
  name: string;
  /** Arguments that came before the name. */
  early: string;
  opened: Opened<FunctionItem | CustomItem | OwnItem> | null;
  ended: boolean;
  readonly announced: Announced | null;
}

/**
 * The items of an answer, put together from canonical deltas; a complete message is one delta. Thoughts and words close
 * one another; calls stay open to the end, since the deltas of parallel ones may alternate.
 */
export class Output {
  readonly #parts: OutputParts;
  readonly #done: Json[] = [];
  readonly #calls = new Map<unknown, OpenCall>();
  readonly #callIds = new Set<string>();
  /** Items that have no canonical form: their places here, by those in the upstream's answer. */
  readonly #foreign = new Map<unknown, number>();
  /** Calls by the upstream's places. */
  readonly #callAt = new Map<unknown, OpenCall>();
  #open: Opened<MessageItem | ReasoningItem> | null = null;
  #count = 0;

  constructor(parts: OutputParts) {
    this.#parts = parts;
  }

  add(delta: Json, logprobs: unknown): void {
    const event = eventOf(delta);
    const announced = event === null ? null : this.#native(event);
    this.#think(delta);
    const text = textOf(delta["content"]);
    if (text !== "") this.#message().add("output_text", text, logprobsOf(logprobs));
    for (const annotation of list(delta["annotations"])) this.#message().annotate(annotation);
    const { refusal } = delta;
    if (typeof refusal === "string" && refusal !== "") this.#message().add("refusal", refusal, []);
    for (const { image_url: image } of list(delta["images"])) this.#image(isJson(image) ? image["url"] : null);
    for (const [place, call] of list(delta["tool_calls"]).entries())
      this.#call(call["index"] ?? place, call, announced);
  }

  /**
   * What an upstream of the same format said that has no canonical delta: where its items begin and end, their ids and
   * further fields, and whole items of other types. @returns a call that the same delta begins.
   */
  #native(event: Json): Announced | null {
    const { type, output_index: place, item, part, annotation } = event;
    if (isJson(annotation)) {
      this.#message().cite(annotation);
      return null;
    }
    if (isJson(part) && !this.#foreign.has(place)) {
      if (part["type"] === "output_text" || part["type"] === "refusal") this.#message().begin(part["type"]);
      return null;
    }
    if (!isJson(item)) {
      this.#foreignEvent(event, this.#foreign.get(place));
      return null;
    }
    const done = type === "response.output_item.done";
    switch (item["type"]) {
      case "message":
        if (done) this.#closeOpen();
        else this.#start("msg", (at) => new MessageItem(at), item);
        return null;
      case "reasoning":
        if (!done) this.#start("rs", (at) => new ReasoningItem(at, true), item);
        return null;
      case "function_call":
      case "custom_tool_call":
        if (!done) return { item, place };
        this.#endCall(this.#callAt.get(place), item);
        return null;
      default:
        return this.#foreignItem(event, item, done);
    }
  }

  #foreignItem(event: Json, item: Json, done: boolean): null {
    const known = this.#foreign.get(event["output_index"]);
    const index = known ?? this.#count;
    if (known === undefined) {
      this.#closeOpen();
      this.#count += 1;
      this.#foreign.set(event["output_index"], index);
    }
    this.#foreignEvent(event, index);
    this.#done[index] = item;
    if (done) this.#foreign.delete(event["output_index"]);
    return null;
  }

  #foreignEvent({ type, sequence_number: _number, ...fields }: Json, index: number | undefined): void {
    if (index !== undefined) this.#parts.emit(stringOf(type), { ...fields, output_index: index });
  }

  /** A call that the upstream has ended, with the ones before it. */
  #endCall(call: OpenCall | undefined, { status }: Json): void {
    if (call === undefined || call.opened === null) return;
    this.#close(call.opened, status === "incomplete" ? "incomplete" : "completed");
    call.ended = true;
  }

  /** The items that are whole. What is still open is never told as done: an agent would run half a call. */
  get whole(): readonly Json[] {
    return this.#done;
  }

  /** @param status of what is still open. @returns all items in their order. */
  close(status: ItemStatus): readonly Json[] {
    for (const call of this.#calls.values()) this.#openCall(call);
    const open: Opened<Item>[] = [...this.#calls.values()].flatMap(({ opened, ended }) =>
      ended ? [] : (opened ?? []),
    );
    if (this.#open !== null) open.push(this.#open);
    open.sort((a, b) => a.index - b.index);
    // Only what was being written when it ended can be cut: the items before it are whole.
    for (const one of open) this.#close(one, one === open.at(-1) ? status : "completed");
    this.#open = null;
    this.#calls.clear();
    return this.#done;
  }

  #think({ reasoning_content: text, reasoning_details: all }: Json): void {
    const details = list(all).filter((detail) =>
      ["text", "summary", "data", "signature"].some((name) => typeof detail[name] === "string" && detail[name] !== ""),
    );
    const summaries = details.filter(({ summary }) => stringOf(summary) !== "");
    const thought = stringOf(text) || details.map((detail) => stringOf(detail["text"])).join("");
    if (thought === "" && details.length === 0) return;
    const summary = this.#parts.summary || details.some(({ type }) => type === "reasoning.summary");
    const item = this.#reasoning(summary);
    for (const detail of details) item.detail(detail);
    // The parts of a summary stay apart.
    for (const [place, detail] of summaries.entries()) {
      item.think(stringOf(detail["summary"]), true, detail["index"] ?? place);
    }
    if (thought !== "" && summaries.length === 0) item.think(thought, summary);
  }

  /** One that is elsewhere is named by its address: the API has no other place for it. */
  #image(url: unknown): void {
    if (typeof url !== "string" || url === "") return;
    const result = inlined(url);
    if (result === null) return this.#message().add("output_text", url, []);
    this.#closeOpen();
    this.#close(
      this.#opened("ig", (at) => new ImageItem(at, result)),
      "completed",
    );
  }

  #message(): MessageItem {
    if (this.#open?.item instanceof MessageItem) return this.#open.item;
    return this.#start("msg", (at) => new MessageItem(at));
  }

  #reasoning(summary: boolean): ReasoningItem {
    if (this.#open?.item instanceof ReasoningItem) return this.#open.item;
    return this.#start("rs", (at) => new ReasoningItem(at, summary));
  }

  #start<Kind extends MessageItem | ReasoningItem>(prefix: string, make: (at: ItemParts) => Kind, own?: Json): Kind {
    this.#closeOpen();
    const opened = this.#opened(prefix, make, own);
    this.#open = opened;
    return opened.item;
  }

  #call(key: unknown, { id, function: called }: Json, announced: Announced | null): void {
    const call = this.#calls.get(key) ?? { id: "", name: "", early: "", opened: null, ended: false, announced };
    this.#calls.set(key, call);
    if (call.announced !== null) this.#callAt.set(call.announced.place, call);
    const { name, arguments: args } = isJson(called) ? called : {};
    if (call.id === "" && typeof id === "string") call.id = id;
    if (call.name === "" && typeof name === "string") call.name = name;
    const delta = typeof args === "string" ? args : "";
    if (call.opened === null) call.early += delta;
    else call.opened.item.add(delta);
    if (call.name !== "") this.#openCall(call);
  }

  #openCall(call: OpenCall): void {
    if (call.opened !== null) return;
    this.#closeOpen();
    const own = call.announced?.item;
    const known = this.#parts.names.get(call.name) ?? nameIn(own) ?? { name: call.name, custom: false };
    const id = this.#callId(call.id);
    call.opened = this.#openedCall(id, known, own);
    call.opened.item.add(call.early);
  }

  #openedCall(id: string, tool: ToolName, item: Json | undefined): Opened<FunctionItem | CustomItem | OwnItem> {
    const { own } = tool;
    if (own !== undefined) return this.#opened(ownPrefix(own), (at) => new OwnItem(at, id, own));
    if (tool.custom) return this.#opened("ctc", (at) => new CustomItem(at, id, tool), item);
    return this.#opened("fc", (at) => new FunctionItem(at, id, tool), item);
  }

  /** Results come back by this id: each must be one, and its own. */
  #callId(id: string): string {
    const own = id === "" || this.#callIds.has(id) ? `call_${this.#parts.id}_${this.#count}` : id;
    this.#callIds.add(own);
    return own;
  }

  /** @param own the upstream's item of the same format, whose id and further fields it has. */
  #opened<Kind extends Item>(prefix: string, make: (at: ItemParts) => Kind, own: Json = {}): Opened<Kind> {
    const index = this.#count;
    this.#count += 1;
    const { id, emit } = this.#parts;
    const item = make({
      id: stringOf(own["id"]) || `${prefix}_${id}_${index}`,
      native: Object.fromEntries(Object.entries(own).filter(([name]) => !USUAL.has(name))),
      emit: (type, fields) => emit(type, { output_index: index, ...fields }),
    });
    return { index, item };
  }

  #closeOpen(): void {
    if (this.#open !== null) this.#close(this.#open, "completed");
    this.#open = null;
  }

  #close({ index, item }: Opened<Item>, status: ItemStatus): void {
    this.#done[index] = item.close(status);
  }
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return list(content)
    .map(({ text }) => stringOf(text))
    .join("");
}

function logprobsOf(logprobs: unknown): readonly Json[] {
  return tokensOf(isJson(logprobs) ? logprobs["content"] : null).map((token) => ({
    ...token,
    top_logprobs: tokensOf(token["top_logprobs"]),
  }));
}

function tokensOf(value: unknown): readonly Json[] {
  return list(value)
    .filter(({ token, logprob }) => typeof token === "string" && typeof logprob === "number")
    .map((token) => ({ ...token, bytes: Array.isArray(token["bytes"]) ? token["bytes"] : [] }));
}

/** Of a tool that the upstream has found by itself, which is none of the request's. */
function nameIn(item: Json | undefined): ToolName | null {
  if (item === undefined || stringOf(item["name"]) === "") return null;
  const { type, name, namespace } = item;
  return {
    name: stringOf(name),
    custom: type === "custom_tool_call",
    ...(stringOf(namespace) !== "" && { namespace: stringOf(namespace) }),
  };
}

/** What is written of every item from its canonical form. */
const USUAL: ReadonlySet<string> = new Set([
  "type",
  "id",
  "status",
  "role",
  "content",
  "summary",
  "encrypted_content",
  "call_id",
  "name",
  "namespace",
  "arguments",
  "input",
]);

function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}
