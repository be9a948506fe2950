import {
  type AttemptResult,
  type Breaker,
  type BreakerState,
  type ClientRequest,
  type Exchange,
  type Identities,
  type Log,
  type Observer,
  type Outcome,
  type Permit,
  type Host,
  type Snapshot,
  type Store,
  type StreamKills,
  type Target,
} from "../../src/kit/index.ts";
import { RecentThoughts } from "../../src/pipeline/thoughts.ts";
import { ManualClock } from "./clock.ts";

/** A log that keeps its lines. */
export class TestLog implements Log {
  readonly lines: { readonly level: string; readonly fields: object; readonly message: string }[] = [];

  debug(fields: object, message: string): void {
    this.lines.push({ level: "debug", fields, message });
  }
  info(fields: object, message: string): void {
    this.lines.push({ level: "info", fields, message });
  }
  warn(fields: object, message: string): void {
    this.lines.push({ level: "warn", fields, message });
  }
  error(fields: object, message: string): void {
    this.lines.push({ level: "error", fields, message });
  }
}

/** A breaker set by hand. A permit that ends twice, or never, shows in `endings` and `running`. */
export class TestBreaker implements Breaker {
  state: BreakerState = "closed";
  retryAt = 0;
  acquired = 0;
  answered = 0;
  readonly endings: AttemptResult[] = [];

  get running(): number {
    return this.acquired - this.endings.length;
  }

  acquire(): Permit | null {
    if (this.state === "open") return null;
    this.acquired += 1;
    return {
      answered: () => {
        this.answered += 1;
      },
      end: (result) => {
        this.endings.push(result);
      },
    };
  }
}

export class TestObserver implements Observer {
  readonly attempts: { readonly target: Target; readonly result: AttemptResult }[] = [];
  readonly refusals: { readonly request: ClientRequest; readonly error: unknown }[] = [];
  readonly finishes: { readonly exchange: Exchange; readonly outcome: Outcome }[] = [];
  readonly pluginFailures: { readonly name: string; readonly error: unknown }[] = [];

  attempt(_exchange: Exchange, target: Target, result: AttemptResult): void {
    this.attempts.push({ target, result });
  }
  refused(request: ClientRequest, error: unknown): void {
    this.refusals.push({ request, error });
  }
  finished(exchange: Exchange, outcome: Outcome): void {
    this.finishes.push({ exchange, outcome });
  }
  pluginFailed(name: string, error: unknown): void {
    this.pluginFailures.push({ name, error });
  }
}

/** Streams that a test ends by hand. */
export class TestStreamKills implements StreamKills {
  readonly #watched = new Set<{ readonly userId: string; readonly token: number; readonly stop: () => void }>();

  get watched(): number {
    return this.#watched.size;
  }

  watch(userId: string, token: number, stop: () => void): () => void {
    const entry = { userId, token, stop };
    this.#watched.add(entry);
    return () => this.#watched.delete(entry);
  }

  /** The user's stop token has been raised to `token`. */
  raise(userId: string, token: number): void {
    for (const entry of this.#watched) {
      if (entry.userId !== userId || entry.token >= token) continue;
      this.#watched.delete(entry);
      entry.stop();
    }
  }
}

export interface HostParts {
  readonly snapshot: Snapshot;
  readonly store: Store;
  readonly identities?: Identities;
  readonly clock?: ManualClock;
  readonly countTokens?: (text: string) => Promise<number>;
}

export interface TestHost extends Host {
  readonly clock: ManualClock;
  readonly log: TestLog;
  readonly streamKills: TestStreamKills;
  readonly breakers: ReadonlyMap<string, TestBreaker>;
}

const NOBODY: Identities = {
  byKey: () => null,
  presume: () => null,
  confirm: () => true,
  forget() {},
  byToken: () => null,
};

/** A Host on a manual clock; steps are tried in their own order, a token is four characters. */
export function testHost({ snapshot, store, identities, clock = new ManualClock(), countTokens }: HostParts): TestHost {
  const breakers = new Map(Object.keys(snapshot.upstreams).map((name) => [name, new TestBreaker()]));
  return {
    snapshot,
    store,
    identities: identities ?? NOBODY,
    streamKills: new TestStreamKills(),
    breaker(upstream) {
      const found = breakers.get(upstream);
      if (found === undefined) throw new Error(`the test has no upstream ${upstream}`);
      return found;
    },
    order: ({ targets }) => targets,
    now: clock.now,
    schedule: clock.schedule,
    countTokens: countTokens ?? (async (text) => Math.ceil(text.length / 4)),
    thoughts: new RecentThoughts(),
    clock,
    log: new TestLog(),
    breakers,
  };
}
