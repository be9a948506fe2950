import type { Pool } from "undici";
import type { UpstreamDialect } from "../dialects/dialect.ts";
import {
  AttemptError,
  type Call,
  type Exchange,
  type Log,
  type Reply,
  type Target,
  type Upstream,
} from "../kit/index.ts";
import type { KeyPool, PooledKey } from "./keys.ts";
import type { Latencies } from "./latency.ts";
import { withRetries } from "./retry.ts";
import { Try } from "./try.ts";
import type { Wheel } from "./wheel.ts";

export interface RouteOptions {
  readonly upstream: Upstream;
  readonly dialect: UpstreamDialect;
  readonly pool: Pool;
  /** Path of the base URL, without a trailing slash. */
  readonly basePath: string;
  readonly keys: KeyPool;
  readonly latencies: Latencies;
  readonly wheel: Wheel;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Log;
}

/** The way to one upstream under one configuration. */
export class Route {
  readonly #options: RouteOptions;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(options: RouteOptions) {
    this.#options = options;
    this.#headers = lowerCased(options.upstream.headers);
  }

  /** One attempt: retries and other keys included. @throws AttemptError; GatewayError for a call that cannot be written */
  send(target: Target, call: Call, exchange: Exchange): Promise<Reply> {
    const { upstream, now, random, wheel } = this.#options;
    const deadline = exchange.receivedAt + exchange.model.deadline;
    const schedule = (at: number, callback: () => void): (() => void) => wheel.schedule(at, callback);
    return withRetries({ settings: upstream.retries, deadline, signal: exchange.signal, now, random, schedule }, () =>
      this.#tryKeys(target, call, exchange, deadline),
    );
  }

  /** One try, with the next key at once when the failure is a key's. */
  async #tryKeys(target: Target, call: Call, exchange: Exchange, deadline: number): Promise<Reply> {
    const { upstream, keys, now, log } = this.#options;
    const tried: PooledKey[] = [];
    let failure: AttemptError | null = null;
    for (;;) {
      const key = keys.pick(tried, now(), upstream.retries.maxDelay);
      if (key === null) throw failure ?? new AttemptError("credentials", "upstream has no key to try");
      tried.push(key);
      try {
        const reply = await this.#try(target, call, exchange, deadline, key.value);
        keys.served(key);
        return reply;
      } catch (error) {
        if (!(error instanceof AttemptError)) throw error;
        if (error.failure === "credentials") {
          const { name } = upstream;
          log.warn({ upstream: name, model: target.model, key: key.position, status: error.status }, error.message);
        }
        if (!keys.failed(key, error, now())) throw error;
        failure = milder(failure, error);
      }
    }
  }

  async #try(target: Target, call: Call, exchange: Exchange, deadline: number, key: string): Promise<Reply> {
    const { dialect, pool, basePath, latencies, wheel, now, log } = this.#options;
    const { path, headers, body } = dialect.request(call, target, key);
    const { timeouts } = target;
    const { signal } = exchange;
    const startedAt = now();
    const attempt = new Try({ dialect, stream: call.stream, timeouts, deadline, signal, wheel, now, log });
    try {
      const answer = await attempt.run(pool, {
        method: "POST",
        path: basePath + path,
        headers: {
          "user-agent": "route-gateway",
          ...headers,
          ...this.#headers,
          // Last, so that no configuration can ask for a compressed answer or break the trail of a request.
          "accept-encoding": "identity",
          "x-request-id": exchange.requestId,
        },
        body,
      });
      if (attempt.firstByte !== null) latencies.record(target, attempt.firstByte);
      return answer.stream
        ? { stream: true, target, source: answer.source }
        : { stream: false, target, body: answer.body, usage: answer.usage };
    } catch (error) {
      if (!(error instanceof AttemptError)) throw error;
      this.#failed(target, exchange, error, now() - startedAt);
      throw withoutKey(error, key);
    }
  }

  #failed(target: Target, { requestId }: Exchange, error: AttemptError, elapsed: number): void {
    const { upstream, latencies, log } = this.#options;
    const { failure, status, cause } = error;
    // Without this an upstream that only times out would stay unknown, and unknown ones are tried first. A timeout that
    // the request's own deadline brought about says nothing about the upstream.
    const patience = Math.min(target.timeouts.connect, target.timeouts.firstByte);
    if (failure === "timeout" && elapsed >= patience) latencies.record(target, Math.max(elapsed, latencies.of(target)));
    // The code alone: undici's errors carry addresses and bytes of the answer.
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    log.debug({ upstream: upstream.name, model: target.model, requestId, failure, status, code }, "an attempt failed");
  }
}

/** Providers quote the key they refuse, in whatever shape it has. */
function withoutKey(error: AttemptError, key: string): AttemptError {
  if (key === "" || !error.message.includes(key)) return error;
  // The error's own fields are those it was made of.
  return new AttemptError(error.failure, error.message.replaceAll(key, "[redacted]"), error);
}

/** Of the failures of several keys the one that passes soonest. */
function milder(a: AttemptError | null, b: AttemptError): AttemptError {
  if (a === null || a.failure !== "rate_limited") return b;
  return b.failure === "rate_limited" && (b.retryAfter ?? 0) < (a.retryAfter ?? 0) ? b : a;
}

function lowerCased(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
