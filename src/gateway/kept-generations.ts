import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadLastGood, saveLastGood } from "../config/last-good.ts";
import type { LoadResult } from "../config/load.ts";
import { dataFolder, type Loaded, type LoadSettings, loadOptions } from "./configuration.ts";

/** How many generations a rollback can return to, the one that serves among them. */
const MAX_GENERATIONS = 10;
const INDEX_FILE = "index.json";
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
/** The beginning of a hash as people write it. */
const HASH_START = /^[0-9a-f]{4,64}$/i;

/** A configuration that has served every user. */
export interface KeptGeneration {
  readonly hash: string;
  /** ISO 8601: when it last began to. */
  readonly since: string;
  /** By what; null: a former version of the gateway has not noted it. */
  readonly by: ChangedBy | null;
}

export const CHANGED_BY = ["start", "file", "reload", "rollback", "guard"] as const;
/** The start of the process, a change of the file, somebody's wish, or a guard that let it serve everybody. */
export type ChangedBy = (typeof CHANGED_BY)[number];

/** A hash or the beginning of one; a number: so many generations back. */
export type RollbackTarget = string | number;

interface KeptOptions {
  readonly settings: LoadSettings;
  /** Whether this process writes: of several workers one does. */
  readonly writes: boolean;
}

/**
 * The last generations that served, the latest first, in a folder beside the store. Kept as the last good configuration
 * is: texts and plugins, references unresolved, no secrets.
 */
export class KeptGenerations {
  readonly #options: KeptOptions;
  readonly #folder: string;
  #list: readonly KeptGeneration[];
  #saving = Promise.resolve();

  private constructor(options: KeptOptions, folder: string, list: readonly KeptGeneration[]) {
    this.#options = options;
    this.#folder = folder;
    this.#list = list;
  }

  /** @param snapshot of the start. */
  static async open({ snapshot }: Pick<Loaded, "snapshot">, options: KeptOptions): Promise<KeptGenerations> {
    const data = dataFolder(snapshot.store.url.reveal(), snapshot.file, options.settings.env);
    // Other configurations may share the store's folder.
    const name = createHash("sha256").update(snapshot.file).digest("hex").slice(0, 16);
    const folder = join(data, "generations", name);
    return new KeptGenerations(options, folder, await readIndex(folder));
  }

  get list(): readonly KeptGeneration[] {
    return this.#list;
  }

  /**
   * Keeps what serves all users from now on. A failure is logged and does not stop serving.
   * @param since Unix milliseconds
   */
  remember(loaded: Loaded, since: number, by: ChangedBy): void {
    const { hash, snapshot, sources } = loaded;
    const others = this.#list.filter((kept) => kept.hash !== hash);
    const dropped = others.slice(MAX_GENERATIONS - 1);
    this.#list = [{ hash, since: new Date(since).toISOString(), by }, ...others.slice(0, MAX_GENERATIONS - 1)];
    const { writes, settings } = this.#options;
    if (!writes) return;
    const list = this.#list;
    const save = async (): Promise<void> => {
      await saveLastGood(this.#copies(hash), snapshot.file, { hash, sources });
      await this.#writeIndex(list);
      // Last: a crash before leaves a folder too many, not an entry without one.
      for (const kept of dropped) await rm(this.#copies(kept.hash), { recursive: true, force: true });
    };
    this.#saving = this.#saving
      .then(save)
      .catch((err: unknown) => settings.log.warn({ err }, "configuration could not be saved for a rollback"));
  }

  /** @returns the generation that is meant; or why there is none. */
  find(to: RollbackTarget): KeptGeneration | string {
    const { length } = this.#list;
    if (typeof to === "number") {
      const kept = Number.isInteger(to) && to >= 0 ? this.#list[to] : undefined;
      return kept ?? `there is no generation ${to} back: ${length - 1} before this one are kept`;
    }
    const found = HASH_START.test(to) ? this.#list.filter(({ hash }) => hash.startsWith(to.toLowerCase())) : [];
    if (found.length > 1) return `"${to}" is the beginning of several hashes`;
    return found[0] ?? `no generation that is kept has the hash "${to}"; a beginning has at least 4 digits`;
  }

  /** Loads it as it was, with the variables and secrets of now; null when its copies are gone. */
  async load({ hash }: KeptGeneration): Promise<LoadResult | null> {
    await this.#saving;
    const { file: _, ...options } = loadOptions(this.#options.settings);
    return loadLastGood(this.#copies(hash), options);
  }

  /** Resolves when everything is written. */
  done(): Promise<void> {
    return this.#saving;
  }

  #copies(hash: string): string {
    return join(this.#folder, hash.slice(0, 16));
  }

  async #writeIndex(list: readonly KeptGeneration[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: PRIVATE_FOLDER });
    const draft = join(this.#folder, `${INDEX_FILE}.draft`);
    await writeFile(draft, JSON.stringify(list), { mode: PRIVATE_FILE });
    await rename(draft, join(this.#folder, INDEX_FILE));
  }
}

async function readIndex(folder: string): Promise<readonly KeptGeneration[]> {
  try {
    const value: unknown = JSON.parse(await readFile(join(folder, INDEX_FILE), "utf8"));
    return Array.isArray(value) ? value.filter(isKept).slice(0, MAX_GENERATIONS).map(withCause) : [];
  } catch {
    return [];
  }
}

function isKept(value: unknown): value is KeptGeneration {
  const { hash, since } = (value ?? {}) as Partial<KeptGeneration>;
  return typeof hash === "string" && HASH_START.test(hash) && typeof since === "string";
}

function withCause({ hash, since, by }: KeptGeneration): KeptGeneration {
  return { hash, since, by: CHANGED_BY.find((one) => one === by) ?? null };
}
