import { hash, randomUUID } from "node:crypto";
import type { UpstreamDialect } from "../dialects/dialect.ts";
import { AttemptError, type Log, type Upstream } from "../kit/index.ts";
import type { KeyPool } from "./keys.ts";
import type { ProbeResult, ProbeSubject } from "./prober.ts";
import { type Address, addressed } from "./request.ts";
import type { Signer } from "./signing/signer.ts";
import { Try, type TryPool } from "./try.ts";
import type { Wheel } from "./wheel.ts";

export interface ProbeParts {
  readonly dialect: UpstreamDialect;
  readonly pool: TryPool;
  readonly address: Address;
  readonly keys: KeyPool;
  readonly signer: Signer;
  readonly wheel: Wheel;
  readonly now: () => number;
  readonly log: Log;
}

/** What to probe of an upstream; null when its settings say not to. */
export function probeSubject(upstream: Upstream, parts: ProbeParts): ProbeSubject | null {
  const { name, apiKeys, probe } = upstream;
  if (probe === null) return null;
  const settings = JSON.stringify({ ...upstream, apiKeys: apiKeys.map((key) => key.reveal()) });
  return {
    mark: hash("sha256", settings, "hex"),
    every: probe.every,
    ask: (signal) => askKeys(name, parts, probe.timeout, signal),
  };
}

/**
 * Asks an upstream what it never bills. Any answer below 500 shows that it is there; 401 and 403 that the key is not
 * good, and the next key is asked with. Neither breaker nor keys hear of it.
 * @param timeout milliseconds for all of it.
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
    else if (error.failure === "aborted" || error.failure === "saturated") return "nothing";
    else log.debug({ upstream, failure: error.failure }, "a probe failed");
  }
  return null;
}

async function ask(parts: ProbeParts, key: string, timeout: number, signal: AbortSignal): Promise<number> {
  const { dialect, pool, address, signer, wheel, now } = parts;
  const attempt = new Try<number>({
    read: ({ status }, owner) => {
      owner.resolve(status);
      owner.drain();
      return null;
    },
    timeouts: { connect: timeout, firstByte: timeout, idle: timeout, total: timeout },
    stream: false,
    deadline: Infinity,
    signal,
    wheel,
    now,
  });
  const request = addressed(dialect.probe(key), address, randomUUID());
  const { host } = address;
  const signed = signer.sign({ dialect, request, host, apiKey: key, now: now(), signal, patience: timeout });
  return attempt.run(pool, await signed);
}
