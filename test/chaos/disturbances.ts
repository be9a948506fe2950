import type { Size, UserPlan } from "./plan.ts";
import { Random } from "./random.ts";

/** Something that goes wrong, or that somebody does, once so many requests have been sent. Times are milliseconds. */
export type Disturbance = { readonly at: number } & (
  | { readonly kind: "kill"; readonly slot: number; readonly down: number; readonly bury: boolean }
  | { readonly kind: "roll"; readonly slot: number }
  /** `place` of the worker, as long as there are so many. */
  | { readonly kind: "kill_worker"; readonly slot: number; readonly place: number }
  /** All of an instance at once, and not their supervisor; or the supervisor, and none of them. */
  | { readonly kind: "kill_workers"; readonly slot: number }
  | { readonly kind: "kill_supervisor"; readonly slot: number; readonly down: number }
  | { readonly kind: "redis_pause"; readonly length: number }
  | { readonly kind: "redis_kill"; readonly down: number }
  | { readonly kind: "script_flush" | "client_kill" }
  /** A new price for everything, or a file that cannot be used. */
  | { readonly kind: "reload"; readonly multiplier: number; readonly bad: boolean }
  | { readonly kind: "kill_streams" | "revoke" | "change_tier" | "grant"; readonly user: number }
);

export type DisturbanceKind = Disturbance["kind"];

type OfWorkers = "kill_worker" | "kill_workers" | "kill_supervisor";

const WEIGHTS: Readonly<Record<Exclude<DisturbanceKind, OfWorkers>, number>> = {
  kill: 14,
  roll: 3,
  redis_pause: 12,
  redis_kill: 6,
  script_flush: 6,
  client_kill: 8,
  reload: 10,
  kill_streams: 20,
  revoke: 7,
  change_tier: 8,
  grant: 6,
};

/** Where there are workers. */
const WITH_WORKERS: Readonly<Record<DisturbanceKind, number>> = {
  ...WEIGHTS,
  kill: 8,
  kill_worker: 14,
  kill_workers: 6,
  kill_supervisor: 6,
};

/** Requests between two of them in a long run. */
const APART = 400;

/** Multipliers of the price, in hundredths, that reloads choose from. */
const MULTIPLIERS = [100, 110, 125, 133] as const;

/** Every kind once at least, and more the longer the run: spread over it, but for its last requests. */
export function planDisturbances(seed: number, users: readonly UserPlan[], size: Size): readonly Disturbance[] {
  const random = Random.of(seed, -2);
  const weights: Readonly<Partial<Record<DisturbanceKind, number>>> = size.workers ? WITH_WORKERS : WEIGHTS;
  const each = Object.keys(weights) as DisturbanceKind[];
  const count = Math.max(each.length, Math.floor(size.requests / APART));
  const drawn = () => random.weighted(weights as Readonly<Record<DisturbanceKind, number>>);
  const kinds = Array.from({ length: count }, (_, index) => each[index] ?? drawn());
  const last = size.requests * 0.95;
  const short = size.requests < 10_000;
  return shuffled(random, kinds).map((kind, index) => {
    const at = Math.floor(((index + random.fraction()) / count) * last);
    return draw(random, kind, at, { users, size, longest: short ? 1_200 : 5_000 });
  });
}

interface Means {
  readonly users: readonly UserPlan[];
  readonly size: Size;
  /** Milliseconds that the store is away at most. */
  readonly longest: number;
}

function draw(random: Random, kind: DisturbanceKind, at: number, { users, size, longest }: Means): Disturbance {
  const slot = random.between(0, size.instances - 1);
  const of = (...kinds: readonly string[]) => {
    const found = users.flatMap((user, index) => (kinds.includes(user.kind) ? [index] : []));
    return found[random.between(0, found.length - 1)]!;
  };
  switch (kind) {
    case "kill":
      return { kind, at, slot, down: random.between(0, 1_500), bury: random.chance(0.5) };
    case "roll":
    case "kill_workers":
      return { kind, at, slot };
    case "kill_worker":
      return { kind, at, slot, place: random.between(0, Math.max(1, size.workers ?? 0) - 1) };
    case "kill_supervisor":
      return { kind, at, slot, down: random.between(0, 1_500) };
    case "redis_pause":
      // Most are short, a few as long as it may be.
      return { kind, at, length: Math.round(200 + (longest - 200) * random.fraction() ** 2) };
    case "redis_kill":
      return { kind, at, down: random.between(0, Math.round(longest / 3)) };
    case "script_flush":
    case "client_kill":
      return { kind, at };
    case "reload":
      return { kind, at, multiplier: MULTIPLIERS[random.between(0, MULTIPLIERS.length - 1)]!, bad: random.chance(0.3) };
    case "kill_streams":
      return { kind, at, user: of("killer", "streams") };
    case "revoke":
      return { kind, at, user: of("rotating") };
    case "change_tier":
      return { kind, at, user: of("changing") };
    case "grant":
      return { kind, at, user: of("poor") };
  }
}

function shuffled<T>(random: Random, list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, place: random.fraction() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
