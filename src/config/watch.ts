import { createHash } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import type { Log } from "../kit/index.ts";

export interface WatchOptions {
  /** Files to watch, and folders whose listing matters; asked anew at every look. */
  readonly files: () => readonly string[];
  /** Called when the content or the presence of a file has changed. May call once too often, never too seldom. */
  readonly onChange: () => void;
  readonly log: Pick<Log, "error">;
  /** Milliseconds between looks, for what no event tells: network file systems, some links. */
  readonly poll?: number;
}

export interface ConfigWatch {
  close(): Promise<void>;
}

/** Events come in bursts, and an editor may write a file in parts. */
const SETTLE_MS = 200;
/** File systems stamp with a coarser clock than ours, or with another machine's. */
const CLOCK_SLACK_MS = 1000;
const YAML_FILE = /\.ya?ml$/;

/** Watches a configuration by content: touching a file, or writing the same text again, is no change. */
export function watchConfig({ files, onChange, log, poll = 2000 }: WatchOptions): ConfigWatch {
  let seen: ReadonlyMap<string, string> = new Map();
  let lookedAt = Date.now();
  let closed = false;
  let settling: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();

  const watchers = new Map<string, FSWatcher>();
  /** Paths that may lead to another file by now. */
  const doubted = new Set<string>();
  const timer = setInterval(look, poll).unref();
  look();

  function settle(): void {
    clearTimeout(settling);
    settling = setTimeout(look, SETTLE_MS).unref();
  }

  function look(): void {
    looking = looking.then(compare).catch((err: unknown) => log.error({ err }, "the look at the configuration failed"));
  }

  async function compare(): Promise<void> {
    if (closed) return;
    const [before, since] = [seen, lookedAt];
    lookedAt = Date.now();
    const paths = [...new Set(files())];
    // Before they are read: what changes afterwards is told.
    follow(paths);
    const digests = await Promise.all(paths.map(digest));
    seen = new Map(paths.map((path, index) => [path, digests[index] ?? ""]));
    const changed = await Promise.all(paths.map((path) => hasChanged(path, before, since)));
    if (!closed && changed.includes(true)) onChange();
  }

  function follow(paths: readonly string[]): void {
    for (const path of watchers.keys()) if (doubted.has(path) || !paths.includes(path)) unwatch(path);
    doubted.clear();
    for (const path of paths) if (!watchers.has(path)) watchPath(path);
  }

  /**
   * The file itself and not its folder, where each write of a database would wake this process. What has no watcher (it is
   * absent, or there are too many) is looked at from time to time.
   */
  function watchPath(path: string): void {
    try {
      const onEvent = (_event: string, name: string | null) => {
        // Of a folder: only its listing of such files matters.
        if (name !== null && name !== basename(path) && !YAML_FILE.test(name)) return;
        doubted.add(path);
        settle();
      };
      watchers.set(
        path,
        watch(path, { persistent: false }, onEvent).on("error", () => onEvent("error", null)),
      );
    } catch {
      // The next look tries again.
    }
  }

  function unwatch(path: string): void {
    watchers.get(path)?.close();
    watchers.delete(path);
  }

  async function hasChanged(path: string, before: ReadonlyMap<string, string>, since: number): Promise<boolean> {
    const former = before.get(path);
    if (former !== undefined) return former !== seen.get(path);
    // New under watch: it may have been written after it was loaded.
    return before.size > 0 && (await modifiedAt(path)) > since - CLOCK_SLACK_MS;
  }

  return {
    async close() {
      closed = true;
      clearTimeout(settling);
      clearInterval(timer);
      await looking;
      for (const path of watchers.keys()) unwatch(path);
    },
  };
}

/** Of a file's content, or of the YAML files in a folder; says so when there is nothing to read. */
async function digest(path: string): Promise<string> {
  try {
    const about = await stat(path);
    if (about.isDirectory())
      return (await readdir(path))
        .filter((name) => YAML_FILE.test(name))
        .sort()
        .join("\n");
    // Reading a FIFO would wait for ever.
    return about.isFile()
      ? createHash("sha256")
          .update(await readFile(path))
          .digest("hex")
      : "no file";
  } catch {
    return "absent";
  }
}

async function modifiedAt(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return 0;
  }
}
