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
  prompt_cache_options: { copied: ["responses"], servers: "openai" },

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
export function pointersIn(format: ClientFormat): Readonly<Record<string, string>> {
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
