import { type Call, isJson, type Json } from "../../kit/index.ts";
import { Report } from "../canonical/report.ts";
import { stripSignature } from "../canonical/tools.ts";

/** What the parts of one request's translation share. */
export interface Translation {
  readonly family: Family;
  /** Whether calls of strict tools are held to their schemas. */
  readonly strictTools: boolean;
  readonly report: Report;
  /** The same for a call and its result. */
  readonly toolId: (id: string) => string;
  readonly documentName: (wanted: string) => string;
}

export function translationOf(call: Call, model: string): Translation {
  const family = familyOf(model);
  return {
    family,
    strictTools: hasStructuredOutput(model),
    report: new Report(call),
    toolId: toolIds(family),
    documentName: documentNames(),
  };
}

/** The block that ends a cached prefix behind an item with `cache_control`, or none. */
export function cachePoint(item: Json, at: string, { family, report }: Translation): readonly Json[] {
  const { cache_control: control } = item;
  if (!isJson(control)) return [];
  if (!caches(family)) {
    report.drop(`${at}/cache_control`);
    return [];
  }
  const { ttl } = control;
  const known = ttl === "5m" || ttl === "1h";
  if (!known && ttl !== undefined && ttl !== null) report.drop(`${at}/cache_control/ttl`);
  return [{ cachePoint: { type: "default", ...(known ? { ttl } : {}) } }];
}

/**
 * Names as Converse takes them: letters, digits, single spaces, hyphens, brackets; at most 200 characters, each once. An
 * ending is left out: it is the document's format.
 */
function documentNames(): (wanted: string) => string {
  const taken = new Set<string>();
  /** By name, the number that the next document of that name may have: from the first on they would all be tried again. */
  const numbers = new Map<string, number>();
  return (wanted) => {
    const plain = wanted
      .slice(0, 200)
      .replace(/\.\w{1,5}$/, "")
      .replaceAll(/[^A-Za-z0-9 ()[\]-]+/g, " ")
      .replaceAll(/ {2,}/g, " ")
      .trim();
    const base = plain === "" ? "document" : plain;
    const stem = base.slice(0, 190);
    let number = numbers.get(stem) ?? 2;
    let name = base;
    for (; taken.has(name); number++) name = `${stem} ${number}`;
    numbers.set(stem, number);
    taken.add(name);
    return name;
  };
}

const VALID = /^[\w-]{1,64}$/;
/** Mistral's models take nothing else. */
const MISTRAL = /^[A-Za-z0-9]{9}$/;

/**
 * Tool-call ids as Converse takes them, `[A-Za-z0-9_-]{1,64}`, without the signatures that the gateway put into them; others
 * are rewritten, different ones differently.
 */
function toolIds(family: Family): (id: string) => string {
  const valid = family === "mistral" ? MISTRAL : VALID;
  const written = new Map<string, string>();
  const taken = new Set<string>();
  /** The number that the next made id may have: those before it are taken, and would be tried again for each. */
  let next = 0;
  return (given) => {
    const id = stripSignature(given);
    let made = written.get(id) ?? (valid.test(id) ? id : "");
    for (let n = Math.max(next, written.size); made === "" || (taken.has(made) && !written.has(id)); n++) {
      made = `call${String(n).padStart(5, "0")}`;
      next = n + 1;
    }
    written.set(id, made);
    taken.add(made);
    return made;
  };
}

/**
 * Whose model it is, as far as that changes how it is asked; "unknown" for a profile or import that does not name it.
 */
export type Family = "anthropic" | "nova" | "gpt-oss" | "openai" | "mistral" | "cohere" | "other" | "unknown";

const FAMILIES: readonly (readonly [RegExp, Family])[] = [
  [/anthropic\.|claude/, "anthropic"],
  [/amazon\.nova|\/nova/, "nova"],
  [/gpt-oss/, "gpt-oss"],
  [/openai\./, "openai"],
  [/mistral\./, "mistral"],
  [/cohere\./, "cohere"],
  [
    /:(?:application-inference-profile|provisioned-model|custom-model-deployment|imported-model|prompt-router|default-prompt-router)\//,
    "unknown",
  ],
];

/** @param model id, ARN or inference profile: `us.anthropic.claude-opus-4-5-20251101-v1:0`. */
function familyOf(model: string): Family {
  const name = model.toLowerCase();
  return FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? "other";
}

/**
 * Models that take `cachePoint` blocks (https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html); the
 * others refuse a request that has one.
 */
function caches(family: Family): boolean {
  return family === "anthropic" || family === "nova" || family === "unknown";
}

/** Models whose tool results may say that they are errors (Converse, `ToolResultBlock.status`). */
export function readsStatus(family: Family): boolean {
  return caches(family);
}

/** Models that want their signed reasoning back; the others refuse reasoning in a request. */
export function readsReasoning(family: Family): boolean {
  return family === "anthropic" || family === "unknown";
}

/**
 * Models with structured output of their own in Converse, strict tools included
 * (https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html; Claude:
 * https://docs.aws.amazon.com/bedrock/latest/userguide/claude-messages-structured-outputs.html). Later Claude models were
 * refused it in Converse (https://github.com/BerriAI/litellm/issues/27846): they are asked by a tool while they can be.
 */
const STRUCTURED =
  /claude-(?:opus|sonnet|haiku)-4-[56](?!\d)|gpt-oss|qwen\.qwen3|deepseek\.v3|gemma-3|minimax\.|mistral-large-3|ministral|magistral|voxtral|moonshot|kimi|nemotron/;

export function hasStructuredOutput(model: string): boolean {
  return STRUCTURED.test(model.toLowerCase());
}

/**
 * Whether the model can be made to call a tool
 * (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolChoice.html; `supports_tool_choice_values` of
 * langchain-aws chat_models/bedrock_converse.py).
 */
export function takesToolChoice(family: Family): boolean {
  return family === "anthropic" || family === "nova" || family === "mistral" || family === "unknown";
}
