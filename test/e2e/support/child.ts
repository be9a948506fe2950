import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** How long anything that must happen may take on a busy machine. */
const PATIENCE = 45_000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A child process with everything it printed. */
export class Child {
  readonly process: ChildProcess;
  readonly exited: Promise<Exit>;
  stdout = "";
  stderr = "";
  ended = false;

  constructor(command: string, args: readonly string[], options: { cwd: string; env: Record<string, string> }) {
    this.process = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    this.process.stdout?.setEncoding("utf8").on("data", (text: string) => (this.stdout += text));
    this.process.stderr?.setEncoding("utf8").on("data", (text: string) => (this.stderr += text));
    this.exited = once(this.process, "close").then(([code, signal]) => {
      this.ended = true;
      const { stdout, stderr } = this;
      return { code: code as number | null, signal: signal as NodeJS.Signals | null, stdout, stderr };
    });
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  /** Sends a signal and waits for the end. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<Exit> {
    this.process.kill(signal);
    return this.exited;
  }

  /** What the pattern matches in the output, as soon as it does. @throws Error with the output when the child ends first. */
  async printed(where: "stdout" | "stderr", pattern: RegExp, patience?: number): Promise<RegExpExecArray> {
    return poll(() => {
      const match = pattern.exec(this[where]);
      if (match === null && this.ended)
        throw new Error(`ended before printing ${pattern}:\n${this.stdout}${this.stderr}`);
      return match;
    }, patience);
  }
}

/** The first value that is neither null nor false. @throws Error when none comes in time. */
export async function poll<T>(
  look: () => T | null | false | Promise<T | null | false>,
  patience = PATIENCE,
): Promise<T> {
  const until = performance.now() + patience;
  for (;;) {
    const value = await look();
    if (value !== null && value !== false) return value;
    if (performance.now() > until) throw new Error(`waited ${patience} ms in vain for ${look.toString()}`);
    await sleep(10);
  }
}
