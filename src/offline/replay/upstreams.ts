import {
  AttemptError,
  type Breaker,
  type Call,
  type ChainStep,
  type EventReply,
  type Exchange,
  type FailureClass,
  type Log,
  type Reply,
  type Snapshot,
  type Source,
  type Target,
} from "../../kit/index.ts";
import { Latencies, orderTargets } from "../../upstream/state/balance.ts";
import { UpstreamStates } from "../../upstream/state/states.ts";
import type { UpstreamSet } from "../../upstream/upstreams.ts";
import type { ReplayClock } from "./clock.ts";
import type { PastRequest } from "./past.ts";

/** Failures before which nothing was sent. */
const UNSENT: ReadonlySet<string> = new Set<FailureClass>(["connect", "saturated", "resting", "unsupported"]);
/** For which an answer is waited of which nothing is known. */
const NO_TIME_MS = 0;

export interface PastUpstreamsOptions {
  readonly snapshot: Snapshot;
  readonly clock: ReplayClock;
  readonly log: Log;
  /** By the id of the request in the replay. */
  readonly pastOf: (requestId: string) => PastRequest;
  /** Whether a balanced step begins with what the log says was tried, as far as it still may be. */
  readonly keepsChoices: boolean;
}

/**
 * Upstreams that do what the log says they did, to the same request at the same target. What the log does not say is
 * taken as served, in the time that the request's answer took then. Breakers are the gateway's own; for a target that the
 * log names it decides in their place.
 */
export class PastUpstreams implements Pick<UpstreamSet, "send" | "breaker" | "order"> {
  readonly #options: PastUpstreamsOptions;
  readonly #states: UpstreamStates;
  readonly #latencies: Latencies;
  /** What the log says of the attempt that is about to begin; the guards are asked in the same turn. */
  #isLogged = false;

  constructor(options: PastUpstreamsOptions) {
    const { snapshot, clock, log } = options;
    this.#options = options;
    this.#states = new UpstreamStates({ now: clock.now, random: () => 0.5, log });
    this.#states.configure(snapshot);
    this.#latencies = new Latencies(clock.now);
  }

  /** Before the guards of an attempt are asked. @returns false: it was skipped then */
  guard(target: Target, requestId: string): boolean {
    const past = this.#options.pastOf(requestId);
    const logged = past.attempt(target.upstream, target.model);
    this.#isLogged = logged !== null;
    if (logged?.outcome !== "skipped") return true;
    past.make(logged);
    return false;
  }

  send(target: Target, _call: Call, exchange: Exchange, onSent: () => void = () => {}): Promise<Reply> {
    const { clock, pastOf, snapshot } = this.#options;
    const past = pastOf(exchange.requestId);
    const logged = past.attempt(target.upstream, target.model);
    const begunAt = (logged && past.make(logged)) ?? clock.now();
    if (logged !== null && logged.outcome !== "ok" && logged.answered_ms === null) {
      return this.#fail(past, logged, { begunAt, signal: exchange.signal, onSent });
    }
    onSent();
    const { serving } = past;
    // Nobody knows when it would have answered: the client left before.
    if (serving === null && past.abortedBy !== null) return this.#at(Infinity, exchange.signal, never);
    const took = serving === null ? NO_TIME_MS : serving.answered_ms! - serving.start_ms;
    const longest = longestMs(target, snapshot, exchange.call.stream);
    if (took > longest) {
      const late = new AttemptError("timeout", `no answer within ${longest} ms`);
      return this.#at(begunAt + longest, exchange.signal, () => Promise.reject(late));
    }
    return this.#at(begunAt + took, exchange.signal, () => {
      this.#latencies.record(target, took);
      const left = serving === null ? NO_TIME_MS : past.endsAt - past.receivedAt - serving.answered_ms!;
      return Promise.resolve(this.#reply(target, exchange, past, begunAt + took + Math.max(0, left)));
    });
  }

  breaker(name: string, model?: string): Breaker {
    const breaker = this.#states.get(name).breakers.of(model);
    const isLogged = this.#isLogged;
    return {
      get state() {
        return breaker.state;
      },
      get retryAt() {
        return breaker.retryAt;
      },
      acquire: () => breaker.acquire() ?? (isLogged ? { answered() {}, end() {} } : null),
    };
  }

  order(step: ChainStep, { principal, requestId }: Exchange): readonly Target[] {
    const { pastOf, keepsChoices } = this.#options;
    if (step.targets.length < 2 || step.balance === "single") return step.targets;
    const random = numbersOf(requestId);
    const latency = (target: Target): number => this.#latencies.of(target);
    const ordered = orderTargets(step, principal.userId, { random, latency });
    if (!keepsChoices) return ordered;
    const { attempts } = pastOf(requestId).decision;
    const rank = ({ upstream, model }: Target): number => {
      const at = attempts.findIndex((one) => one.upstream === upstream && one.model === model);
      return at < 0 ? attempts.length : at;
    };
    return ordered.toSorted((a, b) => Number(a.weight <= 0) - Number(b.weight <= 0) || rank(a) - rank(b));
  }

  /** As it did then, and after as long. */
  #fail(
    past: PastRequest,
    { outcome, status, start_ms, end_ms }: NonNullable<ReturnType<PastRequest["attempt"]>>,
    { begunAt, signal, onSent }: { begunAt: number; signal: AbortSignal; onSent: () => void },
  ): Promise<never> {
    const isUnended = outcome === "running" || outcome === "aborted";
    // Whether anything had been sent is to be seen from what was given back.
    if (isUnended ? !past.decision.given_back : !UNSENT.has(outcome)) onSent();
    if (isUnended && past.abortedBy !== null) return this.#at(Infinity, signal, never);
    const failure = isUnended ? "aborted" : (outcome as FailureClass);
    const error = new AttemptError(failure, "as it was logged", { status });
    return this.#at(begunAt + ((end_ms ?? start_ms) - start_ms), signal, () => Promise.reject(error));
  }

  #at<Result>(at: number, signal: AbortSignal, then: () => Promise<Result>): Promise<Result> {
    const { clock } = this.#options;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        cancel();
        reject(new AttemptError("aborted", "cancelled"));
      };
      if (signal.aborted) return reject(new AttemptError("aborted", "cancelled"));
      signal.addEventListener("abort", leave);
      const due = (): void => {
        signal.removeEventListener("abort", leave);
        then().then(resolve, reject);
      };
      const cancel = at === Infinity ? () => {} : clock.schedule(at, due);
    });
  }

  #reply(target: Target, { call }: Exchange, past: PastRequest, endsAt: number): Reply {
    const { usage } = past;
    const dropped = past.decision.dropped > 0 ? { dropped: Array<string>(past.decision.dropped).fill("/") } : {};
    if (call.stream) {
      return { type: "events", target, source: this.#events(past, endsAt), ...dropped };
    }
    if (call.kind === "speech") {
      const source = this.#source<Uint8Array>(past, endsAt, new Uint8Array(1));
      return { type: "bytes", target, contentType: "audio/mpeg", source, usage, ...dropped };
    }
    return { type: "answer", target, body: { choices: [] }, usage: past.isEstimated ? null : usage, ...dropped };
  }

  #events(past: PastRequest, endsAt: number): EventReply["source"] {
    return this.#source(past, endsAt, [past.event()]);
  }

  /** Of a stream that a plugin made in an upstream's stead. */
  ownEvents(past: PastRequest): EventReply["source"] {
    return this.#events(past, past.endsAt);
  }

  #source<Item>(past: PastRequest, endsAt: number, item: Item): Source<Item> {
    const { clock } = this.#options;
    let cancel: (() => void) | null = null;
    return {
      open(sink) {
        // A client that leaves is charged what came until then; what ends by itself is so at its end.
        if (past.abortedBy !== null) {
          sink.next(item);
          return;
        }
        cancel = clock.schedule(endsAt, () => {
          sink.next(item);
          const complete = past.decision.outcome !== "upstream_cut";
          sink.end(complete ? { complete } : { complete, message: "as it was logged" });
        });
      },
      pause() {},
      resume() {},
      cancel: () => cancel?.(),
    };
  }
}

function never(): Promise<never> {
  return Promise.reject(new Error("nothing is due at no time"));
}

/** After which a target is given up for sure: with all its retries, and what they wait for. */
function longestMs({ upstream, timeouts }: Target, { upstreams }: Snapshot, isStream: boolean): number {
  const { attempts, maxDelay } = upstreams[upstream]!.retries;
  const once = timeouts.connect + (isStream ? timeouts.firstByte : timeouts.total);
  return attempts * once + (attempts - 1) * maxDelay;
}

/** Uniform in [0, 1), the same for a request in every replay: two replays differ by their configurations alone. */
function numbersOf(requestId: string): () => number {
  let state = Number(requestId) >>> 0;
  // splitmix32
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
}
