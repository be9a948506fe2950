import type { LedgerEntry, Limits } from "../../src/kit/index.ts";
import type { Evidence, Life, Seen, Served, Setup, UserEvidence } from "./evidence.ts";
import { priceOf } from "./checks/money.ts";
import type { Attempt, RequestPlan } from "./plan.ts";

/** 2027-01-15T08:00:10Z: inside a minute. */
export const START = Date.UTC(2027, 0, 15, 8, 0, 10);
const GRANTED = 1_000_000_000n;
const NONE: Limits = { day: null, hour: null, minute: null, streams: null };

/** One request of the evidence below. */
export interface Whole {
  readonly id: string;
  readonly user: number;
}

const ATTEMPT: Attempt = {
  fault: "none",
  usage: { prompt: 7, cached: 3, completion: 11 },
  wait: 0,
  chunks: 2,
  gap: 0,
};

function planOf({ id, user }: Whole): RequestPlan {
  const { stream, leaves } = { stream: true, leaves: null };
  return { id, user, slot: 0, model: "route/one", stream, words: 20, maxTokens: 100, attempts: [ATTEMPT], leaves };
}

function seenOf({ id, user }: Whole): Seen {
  const times = { sentAt: START, endedAt: START + 40 };
  return { id, user, key: 0, life: 0, stream: true, ...times, ending: "whole", status: 200, code: "", fault: "" };
}

function entryOf({ id, user }: Whole): LedgerEntry {
  const usage = { ...ATTEMPT.usage, reasoning: 0 };
  return {
    id: `own-${id}`,
    userId: `user-${user}`,
    requestId: id,
    keyId: "key",
    model: "route/one",
    upstream: "first",
    outcome: "served",
    usage,
    estimated: false,
    receivedAt: START + 1,
    endedAt: START + 30,
    charge: priceOf(usage, "route/one", 110),
  };
}

/** What a run without anything unusual leaves: so many whole streams of two users, the second with limits. */
export function evidenceOf(requests: readonly Whole[], limits: Partial<Limits> = {}): Evidence {
  const users = [0, 1].map((index): UserEvidence => {
    const ledger = requests.filter(({ user }) => user === index).map(entryOf);
    const charged = ledger.reduce((sum, { charge }) => sum + charge, 0n);
    return {
      kind: index === 0 ? "open" : "both",
      id: `user-${index}`,
      limits: index === 0 ? NONE : { ...NONE, ...limits },
      balance: GRANTED - charged,
      granted: GRANTED,
      held: 0n,
      gifts: { least: GRANTED, most: GRANTED },
      running: { requests: 0, streams: 0, held: 0n },
      ledger,
      revoked: [null],
      stops: [],
    };
  });
  const truth: Served = { fault: "none", whole: true, begun: true, usage: ATTEMPT.usage, characters: 40 };
  const life: Life = {
    slot: 0,
    startedAt: START - 60_000,
    signalledAt: START + 60_000,
    killings: [],
    outlived: 100,
    end: "stopped",
    exit: { code: 0, signal: null },
    log: requests.map((one) => `${logLine(one)}\n`).join(""),
  };
  return {
    setup: { workers: 0, onFailure: "closed", slowStore: 0 },
    stalls: [],
    plan: requests.map(planOf),
    users,
    seen: requests.map(seenOf),
    served: new Map(requests.map(({ id }) => [id, [truth]])),
    excesses: [],
    lives: [life],
    pricings: [{ from: 0, until: Infinity, multiplier: 110 }],
    disturbed: [],
    journal: { pending: 0, rejected: 0 },
    secrets: new Map([["a password", "planted-secret"]]),
    shown: [],
  };
}

/** `evidence` of gateways that were set up otherwise. */
export function withSetup(evidence: Evidence, change: Partial<Setup>): Evidence {
  return { ...evidence, setup: { ...evidence.setup, ...change } };
}

/** What a supervisor and its workers say when they serve; each line with its end. */
export function listeningLines(workers: number): string {
  return `${JSON.stringify({ level: 30, instance: "vm-1-0", msg: "worker listening" })}\n`.repeat(workers);
}

export function logLine(one: Whole): string {
  const cost = Number(entryOf(one).charge) / 1e9;
  const line = { level: 30, request_id: one.id, outcome: "served", status: 200, cost: cost.toFixed(9), msg: "request" };
  return JSON.stringify({ ...line, cost: line.cost.replace(/0+$/, "") });
}

/** `evidence` with one user changed. */
export function withUser(
  evidence: Evidence,
  index: number,
  change: (user: UserEvidence) => Partial<UserEvidence>,
): Evidence {
  return { ...evidence, users: evidence.users.map((user, at) => (at === index ? { ...user, ...change(user) } : user)) };
}

/** `evidence` with what a client saw changed. */
export function withSeen(evidence: Evidence, id: string, change: Partial<Seen>): Evidence {
  return { ...evidence, seen: evidence.seen.map((seen) => (seen.id === id ? { ...seen, ...change } : seen)) };
}

/** `evidence` with the one process changed. */
export function withLife(evidence: Evidence, change: (life: Life) => Partial<Life>): Evidence {
  return { ...evidence, lives: evidence.lives.map((life) => ({ ...life, ...change(life) })) };
}
