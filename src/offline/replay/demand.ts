import type { Admission, Refusal, Snapshot, WindowName } from "../../kit/index.ts";
import { type Counts, counted, countsAt, NO_COUNTS, uncounted, type WindowIds } from "../../store/windows.ts";
import type { AdmissionObserver } from "./engine.ts";

const WINDOWS = ["day", "hour", "minute", "streams"] as const satisfies readonly (WindowName | "streams")[];
type Limited = (typeof WINDOWS)[number];
const PERCENTILES = [50, 90, 95, 99] as const;

/** How much users of one plan asked for in one window: the most of each of them. */
export interface LimitDemand {
  readonly limit: number | null;
  /** What the limit refuses. */
  readonly refused: { readonly requests: number; readonly users: number };
  /** The most that so many percent of the users would have used of it without a limit. */
  readonly peak: { readonly p50: number; readonly p90: number; readonly p95: number; readonly p99: number };
  readonly max: number;
}

export interface PlanDemand {
  readonly plan: string;
  readonly users: number;
  readonly requests: number;
  readonly refused: { readonly requests: number; readonly users: number };
  readonly limits: Readonly<Record<Limited, LimitDemand>>;
}

interface UserDemand {
  counts: Counts;
  streams: number;
}

interface PlanCounts {
  requests: number;
  readonly users: Set<string>;
  readonly refused: Map<string, Set<string>>;
  readonly refusedRequests: Map<string, number>;
  readonly peaks: Map<string, Record<Limited, number>>;
}

/**
 * What users asked for, by plan and window, whether or not it was granted; with what the limits refuse of it. A request
 * whose counts were given back is not asked for.
 */
export class Demand implements AdmissionObserver {
  readonly #planOf: (id: string) => string | null;
  readonly #users = new Map<string, UserDemand>();
  readonly #plans = new Map<string, PlanCounts>();
  readonly #counted = new Map<string, WindowIds>();

  /** @param planOf of a request by its id; null: it is not to be reported */
  constructor(planOf: (id: string) => string | null) {
    this.#planOf = planOf;
  }

  admitted({ id, userId, units, stream }: Admission, refusal: Refusal | null, at: number): void {
    const user = this.#user(userId);
    const counts = counted(countsAt(user.counts, at), units);
    const { day, hour, minute } = counts;
    user.counts = counts;
    if (stream) user.streams += 1;
    this.#counted.set(id, { day: day.window, hour: hour.window, minute: minute.window });
    const used = { day: day.used, hour: hour.used, minute: minute.used, streams: user.streams };
    const name = this.#planOf(id);
    if (name === null) return;
    const plan = this.#plan(name);
    plan.requests += 1;
    plan.users.add(userId);
    // Of this plan alone, and of what is reported: users change plans, and what came before `since` is another story.
    const peaks = plan.peaks.get(userId) ?? { day: 0, hour: 0, minute: 0, streams: 0 };
    for (const window of WINDOWS) peaks[window] = Math.max(peaks[window], used[window]);
    plan.peaks.set(userId, peaks);
    if (refusal === null || refusal === "principal") return;
    for (const what of [refusal, "any"]) {
      plan.refused.set(what, (plan.refused.get(what) ?? new Set()).add(userId));
      plan.refusedRequests.set(what, (plan.refusedRequests.get(what) ?? 0) + 1);
    }
  }

  settled({ id, userId, units, stream }: Admission, givenBack: boolean, refusal: Refusal | null): void {
    const user = this.#user(userId);
    const windows = this.#counted.get(id);
    this.#counted.delete(id);
    if (stream) user.streams -= 1;
    if (givenBack && refusal === null && windows) user.counts = uncounted(user.counts, windows, units);
  }

  plans({ tiers }: Pick<Snapshot, "tiers">): readonly PlanDemand[] {
    const names = [...this.#plans.keys()].toSorted();
    return names.map((plan) => {
      const { requests, users, refused, refusedRequests, peaks } = this.#plans.get(plan)!;
      const of = (what: string) => ({ requests: refusedRequests.get(what) ?? 0, users: refused.get(what)?.size ?? 0 });
      const demand = (name: Limited): LimitDemand => {
        const sorted = Float64Array.from(peaks.values(), (peak) => peak[name]).toSorted();
        const [p50, p90, p95, p99] = PERCENTILES.map((share) => percentile(sorted, share));
        return {
          limit: tiers[plan]?.limits[name] ?? null,
          refused: of(name),
          peak: { p50: p50!, p90: p90!, p95: p95!, p99: p99! },
          max: sorted.at(-1) ?? 0,
        };
      };
      const [day, hour, minute, streams] = WINDOWS.map(demand);
      const limits = { day: day!, hour: hour!, minute: minute!, streams: streams! };
      return { plan, users: users.size, requests, refused: of("any"), limits };
    });
  }

  #user(id: string): UserDemand {
    const user = this.#users.get(id) ?? { counts: NO_COUNTS, streams: 0 };
    this.#users.set(id, user);
    return user;
  }

  #plan(name: string): PlanCounts {
    const plan = this.#plans.get(name) ?? {
      requests: 0,
      users: new Set(),
      refused: new Map(),
      refusedRequests: new Map(),
      peaks: new Map(),
    };
    this.#plans.set(name, plan);
    return plan;
  }
}

/** The least value that so many percent of all do not exceed. */
function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil((share / 100) * sorted.length) - 1)] ?? 0;
}
