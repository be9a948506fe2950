import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, matchesGlob, normalize, parse, relative, resolve } from "node:path";
import { disk } from "./files.ts";
import { loadConfig, type LoadOptions, type LoadResult } from "./load.ts";
import { isRecord } from "./schema.ts";

/** Names the saved configuration that is in force. Replaced atomically, after all its files are written. */
const INDEX_FILE = "current.json";
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

interface Index {
  readonly hash: string;
  /** Absolute path of the main file. */
  readonly file: string;
  /** Absolute paths of the files that were saved. */
  readonly files: readonly string[];
  /** Folder of the copies, below the folder of this index. */
  readonly copies: string;
}

/**
 * Keeps the texts of a configuration that served, plugins included, in `folder`. References stay references: contents
 * of `${file:}` are not kept. A crash at any point leaves the former or the new configuration, whole. One process saves
 * at a time.
 */
export async function saveLastGood(
  folder: string,
  file: string,
  { hash, sources }: Pick<LoadResult, "hash" | "sources">,
): Promise<void> {
  const main = resolve(file);
  const former = await readIndex(folder);
  if (former?.hash === hash && former.file === main) return;
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  const copies = await mkdtemp(join(folder, "saved-"));
  const kept = sources.filter(({ kind }) => kind !== "secret");
  for (const { path, text } of kept) {
    const copy = copyOf(copies, path);
    await mkdir(dirname(copy), { recursive: true, mode: PRIVATE_FOLDER });
    await writeFile(copy, text, { mode: PRIVATE_FILE });
  }
  const index: Index = { hash, file: main, files: kept.map(({ path }) => path), copies: basename(copies) };
  const draft = join(copies, INDEX_FILE);
  await writeFile(draft, JSON.stringify(index), { mode: PRIVATE_FILE });
  await rename(draft, join(folder, INDEX_FILE));
  for (const name of await readdir(folder)) {
    if (name.startsWith("saved-") && name !== index.copies)
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

/**
 * Loads the configuration that was saved last, as if its files still stood where they were. Null when there is none.
 * Variables and contents of `${file:}` are the present ones.
 */
export async function loadLastGood(
  folder: string,
  options: Omit<LoadOptions, "file" | "read" | "expand" | "locate">,
): Promise<LoadResult | null> {
  const index = await readIndex(folder);
  if (!index) return null;
  const saved = new Set(index.files);
  const copies = resolve(folder, index.copies);
  return loadConfig({
    ...options,
    file: index.file,
    async read(path) {
      return saved.has(path) ? disk.read(copyOf(copies, path)) : disk.read(path);
    },
    async expand(pattern, from) {
      // Relative, so that brackets in the folder's own name are no pattern.
      const name = (path: string): string => (isAbsolute(pattern) ? path : relative(from, path));
      return [...saved].filter((path) => matchesGlob(name(path), normalize(pattern))).sort();
    },
    locate: (path) => (saved.has(path) ? copyOf(copies, path) : path),
  });
}

async function readIndex(folder: string): Promise<Index | null> {
  try {
    return asIndex(JSON.parse(await readFile(join(folder, INDEX_FILE), "utf8")));
  } catch {
    return null;
  }
}

function asIndex(value: unknown): Index | null {
  if (!isRecord(value)) return null;
  const { hash, file, files, copies } = value;
  if (typeof hash !== "string" || typeof file !== "string" || typeof copies !== "string" || !Array.isArray(files))
    return null;
  return { hash, file, files: files.map(String), copies };
}

/** The whole path below the folder, so that relative imports between saved files still hold. */
function copyOf(folder: string, path: string): string {
  return join(folder, relative(parse(path).root, path));
}

const REFERENCE = /\$\{env:([A-Za-z_][A-Za-z0-9_]*)(?::-([^{}]*))?\}/g;

/**
 * The `store.url` that a configuration file would name if it were good, or null: where to look for the last good
 * configuration when the file at hand is bad. Never used to open a store.
 */
export async function storeUrlHint(
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | null> {
  try {
    const { parseBounded } = await import("./parse.ts");
    const document = parseBounded(await readFile(file, "utf8"), { strict: false, uniqueKeys: false });
    const url: unknown = document.getIn(["store", "url"]);
    if (typeof url !== "string") return null;
    return url.replace(REFERENCE, (_all, name: string, fallback = "") => env[name] ?? fallback);
  } catch {
    return null;
  }
}
