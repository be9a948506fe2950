import { watchConfig } from "../config/watch.ts";
import { type Address, type AdminToken, inBackground, type Store } from "../kit/index.ts";
import type { Explainer } from "../offline/answer.ts";
import type { AccessTrail } from "../accounts/access-trail.ts";
import type { SignInLinks } from "../accounts/sign-in/links.ts";
import type { Explain } from "../server/admin/endpoint.ts";
import type { SignInRecord } from "../server/endpoint.ts";
import { NOT_BUILT, PAGES_FOLDER, readPages } from "../server/pages.ts";
import { createLog, type GatewayLog, type LogLevel, prettyLines, withConfig } from "../telemetry/log.ts";
import type { AdminServices } from "../server/admin/services.ts";
import { adminServices } from "./admin-services.ts";
import { EventLoopMonitor, type ProcessAdminView, processAdminView } from "./admin-view.ts";
import { type FirstLoad, loadFirst, type LoadSettings, processVariables } from "./configuration.ts";
import { everyBreaker, keyCooldowns, restingTargets } from "./cooldowns.ts";
import { type Generation, ProcessState, type ReloadResult, shortHash } from "./generation.ts";
import { startGenerations } from "./generations.ts";
import { instanceInfo, InstanceRegistry } from "./instances.ts";
import type { RollbackTarget } from "./kept-generations.ts";
import { listenAdmin, listenPublic, type PublicListener, urlOf } from "./listeners.ts";
import type { Reloader } from "./reloader.ts";
import {
  hostServices,
  openAccessTrail,
  openKeys,
  openAccounts,
  openStorage,
  openTelemetry,
  openTokenizer,
  openUpstreams,
  type StartContext,
  type Storage,
} from "./services.ts";
import { refreshSecrets } from "./commands.ts";
import { type Load, shedBy, Shedder } from "./shedding.ts";
import { Closing, Deadline, drain } from "./shutdown.ts";
import { StreamDirectory } from "./stream-list.ts";
import { UpstreamControls } from "./upstream-controls.ts";
import type { Tokenizer } from "./tokenizer.ts";

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
  /** Sign-in links that this process honours; none unless given. */
  readonly links?: SignInLinks;
  /** In place of what this process measures each second. */
  readonly measureLoad?: () => Load;
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
  /** What its routes need of the store. */
  readonly adminServices: AdminServices;
  /** Who may use the admin API. Another list after a reload that changes it. */
  readonly adminTokens: readonly AdminToken[];
  reload(): Promise<ReloadResult>;
  /** Runs the commands of `${exec:}` again, as `secrets.refresh` does; one that fails keeps its value. */
  refreshSecrets(): Promise<void>;
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
    state.shedder = new Shedder({ snapshot: () => state.snapshot, log });
    const storage = await openStorage(context);
    const accounts = await openAccounts(context, storage);
    const upstreams = openUpstreams(context);
    const telemetry = await openTelemetry(context, storage);
    const trail = openAccessTrail(context, storage, telemetry);
    const tokenizer = openTokenizer(context);
    const services = hostServices(context, storage, accounts, tokenizer);
    const keys = openKeys(context, storage);
    const registry = new InstanceRegistry({ store: storage.store, self: () => instanceInfo(state), log });
    const { reloader, history } = await startGenerations(context, {
      services,
      keys,
      upstreams,
      telemetry,
      registry,
      storage,
      keepsLastGood: options.worker?.keepsLastGood ?? true,
    });
    const controls = new UpstreamControls({
      store: storage.store,
      controls: upstreams.manual,
      upstreams: () => state.upstreamNames,
      cooldowns: (upstream) => keyCooldowns(state.generation, upstream),
      now: context.now,
      log,
    });
    closing.add(() => controls.close());
    // Before the first request: what is drained must not be sent any by a process that starts.
    await controls.start();
    const pages = readPages(PAGES_FOLDER);
    // With several workers their supervisor says so.
    if (pages === null && !options.worker) log.warn({}, NOT_BUILT);
    const streams = new StreamDirectory({
      store: storage.store,
      instance: state.instance,
      running: () => state.streams.streams(),
      end: (id) => state.streams.endStream(id),
      others: () => registry.others(),
      log,
    });
    closing.add(() => streams.close());
    const publicListener = await listenPublic(context, storage, accounts, telemetry, tokenizer, {
      pages,
      streams,
      signIns: signInRecord(trail),
    });
    closing.add(shedBy(state.shedder, () => state.snapshot.server.shed !== null, options.measureLoad));
    registry.start();
    closing.add(() => registry.close());
    const loop = new EventLoopMonitor();
    closing.add(() => loop.close());
    const { store } = storage;
    const { metrics, figures } = telemetry;
    const { onFailure } = start.loaded.snapshot.store;
    const adminView = processAdminView({
      store,
      onFailure,
      loop,
      metrics,
      figures,
      reloader,
      registry,
      state,
      streams,
      explain: explainer(context, storage),
    });
    const ofAdmin = adminServices({
      store,
      controls,
      history,
      trail,
      count(entry) {
        if (entry.outcome === "begun") return;
        metrics.audited(entry.action, entry.outcome);
        if (entry.action === "signIn") metrics.signedIn("operator", "ok", 1);
      },
      snapshot: () => state.snapshot,
      now: context.now,
    });
    const admin = options.worker ? null : await listenAdmin(context, adminView, ofAdmin, pages);
    logListening(context, publicListener, admin, options.worker !== undefined);
    watchFiles(context, reloader);
    closing.add(
      refreshSecrets({
        reloader,
        every: () => state.snapshot.reload.refreshSecrets ?? null,
        loadedAt: () => state.generation.loadedAt,
        now: context.now,
        log,
      }),
    );
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
      adminServices: ofAdmin,
      get adminTokens() {
        return state.adminTokens;
      },
      reload: () => reloader.reload(),
      refreshSecrets: () => reloader.refresh(),
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
  const { file, strict = false, mode = "serve", logLevel = "info", logPretty = false } = options;
  const plain = options.log ?? createLog({ level: logLevel, pretty: logPretty && (await prettyLines()) });
  const log = withConfig(plain, () => shortHash(state.snapshot.hash));
  const { adjust, links = null } = options;
  const env = await processVariables({ file, env: options.env ?? process.env });
  const loading = { file, env, strict, mode, ...(adjust && { adjust }) };
  const start = options.start ?? (await loadFirst({ ...loading, log: plain }));
  const settings: LoadSettings = { ...loading, log };
  const now = options.now ?? Date.now;
  const state = new ProcessState({ snapshot: start.loaded.snapshot, startedAt: now() });
  const elapsed = options.now ?? (() => performance.now());
  const closing = new Closing(log);
  return { settings, start, links, clock: options.now ?? null, now, elapsed, log, state, closing };
}

/** Answers what would become of a request; loaded with the first question. */
function explainer({ state, now }: StartContext, { store }: Storage): Explain {
  let made: Promise<Explainer> | null = null;
  const make = async (): Promise<Explainer> => {
    const { Explainer: Made } = await import("../offline/answer.ts");
    return new Made({
      loaded: () => state.generation.loaded,
      store,
      breakers: () => everyBreaker(state.generation),
      resting: () => restingTargets(state.generation),
      manual: () => state.manual(),
      now,
    });
  };
  return async (question) => (await (made ??= make())).answer(question);
}

function signInRecord(trail: AccessTrail): SignInRecord {
  return {
    succeeded: (userId, method, address) => trail.userSignedIn(userId, method, address),
    failed: (result) => trail.userFailed(result),
  };
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
    onChange: () => reloader.reload("file"),
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
