import { type FSWatcher, watch } from "node:fs";
import { basename } from "node:path";
import { inBackground, type Log } from "../kit/index.ts";
import type { WatchedFile } from "./files.ts";

export interface WatchOptions {
  /** What the latest load found, asked anew at every look. */
  readonly files: () => readonly WatchedFile[];
  /** Loads again. Called when a file differs from what the latest load found; once too often rather than too seldom. */
  readonly onChange: () => Promise<unknown>;
  readonly log: Pick<Log, "error">;
  /** Milliseconds between looks, for what no event tells: network file systems, some links. */
  readonly poll?: number;
}

export interface ConfigWatch {
  close(): Promise<void>;
}

/** Events come in bursts, and an editor may write a file in parts. */
const SETTLE_MS = 200;
const YAML_FILE = /\.ya?ml$/;

/**
 * Watches a configuration by content: touching a file, or writing the same text again, is no change. It compares with what
 * the latest load found, not with its own former look: a file that was changed, loaded by request and changed back
 * between two looks is the same file for the watcher, but not what serves.
 */
export function watchConfig({ files, onChange, log, poll = 2000 }: WatchOptions): ConfigWatch {
  /** What the latest call of `onChange` was about. */
  let told: { readonly files: readonly WatchedFile[]; readonly found: string } | null = null;
  let isLoading = false;
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
    looking = looking.then(compare).catch((err: unknown) => log.error({ err }, "configuration watch failed"));
  }

  async function compare(): Promise<void> {
    // A load under way reads the files itself, and is followed by a look.
    if (closed || isLoading) return;
    const loaded = files();
    // Before they are read: what changes afterwards is told.
    follow([...new Set(loaded.map(({ path }) => path))]);
    const found = await Promise.all(loaded.map((file) => file.look()));
    if (closed || loaded.every((file, index) => file.found === found[index])) return;
    const now = { files: loaded, found: JSON.stringify(found) };
    // A load that failed before it read anything would fail again.
    if (told?.files === now.files && told.found === now.found) return;
    told = now;
    isLoading = true;
    const done = onChange().finally(() => {
      isLoading = false;
      look();
    });
    inBackground(log, "a reload", done);
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
