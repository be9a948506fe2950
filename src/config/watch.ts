import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { watch } from "chokidar";
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

  const watcher = watch([], { ignoreInitial: true, persistent: false, depth: 0 });
  watcher.on("all", settle).on("error", settle);
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
    const digests = await Promise.all(paths.map(digest));
    seen = new Map(paths.map((path, index) => [path, digests[index] ?? ""]));
    if (closed) return;
    follow(before);
    const changed = await Promise.all(paths.map((path) => hasChanged(path, before, since)));
    if (!closed && changed.includes(true)) onChange();
  }

  function follow(before: ReadonlyMap<string, string>): void {
    const gone = [...before.keys()].filter((path) => !seen.has(path));
    const added = [...seen.keys()].filter((path) => !before.has(path));
    if (gone.length > 0) watcher.unwatch(gone);
    if (added.length > 0) watcher.add(added);
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
      await watcher.close();
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
