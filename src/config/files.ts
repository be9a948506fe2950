import { createHash } from "node:crypto";
import { glob, readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { RuleId } from "./rules.ts";

/** Larger files are refused before they are read. */
const MAX_BYTES = 8 * 1024 * 1024;

/** How the loader reaches files; replaced to load a saved configuration or one that is not on disk. */
export interface FileAccess {
  /** The text of a file, by absolute path. @throws FileError */
  readonly read: (path: string) => Promise<string>;
  /** Absolute paths of the files that match a pattern, sorted; a relative one starts at `folder`. */
  readonly expand: (pattern: string, folder: string) => Promise<readonly string[]>;
  /** Where the source of a local plugin is, by the path it is configured with. */
  readonly locate: (path: string) => string;
  /** Runs a module, by `file:` URL. */
  readonly importModule: (url: string) => Promise<unknown>;
}

/** A file that cannot be used; the message is for the operator and never quotes the content. */
export class FileError extends Error {
  override readonly name = "FileError";
  readonly rule: RuleId;

  constructor(rule: RuleId, message: string, cause?: unknown) {
    super(message, { cause });
    this.rule = rule;
  }
}

/** A file that a load read or looked for, or a pattern that it expanded: what a watcher compares. */
export interface WatchedFile {
  /** Absolute; the folder in which a pattern begins. */
  readonly path: string;
  /** What the load found: a digest of the text, why there is none, or the files that the pattern matched. */
  readonly found: string;
  /** The same, as it is now on disk. Never throws. */
  readonly look: () => Promise<string>;
}

/** No digest and no reason: a file that had two contents while it was loaded differs from whatever it holds now. */
const UNSTEADY = "changed while it was loaded";

/** Notes what a load reads through it. */
export function noting(access: FileAccess): {
  readonly access: FileAccess;
  readonly files: () => readonly WatchedFile[];
} {
  const noted = new Map<string, WatchedFile>();
  return {
    files: () => [...noted.values()],
    access: {
      ...access,
      async read(path) {
        const reading = access.read(path);
        const found = await textFound(reading);
        const isSteady = (noted.get(path)?.found ?? found) === found;
        noted.set(path, { path, found: isSteady ? found : UNSTEADY, look: () => textFound(disk.read(path)) });
        return reading;
      },
      async expand(pattern, folder) {
        const paths = await access.expand(pattern, folder);
        const look = async () => JSON.stringify(await disk.expand(pattern, folder));
        noted.set(`${folder}\n${pattern}`, { path: startOf(pattern, folder), found: JSON.stringify(paths), look });
        return paths;
      },
    },
  };
}

async function textFound(reading: Promise<string>): Promise<string> {
  try {
    return createHash("sha256")
      .update(await reading)
      .digest("hex");
  } catch (error) {
    return error instanceof Error ? error.message : "cannot be read";
  }
}

const GLOB = /[*?[\]{}]/;

export function isPattern(path: string): boolean {
  return GLOB.test(path);
}

function startOf(pattern: string, folder: string): string {
  return resolve(folder, dirname(`${pattern.slice(0, pattern.search(GLOB))}x`));
}

export const disk: FileAccess = { read, expand, locate: (path) => path, importModule: (url) => import(url) };

async function read(path: string): Promise<string> {
  let content: Uint8Array;
  try {
    const about = await stat(path);
    // Reading a FIFO or a device would wait for ever.
    if (!about.isFile())
      throw new FileError("file-unreadable", about.isDirectory() ? "is a folder" : "is not a regular file");
    if (about.size > MAX_BYTES) throw new FileError("file-size", "is larger than 8 MiB");
    content = await readFile(path);
  } catch (error) {
    throw error instanceof FileError ? error : new FileError("file-unreadable", reason(error), error);
  }
  return decode(content);
}

/** UTF-8 without a byte order mark. @throws FileError */
export function decode(content: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch (error) {
    throw new FileError("file-encoding", "is not UTF-8", error);
  }
}

async function expand(pattern: string, folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const path of glob(pattern, { cwd: folder })) found.push(resolve(folder, path));
  return found.sort();
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "may not be read",
  EPERM: "may not be read",
  ELOOP: "is a loop of links",
  ENOTDIR: "does not exist",
  ENAMETOOLONG: "has too long a name",
};

function reason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return REASONS[code] ?? "cannot be read";
}
