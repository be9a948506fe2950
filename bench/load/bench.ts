import { mkdtemp, rm } from "node:fs/promises";
import type { ChildProcess } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Load, Result } from "./drive.ts";
import { startGateway } from "./gateway.ts";
import type { GatewaySite } from "./gateway.ts";
import { firstLine, LOAD_CPU, Processes, PROXY_CPU } from "./processes.ts";

const CONNECTIONS = 64;
/** Seconds. Until everything is compiled, what is measured is the compiler. */
const WARMUP = { json: 8, sse: 3 };
const WARMUP_ANSWERS = 20_000;

const pathOf = (name: string) => new URL(`./${name}.ts`, import.meta.url).pathname;

/** What every bench of whole processes has. */
export interface Site {
  readonly processes: Processes;
  /** Temporary. */
  readonly folder: string;
  /** Of the mock upstream. */
  readonly upstreamPort: number;
}

/** A proxy that listens. */
export interface Booted {
  readonly child: ChildProcess;
  readonly port: number;
}

/** Starts the mock upstream, and ends every process and removes the folder when the work is done or interrupted. */
export async function withSite(work: (site: Site) => Promise<void>): Promise<void> {
  const processes = new Processes();
  const folder = await mkdtemp(join(tmpdir(), "gateway-bench-"));
  const end = async () => {
    await processes.endAll();
    await rm(folder, { recursive: true, force: true });
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void end().then(() => process.exit(130)));
  try {
    const upstream = processes.start(LOAD_CPU, [pathOf("upstream")]);
    await work({ processes, folder, upstreamPort: Number(await firstLine(upstream)) });
  } finally {
    await end();
  }
}

export async function bootBare({ processes, upstreamPort }: Site): Promise<Booted> {
  const child = processes.start(PROXY_CPU, [pathOf("bare"), `http://127.0.0.1:${upstreamPort}`]);
  return { child, port: Number(await firstLine(child)) };
}

export async function bootGateway({ processes }: Site, gateway: GatewaySite, logLevel: string): Promise<Booted> {
  return { child: await startGateway(processes, gateway, logLevel), port: gateway.port };
}

/** Puts a mode's load on a proxy and measures for `seconds`. @param storePid the server of its store */
export async function driveOn(
  { processes }: Site,
  { child, port }: Booted,
  how: Pick<Load, "key" | "mode" | "seconds" | "storePid">,
): Promise<Result> {
  const load: Load = {
    ...how,
    port,
    pid: child.pid ?? 0,
    connections: CONNECTIONS,
    warmup: WARMUP[how.mode],
    warmupAnswers: WARMUP_ANSWERS,
  };
  return JSON.parse(await processes.run(LOAD_CPU, [pathOf("drive"), JSON.stringify(load)])) as Result;
}

/** As many rounds, in each of them every target once, in an order that moves on from round to round. */
export async function inRounds<Name extends string, Measured>(
  count: number,
  targets: Readonly<Record<Name, () => Promise<Measured>>>,
): Promise<readonly Readonly<Record<Name, Measured>>[]> {
  const names = Object.keys(targets) as Name[];
  const rounds: Readonly<Record<Name, Measured>>[] = [];
  for (let round = 0; round < count; round++) {
    process.stderr.write(`round ${round + 1} of ${count}\n`);
    const first = round % names.length;
    const measured: Partial<Record<Name, Measured>> = {};
    for (const name of [...names.slice(first), ...names.slice(0, first)]) measured[name] = await targets[name]();
    rounds.push(measured as Record<Name, Measured>);
  }
  return rounds;
}
