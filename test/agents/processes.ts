import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Child, type Exit } from "../e2e/support/child.ts";

/** In the environment of everything that an agent starts, whatever it detaches itself from. */
const MARK = "GATEWAY_AGENT_RUN";
/** Milliseconds for what was killed to be gone. */
const DYING = 20;

export interface Ended extends Exit {
  /** It was ended before it did so itself. */
  readonly late: boolean;
}

export interface Surroundings {
  /** Of this call alone. */
  readonly mark: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Ends it. */
  readonly signal: AbortSignal;
}

/** Runs a program to its end, or to its signal. Nothing that it started is left when this resolves. */
export async function runAgent(command: string, args: readonly string[], around: Surroundings): Promise<Ended> {
  const { mark, cwd, env, signal } = around;
  const child = new Child(command, args, { cwd, env: { ...env, [MARK]: mark } });
  const late = await once(child.process, "exit", { signal }).then(
    () => false,
    () => true,
  );
  // What an agent leaves behind holds its pipes open, and `exited` waits for them.
  await endMarked(mark);
  return { ...(await child.exited), late };
}

/** Ends every process whose environment has the mark, and what it starts meanwhile. */
async function endMarked(mark: string): Promise<void> {
  for (let found = marked(mark); found.length > 0; found = marked(mark)) {
    for (const pid of found) kill(pid);
    await sleep(DYING);
  }
}

function marked(mark: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && environmentOf(name).split("\0").includes(`${MARK}=${mark}`))
    .map(Number);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}

/** Empty for a process that is gone or another's. */
function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return "";
  }
}
