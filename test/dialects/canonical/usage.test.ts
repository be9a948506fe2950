import * as fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalUsage, readUsage } from "../../../src/dialects/canonical/usage.ts";
import type { Json, Usage } from "../../../src/kit/index.ts";
import { RUNS } from "../../properties/runs.ts";

const counts = (usage: Partial<Usage>): Usage => ({ prompt: 100, completion: 20, cached: 0, reasoning: 0, ...usage });
const OWN = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

/** By upstream: what it reports, what is billed, and what a client is shown. */
test.each<readonly [string, Json, Usage, Json]>([
  [
    "OpenAI",
    { ...OWN, prompt_tokens_details: { cached_tokens: 60 }, completion_tokens_details: { reasoning_tokens: 8 } },
    counts({ cached: 60, reasoning: 8 }),
    { ...OWN, prompt_tokens_details: { cached_tokens: 60 }, completion_tokens_details: { reasoning_tokens: 8 } },
  ],
  ["no total", { prompt_tokens: 100, completion_tokens: 20 }, counts({}), OWN],
  ["no details", { ...OWN, prompt_tokens_details: null }, counts({}), { ...OWN, prompt_tokens_details: null }],
  [
    "xAI: reasoning is left out of completion_tokens",
    {
      prompt_tokens: 291,
      completion_tokens: 26,
      total_tokens: 513,
      completion_tokens_details: { reasoning_tokens: 196 },
    },
    counts({ prompt: 291, completion: 222, reasoning: 196 }),
    {
      prompt_tokens: 291,
      completion_tokens: 222,
      total_tokens: 513,
      completion_tokens_details: { reasoning_tokens: 196 },
    },
  ],
  [
    "written to a cache",
    { ...OWN, prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 } },
    counts({ cached: 60, cacheWrite: 30 }),
    { ...OWN, prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 } },
  ],
  [
    "Anthropic's names beside",
    { ...OWN, cache_read_input_tokens: 60, cache_creation_input_tokens: 30 },
    counts({ cached: 60, cacheWrite: 30 }),
    {
      ...OWN,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 30,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
    },
  ],
  [
    "DeepSeek's own name",
    { ...OWN, prompt_cache_hit_tokens: 64 },
    counts({ cached: 64 }),
    { ...OWN, prompt_cache_hit_tokens: 64, prompt_tokens_details: { cached_tokens: 64 } },
  ],
  [
    "Moonshot's own name",
    { ...OWN, cached_tokens: 64 },
    counts({ cached: 64 }),
    { ...OWN, cached_tokens: 64, prompt_tokens_details: { cached_tokens: 64 } },
  ],
  [
    "reasoning beside the details",
    { ...OWN, reasoning_tokens: 8 },
    counts({ reasoning: 8 }),
    { ...OWN, reasoning_tokens: 8, completion_tokens_details: { reasoning_tokens: 8 } },
  ],
  [
    "Perplexity's research: what it read is input, its reasoning is output, neither is in the total",
    {
      prompt_tokens: 33,
      completion_tokens: 11_395,
      total_tokens: 11_428,
      citation_tokens: 19_028,
      num_search_queries: 21,
      reasoning_tokens: 193_924,
    },
    counts({ prompt: 19_061, completion: 205_319, reasoning: 193_924 }),
    {
      prompt_tokens: 19_061,
      completion_tokens: 205_319,
      total_tokens: 224_380,
      citation_tokens: 19_028,
      num_search_queries: 21,
      reasoning_tokens: 193_924,
      completion_tokens_details: { reasoning_tokens: 193_924 },
    },
  ],
  [
    "Perplexity's other models read for nothing",
    { ...OWN, citation_tokens: null },
    counts({}),
    { ...OWN, citation_tokens: null },
  ],
  [
    "more of a part than there is",
    { ...OWN, prompt_tokens_details: { cached_tokens: 90, cache_write_tokens: 90 } },
    counts({ cached: 90, cacheWrite: 10 }),
    { ...OWN, prompt_tokens_details: { cached_tokens: 90, cache_write_tokens: 10 } },
  ],
])("%s", (_, raw, usage, shown) => {
  expect(readUsage({ usage: raw })).toEqual(usage);
  expect(canonicalUsage(raw, usage)).toEqual(shown);
});

test("a count under x_groq is the count, one at the top is before it", () => {
  expect(readUsage({ x_groq: { usage: OWN } })).toEqual(counts({}));
  expect(readUsage({ x_groq: { usage: OWN }, usage: { ...OWN, prompt_tokens: 7 } })).toEqual(counts({ prompt: 7 }));
});

test("Moonshot counts in the last chunk's choice; a count at the top is before it", () => {
  const choices = [{ index: 0, delta: {}, finish_reason: "stop", usage: OWN }];
  expect(readUsage({ choices })).toEqual(counts({}));
  expect(readUsage({ choices, usage: { ...OWN, prompt_tokens: 7 } })).toEqual(counts({ prompt: 7 }));
});

test("whatever an upstream reports, no part is more than its whole, and what is shown reads the same", () => {
  const number = fc.oneof(fc.nat(200), fc.constantFrom(-1, 1.5, 1e12, null, "3", undefined));
  const details = fc.oneof(
    fc.record({ cached_tokens: number, cache_write_tokens: number, reasoning_tokens: number }),
    fc.constantFrom(null, 3, []),
  );
  const raw = fc.record({
    prompt_tokens: number,
    completion_tokens: number,
    total_tokens: number,
    prompt_tokens_details: details,
    completion_tokens_details: details,
    cache_creation_input_tokens: number,
    cache_read_input_tokens: number,
    reasoning_tokens: number,
    citation_tokens: number,
  });
  fc.assert(
    fc.property(raw, (reported) => {
      const usage = readUsage({ usage: reported });
      if (usage === null) return;
      const { prompt, completion, cached, reasoning, cacheWrite = 0 } = usage;
      expect(cached + cacheWrite).toBeLessThanOrEqual(prompt);
      expect(reasoning).toBeLessThanOrEqual(completion);
      expect(Math.min(cached, reasoning, cacheWrite, prompt, completion)).toBeGreaterThanOrEqual(0);
      const shown = canonicalUsage(reported, usage);
      expect(shown).toMatchObject({ prompt_tokens: prompt, completion_tokens: completion });
      expect(canonicalUsage(shown, usage)).toBe(shown);
    }),
    { numRuns: RUNS },
  );
});
