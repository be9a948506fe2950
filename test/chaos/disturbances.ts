import type { Size, UserPlan } from "./plan.ts";
import { Random } from "./random.ts";

/** Something that goes wrong, or that somebody does, once so many requests have been sent. Times are milliseconds. */
export type Disturbance = { readonly at: number } & (
  | { readonly kind: "kill"; readonly slot: number; readonly down: number; readonly bury: boolean }
  | { readonly kind: "roll"; readonly slot: number }
  | { readonly kind: "redis_pause"; readonly length: number }
  | { readonly kind: "redis_kill"; readonly down: number }
  | { readonly kind: "script_flush" | "client_kill" }
  /** A new price for everything, or a file that cannot be used. */
  | { readonly kind: "reload"; readonly multiplier: number; readonly bad: boolean }
  | { readonly kind: "kill_streams" | "revoke" | "change_tier" | "grant"; readonly user: number }
);

export type DisturbanceKind = Disturbance["kind"];

const WEIGHTS: Readonly<Record<DisturbanceKind, number>> = {
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

/** One of each at least. */
const EACH = Object.keys(WEIGHTS) as DisturbanceKind[];

/** Requests between two of them in a long run. */
const APART = 400;

/** Multipliers of the price, in hundredths, that reloads choose from. */
const MULTIPLIERS = [100, 110, 125, 133] as const;

/** Every kind once, and more the longer the run: spread over it, but for its last requests. */
export function planDisturbances(seed: number, users: readonly UserPlan[], size: Size): readonly Disturbance[] {
  const random = Random.of(seed, -2);
  const count = Math.max(EACH.length, Math.floor(size.requests / APART));
  const kinds = Array.from({ length: count }, (_, index) => EACH[index] ?? random.weighted(WEIGHTS));
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
      return { kind, at, slot };
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
