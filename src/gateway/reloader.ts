import type { Diagnostic } from "../config/diagnostics.ts";
import type { LoadResult } from "../config/load.ts";
import type { RuleId } from "../config/rules.ts";
import { isLoaded, type Loaded } from "./loading.ts";
import type { Generation } from "./generation.ts";
import { inBackground, type Log, type Snapshot } from "../kit/index.ts";

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
  /** What runs at start. */
  readonly first: Generation;
  readonly load: () => Promise<LoadResult>;
  /** @throws Error when a plugin's setup fails. */
  readonly build: (loaded: Loaded, number: number) => Promise<Generation>;
  /** After a swap or a refusal. @param loaded null when reading it failed in the gateway itself. */
  readonly onResult: (result: ReloadResult, loaded: LoadResult | null) => void;
  readonly log: Pick<Log, "error">;
  readonly now: () => number;
}

/** Swaps whole configurations: a bad one changes nothing, requests in flight finish on the one they began with. */
export class Reloader {
  readonly #parts: ReloaderParts;
  readonly #restart: Readonly<Record<string, string>>;
  #current: Generation;
  #pending: readonly string[] = [];
  #rejection: ConfigStatus["last_rejection"] = null;
  #queue: Promise<unknown> = Promise.resolve();
  /** Replaced, with requests still in flight or plugins being disposed of. */
  readonly #retiring = new Set<Generation>();

  constructor(parts: ReloaderParts) {
    this.#parts = parts;
    this.#current = parts.first;
    this.#restart = restartSections(parts.first.snapshot);
  }

  get current(): Generation {
    return this.#current;
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

  /** The file was bad at start and an older configuration serves. */
  rejectedAtStart(diagnostics: readonly Diagnostic[]): void {
    this.#reject(diagnostics);
  }

  /** Reads the files again; one at a time, so that the last writer wins. */
  reload(): Promise<ReloadResult> {
    const next = this.#queue.then(() => this.#reload());
    this.#queue = next.catch(() => undefined);
    return next;
  }

  /** Retires what runs and what still retires. Resolves when all of it is, and at the latest when `patience` is aborted. */
  async close(patience: AbortSignal): Promise<void> {
    const generations = [...this.#retiring, this.#current];
    await Promise.all(generations.map((generation) => generation.retire(patience)));
  }

  async #reload(): Promise<ReloadResult> {
    const { load, onResult } = this.#parts;
    let loaded: LoadResult | null = null;
    let result: ReloadResult;
    try {
      loaded = await load();
      if (isLoaded(loaded) && loaded.hash === this.#current.snapshot.hash) {
        this.#rejection = null;
        return { ok: true, hash: loaded.hash, changed: false };
      }
      result = isLoaded(loaded) ? await this.#swap(loaded) : this.#reject(loaded.diagnostics);
    } catch (error) {
      // A fault of the gateway's own, or of a plugin's that nothing foresaw: no reason to stop serving.
      result = this.#reject([faultDiagnostic("reload-fault", "", this.#current.snapshot.file, error)]);
    }
    onResult(result, loaded);
    return result;
  }

  /** Throws before anything has changed, or not at all. */
  async #swap(loaded: Loaded): Promise<ReloadResult> {
    let next: Generation;
    try {
      next = await this.#parts.build(loaded, this.#current.number + 1);
    } catch (error) {
      return this.#reject([setupDiagnostic(this.#current.snapshot.file, error)]);
    }
    const sections = restartSections(next.snapshot);
    const old = this.#current;
    this.#current = next;
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

/** A plugin may throw anything, also what throws again when it is looked at. */
function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return "an error that cannot be read";
  }
}

/** The parts that a running process cannot change, each as comparable text; never shown to anyone. */
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
