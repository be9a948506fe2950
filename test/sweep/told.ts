import { isJson, type Json } from "../../src/kit/index.ts";
import type { FormatName } from "../e2e/support/formats.ts";
import type { SweepCase } from "./cases.ts";

/*
 * What of a client's body is neither in the upstream's request, by name or in a form that it is mapped to, nor told as
 * dropped.
 */

/** The names that upstreams have for a field of a client's body. */
type Names = readonly string[];

const LIMIT: Names = ["max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "maxTokens"];
const STOPS: Names = ["stop", "stop_sequences", "stopSequences"];
const EFFORT: Names = [
  "reasoning_effort",
  "effort",
  "thinking",
  "thinkingConfig",
  "reasoning",
  "reasoningConfig",
  "enable_thinking",
];
/** A schema may be asked for by a tool that must be called. */
const FORMAT: Names = ["response_format", "format", "textFormat", "responseJsonSchema", "responseMimeType"];
const CHOICE: Names = ["tool_choice", "toolChoice", "functionCallingConfig"];
const PARALLEL: Names = ["parallel_tool_calls", "disable_parallel_tool_use"];
const USER: Names = ["user", "user_id", "safety_identifier"];
const TIER: Names = ["service_tier", "serviceTier"];
const TOP_K: Names = ["top_k", "topK", "k"];
const TOP_P: Names = ["top_p", "topP", "p"];

/** By pointer; a field that is not here goes by its own name. */
const NAMES: Readonly<Record<FormatName, Readonly<Record<string, Names>>>> = {
  chat: {
    "/max_tokens": LIMIT,
    "/max_completion_tokens": LIMIT,
    "/stop": STOPS,
    "/reasoning_effort": EFFORT,
    "/response_format": FORMAT,
    "/tool_choice": CHOICE,
    "/parallel_tool_calls": PARALLEL,
    "/top_p": TOP_P,
    "/frequency_penalty": ["frequency_penalty", "frequencyPenalty"],
    "/presence_penalty": ["presence_penalty", "presencePenalty"],
    "/seed": ["seed", "random_seed"],
    "/n": ["n", "candidateCount"],
    "/logprobs": ["logprobs", "responseLogprobs", "include"],
    "/top_logprobs": ["top_logprobs", "logprobs"],
    "/user": USER,
    "/safety_identifier": USER,
    "/metadata": ["metadata", "requestMetadata"],
    "/service_tier": TIER,
    "/modalities": ["modalities", "responseModalities"],
    "/function_call": ["function_call", ...CHOICE],
  },
  messages: {
    "/max_tokens": LIMIT,
    "/stop_sequences": STOPS,
    "/thinking": EFFORT,
    "/output_config/effort": EFFORT,
    "/output_config/format": FORMAT,
    "/output_format": ["output_format", ...FORMAT],
    "/tool_choice": [...CHOICE, ...PARALLEL],
    "/metadata/user_id": USER,
    "/service_tier": TIER,
    "/top_k": TOP_K,
    "/top_p": TOP_P,
  },
  responses: {
    "/max_output_tokens": LIMIT,
    "/reasoning/effort": EFFORT,
    "/text/format": FORMAT,
    "/text/verbosity": ["verbosity"],
    "/include": ["include", "logprobs", "responseLogprobs"],
    "/tool_choice": CHOICE,
    "/parallel_tool_calls": PARALLEL,
    "/top_p": TOP_P,
    "/top_logprobs": ["top_logprobs", "logprobs"],
    "/user": USER,
    "/safety_identifier": USER,
    "/metadata": ["metadata", "requestMetadata"],
    "/service_tier": TIER,
  },
};

/** Objects of which each field is one by itself. */
const NESTED: ReadonlySet<string> = new Set(["/output_config", "/reasoning", "/text", "/metadata"]);

/** What is about the request, or is looked at text by text. */
const APART: ReadonlySet<string> = new Set([
  "model",
  "stream",
  "stream_options",
  "messages",
  "input",
  "system",
  "instructions",
  "tools",
  "functions",
]);

/** What the gateway gives in its answer by itself, whatever the upstream is. */
const GIVEN: Readonly<Record<FormatName, Names>> = {
  chat: [],
  messages: [],
  responses: ["/reasoning/summary", "/metadata"],
};

/** Values that ask for nothing, as JSON: what happens without the field, at a model that does not think too. */
const IDLE: Readonly<Record<string, Names>> = {
  "/tool_choice": ['"auto"', '{"type":"auto"}'],
  "/parallel_tool_calls": ["true"],
  "/n": ["1"],
  "/frequency_penalty": ["0"],
  "/presence_penalty": ["0"],
  "/logprobs": ["false"],
  "/response_format": ['{"type":"text"}'],
  "/text/format": ['{"type":"text"}'],
  "/modalities": ['["text"]'],
  "/store": ["false"],
  "/background": ["false"],
  "/truncation": ['"disabled"'],
  "/service_tier": ['"auto"', '"default"', '"standard_only"'],
  "/speed": ['"standard"'],
  "/diagnostics": ['{"previous_message_id":null}'],
  "/function_call": ['"auto"'],
  "/verbosity": ['"medium"'],
  "/text/verbosity": ['"medium"'],
  "/temperature": ["1"],
  "/top_p": ["1"],
  "/reasoning_effort": ['"none"'],
  "/reasoning/effort": ['"none"'],
  "/include": ['["reasoning.encrypted_content"]'],
};

export function untold({ format, body }: SweepCase, sent: Json, dropped: readonly string[]): readonly string[] {
  // A header has room for so many.
  if (dropped.at(-1)?.endsWith("...") === true) return [];
  const got = readSent(sent);
  const lost = [...fieldsOf(format, body), ...textsOf(body)].filter(
    ({ at, arrived }) => !arrived(got) && !isTold(at, dropped),
  );
  return lost.map(({ at }) => at);
}

/** Something that a client said. */
interface Said {
  readonly at: string;
  readonly arrived: (got: Got) => boolean;
}

/** What an upstream got. */
interface Got {
  /** Names of fields outside the conversation and the tools. */
  readonly names: ReadonlySet<string>;
  /** Every text that is anywhere, in arguments that are JSON too. */
  readonly texts: string;
  readonly tools: readonly string[];
}

/** One that names it, what it is in, or, of a field that is an object, something in it. */
function isTold(at: string, dropped: readonly string[]): boolean {
  // Both say how much to think.
  if (at === "/thinking" && dropped.includes("/output_config/effort")) return true;
  return dropped.some((pointer) => pointer === at || at.startsWith(`${pointer}/`) || pointer.startsWith(`${at}/`));
}

function* fieldsOf(format: FormatName, body: Json): Generator<Said> {
  const names = NAMES[format];
  const own = toolNamesOf(body);
  for (const [name, value] of Object.entries(body)) {
    if (APART.has(name)) continue;
    const at = `/${name}`;
    const inner =
      NESTED.has(at) && isJson(value) && !names[at]
        ? Object.entries(value).map(([key, of]) => [`${at}/${key}`, key, of] as const)
        : [[at, name, value] as const];
    for (const [pointer, key, given] of inner) {
      if (asksNothing(format, pointer, given)) continue;
      const known = names[pointer] ?? [key];
      yield {
        at: pointer,
        arrived: (got) => known.some((one) => got.names.has(one)) || mapped(pointer, given, got, own),
      };
    }
  }
}

function asksNothing(format: FormatName, at: string, value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (Array.isArray(value) && value.length === 0) return true;
  if (isJson(value) && Object.keys(value).length === 0) return true;
  // Adaptive is what models do by default.
  if (at === "/thinking") return isJson(value) && ["adaptive", "disabled"].includes(String(value["type"]));
  return GIVEN[format].includes(at) || (IDLE[at]?.includes(JSON.stringify(value)) ?? false);
}

/** Forms that have no name of their own. */
function mapped(at: string, value: unknown, { tools }: Got, own: readonly string[]): boolean {
  // A tool of the gateway's that takes the schema.
  if (at.endsWith("format")) return tools.length > own.length;
  // A choice among tools that leaves those out that may not be called.
  if (at === "/tool_choice") return tools.length < own.length || value === "none";
  return false;
}

function toolNamesOf({ tools, functions }: Json): readonly string[] {
  return [...list(tools), ...list(functions)].map((tool) => String(tool["name"] ?? object(tool["function"])["name"]));
}

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJson) : []);
const object = (value: unknown): Json => (isJson(value) ? value : {});

/** Marks in texts by which the cases tell one from another. */
const MARK = /\b4[789]\d\d\b/;

/** Texts with a mark and media: of the conversation, and of tools what describes them. */
function* textsOf(body: Json): Generator<Said> {
  for (const [name, value] of Object.entries(body)) {
    // Tools that may not be called need not be sent.
    const isIdle = name === "tools" && [body["tool_choice"], object(body["tool_choice"])["type"]].includes("none");
    if (APART.has(name) && !isIdle) yield* textsIn(value, `/${name}`);
  }
}

function* textsIn(value: unknown, at: string): Generator<Said> {
  if (typeof value === "string") {
    const text = /^data:[^,]*,/.test(value) ? value.slice(value.indexOf(",") + 1) : value;
    const isMedia = /^(?:iVBOR|R0lGOD|JVBERi|UklGR)/.test(text);
    if (isMedia || MARK.test(text))
      yield { at, arrived: ({ texts }) => forms(text).some((form) => texts.includes(form)) };
    return;
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* textsIn(item, `${at}/${index}`);
    return;
  }
  if (!isJson(value) || isThought(value)) return;
  // A file's name is no part of what is in it: some upstreams have no place for it, or other rules for names.
  for (const [name, inner] of Object.entries(value))
    if (name !== "filename" && name !== "title") yield* textsIn(inner, `${at}/${name}`);
}

/** Thoughts of earlier turns go back only to whoever had them: a documented mapping. */
function isThought({ type }: Json): boolean {
  return typeof type === "string" && ["thinking", "redacted_thinking", "reasoning"].includes(type);
}

/** A text as it may arrive: arguments value by value, a document as base64, blanks of its ends gone. */
function forms(text: string): readonly string[] {
  const whole = text.trim();
  if (/^\{.*\}$/s.test(whole) && isJsonText(whole))
    return [[...leavesOf(JSON.parse(whole))].find((leaf) => MARK.test(leaf)) ?? whole];
  return [whole, Buffer.from(text).toString("base64")];
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Subtrees in which names of fields are the client's own. */
const CONVERSATION: ReadonlySet<string> = new Set([
  "messages",
  "contents",
  "input",
  "system",
  "tools",
  "schema",
  "properties",
]);

function readSent(sent: Json): Got {
  const names = new Set<string>();
  const gather = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(gather);
    if (!isJson(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      names.add(name);
      if (!CONVERSATION.has(name)) gather(inner);
    }
  };
  gather(sent);
  return { names, texts: [...leavesOf(sent)].join("\n"), tools: sentTools(sent) };
}

function sentTools(sent: Json): readonly string[] {
  const tools = [...list(sent["tools"]), ...list(object(sent["toolConfig"])["tools"])];
  return tools.flatMap((tool) => {
    const declared = list(tool["functionDeclarations"]);
    return declared.length > 0 ? declared.map(({ name }) => String(name)) : [String(tool["name"])];
  });
}

/** Every text in a value, and in the JSON that its texts hold. */
function* leavesOf(value: unknown): Generator<string> {
  if (typeof value === "string") {
    yield value;
    if (/^[{[]/.test(value) && isJsonText(value)) yield* leavesOf(JSON.parse(value));
    return;
  }
  if (Array.isArray(value)) for (const item of value) yield* leavesOf(item);
  else if (isJson(value)) for (const inner of Object.values(value)) yield* leavesOf(inner);
}
