import type { Host, Observer, RequestPipeline, Snapshot } from "../kit/index.ts";
import { buildPipeline } from "../pipeline/build.ts";
import { RequestRunner } from "../pipeline/run.ts";
import type { UpstreamHealth } from "../upstream/state/health.ts";
import type { UpstreamSet } from "../upstream/upstreams.ts";
import type { Loaded } from "./configuration.ts";

/** The part of a plugin's host that outlives a configuration. */
export type HostServices = Omit<Host, "snapshot" | "breaker" | "order">;

export interface GenerationParts {
  readonly number: number;
  readonly loaded: Pick<Loaded, "snapshot" | "steps">;
  /** Leased for this configuration; released when the generation is disposed of. */
  readonly upstreams: UpstreamSet;
  readonly services: HostServices;
  readonly observer: Observer;
}

/** One configuration in service: a snapshot with its pipeline. Never changed, only replaced. */
export interface Generation extends RequestPipeline {
  readonly number: number;
  readonly snapshot: Snapshot;
  readonly host: Host;
  /** Of any upstream of the snapshot. */
  readonly health: (upstream: string) => UpstreamHealth;
  /** Unix milliseconds. */
  readonly loadedAt: number;
  /**
   * Takes no more requests, and disposes of its plugins once the last request in flight has settled. Resolves after that,
   * or as soon as `giveUp` is aborted: what is not disposed of by then is named in the log and left behind.
   */
  retire(giveUp?: AbortSignal): Promise<void>;
}

/** @throws Error naming the plugin whose setup failed; the upstreams are released then. */
export async function createGeneration(parts: GenerationParts): Promise<Generation> {
  const { number, loaded, upstreams, services, observer } = parts;
  const { snapshot } = loaded;
  const host: Host = {
    ...services,
    snapshot,
    breaker: (name) => upstreams.breaker(name),
    order: (step, exchange) => upstreams.order(step, exchange),
  };
  const pipeline = await buildPipeline(loaded.steps, host).catch(async (error: unknown) => {
    await upstreams.release();
    throw error;
  });
  const runner = new RequestRunner({
    pipeline,
    host,
    observer,
    send: (target, call, exchange, onSent) => upstreams.send(target, call, exchange, onSent),
  });
  const retired = Promise.withResolvers<void>();
  let inFlight = 0;
  let retiring = false;
  let disposed = false;
  const disposeWhenIdle = (): void => {
    if (!retiring || disposed || inFlight > 0) return;
    disposed = true;
    retired.resolve(pipeline.dispose().then(() => upstreams.release()));
  };
  return {
    number,
    snapshot,
    host,
    health: (name) => upstreams.health(name),
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
    async retire(giveUp) {
      retiring = true;
      disposeWhenIdle();
      if (giveUp === undefined) return retired.promise;
      const late = Promise.withResolvers<void>();
      const leaveBehind = (): void => {
        const left = { generation: number, plugins: pipeline.disposing(), requests: inFlight };
        host.log.error(left, "dispose of plugins did not end in time: passed over");
        late.resolve();
      };
      giveUp.addEventListener("abort", leaveBehind);
      await Promise.race([retired.promise, late.promise]);
      giveUp.removeEventListener("abort", leaveBehind);
    },
  };
}
