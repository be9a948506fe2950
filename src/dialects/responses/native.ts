import { isDeepStrictEqual } from "node:util";
import { type Call, invalidRequest, isJson, type Json } from "../../kit/index.ts";
import { list, objects, parseJson } from "../canonical/json.ts";
import type { ReasoningDetail } from "../canonical/message.ts";
import type { SourceMappedCall } from "../canonical/parameters.ts";

/*
 * How what only the Responses format knows travels through the canonical middle between a client that speaks it and an
 * upstream that does: in streams `delta.native` is `{dialect: "responses", event}`, an upstream event in its place; a
 * complete answer has `native: {dialect: "responses", output, message}` beside its choices: the upstream's items, and the
 * canonical message that they were read as. A call brings the client's own request along.
 */
const DIALECT = "responses";

/** Whether the client speaks the format itself. */
export function ofResponses(call: Call): boolean {
  return call.dialect === DIALECT;
}

export function nativeEvent(event: Json): Json {
  return { native: { dialect: DIALECT, event } };
}

/** An upstream event that travelled with a delta; null for a delta without. */
export function eventOf({ native }: Json): Json | null {
  return isJson(native) && native["dialect"] === DIALECT && isJson(native["event"]) ? native["event"] : null;
}

export function nativeOutput(output: readonly Json[], message: Json): Json {
  return { native: { dialect: DIALECT, output, message } };
}

/** The upstream's own items of a complete answer, while its message is still what they say; null for any other. */
export function outputOf({ native }: Json, message: unknown): readonly Json[] | null {
  if (!isJson(native) || native["dialect"] !== DIALECT) return null;
  const same = native["message"] === message || isDeepStrictEqual(native["message"], message);
  return same ? objects(native["output"]) : null;
}

/**
 * What begins an `encrypted_content` of this gateway's making: reasoning details as JSON in base64url. Signatures have no
 * other field that every client brings back.
 */
const SEAL = "rgr1.";

interface Reasoning {
  readonly text: string;
  readonly details: readonly ReasoningDetail[];
  /** A pointer to what each detail was read from. */
  readonly places: readonly string[];
}

/** The `encrypted_content` that brings `details` back; null when they say no more than their text. */
export function seal(details: readonly (ReasoningDetail | Json)[]): string | null {
  const opaque = details.some((detail) => detail["type"] === "reasoning.encrypted" || "signature" in detail);
  return opaque ? SEAL + Buffer.from(JSON.stringify(details)).toString("base64url") : null;
}

/** @throws GatewayError for an item that is damaged. */
export function readReasoningItem(item: Json, pointer: string): Reasoning {
  const { encrypted_content: encrypted, id } = item;
  const summary = texts(item["summary"], `${pointer}/summary`);
  const content = texts(item["content"], `${pointer}/content`);
  const plain = [...content, ...summary].join("\n\n");
  if (typeof encrypted === "string" && encrypted.startsWith(SEAL)) {
    const details = unsealed(encrypted);
    if (details === null) throw invalidRequest(`${pointer}/encrypted_content`, "must come back as it was sent");
    const places = details.map(() => `${pointer}/encrypted_content`);
    return { text: details.map(textOf).join("") || plain, details, places };
  }
  // With an id encrypted reasoning is known as OpenAI's: without one another provider would take it for its own.
  const named = { id: typeof id === "string" ? id : "" };
  const details: ReasoningDetail[] = [
    ...content.map((text) => ({ type: "reasoning.text", text }) as const),
    ...summary.map((summary) => ({ type: "reasoning.summary", summary, ...named }) as const),
  ];
  if (typeof encrypted === "string" && encrypted !== "") {
    details.push({ type: "reasoning.encrypted", data: encrypted, ...named });
  }
  const places = [
    ...content.map((_, index) => `${pointer}/content/${index}`),
    ...summary.map((_, index) => `${pointer}/summary/${index}`),
    `${pointer}/encrypted_content`,
  ];
  return { text: plain, details, places: places.slice(0, details.length) };
}

/** The details that an `encrypted_content` of this gateway's making brings back; null for any other, or a damaged one. */
export function unsealed(encrypted: unknown): readonly ReasoningDetail[] | null {
  if (typeof encrypted !== "string" || !encrypted.startsWith(SEAL)) return null;
  const details = parseJson(Buffer.from(encrypted.slice(SEAL.length), "base64url"));
  return Array.isArray(details) && details.every(isDetail) ? details : null;
}

/** A client may send anything in a seal: what is no detail must not get past it. */
function isDetail(value: unknown): value is ReasoningDetail {
  if (!isJson(value)) return false;
  const optional = (name: string): boolean => value[name] === undefined || typeof value[name] === "string";
  switch (value["type"]) {
    case "reasoning.text":
      return typeof value["text"] === "string" && optional("signature");
    case "reasoning.encrypted":
      return typeof value["data"] === "string" && optional("id") && optional("format");
    case "reasoning.summary":
      return typeof value["summary"] === "string" && optional("id") && optional("format");
    default:
      return false;
  }
}

/** What of a detail can be read. */
function textOf(detail: ReasoningDetail): string {
  if (detail.type === "reasoning.text") return detail.text;
  return detail.type === "reasoning.summary" ? detail.summary : "";
}

function texts(parts: unknown, pointer: string): readonly string[] {
  if (parts === undefined || parts === null) return [];
  if (!Array.isArray(parts)) throw invalidRequest(pointer, "must be an array");
  return parts.map((part: unknown, index) => {
    const text = isJson(part) ? part["text"] : undefined;
    if (typeof text !== "string") throw invalidRequest(`${pointer}/${index}/text`, "must be a string");
    return text;
  });
}

/** A call that remembers the body it was read from: answers repeat it, and an upstream of the same format gets it. */
export interface ResponsesCall extends SourceMappedCall {
  readonly request: Json;
  /** The canonical body as it was read: what a plugin has changed is no longer in it. */
  readonly canonical: Json;
  /** By message: places in the input of the items that it was read from. */
  readonly sources: readonly (readonly number[])[];
}

/** The request that a call was read from; empty for one that another format made. */
export function requestOf(call: Call): Json {
  return "request" in call && isJson(call.request) ? call.request : {};
}

/** What a client asks to get of its model's thoughts; null where it does not ask: some accounts may not. */
export function summaryOf(call: Call): unknown {
  const { reasoning } = requestOf(call);
  if (isJson(reasoning)) return reasoning["summary"] ?? reasoning["generate_summary"] ?? null;
  const { thinking } = call.body;
  return isJson(thinking) && thinking["display"] === "summarized" ? "auto" : null;
}

/** Whether a call came in this very format. */
export function isResponsesCall(call: Call): call is ResponsesCall {
  return call.dialect === "responses" && "request" in call && "sources" in call;
}

/** An item, and the client's pointer to it; null for one that it did not write. */
export interface Placed {
  readonly item: Json;
  readonly at: string | null;
}

/** The items that the messages of a call were read from. */
export class Sources {
  readonly #read: readonly unknown[];
  readonly #places: ReadonlyMap<unknown, number>;
  readonly #input: readonly Json[];
  readonly #sources: ResponsesCall["sources"];

  constructor({ canonical, sources, request }: ResponsesCall) {
    this.#read = list(canonical["messages"]);
    this.#places = new Map(this.#read.map((message, index) => [message, index] as const).toReversed());
    this.#input = objects(request["input"]);
    this.#sources = sources;
  }

  /** null for a message that is another one by now. */
  of(message: Json, index: number): readonly Placed[] | null {
    const place = this.#places.get(message) ?? (isDeepStrictEqual(this.#read[index], message) ? index : -1);
    const items = (this.#sources[place] ?? []).map((item) => ({ item: this.#input[item]!, at: `/input/${item}` }));
    return items.length > 0 ? items : null;
  }
}
