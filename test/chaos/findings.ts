/** The invariants of a run, as the report names them. */
export const INVARIANTS = {
  I1: "charges are usage x price x multiplier, in integers",
  I2: "every whole answer is charged exactly once, with the upstream's count",
  I3: "granted = balance + charges, and nobody owes more than requests exceeded their holds",
  I4: "nothing is left: reservations, slots, holds, journal",
  I5: "no window and no number of streams is ever exceeded, and nobody is refused for nothing",
  I6: "one line in the log for every request",
  I7: "no unhandled failure, no end but by our signals",
  I8: "no secret is shown, no credential refused that is good",
  I9: "a store that is slow refuses nobody; with `open` one that is away refuses no key that its process has looked up",
} as const;

export type Invariant = keyof typeof INVARIANTS;

export interface Finding {
  readonly invariant: Invariant;
  readonly what: string;
}

/** What the checks find, and what they let pass because the table of outcomes says so. */
export class Findings {
  readonly violations: Finding[] = [];
  readonly allowances = new Map<string, number>();

  violation(invariant: Invariant, what: string): void {
    this.violations.push({ invariant, what });
  }

  /** @param row of the table of outcomes, or why nothing better can be asked for. */
  allow(row: string): void {
    this.allowances.set(row, (this.allowances.get(row) ?? 0) + 1);
  }
}
