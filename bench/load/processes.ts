import { spawn, spawnSync } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { availableParallelism } from "node:os";

/** CPU 0 is the proxy's alone: without `taskset`, or with one CPU, nobody is pinned. */
export const PROXY_CPU = 0;
export const LOAD_CPU = 1;
export const PINNED = availableParallelism() > 1 && spawnSync("taskset", ["--version"]).status === 0;

const ASKING_PAUSE_MS = 5;
/** Of the container's environment and the service's: what memory is measured with. */
const SHIPPED = { MALLOC_ARENA_MAX: "1" };

/** The processes of a bench; `end` ends those it started, by their ids. */
export class Processes {
  readonly #running = new Set<ChildProcess>();

  /** Starts Node on a CPU; its stdout is a pipe, its stderr is shown or goes to an open file. */
  start(cpu: number, args: readonly string[], stderr: number | "inherit" = "inherit"): ChildProcess {
    return this.launch(cpu, [process.execPath, ...args], stderr);
  }

  /** As `start`, any program. */
  launch(cpu: number, command: readonly string[], stderr: number | "inherit" = "inherit"): ChildProcess {
    // taskset replaces itself with the command: the id is the proxy's own.
    const [file = "", ...rest] = PINNED ? ["taskset", "-c", String(cpu), ...command] : command;
    const child = spawn(file, rest, { stdio: ["ignore", "pipe", stderr], env: { ...process.env, ...SHIPPED } });
    this.#running.add(child);
    child.once("exit", () => this.#running.delete(child));
    return child;
  }

  /** Runs Node to its end. @returns what it printed. @throws Error when it fails. */
  async run(cpu: number, args: readonly string[]): Promise<string> {
    const child = this.start(cpu, args);
    const [printed, [code]] = await Promise.all([text(child.stdout!), once(child, "exit") as Promise<[number | null]>]);
    if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
    return printed;
  }

  async end(child: ChildProcess): Promise<void> {
    if (!this.#running.has(child)) return;
    const exit = once(child, "exit");
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 3_000);
    await exit;
    clearTimeout(timer);
  }

  async endAll(): Promise<void> {
    await Promise.all([...this.#running].map((child) => this.end(child)));
  }
}

/** The first line that a process prints. @throws Error when it ends without one. */
export async function firstLine(child: ChildProcess): Promise<string> {
  let printed = "";
  for await (const bytes of child.stdout ?? []) {
    printed += String(bytes);
    const end = printed.indexOf("\n");
    if (end >= 0) return printed.slice(0, end);
  }
  throw new Error(`process ${child.pid} ended without a word`);
}

/** Waits until a server answers whatever it is asked. @throws Error when its process ends, or takes too long. */
export async function untilItAnswers(child: ChildProcess, port: number, path: string, seconds = 10): Promise<void> {
  for (const end = performance.now() + seconds * 1_000; performance.now() < end && child.exitCode === null;) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null);
    await answer?.body?.cancel();
    if (answer) return;
    await new Promise((resolve) => setTimeout(resolve, ASKING_PAUSE_MS));
  }
  throw new Error(`process ${child.pid} did not answer within ${seconds} s`);
}

/** A port of loopback on which nobody listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
