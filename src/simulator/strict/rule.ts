import { type Json, VENDORS, isJson } from "../../kit/index.ts";
import { asText, SimError } from "../fields.ts";

/** Whose refusals the simulator can play: vendors behind OpenAI's dialect, and the other dialects' own providers. */
export const STRICT_VENDORS = [...VENDORS, "azure", "anthropic", "vertex", "bedrock", "gemini", "cohere"] as const;

export type StrictVendor = (typeof STRICT_VENDORS)[number];

/** A request as a provider judges it. */
export interface StrictRequest {
  readonly model: string;
  /** Without the simulator's script. */
  readonly body: Json;
  /** Anthropic's betas, which a header or the body names. */
  readonly betas?: readonly string[];
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

/** The first refusal of a list of what is judged one by one. */
export function firstRefusal<Item>(
  items: readonly Item[],
  refuse: (item: Item) => SimError | undefined,
): SimError | undefined {
  for (const item of items) {
    const refusal = refuse(item);
    if (refusal) return refusal;
  }
  return undefined;
}

export interface LocatedJson {
  readonly at: string;
  readonly value: Json;
}

/** `messages[i]` of a body in OpenAI's dialect. */
export function messagesOf({ messages }: Json): readonly LocatedJson[] {
  return objects(messages).map((value, index) => ({ at: `messages[${index}]`, value }));
}

/** `tools[i].function`. */
export function functionsOf({ tools }: Json): readonly LocatedJson[] {
  return objects(tools).flatMap(({ function: made }, index) =>
    isJson(made) ? [{ at: `tools[${index}].function`, value: made }] : [],
  );
}

/** The calls that assistants made, `messages[i].tool_calls[j]`. */
export function callsOf(body: Json): readonly LocatedJson[] {
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

/** The first message of a role that is none of these. */
export function unknownRole(
  body: Json,
  roles: readonly string[],
): { readonly index: number; readonly role: string } | undefined {
  for (const [index, { value }] of messagesOf(body).entries()) {
    const role = asText(value["role"]);
    if (!roles.includes(role)) return { index, role };
  }
  return undefined;
}

export function isGiven(body: Json, name: string): boolean {
  return body[name] !== undefined && body[name] !== null;
}

/** The `reasoning_effort` of a request, where it is none of the known levels. */
export function unknownEffort(body: Json, known: string): string | undefined {
  const { reasoning_effort: effort } = body;
  if (effort === undefined || effort === null || known.split(" ").includes(asText(effort))) return undefined;
  return asText(effort);
}

/** Names that are there, null included, and not among `known`. */
export function unknownNames(value: Json, known: ReadonlySet<string>): readonly string[] {
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

/** A schema inside another, and the steps that lead there. */
interface Inner {
  readonly schema: Json;
  readonly path: readonly (string | number)[];
}

/** A schema and every schema in it. */
export function* schemasIn(value: unknown, path: Inner["path"] = []): Generator<Inner> {
  if (!isJson(value)) return;
  yield { schema: value, path };
  for (const name of ["properties", "$defs", "definitions", "patternProperties"]) {
    const inner = value[name];
    if (isJson(inner)) for (const [key, of] of Object.entries(inner)) yield* schemasIn(of, [...path, name, key]);
  }
  for (const name of ["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"])
    yield* schemasIn(value[name], [...path, name]);
  for (const name of ["anyOf", "oneOf", "allOf", "prefixItems"]) {
    const inner = value[name];
    if (Array.isArray(inner)) for (const [index, of] of inner.entries()) yield* schemasIn(of, [...path, name, index]);
  }
}

export function isObjectSchema({ type, properties }: Json): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object")) || isJson(properties);
}
