import type { LinkedStep } from "./config/load.ts";
import { type Host, type Log, type Snapshot, type Store, storeUnavailable } from "./kit/index.ts";
import { buildPipeline } from "./pipeline/build.ts";
import { endsBefore } from "./pipeline/patience.ts";

/** For the `dispose` of a plugin that was only tried out: longer, and every later reload would wait behind it. */
const DISPOSE_TIMEOUT_MS = 3_000;

/**
 * Sets one plugin up without anything to serve, so that `check` and a reload find what its setup refuses.
 * @param log is told of a `dispose` that does not end.
 * @throws Error with the reason.
 */
export async function rehearse(
  { plugin, settings }: LinkedStep,
  snapshot: Snapshot,
  log: Pick<Log, "warn"> | null = null,
  disposeTimeout = DISPOSE_TIMEOUT_MS,
): Promise<void> {
  const pipeline = await buildPipeline([{ plugin, settings }], offlineHost(snapshot)).catch((error: unknown) => {
    throw error instanceof Error && error.cause !== undefined ? error.cause : error;
  });
  const wait = (late: () => void): (() => void) => {
    const timer = setTimeout(late, disposeTimeout);
    return () => clearTimeout(timer);
  };
  if (await endsBefore(pipeline.dispose(), wait)) return;
  log?.warn({ plugin: plugin.name, after_ms: disposeTimeout }, "dispose of a plugin does not end: not waited for");
}

function offline(): never {
  throw storeUnavailable(new Error("a plugin's setup cannot use the store"));
}

/** Nobody calls, no time passes, nothing is stored: a setup that needs more would depend on what it is started on. */
function offlineHost(snapshot: Snapshot): Host {
  return {
    snapshot,
    store: new Proxy<Partial<Store>>({}, { get: () => offline }) as Store,
    identities: { byKey: offline, presume: offline, confirm: offline, forget() {}, byToken: offline },
    stops: { watch: () => () => {} },
    breaker: offline,
    order: (step) => step.targets,
    now: () => 0,
    schedule: () => () => {},
    countTokens: () => Promise.resolve(0),
    log: { debug() {}, info() {}, warn() {}, error() {} },
  };
}
