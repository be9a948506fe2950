import type { Call, ClientDialect, Json } from "../../kit/index.ts";
import { pointersIn } from "./parameters.ts";

/** Where a canonical message stands in the client's body, and what it holds. */
export interface MessageSource {
  /** Its own item or, of several, the first; or the field that it is. */
  readonly at: string;
  /** The list that all of its lists were read from; left out: `at`. */
  readonly whole?: string;
  /** By the message's field: a pointer to each item of the list. */
  readonly lists: Readonly<Record<string, readonly string[]>>;
}

/** A canonical message, and where in the client's body it was. */
export interface SourcedMessage {
  readonly message: Json;
  readonly place: MessageSource;
}

/** A call whose messages, their parts and its tools stand elsewhere in the client's body than in the canonical one. */
export interface SourceMappedCall extends Call {
  readonly sourceMap: {
    readonly messages: readonly MessageSource[];
    /** A pointer to each tool. */
    readonly tools: readonly string[];
    /** Pointers to items and tools that are in no list of the canonical body, for no other provider could read them. */
    readonly records: readonly string[];
    /** What only an upstream of the client's own format can read, and the conversation cannot do without. */
    readonly own?: readonly Unreadable[];
  };
}

/** Why a call cannot be written for an upstream of another format than the client's: a pointer, and what to do. */
export interface Unreadable {
  readonly at: string;
  readonly what: string;
}

export function hasSourceMap(call: Call): call is SourceMappedCall {
  return "sourceMap" in call;
}

type Rule = readonly [from: RegExp, to: string];

/** Below an item, a part or a tool: what stands elsewhere there than in its canonical counterpart. The first that matches. */
const ELSEWHERE: Readonly<Record<ClientDialect, readonly Rule[]>> = {
  chat: [],
  messages: [
    [/^\/function\/parameters(?=\/|$)/, "/input_schema"],
    [/^\/function\/arguments(?=\/|$)/, "/input"],
    [/^\/file\/filename$/, "/title"],
    [/^\/file(?=\/file_id$)/, "/source"],
    [/^\/file\/file_(?=(?:data|url)$)/, "/source/"],
    [/^\/image_url(?:\/url)?$/, "/source"],
    [/^\/(?:function|file)(?=\/)/, ""],
    [/^\/tool_call_id$/, "/tool_use_id"],
  ],
  responses: [
    [/^\/(?:function|file)(?=\/)/, ""],
    [/^\/image_url(?=\/detail)/, ""],
    [/^\/image_url\/url$/, "/image_url"],
    [/^\/cache_control(?:\/.*)?$/, "/prompt_cache_breakpoint"],
    [/^\/(?:tool_call_)?id$/, "/call_id"],
  ],
};

/** A pointer into the canonical messages or tools as one into the client's body; null for any other. */
function originalPointer(
  { dialect = "chat", sourceMap: { messages, tools } }: SourceMappedCall,
  pointer: string,
): string | null {
  const rules = ELSEWHERE[dialect];
  const [, name, index, ...rest] = pointer.split("/");
  if (name === "tools") return below(tools[Number(index)], rest, rules);
  if (name !== "messages") return null;
  const message = messages[Number(index)];
  if (message === undefined) return null;
  const [field = "", item, ...inner] = rest;
  const key = field === "reasoning_content" ? "reasoning_details" : field;
  // A client names fields as it likes.
  if (!Object.hasOwn(message.lists, key)) return below(message.at, rest, rules);
  const { [key]: list = [] } = message.lists;
  const { whole = message.at } = message;
  const [first = whole] = list;
  // A single text is the whole content.
  return item === undefined ? (list.length > 1 ? whole : first) : below(list[Number(item)], inner, rules);
}

function below(place: string | undefined, names: readonly string[], rules: readonly Rule[]): string | null {
  if (place === undefined) return null;
  const rest = names.map((name) => `/${name}`).join("");
  // Sealed reasoning is one text, whatever is in it.
  if (place.endsWith("/encrypted_content")) return place;
  const [from, to] = rules.find(([pattern]) => pattern.test(rest)) ?? [/^/, ""];
  return place + rest.replace(from, to);
}

/** Where a canonical top-level field stands in the body that the client sent. */
const POINTERS = { messages: pointersIn("messages"), responses: pointersIn("responses") };

/** A pointer into the canonical body as one into the client's. */
export function clientPointer(call: Call, pointer: string): string {
  const { dialect = "chat" } = call;
  if (dialect === "chat") return pointer;
  const own = hasSourceMap(call) ? originalPointer(call, pointer) : null;
  if (own !== null) return own;
  const [, name = "", ...rest] = pointer.split("/");
  const names = POINTERS[dialect];
  // Only chat completions have the schema one object further in.
  const inner = name === "response_format" && rest[0] === "json_schema" ? rest.slice(1) : rest;
  return Object.hasOwn(names, name) ? [names[name], ...inner].join("/") : pointer;
}
