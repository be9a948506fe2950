import type { Host, Observer, RequestPipeline, Snapshot } from "./kit/index.ts";
import { buildPipeline, type LinkedStep } from "./pipeline/build.ts";
import type { Send } from "./pipeline/attempts.ts";
import { RequestRunner } from "./pipeline/run.ts";

export interface GenerationParts {
  readonly number: number;
  readonly steps: readonly LinkedStep[];
  readonly host: Host;
  readonly send: Send;
  readonly health: Generation["health"];
  readonly observer: Observer;
  /** Lets go of what the generation held outside itself, such as upstream pools. */
  readonly release: () => Promise<void>;
}

/** Decisions 5.5; latency in milliseconds, 0 without data. */
export interface Health {
  readonly state: "healthy" | "degraded" | "unknown";
  readonly latencyMs: number;
  readonly canServe: boolean;
}

/** One configuration in service: a snapshot with its pipeline. Never changed, only replaced. */
export interface Generation extends RequestPipeline {
  readonly number: number;
  readonly snapshot: Snapshot;
  readonly host: Host;
  /** How an upstream of the snapshot does. */
  readonly health: (upstream: string) => Health;
  /** Unix milliseconds. */
  readonly loadedAt: number;
  /**
   * Takes no more requests; disposes once the last one in flight has settled. Resolves then, or once `patience` is
   * aborted: what is not disposed of by then is named in the log and passed over.
   */
  retire(patience?: AbortSignal): Promise<void>;
}

/** @throws Error naming the plugin whose setup failed; nothing is held then. */
export async function createGeneration(parts: GenerationParts): Promise<Generation> {
  const { number, steps, host, send, health, observer, release } = parts;
  const pipeline = await buildPipeline(steps, host).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  const runner = new RequestRunner({ pipeline, host, send, observer });
  const retired = Promise.withResolvers<void>();
  let inFlight = 0;
  let retiring = false;
  let disposed = false;
  const disposeWhenIdle = (): void => {
    if (!retiring || disposed || inFlight > 0) return;
    disposed = true;
    retired.resolve(pipeline.dispose().then(release));
  };
  return {
    number,
    snapshot: host.snapshot,
    host,
    health,
    loadedAt: host.now(),
    enter() {
      inFlight += 1;
    },
    leave() {
      inFlight -= 1;
      disposeWhenIdle();
    },
    identify: (request) => runner.identify(request),
    run: (request, principal) => runner.run(request, principal),
    refuse: (request, principal, error) => runner.refuse(request, principal, error),
    async retire(patience) {
      retiring = true;
      disposeWhenIdle();
      if (patience === undefined) return retired.promise;
      const late = Promise.withResolvers<void>();
      const passOver = (): void => {
        const left = { generation: number, plugins: pipeline.disposing(), requests: inFlight };
        host.log.error(left, "dispose of plugins did not end in time: passed over");
        late.resolve();
      };
      patience.addEventListener("abort", passOver);
      await Promise.race([retired.promise, late.promise]);
      patience.removeEventListener("abort", passOver);
    },
  };
}
