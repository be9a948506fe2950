import {
  type Admission,
  budgetPeriodOf,
  type KeyBudget,
  type Principal,
  type Refusal,
  type Settlement,
} from "../../src/kit/index.ts";
import { DAY, HOUR, MINUTE } from "../store/support.ts";

const LENGTHS = { day: DAY, hour: HOUR, minute: MINUTE } as const;
const NAMES = ["day", "hour", "minute"] as const;

interface Running {
  /** Its hold is what it holds now. */
  admission: Admission;
  /** Of each window it was counted in, "<name> <number>". */
  readonly places: readonly string[];
  readonly stopToken: number;
  /** Of the budget that it takes from; null: of none. */
  readonly period: string | null;
}

export interface Answer {
  readonly refusal: Refusal | null;
  /** Day, hour and minute. */
  readonly used: readonly number[];
  readonly stopToken: number;
}

/** One user as one would explain it: every number is counted afresh from what runs and what was charged. */
export class AdmissionModel {
  readonly running = new Map<string, Running>();
  readonly charges = new Map<string, bigint>();
  readonly keys: Set<string>;
  /** Key to its budget. */
  readonly budgets: ReadonlyMap<string, KeyBudget>;
  granted: bigint;
  tier: string;
  stopToken = 0;
  /** Of what is kept about the user; null: the store keeps none. */
  version: number | null;
  readonly #counts = new Map<string, number>();
  readonly #spent = new Map<string, bigint>();

  constructor(user: {
    granted: bigint;
    tier: string;
    keys: readonly string[];
    budgets: ReadonlyMap<string, KeyBudget>;
    version: number | null;
  }) {
    this.granted = user.granted;
    this.tier = user.tier;
    this.keys = new Set(user.keys);
    this.budgets = user.budgets;
    this.version = user.version;
  }

  get balance(): bigint {
    return [...this.charges.values()].reduce((rest, charge) => rest - charge, this.granted);
  }

  get held(): bigint {
    return [...this.running.values()].reduce((sum, { admission }) => sum + admission.hold, 0n);
  }

  get streams(): number {
    return [...this.running.values()].filter(({ admission }) => admission.stream).length;
  }

  /** What a key has spent and holds now; null without a budget. */
  budget(keyId: string, now: number): { readonly spent: bigint; readonly held: bigint } | null {
    const budget = this.budgets.get(keyId);
    if (budget === undefined) return null;
    const period = periodOf({ keyId, ...budget }, now);
    const running = [...this.running.values()].filter((request) => request.period === period);
    const held = running.reduce((sum, { admission }) => sum + admission.hold, 0n);
    return { spent: this.#spent.get(period) ?? 0n, held };
  }

  used(now: number): readonly number[] {
    return places(now).map((place) => this.#counts.get(place) ?? 0);
  }

  admit(admission: Admission, now: number): Answer {
    const refused = (refusal: Refusal): Answer => ({ refusal, used: this.used(now), stopToken: 0 });
    const { id, limits, units, hold, fullHold = 0n, enforceCredits, stream, version, budget } = admission;
    if (version !== undefined && version !== this.version) return refused("principal");
    const before = this.running.get(id);
    if (before) return { refusal: null, used: this.used(now), stopToken: before.stopToken };
    if (enforceCredits && hold > 0n && this.balance - this.held < hold) return refused("credits");
    const used = budget === undefined ? null : this.budget(budget.keyId, now);
    if (used !== null && hold > 0n && used.spent + used.held + hold > budget!.amount) return refused("budget");
    const after = this.used(now).map((used, index) => used + (index === 0 ? units : 1));
    const full = NAMES.find((name, index) => after[index]! > (limits[name] ?? Infinity));
    if (full) return refused(full);
    if (stream && this.streams >= (limits.streams ?? Infinity)) return refused("streams");
    const period = budget === undefined ? null : periodOf(budget, now);
    const left: bigint[] = enforceCredits ? [this.balance - this.held] : [];
    if (used !== null) left.push(budget!.amount - used.spent - used.held);
    const [least] = left.toSorted((a, b) => Number(a - b));
    const held = hold > 0n && least !== undefined && least < fullHold ? least : hold;
    this.running.set(id, {
      admission: { ...admission, hold: held },
      places: places(now),
      stopToken: this.stopToken,
      period,
    });
    this.#count(places(now), units, 1);
    return { refusal: null, used: after, stopToken: this.stopToken };
  }

  settle({ id, giveBack, charge }: Settlement): void {
    const request = this.running.get(id);
    if (!request) return;
    this.running.delete(id);
    if (giveBack) this.#count(request.places, request.admission.units, -1);
    else {
      this.charges.set(id, charge);
      const { period } = request;
      if (period !== null) this.#spent.set(period, (this.#spent.get(period) ?? 0n) + charge);
    }
  }

  release(id: string): void {
    const request = this.running.get(id);
    if (request) request.admission = { ...request.admission, hold: 0n, stream: false };
  }

  setTier(tier: string): void {
    this.tier = tier;
    this.#changed();
  }

  revoke(keyId: string): boolean {
    const wasLive = this.keys.delete(keyId);
    if (wasLive) this.#changed();
    return wasLive;
  }

  /** @returns the token, and the streams that hear of it first. */
  stop(): { readonly token: number; readonly streams: number } {
    const told = [...this.running.values()].filter(
      ({ admission, stopToken }) => admission.stream && stopToken === this.stopToken,
    );
    return { token: ++this.stopToken, streams: told.length };
  }

  principal(userId: string, keyId: string): Principal | null {
    if (!this.keys.has(keyId)) return null;
    const budget = this.budgets.get(keyId);
    const common = { userId, tier: this.tier, keyId, ...(budget && { keyLimits: { budget } }) };
    return this.version === null ? common : { ...common, version: this.version };
  }

  #changed(): void {
    if (this.version !== null) this.version++;
  }

  #count(at: readonly string[], units: number, times: 1 | -1): void {
    for (const [index, place] of at.entries())
      this.#counts.set(place, (this.#counts.get(place) ?? 0) + times * (index === 0 ? units : 1));
  }
}

function periodOf({ keyId, per }: { keyId: string; per: KeyBudget["per"] }, now: number): string {
  return `${keyId} ${budgetPeriodOf(per, now)}`;
}

function places(now: number): readonly string[] {
  return NAMES.map((name) => `${name} ${Math.floor(now / LENGTHS[name])}`);
}
