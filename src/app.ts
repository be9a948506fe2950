import { createIdentities } from "./accounts/identities.ts";
import { createSignIn } from "./accounts/sign-in/sign-in.ts";
import { createTokens } from "./accounts/tokens.ts";
import { bodyValidators } from "./bodies.ts";
import { joinFleet } from "./cluster/fleet.ts";
import { createInstanceName } from "./cluster/instance.ts";
import { watchLoop } from "./cluster/loop.ts";
import { memberOf, type ProcessSurface, surfaceOfProcess } from "./cluster/process-surface.ts";
import { adminRoutes } from "./cluster/surface.ts";
import { Closing } from "./closing.ts";
import { Deadline } from "./deadline.ts";
import { watchConfig } from "./config/watch.ts";
import { DIALECTS } from "./dialects/capabilities.ts";
import { drain } from "./drain.ts";
import { createGeneration, type Generation } from "./generation.ts";
import { type Address, inBackground, type Snapshot, type Store } from "./kit/index.ts";
import {
  ConfigurationError,
  type FirstLoad,
  isLoaded,
  lastGoodKeeper,
  type Loaded,
  loadAgain,
  loadFirst,
  type LoadSettings,
} from "./loading.ts";
import { Reloader, type ReloadResult, setupDiagnostic } from "./reloader.ts";
import { createAdminHandler } from "./server/admin.ts";
import { limitKey } from "./server/ip-address.ts";
import { cut, listenOn } from "./server/listen.ts";
import { openApiDocument } from "./server/openapi/document.ts";
import { createPublicServer } from "./server/public.ts";
import { createRoutes } from "./server/routes/index.ts";
import { openServingStore } from "./serving-store.ts";
import { createStops } from "./stops.ts";
import { createLog, type GatewayLog, type LogLevel } from "./telemetry/log.ts";
import { createMetrics } from "./telemetry/metrics.ts";
import { createObserver } from "./telemetry/observer.ts";
import { createTokenizer } from "./tokenizer.ts";
import { breakerStates, healthStates } from "./upstream-states.ts";
import { SimulatorOnDemand } from "./simulator/server.ts";
import { createUpstreams } from "./upstream/upstreams.ts";
import { Wheel } from "./upstream/wheel.ts";

/** For the plugins of all configurations at a stop, within `END_MS`. */
const DISPOSE_TIMEOUT_MS = 3_000;
/**
 * For all that a stop does after `server.drain.timeout`: platforms kill what takes longer than they were told. The
 * second that README promises, less what the end of the process itself takes.
 */
const END_MS = 800;

export interface GatewayOptions extends Omit<LoadSettings, "log"> {
  readonly logLevel: LogLevel;
  readonly logPretty: boolean;
  /** Unix milliseconds; the system's clock unless given. */
  readonly now?: () => number;
  readonly log?: GatewayLog;
  /** The configuration to start with; loaded unless given. */
  readonly start?: FirstLoad;
  /** One of several processes that share the listen addresses; their supervisor has the admin listener. */
  readonly worker?: {
    /** One of them keeps the last good configuration for all. */
    readonly keepsLastGood: boolean;
  };
}

export interface Gateway {
  /** As bound. */
  readonly addresses: readonly Address[];
  readonly admin: Address | null;
  readonly store: Store;
  readonly generation: Generation;
  /** Of this process among all that share the store. */
  readonly instance: string;
  /** What the admin listener shows, also where another process has it. */
  readonly surface: ProcessSurface;
  reload(): Promise<ReloadResult>;
  /**
   * Stops as `server.drain` says: finishes what is in flight, ends what is left with its error event, settles all.
   * @param most milliseconds for what is in flight, and nothing new is waited for; left out: as configured.
   */
  drain(most?: number): Promise<void>;
  /** Stops at once; what is in flight is ended and settled. */
  close(): Promise<void>;
}

/**
 * Starts everything that one process serves.
 * @throws ConfigurationError for a configuration that cannot serve; Error for a port or a store that cannot be had.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const now = options.now ?? Date.now;
  const log = options.log ?? createLog({ level: options.logLevel, pretty: options.logPretty });
  const instance = createInstanceName();
  const settings: LoadSettings = { ...options, log };
  const start = options.start ?? (await loadFirst(settings));
  const { snapshot } = start.loaded;

  let running = false;
  const { strict, env, now: clock } = options;
  const {
    store,
    shared,
    state: storeState,
  } = await openServingStore({
    snapshot,
    env,
    instance,
    log,
    strict: strict ?? false,
    ...(clock && { clock }),
  });
  const closing = new Closing(log);
  closing.add(() => store.close());
  // Frees what an admission whose answer was lost may have taken; everything else is settled.
  closing.add(async () => store.markInstanceDead(instance));
  closing.add((deadline) => store.done(deadline?.left));
  let openApi: string | null = null;
  try {
    // Until the reloader stands the settings are those of the start.
    const auth = (): Snapshot["auth"] => (running ? reloader.current : start.loaded).snapshot.auth;
    const tokens = await createTokens({
      settings: () => auth().tokens,
      now,
      remember: (name, value) => store.remember(name, value),
    });
    const identities = createIdentities({ store, tokens, now, onFailure: () => snapshot.store.onFailure });
    closing.add(() => identities.close());
    const signIn = createSignIn({ settings: auth, store, tokens, limitKey, now, log });
    closing.add(() => signIn.close());
    const stops = createStops({ store, log });
    closing.add(async () => stops.close());

    const simulator = new SimulatorOnDemand();
    const upstreams = createUpstreams({
      dialects: DIALECTS,
      now,
      log,
      simulated: (script, dialect) => simulator.baseUrl(script, dialect),
    });
    closing.add(async () => {
      await upstreams.close();
      await simulator.close();
    });

    const metrics = createMetrics({
      breakers: () => breakerStates(reloader.current),
      health: () => healthStates(reloader.current),
      activeStreams: () => server.activeStreams(),
      store: storeState,
    });
    const observer = createObserver({ metrics, log, logRequests: log.enabled("info"), now });
    const wheel = new Wheel(now);
    const tokenizer = createTokenizer();
    closing.add(() => tokenizer.close());

    const build: ConstructorParameters<typeof Reloader>[0]["build"] = async (loaded, number) => {
      const set = await upstreams.lease(loaded.snapshot);
      return createGeneration({
        number,
        steps: loaded.steps,
        observer,
        send: (target, call, exchange, onSent) => set.send(target, call, exchange, onSent),
        health: (name) => set.health(name),
        release: () => set.release(),
        host: {
          snapshot: loaded.snapshot,
          store,
          identities,
          stops,
          breaker: (name) => set.breaker(name),
          order: (step, exchange) => set.order(step, exchange),
          now,
          schedule: (at, callback) => wheel.schedule(at, callback),
          countTokens: (text) => tokenizer.count(text),
          log,
        },
      });
    };

    let watched = start.files;
    const keep = lastGoodKeeper(settings);
    closing.add(() => keep.done());
    const remember = (loaded: Loaded): void => {
      if (options.worker?.keepsLastGood !== false) keep.remember(loaded);
    };
    const reloader = new Reloader({
      first: await build(start.loaded, 1).catch((error: unknown) => {
        throw new ConfigurationError([setupDiagnostic(snapshot.file, error)]);
      }),
      async load() {
        const loaded = await loadAgain(settings);
        // Also when it equals what runs: after a refusal of another text fewer files may have been watched.
        watched = loaded.files;
        return loaded;
      },
      build,
      now,
      log,
      onResult(result, loaded) {
        metrics.reloaded(result.ok ? "ok" : "rejected");
        if (result.ok) {
          metrics.configuration(result.hash);
          log.info({ hash: result.hash, generation: reloader.current.number }, "configuration reloaded");
          if (loaded !== null && isLoaded(loaded)) remember(loaded);
          inBackground(log, "an announcement", fleet.announce());
        } else {
          const errors = result.diagnostics.filter(({ severity }) => severity === "error");
          const first = errors[0] ?? result.diagnostics[0];
          const place = first && `${first.file}:${first.line}:${first.column}: ${first.message}`;
          log.error({ errors: errors.length }, `configuration rejected, the old one serves on: ${place}`);
        }
      },
    });
    closing.add(async (deadline) => {
      const patience = new AbortController();
      const timer = setTimeout(() => patience.abort(), Math.min(DISPOSE_TIMEOUT_MS, deadline?.left ?? Infinity));
      await reloader.close(patience.signal);
      clearTimeout(timer);
    });
    running = true;
    metrics.configuration(snapshot.hash);
    if (start.rejected !== null) reloader.rejectedAtStart(start.rejected);
    else remember(start.loaded);

    const validateBody = bodyValidators();
    const server = createPublicServer({
      run: (intake) => reloader.current.run(intake),
      settings: () => reloader.current.snapshot.server,
      validateBody,
      now,
      log,
      routes: createRoutes({
        snapshot: () => reloader.current.snapshot,
        store,
        identities,
        signIn,
        health: (upstream) => reloader.current.health(upstream),
        kill: (userId) => stops.kill(userId),
        validateTokenCount: (body) => validateBody("count_tokens", body),
        tokensIn: (text) => tokenizer.count(text, true),
        openApi: () => (openApi ??= JSON.stringify(openApiDocument())),
        now,
        log,
      }),
      ...(shared && { addCounts: (window, uses) => store.addCounts(window, uses) }),
      onRefused: (refused) => observer.turnedAway(refused),
      onAnswered: ({ route, ...answered }) => observer.answered({ endpoint: route, ...answered }),
    });
    const listening = await listenOn(snapshot.server.listen, server.handler, {
      onMalformed: (status, requestId) =>
        observer.turnedAway({ endpoint: "other", status, code: null, requestId, durationMs: 0 }),
    });
    closing.add(() => cut(listening));

    let stopping = false;
    const own = { reloader, draining: () => stopping, streams: () => server.activeStreams() };
    const self = memberOf({ ...own, instance, startedAt: now() });
    const fleet = joinFleet({ store, self, log });
    closing.add(() => fleet.close());
    const loop = watchLoop();
    closing.add(async () => loop.close());
    const surface = surfaceOfProcess({
      ...own,
      store,
      onFailure: snapshot.store.onFailure,
      loop,
      metrics,
      fleet,
      self,
    });
    const admin = options.worker ? null : snapshot.server.admin;
    const adminListening =
      admin === null
        ? null
        : await listenOn([admin], createAdminHandler({ ...adminRoutes(surface), settings: () => admin, log }));
    if (adminListening) closing.add(() => cut(adminListening));

    const origins = listening.addresses.map(originOf);
    const adminOrigin = adminListening?.addresses.map(originOf)[0] ?? null;
    log.info(
      { listen: origins, admin: adminOrigin, hash: snapshot.hash, instance },
      options.worker ? "worker listening" : "listening",
    );

    const watcher = watchConfig({
      files: () => watched,
      onChange: () => inBackground(log, "a reload", reloader.reload()),
      log,
    });
    closing.add(async () => watcher.close());

    const end = async (delay: number, timeout: number): Promise<void> => {
      const deadline = new Deadline(delay + timeout + END_MS);
      stopping = true;
      store.leave();
      inBackground(log, "an announcement", fleet.announce());
      await drain({
        server,
        listening,
        delay,
        timeout,
        onLate() {
          // Its start takes longer than there is at the end.
          tokenizer.count(" ").catch(() => {});
        },
        onTimeout: () => store.hurry(),
        log,
      });
      store.hurry();
      await closing.all(deadline);
    };
    return {
      addresses: listening.addresses,
      admin: adminListening?.addresses[0] ?? null,
      store,
      get generation() {
        return reloader.current;
      },
      instance,
      surface,
      reload: () => reloader.reload(),
      drain: (most) => {
        const { delay, timeout } = reloader.current.snapshot.server.drain;
        return most === undefined ? end(delay, timeout) : end(0, Math.min(timeout, most));
      },
      close: () => end(0, 0),
    };
  } catch (error) {
    await closing.all(null);
    throw error;
  }
}

/** `http://HOST:PORT`, an IPv6 host in brackets. */
export function originOf({ host, port }: Address): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
