import { dirname, join, resolve } from "node:path";
import { builtins } from "../plugins/index.ts";
import { type Diagnostic, formatText } from "./config/diagnostics.ts";
import { loadLastGood, saveLastGood, storeUrlHint } from "./config/last-good.ts";
import { type LinkedStep, loadConfig, type LoadOptions, type LoadResult } from "./config/load.ts";
import { CAPABILITIES } from "./dialects/capabilities.ts";
import type { Log, Snapshot } from "./kit/index.ts";
import { rehearse } from "./rehearsal.ts";

/** A configuration that cannot serve. Its message is the whole report. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    super(`the configuration cannot serve\n${formatText(diagnostics).trimEnd()}`);
    this.diagnostics = diagnostics;
  }
}

/** A result that can serve. */
export type Loaded = LoadResult & { readonly ok: true; readonly snapshot: Snapshot };

export interface LoadSettings extends Pick<LoadOptions, "file" | "env" | "strict"> {
  readonly mode: "serve" | "dev";
  readonly log: Log;
}

export interface FirstLoad {
  readonly loaded: Loaded;
  /** What to watch. */
  readonly files: readonly string[];
  /** Why the file at hand was not taken and the last good configuration serves; null when it was. */
  readonly rejected: readonly Diagnostic[] | null;
}

/** Offline validation: the path that a start takes. */
export function checkConfig(options: Pick<LoadOptions, "file" | "env" | "strict">): Promise<LoadResult> {
  return loadConfig({ ...options, mode: "check", ...KNOWN });
}

/** For a start: the file, else, loudly and unless strict, what served last. @throws ConfigurationError */
export async function loadFirst(settings: LoadSettings): Promise<FirstLoad> {
  const { strict, log } = settings;
  const loaded = await loadAgain(settings);
  if (isLoaded(loaded)) {
    for (const { file, line, column, message, severity } of loaded.diagnostics) {
      log.warn({ severity }, `${file}:${line}:${column}: ${message}`);
    }
    return { loaded, files: loaded.files, rejected: null };
  }
  const last = strict ? null : await lastGood(settings);
  if (last === null) throw new ConfigurationError(loaded.diagnostics);
  log.error(
    { hash: last.hash, errors: loaded.diagnostics.length },
    `${settings.file} cannot serve: serving the last good configuration instead\n${formatText(loaded.diagnostics)}`,
  );
  return { loaded: last, files: loaded.files, rejected: loaded.diagnostics };
}

/** Reads the file as it is now. */
export function loadAgain({ file, env, strict, mode, log }: LoadSettings): Promise<LoadResult> {
  return loadConfig({ file, env, strict, mode, ...KNOWN, rehearse: (step, snapshot) => rehearse(step, snapshot, log) });
}

export function isLoaded(result: LoadResult): result is Loaded {
  return result.ok && result.snapshot !== null;
}

/**
 * Keeps what serves for a start that finds a bad file. A failure is logged: it must not stop serving. Saves queue up,
 * because two at once would clear away each other's copies.
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
        .catch((err: unknown) => log.warn({ err }, "the last good configuration could not be kept"));
    },
    done: () => saving,
  };
}

/**
 * For account commands: the file, else what served last. A leaked key must be revocable whatever state the file is in
 * (decisions 10.5). @throws ConfigurationError when there is neither.
 */
export async function loadForAccounts(
  options: Pick<LoadOptions, "file" | "env"> & { readonly log: Log },
): Promise<{ readonly loaded: Loaded; readonly rejected: readonly Diagnostic[] | null }> {
  const result = await checkConfig(options);
  if (isLoaded(result)) return { loaded: result, rejected: null };
  const last = await lastGood({ ...options, mode: "check" });
  if (last === null) throw new ConfigurationError(result.diagnostics);
  return { loaded: last, rejected: result.diagnostics };
}

async function lastGood({
  file,
  env,
  mode,
  log,
}: Pick<LoadOptions, "file" | "env" | "mode"> & { readonly log: Log }): Promise<Loaded | null> {
  const path = resolve(file);
  const hint = await storeUrlHint(path, env);
  const folders = new Set(
    [hint ?? "", env["GATEWAY_STORE_URL"] ?? "", ""].map((url) => lastGoodFolder(url, path, env)),
  );
  for (const folder of folders) {
    const result = await loadLastGood(folder, { env, mode, ...KNOWN });
    if (result !== null && isLoaded(result) && result.snapshot.file === path) return result;
    if (result !== null) log.warn({ folder }, "the last good configuration cannot serve either");
  }
  return null;
}

function lastGoodFolder(storeUrl: string, file: string, env: LoadSettings["env"]): string {
  return join(dataFolder(storeUrl, file, env), "last-good");
}

/**
 * Where a process keeps what must outlive it: beside the SQLite file; with another store in `GATEWAY_DATA`, else in
 * `data/` beside the configuration.
 */
export function dataFolder(storeUrl: string, file: string, env: LoadSettings["env"]): string {
  const folder = dirname(file);
  if (storeUrl.startsWith("sqlite:")) return dirname(resolve(folder, storeUrl.slice("sqlite:".length)));
  return env["GATEWAY_DATA"] || join(folder, "data");
}

const KNOWN = {
  builtins,
  dialects: CAPABILITIES,
  rehearse: (step: LinkedStep, snapshot: Snapshot) => rehearse(step, snapshot),
} as const;
