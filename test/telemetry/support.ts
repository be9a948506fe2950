import type { BreakerState, Exchange, Outcome } from "../../src/kit/index.ts";
import { createMetrics, type Metrics } from "../../src/telemetry/metrics.ts";
import type { StoreState } from "../../src/telemetry/state-metrics.ts";

export function exchange(changes: Partial<Exchange> = {}): Exchange {
  return {
    id: "x1",
    requestId: "r1",
    receivedAt: 1000,
    readAt: 1000,
    endpoint: "chat",
    principal: { userId: "usr_secret", tier: "Free", keyId: "key_secret" },
    tier: { name: "Free", access: "all", limits: { day: null, hour: null, minute: null, streams: null } },
    model: { id: "route/x" } as Exchange["model"],
    call: {
      kind: "chat",
      model: "route/x",
      stream: true,
      body: { messages: [{ role: "user", content: "private words" }] },
      promptBytes: 13,
      maxOutput: null,
    },
    signal: new AbortController().signal,
    ...changes,
  };
}

export const TARGET = { upstream: "alpha", model: "alpha-1" } as NonNullable<Outcome["target"]>;

/** Of a request whose first attempt failed; the second one's stream lasted until the end. */
export const TIMELINE: NonNullable<Outcome["timeline"]> = {
  waited: 10,
  firstEvent: 250.4,
  end: 2000,
  attempts: [
    { target: TARGET, start: 12, answered: null, end: 112, result: "status", detail: "", status: 503, spanId: null },
    { target: TARGET, start: 399.5, answered: 420, end: 1999.5, result: "ok", detail: "", status: 0, spanId: null },
  ],
};

export function outcome(changes: Partial<Outcome> = {}): Outcome {
  return {
    kind: "served",
    sent: true,
    begun: true,
    finished: false,
    status: 200,
    code: null,
    usage: null,
    usageComplete: false,
    target: TARGET,
    dropped: [],
    attempts: 2,
    firstEventAt: 1250,
    endedAt: 3000,
    estimate: async () => ({ prompt: 0, completion: 0, cached: 0, reasoning: 0 }),
    bill: {
      usage: { prompt: 100, completion: 50, cached: 40, reasoning: 0 },
      estimated: false,
      charge: 1_500_000_000n,
    },
    giveBack: false,
    ...changes,
  };
}

export interface Sources {
  breakers: [string, BreakerState][];
  streams: number;
  health?: [string, "healthy" | "degraded" | "unknown"][];
  manual?: [string, { mode: string }][];
  store?: StoreState;
  shedding?: [string, number, number][];
  dropped?: { spans: number; decisions: number };
  generations?: [string, string, number][];
}

export function metricsWith(sources: Sources = { breakers: [], streams: 0 }): Metrics {
  return createMetrics({
    breakers: () => sources.breakers,
    health: () => sources.health ?? [],
    manual: () => sources.manual ?? [],
    activeStreams: () => sources.streams,
    generations: () => sources.generations ?? [],
    shedding: () => sources.shedding ?? [],
    store: () => sources.store ?? { away: false, pending: 0, rejected: 0 },
    dropped: () => sources.dropped ?? { spans: 0, decisions: 0 },
  });
}

/** The samples of a scrape by name and labels. */
export async function samples(metrics: Metrics): Promise<Record<string, number>> {
  return samplesOf((await metrics.scrape()).body);
}

/** Those of a text. */
export function samplesOf(text: string): Record<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}
