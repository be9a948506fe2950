import { dirname, join, resolve } from "node:path";
import { builtins } from "../../plugins/index.ts";
import { ConfigurationError, type Diagnostic, formatText } from "../config/diagnostics.ts";
import { environmentOf } from "../config/env-file.ts";
import type { RuleId } from "../config/rules.ts";
import { loadLastGood, saveLastGood, storeUrlHint } from "../config/last-good.ts";
import { type LinkedStep, loadConfig, type LoadOptions, type LoadResult, type RunCommand } from "../config/load.ts";
import { CAPABILITIES } from "../dialects/capabilities.ts";
import { type Host, type Log, type Snapshot, type Store, storeUnavailable } from "../kit/index.ts";
import { endsBefore, setUp } from "../pipeline/build.ts";
import { commandRunner } from "./commands.ts";
import { logWarnings } from "./warnings.ts";

/** A configuration that can serve. */
export type Loaded = LoadResult & { readonly ok: true; readonly snapshot: Snapshot };

export interface LoadSettings extends Pick<LoadOptions, "file" | "env" | "strict" | "adjust"> {
  readonly mode: "serve" | "dev";
  readonly log: Log;
}

export interface FirstLoad {
  readonly loaded: Loaded;
  /** The files to watch for changes. */
  readonly files: LoadResult["files"];
  /** Why the last good configuration serves in place of the file; null when the file's own serves. */
  readonly rejected: Pick<LoadResult, "diagnostics" | "sources"> | null;
}

export type CheckSettings = Pick<LoadOptions, "file" | "strict" | "now" | "envFile"> &
  Partial<Pick<LoadOptions, "env" | "read" | "run" | "tlsFiles">>;

/** Validates a file as a start would, offline. @param options.env `process.env` unless given. */
export function checkConfig(options: CheckSettings): Promise<LoadResult> {
  return loadConfig({ env: process.env, ...options, mode: "check", ...BUILT_IN });
}

/**
 * The configuration of a start: the file's; if that cannot serve, and unless strict, the last good one, with an error in
 * the log. @throws ConfigurationError
 */
export async function loadFirst(settings: LoadSettings): Promise<FirstLoad> {
  const { strict, log } = settings;
  const loaded = await loadAgain(settings);
  if (isLoaded(loaded)) {
    logWarnings(log, loaded.diagnostics);
    return { loaded, files: loaded.files, rejected: null };
  }
  const last = strict ? null : await lastGood({ ...settings, run: commandRunner(settings) });
  if (last === null) throw new ConfigurationError(loaded.diagnostics);
  log.error(
    { hash: last.hash, errors: loaded.diagnostics.length },
    `${settings.file} cannot serve: serving the last good configuration instead\n${formatText(loaded.diagnostics)}`,
  );
  return { loaded: last, files: loaded.files, rejected: loaded };
}

/** Reads the file as it is now. */
export function loadAgain(settings: LoadSettings): Promise<LoadResult> {
  return loadConfig(loadOptions(settings));
}

/**
 * As `loadAgain`, while something serves with TLS files of its own.
 * @param known values of commands that replace the value of a command that fails. Without it, a failure is an error
 */
export function reloadFile(settings: LoadSettings, known?: ReadonlyMap<string, string>): Promise<LoadResult> {
  return loadConfig({
    ...loadOptions(settings),
    run: commandRunner({ ...settings, ...(known && { known }) }),
    tlsFiles: "lenient",
  });
}

export function loadOptions(settings: LoadSettings): LoadOptions {
  const { file, env, strict, mode, log, adjust } = settings;
  return {
    file,
    env,
    strict,
    mode,
    run: commandRunner(settings),
    ...BUILT_IN,
    ...(adjust && { adjust }),
    dryRun: (step, snapshot) => dryRun(step, snapshot, log),
  };
}

export function isLoaded(result: LoadResult): result is Loaded {
  return result.ok && result.snapshot !== null;
}

/**
 * Saves the configuration that serves, for a start that finds a bad file. A failure is logged and does not stop serving.
 * Saves run one after the other: two at once would delete each other's copies.
 */
export function lastGoodKeeper({ env, log }: Pick<LoadSettings, "env" | "log">): {
  remember(loaded: Loaded): void;
  done(): Promise<void>;
} {
  let saving = Promise.resolve();
  return {
    remember({ snapshot, hash, sources }) {
      const folder = lastGoodFolder(snapshot.store.url.reveal(), snapshot.file, env);
      saving = saving
        .then(() => saveLastGood(folder, snapshot.file, { hash, sources }))
        .catch((err: unknown) => log.warn({ err }, "last good configuration could not be saved"));
    },
    done: () => saving,
  };
}

/**
 * The configuration of an account command: the file's, else the last good one, because a leaked key must be revocable
 * whatever state the file is in. @throws ConfigurationError when there is neither.
 * @param section the part of the file whose commands are run: what such a command has a use for
 */
export async function loadForAccounts(
  options: Pick<LoadOptions, "file" | "env"> & { readonly log: Log },
  section = "/store/",
): Promise<{ readonly loaded: Loaded; readonly rejected: readonly Diagnostic[] | null }> {
  const run = commandRunner({ ...options, only: (pointer) => pointer.startsWith(section) });
  const result = await checkConfig({ ...options, run });
  if (isLoaded(result)) return { loaded: result, rejected: null };
  const last = await lastGood({ ...options, run, mode: "check" });
  if (last === null) throw new ConfigurationError(result.diagnostics);
  return { loaded: last, rejected: result.diagnostics };
}

async function lastGood({
  file,
  env,
  mode,
  run,
  adjust,
  log,
}: Pick<LoadOptions, "file" | "env" | "mode" | "adjust"> & {
  readonly run: RunCommand;
  readonly log: Log;
}): Promise<Loaded | null> {
  const path = resolve(file);
  const variables = await environmentOf(path, env);
  const hint = await storeUrlHint(path, variables);
  const folders = new Set(
    [hint ?? "", variables["GATEWAY_STORE_URL"] ?? "", ""].map((url) => lastGoodFolder(url, path, variables)),
  );
  for (const folder of folders) {
    const result = await loadLastGood(folder, { env, mode, run, ...(adjust && { adjust }), ...BUILT_IN });
    if (result !== null && isLoaded(result) && result.snapshot.file === path) return result;
    if (result !== null) log.warn({ folder }, "last good configuration is not usable either");
  }
  return null;
}

/**
 * The variables that this process goes by. `GATEWAY_DATA` may stand in `.env`; what is there for references is left to each
 * load, so that a reload finds it changed.
 */
export async function processVariables({
  file,
  env,
}: Pick<LoadSettings, "file" | "env">): Promise<LoadSettings["env"]> {
  const { GATEWAY_DATA: folder } = await environmentOf(resolve(file), env);
  return folder === undefined ? env : { ...env, GATEWAY_DATA: folder };
}

function lastGoodFolder(storeUrl: string, file: string, env: LoadSettings["env"]): string {
  return join(dataFolder(storeUrl, file, env), "last-good");
}

/**
 * The folder for files that outlive the process: that of the SQLite file; with another store `GATEWAY_DATA`, else
 * `data/` beside the configuration.
 */
export function dataFolder(storeUrl: string, file: string, env: LoadSettings["env"]): string {
  const folder = dirname(file);
  if (storeUrl.startsWith("sqlite:")) return dirname(resolve(folder, storeUrl.slice("sqlite:".length)));
  return env["GATEWAY_DATA"] || join(folder, "data");
}

/** For the `dispose` of a plugin that was only tried out: longer, and every later reload would wait behind it. */
const DISPOSE_TIMEOUT_MS = 3_000;

/**
 * Sets one plugin up on a host that can do nothing, so that a check and a reload find what its setup refuses and which
 * of its hooks are not of its stage.
 * @param log gets a line for a `dispose` that does not end.
 * @throws what the setup threw.
 */
export async function dryRun(
  { plugin, settings }: LinkedStep,
  snapshot: Snapshot,
  log: Pick<Log, "warn"> | null = null,
  disposeTimeoutMs = DISPOSE_TIMEOUT_MS,
): Promise<void> {
  const { hooks } = await setUp({ plugin, settings }, offlineHost(snapshot)).catch((error: unknown) => {
    throw error instanceof Error && error.cause !== undefined ? error.cause : error;
  });
  const disposed = (async () => hooks.dispose?.())();
  const wait = (late: () => void): (() => void) => {
    const timer = setTimeout(late, disposeTimeoutMs);
    return () => clearTimeout(timer);
  };
  if (await endsBefore(disposed, wait)) return;
  log?.warn({ plugin: plugin.name, after_ms: disposeTimeoutMs }, "plugin dispose timed out");
}

function rejectOffline(): never {
  throw storeUnavailable(new Error("a plugin's setup cannot use the store"));
}

/** A setup that needs a store, an upstream or the time fails here: its result would depend on the machine it ran on. */
function offlineHost(snapshot: Snapshot): Host {
  return {
    snapshot,
    store: new Proxy<Partial<Store>>({}, { get: () => rejectOffline }) as Store,
    identities: {
      byKey: rejectOffline,
      presume: rejectOffline,
      confirm: rejectOffline,
      forget() {},
      byToken: rejectOffline,
    },
    streamKills: { watch: () => () => {} },
    breaker: rejectOffline,
    order: (step) => step.targets,
    now: () => 0,
    schedule: () => () => {},
    countTokens: () => Promise.resolve(0),
    log: { debug() {}, info() {}, warn() {}, error() {} },
  };
}

const BUILT_IN = {
  builtins,
  dialects: CAPABILITIES,
  dryRun: (step: LinkedStep, snapshot: Snapshot) => dryRun(step, snapshot),
} as const;

/** A plugin that fails in setup is a fault of the configuration as a whole. */
export function setupDiagnostic(file: string, error: unknown): Diagnostic {
  return faultDiagnostic("plugin-setup", "/pipeline", file, error);
}

export function faultDiagnostic(rule: RuleId, pointer: string, file: string, error: unknown): Diagnostic {
  const message = messageOf(error);
  return { file, line: 1, column: 1, pointer, rule, severity: "error", message, hint: null };
}

/** A plugin may throw anything, even an object that throws when it is converted to text. */
function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return "an error that cannot be read";
  }
}

/** The sections that a running process cannot change, as text to compare. Holds secrets: never shown or logged. */
export function restartSections({ server, store, telemetry }: Snapshot): Record<string, string> {
  const { admin } = server;
  const { otlp } = telemetry;
  return {
    "server.listen": JSON.stringify(server.listen),
    "server.admin": JSON.stringify(admin && [admin.host, admin.port, admin.tls]),
    "server.workers": String(server.workers),
    store: JSON.stringify([
      store.url.reveal(),
      store.nodes.map((node) => node.reveal()),
      store.prefix,
      store.onFailure,
      store.timeout,
      store.retention,
    ]),
    "telemetry.otlp": JSON.stringify(
      otlp && { ...otlp, headers: Object.entries(otlp.headers).map(([name, value]) => [name, value.reveal()]) },
    ),
  };
}
