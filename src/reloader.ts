import type { Diagnostic } from "./config/diagnostics.ts";
import type { LoadResult } from "./config/load.ts";
import { isLoaded, type Loaded } from "./loading.ts";
import type { Generation } from "./generation.ts";
import type { Snapshot } from "./kit/index.ts";

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
  /** After a swap or a refusal. */
  readonly onResult: (result: ReloadResult, loaded: LoadResult) => void;
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

  async #reload(): Promise<ReloadResult> {
    const loaded = await this.#parts.load();
    if (isLoaded(loaded) && loaded.hash === this.#current.snapshot.hash) {
      this.#rejection = null;
      return { ok: true, hash: loaded.hash, changed: false };
    }
    const result = isLoaded(loaded) ? await this.#swap(loaded) : this.#reject(loaded.diagnostics);
    this.#parts.onResult(result, loaded);
    return result;
  }

  async #swap(loaded: Loaded): Promise<ReloadResult> {
    let next: Generation;
    try {
      next = await this.#parts.build(loaded, this.#current.number + 1);
    } catch (error) {
      return this.#reject([setupDiagnostic(this.#current.snapshot.file, error)]);
    }
    const old = this.#current;
    this.#current = next;
    this.#rejection = null;
    const sections = restartSections(next.snapshot);
    this.#pending = Object.keys(sections).filter((name) => sections[name] !== this.#restart[name]);
    void old.retire();
    return { ok: true, hash: loaded.hash, changed: true };
  }

  #reject(diagnostics: readonly Diagnostic[]): ReloadResult {
    this.#rejection = { at: new Date(this.#parts.now()).toISOString(), diagnostics };
    return { ok: false, diagnostics };
  }
}

/** A plugin that fails in setup is a fault of the configuration as a whole. */
export function setupDiagnostic(file: string, error: unknown): Diagnostic {
  return {
    file,
    line: 1,
    column: 1,
    pointer: "/pipeline",
    rule: "plugin-setup",
    severity: "error",
    message: error instanceof Error ? error.message : String(error),
    hint: null,
  };
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
