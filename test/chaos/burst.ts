import { setTimeout as sleep } from "node:timers/promises";
import { type Observed, send } from "./client.ts";
import { Fleet } from "./fleet.ts";
import type { Attempt, RequestPlan } from "./plan.ts";
import { RunningStreams } from "./running.ts";
import { Site } from "./site.ts";
import { ScriptedUpstream } from "./upstream.ts";

const MINUTE = 60_000;
const RICH = 1_000_000_000_000n;
/** Milliseconds, as the answer asks for. */
const AGAIN = 1_000;
const REFUSED = "Per-minute request limit exceeded";

export const LIMITS = { day: null, hour: null, minute: 100, streams: 5 } as const;

export interface BurstSize {
  readonly instances: number;
  /** Requests at the same moment at each of them, every second one a stream. */
  readonly each: number;
}

/** What one burst came to. */
export interface Burst {
  /** By the end of a calendar minute, in Unix milliseconds. */
  readonly minutes: ReadonlyMap<number, { readonly admitted: number; readonly refused: number }>;
  readonly admitted: number;
  readonly streams: number;
  /** At a time, as the upstream saw it. */
  readonly mostStreams: number;
  readonly ledger: number;
  /** Requests that were answered with a store that does not answer in time, and sent again. */
  readonly away: number;
  /** Status and code to requests. */
  readonly answers: ReadonlyMap<string, number>;
  /** What is not as it must be; empty when all is well. */
  readonly faults: readonly string[];
  readonly seconds: number;
}

/** Before the first one, at each instance: what runs for the first time is slow. */
const WARM_UP = 100;

/** Bursts of one user each at the same gateways, one after the other. */
export async function runBursts(runs: number, size: BurstSize, onBurst: (burst: Burst) => void): Promise<void> {
  const plans = new Map<string, RequestPlan>();
  const running = new RunningStreams(() => LIMITS.streams);
  const upstream = await ScriptedUpstream.start(plans, running);
  const site = await Site.open({ tiers: { Open: LIMITS }, upstream: upstream.origin, silence: "1m" });
  try {
    site.write("gateway.yaml", site.configuration(100));
    const fleet = new Fleet(site, size.instances);
    await fleet.startAll();
    await burst(0, { ...size, each: WARM_UP }, { plans, running, site, fleet });
    for (let run = 1; run <= runs; run++) onBurst(await burst(run, size, { plans, running, site, fleet }));
    await fleet.stopAll();
  } finally {
    await site.close();
    await upstream.close();
  }
}

interface Parts {
  readonly plans: Map<string, RequestPlan>;
  readonly running: RunningStreams;
  readonly site: Site;
  readonly fleet: Fleet;
}

async function burst(run: number, { instances, each }: BurstSize, parts: Parts): Promise<Burst> {
  const { plans, running, site, fleet } = parts;
  const startedAt = performance.now();
  const [user] = await site.addUsers([{ tier: "Open", credits: RICH }]);
  const key = user!.keys[0]!.secret;
  const all = Array.from({ length: instances * each }, (_, index) => planOf(run, index, instances));
  let away = 0;
  const seen = await Promise.all(
    all.map(async (first) => {
      for (let plan = first; ; plan = { ...first, id: `${first.id}-${away}` }) {
        plans.set(plan.id, plan);
        const { origin, agent } = fleet.pick(plan.slot)!;
        const observed = await send(origin, key, plan, agent);
        if (observed.status !== 503) return { plan, observed, at: Date.now() };
        away++;
        await sleep(AGAIN);
      }
    }),
  );
  const minutes = new Map<number, { admitted: number; refused: number }>();
  for (const { observed, at } of seen) {
    const end = minuteOf(observed, at);
    if (end === null) continue;
    const minute = minutes.get(end) ?? { admitted: 0, refused: 0 };
    minutes.set(end, minute);
    minute[observed.ending === "whole" ? "admitted" : "refused"]++;
  }
  const whole = seen.filter(({ observed }) => observed.ending === "whole");
  const ledger = await site.onStore((store) => store.ledger(user!.id));
  const answers = Map.groupBy(seen, ({ observed }) => `${observed.ending} ${observed.status} ${observed.code}`.trim());
  const result = {
    minutes,
    admitted: whole.length,
    streams: whole.filter(({ plan }) => plan.stream).length,
    mostStreams: running.most.get(run) ?? 0,
    away,
    ledger: ledger.length,
    answers: new Map([...answers].map(([answer, same]) => [answer, same.length])),
    seconds: (performance.now() - startedAt) / 1_000,
  };
  const excesses = running.excesses.filter((excess) => excess.user === run).map(({ streams }) => `${streams} streams`);
  return { ...result, faults: [...faultsOf(result), ...excesses] };
}

/** The end of the calendar minute that an answer speaks of; null when it speaks of none. */
function minuteOf({ ending, status, text }: Observed, at: number): number | null {
  const refused = status === 429 && text.includes(REFUSED);
  if (ending !== "whole" && !refused) return null;
  const header = refused ? /^retry-after\n(\d+)$/im : /^x-ratelimit-reset-minute\n(\d+)$/im;
  // Whole seconds, rounded up, told a little before `at`: a minute is told from the next one all the same.
  return Math.floor((at + Number(header.exec(text)?.[1]) * 1_000) / MINUTE) * MINUTE;
}

function faultsOf({ minutes, admitted, ledger, answers, away }: Omit<Burst, "faults">): readonly string[] {
  const faults: string[] = [];
  for (const [end, minute] of minutes) {
    // Nothing is given back here but what was admitted when the answer came too late: otherwise a window that somebody
    // was refused for is full, and stays so.
    const exact = minute.refused > 0 && away === 0;
    if (minute.admitted > LIMITS.minute || (exact && minute.admitted < LIMITS.minute))
      faults.push(`${minute.admitted} admitted in the minute before ${end}, ${minute.refused} refused`);
  }
  if (ledger !== admitted) faults.push(`${admitted} answered, ${ledger} in the ledger`);
  const others = [...answers].filter(
    ([answer]) => !answer.startsWith("whole 200") && !answer.startsWith("refused 429"),
  );
  if (others.length > 0) faults.push(`other answers: ${JSON.stringify(others)}`);
  return faults;
}

/** A stream lasts long enough for all others to come while it runs. */
function planOf(run: number, index: number, instances: number): RequestPlan {
  const stream = Math.floor(index / instances) % 2 === 0;
  const usage = { prompt: 5, cached: 0, completion: 7 };
  const attempt: Attempt = { fault: "none", usage, wait: 0, chunks: stream ? 20 : 2, gap: stream ? 100 : 0 };
  const id = `burst-${run}-${index}`;
  const size = { words: 12, maxTokens: 16 };
  return {
    id,
    user: run,
    slot: index % instances,
    model: "route/one",
    stream,
    ...size,
    attempts: [attempt],
    leaves: null,
  };
}
