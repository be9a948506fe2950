import { type Call, isJson, type Json } from "../kit/index.ts";

/** Values that ask for nothing: a field that has one of them is not missed. */
const ASKS_NOTHING: Readonly<Record<string, readonly unknown[]>> = {
  n: [1],
  logprobs: [false],
  frequency_penalty: [0],
  presence_penalty: [0],
  store: [false],
  stream: [false, true],
  service_tier: ["auto"],
};

/** Fields about the request itself, not about the answer; nothing is lost when they stay behind. */
const OF_THE_REQUEST: ReadonlySet<string> = new Set(["model", "stream", "stream_options"]);

/** Pointers of the top-level fields of a canonical body that are set, mean something, and are not in `carried`. */
export function dropped(body: Json, carried: ReadonlySet<string>): string[] {
  return Object.entries(body)
    .filter(([name, value]) => !carried.has(name) && !OF_THE_REQUEST.has(name) && asks(name, value))
    .map(([name]) => `/${escaped(name)}`);
}

function asks(name: string, value: unknown): boolean {
  if (value === null || value === undefined) return false;
  if (ASKS_NOTHING[name]?.includes(value)) return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isJson(value) || Object.keys(value).length > 0;
}

/** Where a canonical top-level field stands in the body that the client sent. */
const MESSAGES_NAMES: Readonly<Record<string, string>> = {
  max_completion_tokens: "/max_tokens",
  stop: "/stop_sequences",
  reasoning_effort: "/output_config/effort",
  response_format: "/output_config/format",
  user: "/metadata/user_id",
  parallel_tool_calls: "/tool_choice/disable_parallel_tool_use",
};
const RESPONSES_NAMES: Readonly<Record<string, string>> = {
  messages: "/input",
  max_completion_tokens: "/max_output_tokens",
  reasoning_effort: "/reasoning/effort",
  response_format: "/text/format",
  verbosity: "/text/verbosity",
};

/**
 * A pointer into the canonical body as one into the client's. Within messages the numbers of a Messages or Responses
 * client are its own only as far as nothing was folded before them.
 */
export function clientPointer({ dialect = "chat" }: Call, pointer: string): string {
  if (dialect === "chat") return pointer;
  const [, name = "", ...rest] = pointer.split("/");
  const known = (dialect === "messages" ? MESSAGES_NAMES : RESPONSES_NAMES)[name];
  return known === undefined ? pointer : [known, ...rest].join("/");
}

function escaped(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
