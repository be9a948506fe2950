import { isJson, type Json, VENDORS } from "../../kit/index.ts";
import { SimError } from "../error.ts";

/** Whose refusals the simulator can play: vendors behind OpenAI's dialect, and the other dialects' own providers. */
export const STRICT_VENDORS = [...VENDORS, "azure", "anthropic", "bedrock", "gemini", "cohere"] as const;

export type StrictVendor = (typeof STRICT_VENDORS)[number];

/** A request as a provider judges it. */
export interface StrictRequest {
  readonly model: string;
  /** Without the simulator's script. */
  readonly body: Json;
}

/** One thing that a provider refuses. */
export interface Rule {
  /** Where the provider says so: its documentation, a public issue with its answer, a file of its SDK. */
  readonly source: string;
  /** Models it holds for; left out: all of them. */
  readonly models?: RegExp;
  /** The refusal in the provider's words; undefined when nothing is wrong. */
  readonly refuse: (request: StrictRequest) => SimError | undefined;
}

/** The first refusal of a list of rules. */
export function refusalOf(rules: readonly Rule[], request: StrictRequest): SimError | undefined {
  for (const { models, refuse } of rules) {
    if (models && !models.test(request.model)) continue;
    const refusal = refuse(request);
    if (refusal) return refusal;
  }
  return undefined;
}

/** A refusal as most vendors word it: in OpenAI's form with another code. */
export function refused(message: string, status = 400, code = "invalid_request_error"): SimError {
  return new SimError(status, message, {
    body: { error: { message, type: "invalid_request_error", param: null, code } },
  });
}

export function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isJson) : [];
}

export interface Placed {
  readonly at: string;
  readonly value: Json;
}

/** `messages[i]` of a body in OpenAI's dialect. */
export function messagesOf({ messages }: Json): readonly Placed[] {
  return objects(messages).map((value, index) => ({ at: `messages[${index}]`, value }));
}

/** `tools[i].function`. */
export function functionsOf({ tools }: Json): readonly Placed[] {
  return objects(tools).flatMap(({ function: made }, index) =>
    isJson(made) ? [{ at: `tools[${index}].function`, value: made }] : [],
  );
}

/** The calls that assistants made, `messages[i].tool_calls[j]`. */
export function callsOf(body: Json): readonly Placed[] {
  return messagesOf(body).flatMap(({ at, value }) =>
    objects(value["tool_calls"]).map((call, index) => ({ at: `${at}.tool_calls[${index}]`, value: call })),
  );
}

/** Parts of a message's content of one of these types. */
export function partsOf(message: Json, ...types: readonly string[]): readonly Json[] {
  return objects(message["content"]).filter(({ type }) => typeof type === "string" && types.includes(type));
}

/** Every text of the messages, for what must be said somewhere. */
export function textOf(body: Json): string {
  return messagesOf(body)
    .flatMap(({ value }) =>
      typeof value["content"] === "string"
        ? [value["content"]]
        : objects(value["content"]).map(({ text }) => (typeof text === "string" ? text : "")),
    )
    .join("\n");
}

/** Names that are there, null included, and not among `known`. */
export function strangersOf(value: Json, known: ReadonlySet<string>): readonly string[] {
  return Object.keys(value).filter((name) => !known.has(name) && value[name] !== undefined);
}

export function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(" "));
}

export function formatTypeOf({ response_format: format }: Json): unknown {
  return isJson(format) ? format["type"] : undefined;
}

/** `'a', 'b', and 'c'` */
export function quotedList(words: readonly string[]): string {
  const quoted = words.map((word) => `'${word}'`);
  if (quoted.length < 3) return quoted.join(" and ");
  return `${quoted.slice(0, -1).join(", ")}, and ${quoted.at(-1)}`;
}
