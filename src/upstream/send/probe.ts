import { hash, randomUUID } from "node:crypto";
import type { UpstreamDialect } from "../../dialects/dialect.ts";
import { AttemptError, type Log, type Upstream } from "../../kit/index.ts";
import type { KeyPool } from "../state/key-pool.ts";
import type { ProbeResult, ProbeSubject } from "../state/states.ts";
import { type Address, addressRequest } from "./request.ts";
import type { Signer } from "../signing/signer.ts";
import type { RequestPool } from "./pools.ts";
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
  const { name, apiKeys, probe } = upstream;
  if (probe === null) return null;
  const settings = JSON.stringify({ ...upstream, apiKeys: apiKeys.map((key) => key.reveal()) });
  return {
    fingerprint: hash("sha256", settings, "hex"),
    every: probe.every,
    probe: (signal) => askKeys(name, parts, probe.timeout, signal),
  };
}

/**
 * Sends a request that providers do not bill. Any status below 500 shows that the upstream is reachable; 401 and 403
 * show a bad key, and the next key is tried. Breaker and key pool stay as they are.
 * @param timeout milliseconds for all keys together.
 */
async function askKeys(
  upstream: string,
  parts: ProbeParts,
  timeout: number,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const { keys, now, log } = parts;
  const deadline = performance.now() + timeout;
  try {
    for (const key of keys.candidates(now())) {
      const startedAt = performance.now();
      const status = await ask(parts, key, Math.max(0, deadline - startedAt), signal);
      log.debug({ upstream, status }, "probed");
      if (status >= 500) return null;
      if (status !== 401 && status !== 403) return performance.now() - startedAt;
    }
  } catch (error) {
    if (!(error instanceof AttemptError)) log.error({ err: error, upstream }, "a probe could not be made");
    else if (error.failure === "aborted" || error.failure === "saturated") return "inconclusive";
    else log.debug({ upstream, failure: error.failure }, "a probe failed");
  }
  return null;
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
  const { host } = address;
  const signed = signer.sign({ dialect, request, host, apiKey: key, now: now(), signal, timeout });
  attempt.run(pool, await signed);
  return promise;
}
