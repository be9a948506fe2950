import type { BillingSettings, CallFacts, ThoughtRecord } from "../kit/index.ts";

/** Of one model at one effort. */
const MAX_REMEMBERED_COUNT = 32;
/** Models and efforts; a configuration has fewer. */
const MAX_KEY_COUNT = 10_000;

/** How many tokens models have thought lately. In memory: after a restart it learns again. */
export class RecentThoughts implements ThoughtRecord {
  /** The last of each model and effort, the oldest first. */
  readonly #recent = new Map<string, number[]>();

  note(model: string, effort: string, tokens: number): void {
    const key = `${model} ${effort}`;
    const known = this.#recent.get(key) ?? [];
    if (known.length === 0 && this.#recent.size >= MAX_KEY_COUNT) return;
    known.push(tokens);
    if (known.length > MAX_REMEMBERED_COUNT) known.shift();
    this.#recent.set(key, known);
  }

  /** The mean: leaving early is then no cheaper on average. */
  expected(model: string, effort: string): number | null {
    const known = this.#recent.get(`${model} ${effort}`);
    return known === undefined ? null : Math.ceil(known.reduce((sum, tokens) => sum + tokens, 0) / known.length);
  }
}

/**
 * Tokens that a request is taken to have thought in silence: as many as others of its model at its effort, and no fewer than
 * a usual hold has. As long as there is none to go by it is the request's own hold. A model that has not thought lately has
 * not now. Limits of the client do not lower it: some upstreams think beyond them.
 */
export function hiddenThoughts(
  { maxOutput, answers = 1 }: CallFacts,
  { holdOutputTokens }: BillingSettings,
  known: number | null,
): number {
  const usual = holdOutputTokens * answers;
  if (known === null) return maxOutput ?? usual;
  return known === 0 ? 0 : Math.max(known, usual);
}
