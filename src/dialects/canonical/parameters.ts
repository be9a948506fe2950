import type { Call, ClientDialect, Json } from "../../kit/index.ts";

/*
 * The top-level fields of a chat request, one row each, under their canonical names: those of chat completions. Every list
 * of names that the translations go by is read from here: what a dialect reads and what it reports as dropped, where a
 * client of another format said it, what servers of OpenAI's dialect take, and which values ask for nothing.
 */

/** Upstream formats that a canonical request is rewritten for; `responses` is OpenAI's other endpoint. */
type Writer = "anthropic" | "bedrock" | "gemini" | "cohere" | "responses";

/** Formats of clients besides chat completions. */
type ClientFormat = "messages" | "responses";

interface Parameter {
  /** Whose translation reads it, and itself reports what of it cannot be said. All others report it as dropped. */
  readonly read?: readonly Writer[];
  /** Who takes it as it is, under the same name. */
  readonly copied?: readonly Writer[];
  /**
   * Which servers of OpenAI's dialect have it: every one that calls itself compatible (`common`), most for anybody's models
   * (`usual`), OpenAI (`openai`; each of these has what stands before it too), or those for open models (`open`). Left out:
   * where `vendors/` names it.
   */
  readonly servers?: "common" | "usual" | "openai" | "open";
  /** How a client of the format says it: under this name and as it is (`same`), or at a JSON pointer of its own. */
  readonly messages?: "same" | `/${string}`;
  readonly responses?: "same" | `/${string}`;
  /** A reasoning model may refuse it. */
  readonly sampling?: true;
  /** Values that ask for nothing, as JSON: the field is not missed where it has one of them. */
  readonly idle?: readonly string[];
  /** About the request itself, not about the answer: nothing is lost when it stays behind. */
  readonly ofTheRequest?: true;
}

const EVERYONE: readonly Writer[] = ["anthropic", "bedrock", "gemini", "cohere", "responses"];
const BUT_COHERE = EVERYONE.filter((writer) => writer !== "cohere");
const BUT_RESPONSES = EVERYONE.filter((writer) => writer !== "responses");

const PARAMETERS = {
  model: { ofTheRequest: true, messages: "same" },
  stream: { ofTheRequest: true, messages: "same" },
  stream_options: { ofTheRequest: true },
  messages: { read: EVERYONE, servers: "common", responses: "/input" },

  tools: { read: EVERYONE, servers: "common" },
  tool_choice: { read: EVERYONE, servers: "common", idle: ['"auto"'] },
  parallel_tool_calls: {
    read: BUT_COHERE,
    servers: "usual",
    messages: "/tool_choice/disable_parallel_tool_use",
    idle: ["true"],
  },
  functions: { servers: "openai" },
  function_call: { servers: "openai" },
  web_search_options: { read: ["gemini"] },

  max_tokens: { read: EVERYONE, servers: "common", messages: "same", responses: "/max_output_tokens" },
  max_completion_tokens: {
    read: EVERYONE,
    servers: "common",
    messages: "/max_tokens",
    responses: "/max_output_tokens",
  },
  stop: { read: BUT_RESPONSES, servers: "common", messages: "/stop_sequences" },
  n: { read: ["gemini"], servers: "usual", idle: ["1"] },

  temperature: { read: EVERYONE, servers: "common", messages: "same", responses: "same", sampling: true },
  top_p: { read: EVERYONE, servers: "common", messages: "same", responses: "same", sampling: true },
  top_k: { read: BUT_RESPONSES, servers: "open", messages: "same" },
  min_p: { servers: "open" },
  repetition_penalty: { servers: "open" },
  frequency_penalty: { read: ["gemini", "cohere"], servers: "usual", sampling: true, idle: ["0"] },
  presence_penalty: { read: ["gemini", "cohere"], servers: "usual", sampling: true, idle: ["0"] },
  logit_bias: { servers: "usual", sampling: true, idle: ["{}"] },
  logprobs: {
    read: ["gemini", "responses"],
    servers: "usual",
    responses: "/include",
    sampling: true,
    idle: ["false"],
  },
  top_logprobs: { read: ["gemini", "responses"], servers: "usual", sampling: true, idle: ["0"] },
  seed: { read: ["gemini", "cohere"], servers: "usual" },

  reasoning_effort: {
    read: EVERYONE,
    servers: "common",
    messages: "/output_config/effort",
    responses: "/reasoning/effort",
  },
  thinking: { read: EVERYONE, messages: "same" },
  verbosity: { read: ["responses"], servers: "openai", responses: "/text/verbosity" },
  response_format: {
    read: EVERYONE,
    servers: "common",
    messages: "/output_config/format",
    responses: "/text/format",
    idle: ['{"type":"text"}'],
  },
  modalities: { read: ["gemini"], servers: "openai", idle: ['["text"]'] },
  audio: { servers: "openai" },
  prediction: { servers: "openai" },

  user: { read: ["anthropic", "responses"], servers: "usual", messages: "/metadata/user_id", responses: "same" },
  safety_identifier: { read: ["anthropic"], copied: ["responses"], servers: "openai", responses: "same" },
  metadata: { read: ["bedrock"], copied: ["responses"], servers: "openai" },
  store: { servers: "openai", idle: ["false"] },
  moderation: { servers: "openai" },
  service_tier: {
    read: ["anthropic", "bedrock", "gemini"],
    responses: "same",
    idle: ['"auto"', '"default"'],
  },
  speed: { idle: ['"standard"'] },
  cache_control: { read: ["anthropic"] },
  prompt_cache_key: { copied: ["responses"], servers: "openai", responses: "same" },
  prompt_cache_retention: { copied: ["responses"], servers: "openai", responses: "same" },
  prompt_cache_options: { copied: ["responses"], servers: "openai", responses: "same" },

  // Google's own and Cohere's own, which a client of their models may send.
  extra_body: { read: ["gemini"] },
  documents: { read: ["cohere"] },
  citation_options: { copied: ["cohere"] },
  safety_mode: { copied: ["cohere"] },
  priority: { copied: ["cohere"] },
} as const satisfies Readonly<Record<string, Parameter>>;

export type ParameterName = keyof typeof PARAMETERS;

const ROWS = Object.entries(PARAMETERS) as readonly (readonly [ParameterName, Parameter])[];

function namesWhere(has: (parameter: Parameter) => boolean): readonly ParameterName[] {
  return ROWS.filter(([, parameter]) => has(parameter)).map(([name]) => name);
}

/** What the translation for an upstream format reads or copies; the rest it reports. */
export function readBy(writer: Writer): ReadonlySet<string> {
  return new Set(
    namesWhere(({ read, copied }) => read?.includes(writer) === true || copied?.includes(writer) === true),
  );
}

/** What an upstream format takes as it is. */
export function copiedBy(writer: Writer): readonly string[] {
  return namesWhere(({ copied }) => copied?.includes(writer) === true);
}

/** What a client's format says as chat completions do. */
export function sameIn(format: ClientFormat): readonly string[] {
  return namesWhere((parameter) => parameter[format] === "same");
}

/** Where a client's format says what it says elsewhere: JSON pointers by canonical name. */
function pointersIn(format: ClientFormat): Readonly<Record<string, string>> {
  const elsewhere = ROWS.flatMap(([name, { [format]: at }]) => (at === undefined || at === "same" ? [] : [[name, at]]));
  return Object.fromEntries(elsewhere) as Record<string, string>;
}

/** What every chat endpoint that calls itself OpenAI-compatible has. */
export const COMMON_FIELDS = namesWhere(({ servers }) => servers === "common");
/** What of OpenAI's own API a server for anybody's models may have too. */
export const USUAL_FIELDS = [...COMMON_FIELDS, ...namesWhere(({ servers }) => servers === "usual")];
/** Of OpenAI's own API: SDK openai resources/chat/completions/completions.d.ts ChatCompletionCreateParamsBase. */
export const OPENAI_FIELDS = [...USUAL_FIELDS, ...namesWhere(({ servers }) => servers === "openai")];
/** Sampling fields of servers for open models. */
export const OPEN_FIELDS = namesWhere(({ servers }) => servers === "open");
/** Sampling fields that a reasoning model may refuse. */
export const SAMPLING: ReadonlySet<string> = new Set(namesWhere(({ sampling }) => sampling === true));
export const OF_THE_REQUEST: ReadonlySet<string> = new Set(namesWhere(({ ofTheRequest }) => ofTheRequest === true));
/** Values that ask for nothing, as JSON, by the name of their field. */
export const IDLE: ReadonlyMap<string, readonly string[]> = new Map(
  ROWS.flatMap(([name, { idle }]) => (idle === undefined ? [] : [[name, idle] as const])),
);

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
  const path = names.map((name) => `/${name}`).join("");
  // Sealed reasoning is one text, whatever is in it.
  if (place.endsWith("/encrypted_content")) return place;
  const [from, to] = rules.find(([pattern]) => pattern.test(path)) ?? [/^/, ""];
  return place + path.replace(from, to);
}
