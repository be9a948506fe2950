import { mkdtemp, open, rm } from "node:fs/promises";
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
  /** The mock upstream. */
  readonly upstream: ChildProcess;
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
  const interrupted = () => void end().then(() => process.exit(130));
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.once(signal, interrupted);
  try {
    const upstream = processes.start(LOAD_CPU, [pathOf("upstream")]);
    await work({ processes, folder, upstream, upstreamPort: Number(await firstLine(upstream)) });
  } finally {
    await end();
    for (const signal of signals) process.off(signal, interrupted);
  }
}

export async function bootBare({ processes, upstreamPort }: Site): Promise<Booted> {
  const child = processes.start(PROXY_CPU, [pathOf("bare"), `http://127.0.0.1:${upstreamPort}`]);
  return { child, port: Number(await firstLine(child)) };
}

/** @param store see `floor.ts` */
export async function bootFloor({ processes, folder, upstreamPort }: Site, store: string): Promise<Booted> {
  const log = await open(join(folder, "floor.log"), "w");
  const child = processes.start(PROXY_CPU, [pathOf("floor"), `http://127.0.0.1:${upstreamPort}`, store], log.fd);
  await log.close();
  return { child, port: Number(await firstLine(child)) };
}

export async function bootGateway({ processes }: Site, gateway: GatewaySite, logLevel: string): Promise<Booted> {
  return { child: await startGateway(processes, gateway, logLevel), port: gateway.port };
}

/** Puts a load on a proxy and measures for `seconds`. @param how `storePid`: the server of its store */
export async function driveOn(
  { processes }: Site,
  { child, port }: Booted,
  how: Pick<Load, "key" | "mode" | "seconds"> & Partial<Load>,
): Promise<Result> {
  const usual = { connections: CONNECTIONS, warmup: WARMUP[how.mode], warmupAnswers: WARMUP_ANSWERS };
  const load: Load = { ...usual, ...how, port, pid: child.pid ?? 0 };
  return JSON.parse(await processes.run(LOAD_CPU, [pathOf("drive"), JSON.stringify(load)])) as Result;
}
