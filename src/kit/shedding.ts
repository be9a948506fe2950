/** When a process refuses new inference requests, the lowest class first. */
export interface ShedSettings {
  /** How late the event loop may be, 99th percentile of a second; null: no bound. */
  readonly loopDelay: number | null;
  /** How much of V8's heap may be in use, a share of its limit or bytes; null: no bound. */
  readonly heap: { readonly share: number } | { readonly bytes: number } | null;
}

/** The class of every plan by name: its own, else its place among the plans. */
export function classesOf(tiers: Readonly<Record<string, { readonly class?: number }>>): ReadonlyMap<string, number> {
  return new Map(Object.entries(tiers).map(([name, tier], index) => [name, tier.class ?? index]));
}
