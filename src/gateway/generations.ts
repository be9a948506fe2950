import { ConfigurationError, type Diagnostic, lineOf } from "../config/diagnostics.ts";
import { type IdempotencyKeys, inBackground, type Snapshot } from "../kit/index.ts";
import { withConfig } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Upstreams } from "../upstream/upstreams.ts";
import { dataFolder, isLoaded, lastGoodKeeper, type Loaded, reloadFile, setupDiagnostic } from "./configuration.ts";
import {
  createGeneration,
  type Generation,
  type HostServices,
  type PassedOver,
  type ReloadEvent,
  type ReloadResult,
  shortHash,
  type Trial,
} from "./generation.ts";
import { ownAgreement, sharedAgreement } from "./guard.ts";
import { GenerationHistory } from "./generation-history.ts";
import type { InstanceRegistry } from "./instances.ts";
import { type ChangedBy, KeptGenerations } from "./kept-generations.ts";
import { KeptLists, withLists } from "./kept-lists.ts";
import { ModelLists } from "./model-lists.ts";
import { Reloader } from "./reloader.ts";
import type { StartContext, Storage, Telemetry } from "./services.ts";
import { logWarnings, Warnings } from "./warnings.ts";

/** For `dispose` of the plugins of all configurations at a stop; what is left of the stop's time may be less. */
const DISPOSE_TIMEOUT_MS = 3_000;

interface GenerationsOptions {
  readonly services: HostServices;
  readonly keys: IdempotencyKeys;
  readonly upstreams: Upstreams;
  readonly telemetry: Telemetry;
  readonly registry: InstanceRegistry;
  readonly storage: Storage;
  readonly keepsLastGood: boolean;
}

interface Generations {
  /** Replaces the first one. */
  readonly reloader: Reloader;
  readonly history: GenerationHistory;
}

/** Puts the first generation in force. @throws ConfigurationError when a plugin's setup fails. */
export async function startGenerations(context: StartContext, options: GenerationsOptions): Promise<Generations> {
  const { settings, start, now, log, state, closing } = context;
  const { registry, keepsLastGood, storage, telemetry } = options;
  const { metrics } = telemetry;
  const build = builder(context, options);
  const lastGood = lastGoodKeeper(settings);
  const kept = await KeptGenerations.open(start.loaded, { settings, writes: keepsLastGood });
  closing.add(() => lastGood.done());
  closing.add(() => kept.done());
  const remember = (loaded: Loaded, by: ChangedBy): void => {
    if (keepsLastGood) lastGood.remember(loaded);
    kept.remember(loaded, state.generation.loadedAt, by);
    metrics.configuration(loaded.hash);
  };
  const others = storage.isShared ? await asOthersServe(context, registry, kept) : null;
  const lists = await openLists(context, options);
  closing.add(() => lists.close());
  const listed = (one: Loaded): Promise<Loaded> => withLists(one, lists.known);
  const written = others?.loaded ?? start.loaded;
  await lists.refresh(written.snapshot);
  const loaded = await listed(written);
  const first = await build(loaded, 1, false).catch((error: unknown) => {
    throw new ConfigurationError([setupDiagnostic(loaded.snapshot.file, error)]);
  });
  state.activate(first);
  const publish = (): void => inBackground(log, "publishing this instance", registry.publish());
  const warnings = new Warnings({ store: storage.store, log });
  warnings.take(loaded);
  /** The candidate that is put in force just now. */
  let promoted: string | null = null;
  /** Findings about lists that the log has. */
  const told = new Set<string>();
  /** What the latest reload has read. */
  let read: Snapshot | null = null;
  const reloader: Reloader = new Reloader({
    state,
    files: start.files,
    fileHash: start.rejected === null ? start.loaded.hash : null,
    passedOver: others?.passedOver ?? null,
    async load(known) {
      // At every reload, also one that changes nothing: the file may have been moved away to begin a new one.
      telemetry.reopen();
      const again = await reloadFile(settings, known);
      read = isLoaded(again) ? again.snapshot : null;
      if (!isLoaded(again)) return again;
      await lists.refresh(again.snapshot);
      if (again.hash === state.snapshot.hash) warnings.take(await listed(again));
      return again;
    },
    listed,
    build,
    kept,
    agreement: (base, candidate) =>
      storage.isShared
        ? sharedAgreement({ base, candidate, store: storage.store, peers: () => registry.guards(), now })
        : ownAgreement(now),
    warnings: () => warnings.list,
    lists: () => lists.status(state.snapshot),
    now,
    log,
    afterReload(result, by) {
      if (result.ok && read !== null) state.adminTokens = read.server.admin?.tokens ?? [];
      return endCooldowns(result, by, options.upstreams);
    },
    onEvent(event) {
      if (event.type === "decided") promoted = event.decision.result === "promoted" ? event.hash : null;
      if (event.type === "returned") remember(event.loaded, "rollback");
      if (event.type === "taken") remember(event.loaded, event.hash === promoted ? "guard" : reloader.askedBy);
      if (event.type === "returned" || event.type === "taken" || event.type === "relisted") {
        warnings.take(state.generation.loaded);
      }
      const { candidate } = state;
      lists.follow(state.snapshot, ...(candidate === null ? [] : [candidate.generation.snapshot]));
      const isNew = event.type === "guarded" || (event.type === "taken" && event.hash !== promoted);
      if (isNew) logWarnings(log, event.loaded.diagnostics);
      logListFindings(log, state.generation.loaded, told);
      telemetry.reopen();
      countReload(metrics, event);
      logReload(context, event);
      if (event.type !== "rejected") publish();
    },
  });
  state.reloads = reloader;
  closing.add(async (deadline) => {
    const giveUp = new AbortController();
    const timer = setTimeout(() => giveUp.abort(), Math.min(DISPOSE_TIMEOUT_MS, deadline?.leftMs ?? Infinity));
    await reloader.close(giveUp.signal);
    clearTimeout(timer);
  });
  if (start.rejected !== null) {
    reloader.rejectedAtStart(start.rejected);
    metrics.configuration(loaded.hash);
  } else remember(loaded, "start");
  lists.follow(loaded.snapshot);
  logListFindings(log, loaded, told);
  lists.start(() => inBackground(log, "publishing what providers list", reloader.relist()));
  if (others?.onTrial) inBackground(log, "a reload", reloader.reload());
  return { reloader, history: new GenerationHistory({ kept, serving: () => state.generation.loaded }) };
}

/** Whoever reloads has changed something, here or at the provider: nobody waits for what was told before. */
function endCooldowns(result: ReloadResult, by: "file" | "reload", upstreams: Upstreams): ReloadResult {
  if (!result.ok || (by === "file" && !result.changed)) return result;
  const ended = upstreams.endCooldowns("reload");
  return ended === 0 ? result : { ...result, cooldowns_ended: ended };
}

/** One process of several keeps the lists on disk, as it keeps the last good configuration. */
async function openLists(
  { settings, start, now, log }: StartContext,
  { upstreams, keepsLastGood }: GenerationsOptions,
): Promise<ModelLists> {
  const { store, file } = start.loaded.snapshot;
  return new ModelLists({
    ask: (upstream, signal) => upstreams.listModels(upstream, signal),
    kept: await KeptLists.open(dataFolder(store.url.reveal(), file, settings.env)),
    writes: keepsLastGood,
    now,
    schedule(at, callback) {
      const timer = setTimeout(callback, Math.max(0, at - now())).unref();
      return () => clearTimeout(timer);
    },
    log,
  });
}

type Build = (loaded: Loaded, number: number, probation: boolean) => Promise<Generation>;

function builder({ log }: StartContext, { services, keys, upstreams, telemetry }: GenerationsOptions): Build {
  return async (loaded, number, probation) => {
    const { snapshot } = loaded;
    const trial: Trial = { counts: null };
    const ownLog = withConfig(log, () => shortHash(snapshot.hash));
    await telemetry.prepare(snapshot.telemetry);
    const lease = await upstreams.lease(snapshot, probation ? { probation, log: ownLog } : {});
    const observer = telemetry.observerOf(snapshot, trial);
    return createGeneration({ number, loaded, upstreams: lease, services, keys, observer, trial });
  };
}

interface OthersServe {
  readonly loaded: Loaded;
  /** null: they compare the file with it. */
  readonly passedOver: PassedOver | null;
  readonly onTrial: boolean;
}

/**
 * What the other instances serve in place of this very file, which they have rolled back or compare just now: a process
 * that is replaced meanwhile must not serve it to all its users. null where they serve the file, where nobody knows, and
 * where that generation is not kept here.
 */
async function asOthersServe(
  { start, log }: StartContext,
  registry: InstanceRegistry,
  kept: KeptGenerations,
): Promise<OthersServe | null> {
  const { hash } = start.loaded;
  if (start.rejected !== null || kept.list.every((one) => one.hash === hash)) return null;
  // While the store is away nobody knows.
  const others = await registry.all().catch(() => []);
  const instead = others.map((other) => other.instead).find((one) => one?.of === hash);
  const found = instead === undefined ? undefined : kept.list.find((one) => one.hash === instead.serves);
  if (instead === undefined || found === undefined) return null;
  const loaded = await kept.load(found);
  if (loaded === null || !isLoaded(loaded)) return null;
  const { reason, at } = instead;
  log.warn(
    { config: shortHash(loaded.hash), hash, reason },
    "serving the configuration of the other instances instead of the file",
  );
  return { loaded, passedOver: reason === null ? null : { hash, reason, at }, onTrial: reason === null };
}

function countReload(metrics: Metrics, event: ReloadEvent): void {
  if (event.type === "rejected") metrics.reloaded("rejected");
  else if (event.type === "relisted") return;
  else if (event.type === "guarded") metrics.candidate(event.hash);
  else if (event.type === "decided") {
    metrics.guarded(event.decision.result);
    metrics.candidate(null);
  } else metrics.reloaded("ok");
}

/** Once each, for as long as they hold. */
function logListFindings(log: StartContext["log"], { diagnostics }: Loaded, told: Set<string>): void {
  const found = diagnostics.filter(({ rule }) => rule === "model-list");
  const isNew = ({ message }: Diagnostic): boolean => !told.has(message);
  logWarnings(log, found.filter(isNew));
  told.clear();
  for (const { message } of found) told.add(message);
}

const MAX_LOGGED_NAMES = 20;

function logModels(
  log: StartContext["log"],
  { changes: { added, removed, updated }, loaded }: ReloadEvent & { readonly type: "relisted" },
): void {
  const also = updated.length === 0 ? "" : `, ${updated.length} updated`;
  log.info(
    {
      added: added.slice(0, MAX_LOGGED_NAMES),
      removed: removed.slice(0, MAX_LOGGED_NAMES),
      models: Object.keys(loaded.snapshot.models).length,
    },
    `models changed: ${added.length} added, ${removed.length} removed${also}`,
  );
}

function logReload({ log, state }: StartContext, event: ReloadEvent): void {
  if (event.type === "rejected") {
    const errors = event.diagnostics.filter(({ severity }) => severity === "error");
    const first = errors[0] ?? event.diagnostics[0];
    log.error(
      { errors: errors.length },
      `configuration rejected; the old one continues to serve: ${first && lineOf(first)}`,
    );
    return;
  }
  const { hash } = event;
  if (event.type === "relisted") return logModels(log, event);
  const config = shortHash(hash);
  const { number, snapshot } = state.generation;
  if (event.type === "guarded") {
    const { share } = snapshot.reload.guard!;
    log.info({ config, hash, share }, "candidate configuration serves a share of the users");
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
