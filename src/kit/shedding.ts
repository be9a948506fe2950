/** When a process refuses new inference requests, the lowest class first. */
export interface ShedSettings {
  /** Of the event loop, 99th percentile of a second; null: no bound. */
  readonly loopDelay: number | null;
  /** Of V8's heap in use: a share of its limit or bytes; null: no bound. */
  readonly heap: { readonly share: number } | { readonly bytes: number } | null;
}

/** The class of every plan by name: its own, else its place among the plans. */
export function classesOf(tiers: Readonly<Record<string, { readonly class?: number }>>): ReadonlyMap<string, number> {
  return new Map(Object.entries(tiers).map(([name, tier], index) => [name, tier.class ?? index]));
}
