import { hash, randomUUID } from "node:crypto";
import type { UpstreamDialect } from "../../dialects/dialect.ts";
import { AttemptError, type Log, type Upstream } from "../../kit/index.ts";
import type { KeyPool } from "../state/key-pool.ts";
import type { ProbeResult, ProbeSubject } from "../state/states.ts";
import { told } from "./reporting.ts";
import { type Address, addressRequest } from "./request.ts";
import type { Signer } from "../signing/signer.ts";
import type { RequestPool } from "./pools.ts";
import { fingerprintOf } from "./trust.ts";
import { RequestHandler, type RequestHandlerOptions } from "./request-handler.ts";
import type { Sweeper } from "./deadlines.ts";

export interface ProbeParts {
  readonly dialect: UpstreamDialect;
  readonly pool: RequestPool;
  readonly address: Address;
  readonly keys: KeyPool;
  readonly signer: Signer;
  readonly sweeper: Sweeper;
  readonly now: () => number;
  readonly log: Log;
}

/** How to probe an upstream; null when its settings have no probe. */
export function probeSubject(upstream: Upstream, parts: ProbeParts): ProbeSubject | null {
  const { apiKeys, probe } = upstream;
  if (probe === null) return null;
  const settings = JSON.stringify({
    ...upstream,
    apiKeys: apiKeys.map((key) => key.reveal()),
    tls: fingerprintOf(upstream.tls),
    proxy: upstream.proxy?.reveal(),
  });
  return {
    fingerprint: hash("sha256", settings, "hex"),
    every: probe.every,
    probe: (signal) => askKeys(upstream, parts, probe.timeout, signal),
  };
}

/**
 * Sends a request that providers do not bill. Any status below 500 shows that the upstream is reachable. 401 and 403 say
 * so, too, and the next key is tried: they may mean this request alone. Breaker and key pool stay as they are.
 */
async function askKeys(
  upstream: Upstream,
  parts: ProbeParts,
  timeout: number,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const { keys, now, log, address } = parts;
  const { name } = upstream;
  // For all keys together.
  const deadline = performance.now() + timeout;
  let failure: ProbeResult = "inconclusive";
  for (const key of keys.candidates(now())) {
    const startedAt = performance.now();
    try {
      const status = await ask(parts, key, Math.max(0, deadline - startedAt), signal);
      log.debug({ upstream: name, status }, "probed");
      failure = { status, cause: `upstream answered ${status}` };
      if (status >= 500) return failure;
      if (status !== 401 && status !== 403) return performance.now() - startedAt;
    } catch (error) {
      if (!(error instanceof AttemptError)) {
        log.error({ err: error, upstream: name }, "probe could not be sent");
        return { status: 0, cause: "the probe could not be made" };
      }
      if (error.failure === "aborted" || error.failure === "saturated") return "inconclusive";
      const { explanation: cause } = told(error, upstream, address, key);
      log.debug({ upstream: name, failure: error.failure, cause }, "probe failed");
      // What the keys before were answered shows that it can be reached.
      return failure === "inconclusive" ? { status: 0, cause } : failure;
    }
  }
  return failure;
}

async function ask(parts: ProbeParts, key: string, timeout: number, signal: AbortSignal): Promise<number> {
  const { dialect, pool, address, signer, sweeper, now } = parts;
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const options: RequestHandlerOptions<number> = {
    read: ({ status }, owner) => {
      owner.resolve(status);
      owner.drain();
      return null;
    },
    resolve,
    reject,
    timeouts: { connect: timeout, firstByte: timeout, idle: timeout, total: timeout },
    stream: false,
    deadline: Infinity,
    signal,
    sweeper,
    now,
  };
  const attempt = new RequestHandler(options, now());
  const request = addressRequest(dialect.probe(key), address, randomUUID());
  const { host, proxyTo } = address;
  const signed = signer.sign({ dialect, request, host, apiKey: key, now: now(), signal, timeout, proxyTo });
  attempt.run(pool, await signed);
  return promise;
}
