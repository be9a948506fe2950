import { type FileHandle, mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type DecisionLogSettings, inBackground, type Log } from "../kit/index.ts";

/** Lines beyond it are dropped while the disk is slower than requests come. */
const MAX_WAITING_CHARACTERS = 8 * 1024 * 1024;
const RETRY_MS = 1_000;
/** Of files put aside: the time, and the process that did it. */
const ASIDE = /^\d{8}T\d{9}Z-\d+$/;
const NEWLINE = 0x0a;

export interface LineFileOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
  readonly maxWaitingCharacters?: number;
}

/** Lines that wait for one file, whatever is configured by the time at which they are written. */
interface Batch {
  readonly settings: DecisionLogSettings;
  readonly lines: string[];
  characters: number;
}

/**
 * Appends lines to a file that several processes may share. Nobody waits for it: lines are written together by one write
 * at a time, and dropped and counted when too many wait.
 */
export class LineFile {
  /** Lines that were not written. */
  dropped = 0;
  readonly #options: LineFileOptions;
  #settings: DecisionLogSettings | null = null;
  readonly #waiting: Batch[] = [];
  #waitingCharacters = 0;
  #handle: FileHandle | null = null;
  /** Of the handle. */
  #openFile = "";
  #reopen = false;
  #writing: Promise<void> | null = null;
  #retryAt = -Infinity;
  #asideAt = 0;
  #warned = false;

  constructor(options: LineFileOptions) {
    this.#options = options;
  }

  /** Whether lines are written at all. */
  get on(): boolean {
    return this.#settings !== null;
  }

  /** Opens the file again with the next line, by these settings; null: no more lines. */
  configure(settings: DecisionLogSettings | null): void {
    this.#settings = settings;
    this.#reopen = true;
    this.#warned = false;
    this.#retryAt = -Infinity;
    this.#start();
  }

  /** @param line without its end. */
  write(line: string): void {
    const { maxWaitingCharacters = MAX_WAITING_CHARACTERS } = this.#options;
    const settings = this.#settings;
    if (settings === null) return;
    if (this.#waitingCharacters + line.length > maxWaitingCharacters) {
      this.dropped += 1;
      return;
    }
    let batch = this.#waiting.at(-1);
    if (batch?.settings !== settings) this.#waiting.push((batch = { settings, lines: [], characters: 0 }));
    batch.lines.push(`${line}\n`);
    batch.characters += line.length + 1;
    this.#waitingCharacters += line.length + 1;
    this.#start();
  }

  /** Writes what waits and closes the file. */
  async close(): Promise<void> {
    this.#retryAt = -Infinity;
    this.#start();
    await this.#writing;
    this.#settings = null;
    await this.#closeHandle();
  }

  #start(): void {
    if (this.#writing !== null || this.#options.now() < this.#retryAt) return;
    this.#writing = this.#drain().finally(() => (this.#writing = null));
    inBackground(this.#options.log, "the decision log", this.#writing);
  }

  async #drain(): Promise<void> {
    while (this.#reopen || this.#waiting.length > 0) {
      if (this.#reopen) await this.#closeHandle();
      this.#reopen = false;
      const batch = this.#waiting.shift();
      if (batch === undefined) return;
      const { settings, lines, characters } = batch;
      this.#waitingCharacters -= characters;
      try {
        const handle = await this.#opened(settings.file);
        await handle.appendFile(lines.join(""));
      } catch (error) {
        return this.#failed(lines.length, settings.file, error);
      }
      try {
        await this.#putAside(settings);
        this.#warned = false;
      } catch (err) {
        // The lines are written: a file that grows beyond its size is less bad than lines that are lost.
        this.#warn({ err, file: settings.file }, "the decision log cannot be put aside: it grows on");
      }
    }
  }

  async #opened(file: string): Promise<FileHandle> {
    // What is written to a file that was removed nobody reads, and its room on the disk is not freed.
    if (this.#handle !== null && (this.#openFile !== file || (await this.#handle.stat()).nlink === 0)) {
      await this.#closeHandle();
    }
    this.#openFile = file;
    return (this.#handle ??= await openAtLine(file));
  }

  async #failed(lines: number, file: string, error: unknown): Promise<void> {
    this.dropped += lines;
    this.#retryAt = this.#options.now() + RETRY_MS;
    this.#warn({ err: error, file }, "the decision log cannot be written: its lines are dropped");
    // A line may be written in part: opened afresh, the next one begins on its own.
    await this.#closeHandle();
  }

  #warn(fields: object, message: string): void {
    if (!this.#warned) this.#options.log.error(fields, message);
    this.#warned = true;
  }

  async #closeHandle(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close().catch(() => {});
  }

  async #putAside({ file, maxSize, keep }: DecisionLogSettings): Promise<void> {
    const own = await this.#handle!.stat();
    if (own.size < maxSize) return;
    this.#reopen = true;
    // Another process may have put this very file aside: what is there now is not full.
    if ((await stat(file).catch(() => null))?.ino !== own.ino) return;
    this.#asideAt = Math.max(this.#asideAt + 1, this.#options.now());
    const time = new Date(this.#asideAt).toISOString().replaceAll(/[-:.]/g, "");
    try {
      await rename(file, `${file}.${time}-${process.pid}`);
    } catch (error) {
      // It did so since the look.
      if (isMissing(error)) return;
      throw error;
    }
    const aside = await filesAside(file);
    const old = aside.slice(0, Math.max(0, aside.length - keep));
    await Promise.all(old.map((path) => unlink(path).catch(() => {})));
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** What was put aside of a decision log, the oldest first. */
export async function filesAside(file: string): Promise<string[]> {
  const prefix = `${basename(file)}.`;
  const names = await readdir(dirname(file)).catch(() => []);
  const aside = names.filter((name) => name.startsWith(prefix) && ASIDE.test(name.slice(prefix.length)));
  return aside.toSorted().map((name) => join(dirname(file), name));
}

/** For appending; behind a line that a crash or a full disk has cut, a new one is begun. */
async function openAtLine(file: string): Promise<FileHandle> {
  await mkdir(dirname(file), { recursive: true });
  const handle = await open(file, "a+", 0o600);
  const { size } = await handle.stat();
  if (size === 0) return handle;
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  if (buffer[0] !== NEWLINE) await handle.appendFile("\n");
  return handle;
}
