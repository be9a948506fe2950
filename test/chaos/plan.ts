import type { Limits } from "../../src/kit/index.ts";
import { type Disturbance, planDisturbances } from "./disturbances.ts";
import { Random } from "./random.ts";

/** What is special about a user; `open` has neither limits nor few credits. */
export type UserKind = "open" | "minute" | "streams" | "both" | "day" | "poor" | "killer" | "changing" | "rotating";

export interface UserPlan {
  readonly kind: UserKind;
  readonly tier: TierName;
  /** Nano-units. */
  readonly credits: bigint;
}

export type TierName = "Open" | "Other" | "Minute" | "Streams" | "Both" | "Day";

/** What one attempt at the upstream brings. */
export type Fault =
  | "none"
  /** A whole answer without a count. */
  | "no_usage"
  | "status_500"
  | "status_503"
  | "status_429"
  /** Takes no credentials, and shows the ones it was sent. */
  | "status_401"
  /** The client's fault: no other upstream is tried. */
  | "status_400"
  | "reset_before_head"
  | "reset_after_head"
  /** The connection ends half-way. */
  | "cut"
  /** Nothing more comes, half-way. */
  | "stall"
  /** Nothing comes at all. */
  | "silence"
  | "malformed"
  /** An error as the first event of a 200. */
  | "error_first";

export interface Attempt {
  readonly fault: Fault;
  /** What the upstream claims, if it does. */
  readonly usage: { readonly prompt: number; readonly cached: number; readonly completion: number };
  /** Milliseconds before the head. */
  readonly wait: number;
  /** Of a stream. */
  readonly chunks: number;
  /** Milliseconds between them. */
  readonly gap: number;
}

export interface RequestPlan {
  readonly id: string;
  readonly user: number;
  /** Of the gateway's instances; another one while it is down. */
  readonly slot: number;
  readonly model: ModelName;
  readonly stream: boolean;
  readonly words: number;
  readonly maxTokens: number;
  /** First the one at the first upstream of the chain; the last one is every further one. */
  readonly attempts: readonly [Attempt, ...Attempt[]];
  /** The client goes: so many milliseconds after it has sent the request, or after the first bytes of an answer. */
  readonly leaves: { readonly after: "sending" | "first bytes"; readonly wait: number } | null;
}

export type ModelName = "route/one" | "route/two";

export interface Plan {
  readonly seed: number;
  readonly tiers: Readonly<Record<TierName, Limits>>;
  readonly users: readonly UserPlan[];
  readonly requests: readonly RequestPlan[];
  readonly disturbances: readonly Disturbance[];
}

export interface Size {
  readonly requests: number;
  readonly instances: number;
  /** Of each instance; 0, or left out: it is one process. */
  readonly workers?: number;
}

const USERS: Readonly<Record<UserKind, number>> = {
  open: 8,
  minute: 2,
  streams: 3,
  both: 2,
  day: 2,
  poor: 3,
  killer: 2,
  changing: 2,
  rotating: 2,
};

const TIERS: Readonly<Record<UserKind, TierName>> = {
  open: "Open",
  minute: "Minute",
  streams: "Streams",
  both: "Both",
  day: "Day",
  poor: "Open",
  killer: "Open",
  changing: "Open",
  rotating: "Open",
};

const RICH = 1_000_000_000_000n;
/** A few dozen requests. */
const POOR = 4_000_000n;

/** One in ten. */
const FAULTS: Readonly<Record<Fault, number>> = {
  none: 90,
  no_usage: 1.5,
  status_500: 1,
  status_503: 0.7,
  status_429: 0.7,
  status_401: 0.4,
  status_400: 0.7,
  reset_before_head: 1,
  reset_after_head: 0.8,
  cut: 1.2,
  stall: 0.3,
  silence: 0.2,
  malformed: 0.9,
  error_first: 0.6,
};

const LEAVES = 0.03;

const NONE: Limits = { day: null, hour: null, minute: null, streams: null };

/** All that is decided beforehand; the same seed and size give the same plan. */
export function makePlan(seed: number, size: Size): Plan {
  const users = (Object.keys(USERS) as UserKind[]).flatMap((kind) =>
    Array.from({ length: USERS[kind] }, () => ({
      kind,
      tier: TIERS[kind],
      credits: kind === "poor" ? POOR : RICH,
    })),
  );
  const tiers: Plan["tiers"] = {
    Open: NONE,
    Other: NONE,
    Minute: { ...NONE, minute: 20 },
    Streams: { ...NONE, streams: 2 },
    Both: { ...NONE, minute: 40, streams: 3 },
    Day: { ...NONE, day: Math.max(20, Math.round(size.requests / 250)) },
  };
  const requests = Array.from({ length: size.requests }, (_, index) => planRequest(seed, index, users, size.instances));
  return { seed, tiers, users, requests, disturbances: planDisturbances(seed, users, size) };
}

function planRequest(seed: number, index: number, users: readonly UserPlan[], instances: number): RequestPlan {
  const random = Random.of(seed, index);
  const user = random.between(0, users.length - 1);
  const { kind } = users[user]!;
  // Long enough for several to run at the same time.
  const long = kind === "streams" || kind === "both" || kind === "killer";
  const maxTokens = random.between(16, 400);
  const words = random.between(12, 80);
  const attempt = (): Attempt => ({
    fault: random.weighted(FAULTS),
    usage: usage(random, words, maxTokens),
    wait: random.chance(0.5) ? 0 : random.between(1, 40),
    chunks: random.between(2, 8),
    gap: long ? random.between(30, 90) : random.between(0, 12),
  });
  return {
    id: `chaos-${seed.toString(36)}-${index}`,
    user,
    slot: random.between(0, instances - 1),
    model: random.chance(0.7) ? "route/one" : "route/two",
    stream: long || random.chance(0.5),
    words,
    maxTokens,
    attempts: [attempt(), attempt()],
    leaves: random.chance(LEAVES)
      ? { after: random.chance(0.5) ? "sending" : "first bytes", wait: random.between(0, 60) }
      : null,
  };
}

/** No more than the hold covers: words are longer than four bytes. */
function usage(random: Random, words: number, maxTokens: number): Attempt["usage"] {
  const prompt = random.between(1, words);
  return {
    prompt,
    cached: random.chance(0.3) ? random.between(0, prompt) : 0,
    completion: random.between(1, maxTokens),
  };
}
