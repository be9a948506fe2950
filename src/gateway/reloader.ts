import type { Diagnostic } from "../config/diagnostics.ts";
import type { RuleId } from "../config/rules.ts";
import type { LoadResult } from "../config/load.ts";
import { inBackground, type Log, type Snapshot } from "../kit/index.ts";
import { isLoaded, type Loaded } from "./configuration.ts";
import type { Generation, ProcessState } from "./generation.ts";

export type ReloadResult =
  | { readonly ok: true; readonly hash: string; readonly changed: boolean }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** What `GET /admin/config` shows. */
export interface ConfigStatus {
  readonly generation: number;
  readonly hash: string;
  readonly file: string;
  readonly loaded_at: string;
  /** Sections that differ from what runs and need a restart. */
  readonly pending: readonly string[];
  readonly last_rejection: { readonly at: string; readonly diagnostics: readonly Diagnostic[] } | null;
}

export interface ReloaderParts {
  /** With the generation of the start. */
  readonly state: Pick<ProcessState, "generation" | "activate">;
  /** The files that the start has read. */
  readonly files: readonly string[];
  readonly load: () => Promise<LoadResult>;
  /** @throws Error when a plugin's setup fails. */
  readonly build: (loaded: Loaded, number: number) => Promise<Generation>;
  /** After a swap or a rejection. @param loaded null when reading the file failed for a bug of the gateway's own. */
  readonly onResult: (result: ReloadResult, loaded: LoadResult | null) => void;
  readonly log: Pick<Log, "error" | "info">;
  readonly now: () => number;
}

/** Swaps whole configurations: a bad one changes nothing, requests in flight finish on the one they began with. */
export class Reloader {
  readonly #parts: ReloaderParts;
  readonly #restart: Readonly<Record<string, string>>;
  #files: readonly string[];
  #pending: readonly string[] = [];
  #rejection: ConfigStatus["last_rejection"] = null;
  #queue: Promise<unknown> = Promise.resolve();
  /** Replaced, with requests still in flight or plugins being disposed of. */
  readonly #retiring = new Set<Generation>();

  constructor(parts: ReloaderParts) {
    this.#parts = parts;
    this.#files = parts.files;
    this.#restart = restartSections(this.#current.snapshot);
  }

  /** The files to watch. A reload that changes nothing may change them: a rejected text can include other files. */
  get files(): readonly string[] {
    return this.#files;
  }

  get status(): ConfigStatus {
    const { number, snapshot, loadedAt } = this.#current;
    return {
      generation: number,
      hash: snapshot.hash,
      file: snapshot.file,
      loaded_at: new Date(loadedAt).toISOString(),
      pending: this.#pending,
      last_rejection: this.#rejection,
    };
  }

  get #current(): Generation {
    return this.#parts.state.generation;
  }

  /** The file could not serve at the start, and the last good configuration does. */
  rejectedAtStart(diagnostics: readonly Diagnostic[]): void {
    this.#reject(diagnostics);
  }

  /** Reads the files again. One reload at a time, so that the text written last is the one that serves. */
  reload(): Promise<ReloadResult> {
    const next = this.#queue.then(() => this.#reload());
    this.#queue = next.catch(() => undefined);
    return next;
  }

  /** Retires every generation. Resolves when all are disposed of, and at the latest when `giveUp` is aborted. */
  async close(giveUp: AbortSignal): Promise<void> {
    const generations = [...this.#retiring, this.#current];
    await Promise.all(generations.map((generation) => generation.retire(giveUp)));
  }

  async #reload(): Promise<ReloadResult> {
    const { load, onResult, log } = this.#parts;
    let loaded: LoadResult | null = null;
    let result: ReloadResult;
    try {
      loaded = await load();
      this.#files = loaded.files;
      if (isLoaded(loaded) && loaded.hash === this.#current.snapshot.hash) {
        const { hash } = loaded;
        if (this.#rejection !== null) log.info({ hash }, "configuration is whole again: it is the one that serves");
        this.#rejection = null;
        return { ok: true, hash, changed: false };
      }
      result = isLoaded(loaded) ? await this.#swap(loaded) : this.#reject(loaded.diagnostics);
    } catch (error) {
      // A bug of the gateway's own, or of a plugin: no reason to stop serving.
      result = this.#reject([faultDiagnostic("reload-fault", "", this.#current.snapshot.file, error)]);
    }
    onResult(result, loaded);
    return result;
  }

  /** Throws only before anything has changed. */
  async #swap(loaded: Loaded): Promise<ReloadResult> {
    let next: Generation;
    try {
      next = await this.#parts.build(loaded, this.#current.number + 1);
    } catch (error) {
      return this.#reject([setupDiagnostic(this.#current.snapshot.file, error)]);
    }
    const sections = restartSections(next.snapshot);
    const old = this.#current;
    this.#parts.state.activate(next);
    this.#rejection = null;
    this.#pending = Object.keys(sections).filter((name) => sections[name] !== this.#restart[name]);
    this.#retiring.add(old);
    const retired = old.retire().finally(() => this.#retiring.delete(old));
    inBackground(this.#parts.log, "retiring a configuration", retired);
    return { ok: true, hash: loaded.hash, changed: true };
  }

  #reject(diagnostics: readonly Diagnostic[]): ReloadResult {
    this.#rejection = { at: new Date(this.#parts.now()).toISOString(), diagnostics };
    return { ok: false, diagnostics };
  }
}

/** A plugin that fails in setup is a fault of the configuration as a whole. */
export function setupDiagnostic(file: string, error: unknown): Diagnostic {
  return faultDiagnostic("plugin-setup", "/pipeline", file, error);
}

function faultDiagnostic(rule: RuleId, pointer: string, file: string, error: unknown): Diagnostic {
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
function restartSections({ server, store }: Snapshot): Record<string, string> {
  const { admin } = server;
  return {
    "server.listen": JSON.stringify(server.listen),
    "server.admin": JSON.stringify(admin && [admin.host, admin.port, admin.token.reveal()]),
    "server.workers": String(server.workers),
    store: JSON.stringify([
      store.url.reveal(),
      store.nodes.map((node) => node.reveal()),
      store.prefix,
      store.onFailure,
      store.timeout,
      store.retention,
    ]),
  };
}
