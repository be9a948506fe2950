import { isJson, type Json, type Units, type Usage } from "../../kit/index.ts";

/** More than any model can read or write in one request: a count above it is a defect of the upstream. */
const MAX_TOKENS = 10_000_000;

/** A count of tokens; null for what is none or not to be believed. */
export function tokenCount(value: unknown, max = MAX_TOKENS): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max ? value : null;
}

/** `{cacheWrite, cacheWrite1h}` of the tokens written to a cache, and of those kept for an hour; counts of 0 are left out. */
export function cacheWrites(written: number, forAnHour: unknown): Pick<Usage, "cacheWrite" | "cacheWrite1h"> {
  const cacheWrite1h = Math.min(tokenCount(forAnHour) ?? 0, written);
  return { ...(written > 0 && { cacheWrite: written }), ...(cacheWrite1h > 0 && { cacheWrite1h }) };
}

/** A usage in OpenAI's form. */
export function writtenUsage({ prompt, completion, cached, reasoning, cacheWrite = 0 }: Usage): Json {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

/** The same of a batch: a reranker counts its query once for each of up to a thousand documents. */
const MAX_BATCH_TOKENS = 1_000_000_000;

/**
 * The usage object of a body or chunk, wherever the upstream put it; null when there is none. Groq has a place of its
 * own, Moonshot the last chunk's choice (https://github.com/northes/go-moonshot/issues/17,
 * https://github.com/vercel/ai/pull/19727).
 */
export function reportedUsage(body: Json): Json | null {
  if (isJson(body["usage"])) return body["usage"];
  const groq = body["x_groq"];
  if (isJson(groq) && isJson(groq["usage"])) return groq["usage"];
  const { choices } = body;
  const choice: unknown = Array.isArray(choices) ? choices[0] : null;
  return isJson(choice) && isJson(choice["usage"]) ? choice["usage"] : null;
}

/** The usage of a body or chunk; null when it is missing or not to be believed. */
export function readUsage(body: Json): Usage | null {
  const raw = reportedUsage(body);
  if (raw === null) return null;
  const sent = tokenCount(raw["prompt_tokens"]);
  const completion = tokenCount(raw["completion_tokens"]);
  if (sent === null || completion === null) return null;
  // What Perplexity's research read is input, and billed (https://openrouter.ai/perplexity/sonar-deep-research).
  const prompt = sent + (tokenCount(raw["citation_tokens"]) ?? 0);
  const { prompt_tokens_details: read, completion_tokens_details: written } = raw;
  // Beside OpenAI's place: Moonshot, DeepSeek, and Anthropic's names as compatible servers repeat them.
  const cached =
    detail(read, "cached_tokens") ??
    first(raw, ["cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens"]);
  const cacheWrite =
    detail(read, "cache_write_tokens") ??
    detail(read, "cache_creation_tokens") ??
    first(raw, ["cache_creation_input_tokens"]);
  const topLevel = first(raw, ["reasoning_tokens"]);
  const reasoning = detail(written, "reasoning_tokens") ?? topLevel;
  // Some upstreams leave reasoning out of completion_tokens and count it in the total only, Perplexity's research beside
  // the total as well; it is billed all the same.
  const inTotal = reasoning > 0 && raw["total_tokens"] === sent + completion + reasoning;
  const apart = inTotal || (reasoning === topLevel && topLevel > completion);
  const usage = {
    prompt,
    completion: apart ? completion + reasoning : completion,
    cached: Math.min(cached, prompt),
    reasoning: apart ? reasoning : Math.min(reasoning, completion),
  };
  const stored = Math.min(cacheWrite, prompt - usage.cached);
  return stored > 0 ? { ...usage, cacheWrite: stored } : usage;
}

/** A usage object with the counts that were read from it in OpenAI's places; the very same when they are there already. */
export function canonicalUsage(raw: Json, usage: Usage): Json {
  const { prompt, completion, cached, reasoning, cacheWrite = 0 } = usage;
  const read = withDetails(raw["prompt_tokens_details"], { cached_tokens: cached, cache_write_tokens: cacheWrite });
  const written = withDetails(raw["completion_tokens_details"], { reasoning_tokens: reasoning });
  const given = raw["total_tokens"];
  const total = Number.isSafeInteger(given) && Number(given) >= prompt + completion ? given : prompt + completion;
  return withFields(raw, {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: total,
    prompt_tokens_details: read,
    completion_tokens_details: written,
  });
}

/** Details that count nothing are not added. */
function withDetails(details: unknown, counts: Readonly<Record<string, number>>): unknown {
  const known: Json = isJson(details) ? details : {};
  for (const name in counts) {
    if ((known[name] ?? 0) === counts[name]) continue;
    const changed = Object.entries(counts).filter(([field, value]) => (known[field] ?? 0) !== value);
    return { ...known, ...Object.fromEntries(changed) };
  }
  return details;
}

/** The very same object where it has all of the fields. */
function withFields(object: Json, fields: Json): Json {
  for (const name in fields) {
    if (object[name] === fields[name]) continue;
    const changed = Object.entries(fields).filter(([field, value]) => object[field] !== value);
    return { ...object, ...Object.fromEntries(changed) };
  }
  return object;
}

function detail(details: unknown, name: string): number | null {
  return isJson(details) ? tokenCount(details[name]) : null;
}

function first(raw: Json, names: readonly string[]): number {
  for (const name of names) {
    const value = tokenCount(raw[name]);
    if (value !== null) return value;
  }
  return 0;
}

/** The usage of a kind without output; null when the count is missing or not to be believed. */
export function promptUsage(tokens: unknown): Usage | null {
  const prompt = tokenCount(tokens, MAX_BATCH_TOKENS);
  return prompt === null ? null : { prompt, completion: 0, cached: 0, reasoning: 0 };
}

/** What an image is priced by, of a size and a quality as requests and answers have them; `auto` says nothing. */
export function imageVariant(size: unknown, quality: unknown): Pick<Units, "imageVariant"> {
  const variant = [size, quality].map((word) =>
    typeof word === "string" && word !== "auto" ? word.toLowerCase() : "",
  );
  return variant.every((word) => word === "") ? {} : { imageVariant: variant.join("/") };
}
