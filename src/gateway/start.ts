import { ConfigurationError } from "../config/diagnostics.ts";
import { watchConfig } from "../config/watch.ts";
import { type Address, inBackground, type Store } from "../kit/index.ts";
import { createLog, type GatewayLog, type LogLevel, prettyLines, withConfig } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import { EventLoopMonitor, type ProcessAdminView, processAdminView } from "./admin-view.ts";
import {
  type FirstLoad,
  lastGoodKeeper,
  loadAgain,
  type Loaded,
  loadFirst,
  type LoadSettings,
  setupDiagnostic,
} from "./configuration.ts";
import {
  createGeneration,
  type Generation,
  type HostServices,
  ProcessState,
  shortHash,
  type Trial,
} from "./generation.ts";
import { ownAgreement, sharedAgreement } from "./guard.ts";
import { instanceInfo, InstanceRegistry } from "./instances.ts";
import { KeptGenerations, type RollbackTarget } from "./kept-generations.ts";
import { listenAdmin, listenPublic, type PublicListener, urlOf } from "./listeners.ts";
import { Reloader, type ReloadEvent, type ReloadResult } from "./reloader.ts";
import {
  hostServices,
  openAccounts,
  openStorage,
  openTelemetry,
  openTokenizer,
  openUpstreams,
  type StartContext,
  type Storage,
  type Telemetry,
} from "./services.ts";
import { Closing, Deadline, drain } from "./shutdown.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** For `dispose` of the plugins of all configurations at a stop; `STOP_MARGIN_MS` may leave less. */
const DISPOSE_TIMEOUT_MS = 3_000;
/**
 * Time for everything after `server.drain.timeout`. README promises one second; the rest of it is for the exit of the
 * process. A platform kills a process that takes longer than it was told.
 */
const STOP_MARGIN_MS = 800;

export interface GatewayOptions extends Partial<Omit<LoadSettings, "file" | "log">> {
  /** The configuration file. */
  readonly file: string;
  /** "info" unless given. */
  readonly logLevel?: LogLevel;
  /** For people in place of JSON lines. */
  readonly logPretty?: boolean;
  /** In place of one made by `logLevel` and `logPretty`. */
  readonly log?: GatewayLog;
  /** Unix milliseconds; the system's clock unless given. */
  readonly now?: () => number;
  /** The configuration to start with; loaded from the file unless given. */
  readonly start?: FirstLoad;
  /** For one of several processes that share the listen addresses; their supervisor has the admin listener. */
  readonly worker?: {
    /** Whether this worker saves the last good configuration: one does for all. */
    readonly keepsLastGood: boolean;
  };
}

export interface Gateway {
  /** As bound. */
  readonly addresses: readonly Address[];
  readonly admin: Address | null;
  readonly store: Store;
  /** The configuration in force. */
  readonly generation: Generation;
  /** Names this process among all that share the store. */
  readonly instance: string;
  /** What the admin listener shows, also where the supervisor has that listener. */
  readonly adminView: ProcessAdminView;
  reload(): Promise<ReloadResult>;
  /** Returns to one of the last ten generations, as `GET /admin/config` lists them. */
  rollback(to: RollbackTarget): Promise<ReloadResult>;
  /**
   * Stops as `server.drain` says: finishes requests in flight, ends those that are left with an error event, settles all.
   * @param maxMs for requests in flight, without the delay before; left out: as configured.
   */
  drain(maxMs?: number): Promise<void>;
  /** Stops at once; requests in flight are ended and settled. */
  close(): Promise<void>;
}

/**
 * Starts everything that one process serves.
 * @throws ConfigurationError for a configuration that cannot serve; Error for a port or a store that cannot be had.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const context = await prepare(options);
  const { start, log, state, closing } = context;
  try {
    const storage = await openStorage(context);
    const accounts = await openAccounts(context, storage);
    const upstreams = openUpstreams(context);
    const telemetry = openTelemetry(context, storage);
    const tokenizer = openTokenizer(context);
    const services = hostServices(context, storage, accounts, tokenizer);
    const registry = new InstanceRegistry({ store: storage.store, self: () => instanceInfo(state), log });
    const reloader = await startGenerations(context, {
      services,
      upstreams,
      telemetry,
      registry,
      storage,
      keepsLastGood: options.worker?.keepsLastGood ?? true,
    });
    const publicListener = await listenPublic(context, storage, accounts, telemetry, tokenizer);
    registry.start();
    closing.add(() => registry.close());
    const loop = new EventLoopMonitor();
    closing.add(() => loop.close());
    const { store } = storage;
    const { metrics } = telemetry;
    const { onFailure } = start.loaded.snapshot.store;
    const adminView = processAdminView({ store, onFailure, loop, metrics, reloader, registry, state });
    const admin = options.worker ? null : await listenAdmin(context, adminView);
    logListening(context, publicListener, admin, options.worker !== undefined);
    watchFiles(context, reloader);
    const stop = (delayMs: number, timeoutMs: number): Promise<void> =>
      stopServing(context, { ...publicListener, storage, registry, tokenizer, delayMs, timeoutMs });
    return {
      addresses: publicListener.listening.addresses,
      admin,
      store,
      get generation() {
        return state.generation;
      },
      instance: state.instance,
      adminView,
      reload: () => reloader.reload(),
      rollback: (to) => reloader.rollback(to),
      drain(maxMs) {
        const { delay, timeout } = state.snapshot.server.drain;
        return maxMs === undefined ? stop(delay, timeout) : stop(0, Math.min(timeout, maxMs));
      },
      close: () => stop(0, 0),
    };
  } catch (error) {
    await closing.all(null);
    throw error;
  }
}

/** Settings and the configuration to start with. @throws ConfigurationError */
async function prepare(options: GatewayOptions): Promise<StartContext> {
  const { file, env = process.env, strict = false, mode = "serve", logLevel = "info", logPretty = false } = options;
  const plain = options.log ?? createLog({ level: logLevel, pretty: logPretty && (await prettyLines()) });
  const log = withConfig(plain, () => shortHash(state.snapshot.hash));
  const start = options.start ?? (await loadFirst({ file, env, strict, mode, log: plain }));
  const settings: LoadSettings = { file, env, strict, mode, log };
  const now = options.now ?? Date.now;
  const state = new ProcessState({ snapshot: start.loaded.snapshot, startedAt: now() });
  return { settings, start, clock: options.now ?? null, now, log, state, closing: new Closing(log) };
}

interface GenerationsOptions {
  readonly services: HostServices;
  readonly upstreams: Upstreams;
  readonly telemetry: Telemetry;
  readonly registry: InstanceRegistry;
  readonly storage: Storage;
  readonly keepsLastGood: boolean;
}

/** Puts the first generation in force. @returns what replaces it. @throws ConfigurationError when a plugin's setup fails. */
async function startGenerations(context: StartContext, options: GenerationsOptions): Promise<Reloader> {
  const { settings, start, now, log, state, closing } = context;
  const { services, upstreams, telemetry, registry, keepsLastGood, storage } = options;
  const { metrics, observerOf } = telemetry;
  const build = async (loaded: Loaded, number: number, probation: boolean): Promise<Generation> => {
    const { snapshot } = loaded;
    const trial: Trial = { counts: null };
    const lease = await upstreams.lease(snapshot, {
      probation,
      ...(probation && { log: withConfig(log, () => shortHash(snapshot.hash)) }),
    });
    const observer = observerOf(snapshot.hash, trial);
    return createGeneration({ number, loaded, upstreams: lease, services, observer, trial });
  };
  const lastGood = lastGoodKeeper(settings);
  const kept = await KeptGenerations.open(start.loaded, { settings, writes: keepsLastGood });
  closing.add(() => lastGood.done());
  closing.add(() => kept.done());
  const remember = (loaded: Loaded, isGood: boolean): void => {
    if (isGood && keepsLastGood) lastGood.remember(loaded);
    kept.remember(loaded, state.generation.loadedAt);
    metrics.configuration(loaded.hash);
  };
  const first = await build(start.loaded, 1, false).catch((error: unknown) => {
    throw new ConfigurationError([setupDiagnostic(start.loaded.snapshot.file, error)]);
  });
  state.activate(first);
  const publish = (): void => inBackground(log, "publishing this instance", registry.publish());
  const reloader = new Reloader({
    state,
    files: start.files,
    fileHash: start.rejected === null ? start.loaded.hash : null,
    load: () => loadAgain(settings),
    build,
    kept,
    agreement: (base, candidate) =>
      storage.isShared
        ? sharedAgreement({ base, candidate, store: storage.store, peers: () => registry.guards(), now })
        : ownAgreement(now),
    now,
    log,
    onEvent(event) {
      if (event.type === "taken" || event.type === "returned") remember(event.loaded, true);
      countReload(metrics, event);
      logReload(context, event);
      if (event.type !== "rejected") publish();
    },
  });
  state.guardReport = () => reloader.guard?.report ?? null;
  closing.add(async (deadline) => {
    const giveUp = new AbortController();
    const timer = setTimeout(() => giveUp.abort(), Math.min(DISPOSE_TIMEOUT_MS, deadline?.leftMs ?? Infinity));
    await reloader.close(giveUp.signal);
    clearTimeout(timer);
  });
  remember(start.loaded, start.rejected === null);
  if (start.rejected !== null) reloader.rejectedAtStart(start.rejected);
  return reloader;
}

function countReload(metrics: Metrics, event: ReloadEvent): void {
  if (event.type === "rejected") metrics.reloaded("rejected");
  else if (event.type === "guarded") metrics.candidate(event.hash);
  else if (event.type === "decided") {
    metrics.guarded(event.decision.result);
    metrics.candidate(null);
  } else metrics.reloaded("ok");
}

function logReload({ log, state }: StartContext, event: ReloadEvent): void {
  if (event.type === "rejected") {
    const errors = event.diagnostics.filter(({ severity }) => severity === "error");
    const first = errors[0] ?? event.diagnostics[0];
    const place = first && `${first.file}:${first.line}:${first.column}: ${first.message}`;
    log.error({ errors: errors.length }, `configuration rejected, the old one serves on: ${place}`);
    return;
  }
  const { hash } = event;
  const config = shortHash(hash);
  const { number, snapshot } = state.generation;
  if (event.type === "guarded") {
    const { share } = snapshot.reload.guard!;
    log.info(
      { config, hash, share },
      "configuration serves a share of the users and is compared with the one in force",
    );
  } else if (event.type === "decided") {
    const { result, reason } = event.decision;
    if (result === "rolled_back") log.error({ config, hash, reason }, `configuration rolled back: ${reason}`);
    else log.info({ config, hash, reason }, `configuration ${result}: ${reason}`);
  } else {
    const done =
      event.type === "taken" ? "configuration reloaded" : "configuration of a former generation serves again";
    log.info({ hash, generation: number }, done);
  }
}

function logListening(
  { log, state }: StartContext,
  { listening }: PublicListener,
  admin: Address | null,
  isWorker: boolean,
): void {
  const { instance, snapshot } = state;
  const listen = listening.addresses.map(urlOf);
  log.info(
    { listen, admin: admin && urlOf(admin), hash: snapshot.hash, instance },
    isWorker ? "worker listening" : "listening",
  );
}

function watchFiles({ log, closing }: StartContext, reloader: Reloader): void {
  const watcher = watchConfig({
    files: () => reloader.files,
    onChange: () => inBackground(log, "a reload", reloader.reload()),
    log,
  });
  closing.add(() => watcher.close());
}

interface StopParts extends PublicListener {
  readonly storage: Storage;
  readonly registry: InstanceRegistry;
  readonly tokenizer: Tokenizer;
  readonly delayMs: number;
  readonly timeoutMs: number;
}

async function stopServing({ log, state, closing }: StartContext, parts: StopParts): Promise<void> {
  const { server, listening, storage, registry, tokenizer, delayMs, timeoutMs } = parts;
  const { store } = storage;
  const deadline = new Deadline(delayMs + timeoutMs + STOP_MARGIN_MS);
  state.draining = true;
  store.leave();
  inBackground(log, "publishing this instance", registry.publish());
  await drain({
    server,
    listening,
    delayMs,
    timeoutMs,
    // Loading the vocabulary takes longer than there is time after the timeout.
    onLate: () => tokenizer.warmUp(),
    onTimeout: () => store.hurry(),
    log,
  });
  store.hurry();
  await closing.all(deadline);
}
