import { spawn } from "node:child_process";
import { dirname, resolve } from "node:path";
import type { Finding } from "../config/diagnostics.ts";
import type { LoadOptions, RunCommand } from "../config/load.ts";
import { inBackground, type Log } from "../kit/index.ts";

const TIMEOUT_MS = 10_000;
const MAX_STDOUT_BYTES = 1024 * 1024;
const MAX_STDERR_BYTES = 64 * 1024;
const MAX_STDERR_LINES = 100;
const MAX_LINE_CHARACTERS = 500;

export interface CommandsOptions extends Pick<LoadOptions, "file" | "env"> {
  readonly log: Pick<Log, "info" | "warn">;
  /** Values by command that stand in for one that fails: those that serve. Left out: a failure is a finding. */
  readonly known?: ReadonlyMap<string, string>;
  /** Whether the command of a value is run, by its pointer; each is unless given. */
  readonly only?: (pointer: string) => boolean;
  /** 10 s unless given. */
  readonly timeoutMs?: number;
}

/**
 * Runs the commands of `${exec:}` references: without a shell, in the folder of the configuration file. What they write
 * to stderr goes to the log; what they write to stdout goes nowhere but into the value.
 */
export function commandRunner({ file, env, log, known, only, timeoutMs = TIMEOUT_MS }: CommandsOptions): RunCommand {
  const cwd = dirname(resolve(file));
  return async (words, command, pointer) => {
    if (only?.(pointer) === false) return null;
    const ended = await run(words, { cwd, env, timeoutMs });
    const [name = ""] = words;
    for (const line of ended.stderr) log.info({ command: name, key: pointer }, line);
    if (typeof ended.result === "string") return { text: ended.result };
    const former = known?.get(command);
    if (former === undefined) return ended.result;
    const { message } = ended.result;
    log.warn({ command: name, key: pointer }, `secret not refreshed, the old value stays in service: ${message}`);
    return { text: former };
  };
}

interface Ended {
  /** What it wrote to stdout without its last line end, or why that cannot be used. */
  readonly result: string | Finding;
  readonly stderr: readonly string[];
}

interface RunOptions {
  readonly cwd: string;
  readonly env: LoadOptions["env"];
  readonly timeoutMs: number;
}

function run([name = "", ...args]: readonly string[], { cwd, env, timeoutMs }: RunOptions): Promise<Ended> {
  return new Promise((done) => {
    const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
    let [size, sizeOfErrors] = [0, 0];
    let stopped: string | null = null;
    // A group of its own, which ends as a whole: a script may have started more.
    const child = spawn(name, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const stop = (why: string): void => {
      stopped ??= why;
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended meanwhile.
      }
      // Somebody outside of the group may hold them open.
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const timer = setTimeout(() => stop(`took longer than ${timeoutMs / 1000} s`), timeoutMs);
    child.stdout.on("data", (part: Buffer) => {
      size += part.length;
      if (size > MAX_STDOUT_BYTES) stop("wrote more than 1 MiB");
      else stdout.push(part);
    });
    child.stderr.on("data", (part: Buffer) => {
      if (sizeOfErrors < MAX_STDERR_BYTES) stderr.push(part);
      sizeOfErrors += part.length;
    });
    const end = (result: string | Finding): void => {
      clearTimeout(timer);
      done({ result, stderr: linesOf(Buffer.concat(stderr).subarray(0, MAX_STDERR_BYTES)) });
    };
    child.on("error", (error: NodeJS.ErrnoException) => end(notStarted(name, error)));
    child.on("close", (code, signal) => {
      if (stopped !== null) return end(failed(name, stopped));
      if (code !== 0)
        return end(failed(name, code === null ? `was ended by ${signal}` : `ended with exit code ${code}`));
      const text = textOf(Buffer.concat(stdout));
      end(text === null ? failed(name, "wrote something other than UTF-8 text") : text.replace(/\r?\n$/, ""));
    });
  });
}

function failed(name: string, what: string): Finding {
  const hint = "the log has what it wrote to stderr";
  return { rule: "exec-failed", message: `the command ${name} ${what}`, hint };
}

function notStarted(name: string, { code }: NodeJS.ErrnoException): Finding {
  const [why, hint] =
    code === "ENOENT"
      ? ["was not found", "install it, or give its path from the folder of the configuration: ./NAME"]
      : code === "EACCES"
        ? ["may not be run", "make the file executable: chmod +x"]
        : [`could not be started (${code ?? "unknown"})`, null];
  return { rule: "exec-failed", message: `the command ${name} ${why}`, hint };
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Lines for the log, bounded and without what could move a terminal's cursor. */
function linesOf(bytes: Buffer): readonly string[] {
  const lines = bytes
    .toString()
    .split(/[\r\n]+/)
    .map((line) =>
      line
        .replaceAll(/\p{Cc}/gu, " ")
        .trimEnd()
        .slice(0, MAX_LINE_CHARACTERS),
    )
    .filter((line) => line !== "");
  return lines.slice(0, MAX_STDERR_LINES);
}

const LOOK_MS = 1_000;

interface RefreshOptions {
  readonly reloader: { refresh(): Promise<void> };
  /** Milliseconds between two runs, in the configuration in force; null: never. */
  readonly every: () => number | null;
  /** Unix milliseconds at which the configuration in force was loaded: its commands ran then. */
  readonly loadedAt: () => number;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Pick<Log, "error">;
  /** Milliseconds between looks at the time; a second unless given. */
  readonly lookMs?: number;
}

/** Runs the commands of the configuration in force again, as often as `secrets.refresh` says. @returns stops it */
export function refreshSecrets({ reloader, every, loadedAt, now, log, lookMs = LOOK_MS }: RefreshOptions): () => void {
  let triedAt = 0;
  const timer = setInterval(() => {
    const interval = every();
    if (interval === null || now() - Math.max(triedAt, loadedAt()) < interval) return;
    triedAt = now();
    inBackground(log, "a refresh of secrets", reloader.refresh());
  }, lookMs).unref();
  return () => clearInterval(timer);
}
