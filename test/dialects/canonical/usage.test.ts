import * as fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalUsage, readUsage } from "../../../src/dialects/canonical/usage.ts";
import type { Json, Usage } from "../../../src/kit/index.ts";
import { type Cases, casesOf } from "../cases.ts";
import { RUNS } from "../../properties/runs.ts";

const counts = (usage: Partial<Usage>): Usage => ({ prompt: 100, completion: 20, cached: 0, reasoning: 0, ...usage });
const OWN = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

/** By upstream. */
interface Case {
  readonly reported: Json;
  readonly billed: Usage;
  readonly shown: Json;
}

const CASES = casesOf(new URL("../counts/openai.yaml", import.meta.url)) as Cases<Case>;

test.each(CASES)("%s", (_, { reported, billed, shown }) => {
  expect(readUsage({ usage: reported })).toEqual(billed);
  expect(canonicalUsage(reported, billed)).toEqual(shown);
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
