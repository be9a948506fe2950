/**
 * Whole-process comparison: what the gateway costs over the least that a Node proxy costs.
 *
 * Method. A mock upstream, a bare proxy (node:http and undici, relaying bytes) and the gateway (`serve` with SQLite on
 * disk, credits, the whole pipeline and a log line a request,
 * which `--log-level warn` leaves out) are processes of their own; the proxies are pinned to CPU 0, load and upstream to
 * CPU 1. In each round both proxies are booted fresh, in alternating order, warmed up and measured:
 * - JSON: 64 keep-alive connections in a closed loop, 2 KB requests, 1 KB answers;
 * - SSE: 64 streams with 100 events of 200 bytes a second each.
 * CPU is the proxy's own (schedstat of each of its threads under /proc, user and system), divided by answers or events.
 * Figures are medians over an odd number of rounds with minimum and maximum; the ratio is taken within a round. Compare
 * ratios, not machines. Every answer is checked; one that is wrong makes the exit code 1.
 *
 * `node bench/load/run.ts [--rounds 3] [--seconds 3] [--log-level info] [--json]`; 3 rounds take about two minutes.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Load, Result } from "./drive.ts";
import { prepareGateway, startGateway } from "./gateway.ts";
import type { GatewaySite } from "./gateway.ts";
import { firstLine, LOAD_CPU, PINNED, Processes, PROXY_CPU } from "./processes.ts";
import { rowsOf, tableOf, TARGETS } from "./report.ts";
import type { Round, TargetName } from "./report.ts";

const CONNECTIONS = 64;
/** Seconds. JSON comes first: until everything is compiled, what is measured is the compiler. */
const WARMUP = { json: 8, sse: 3 };

const pathOf = (name: string) => new URL(`./${name}.ts`, import.meta.url).pathname;

class Comparison {
  readonly #processes: Processes;
  readonly #upstreamPort: number;
  readonly #site: GatewaySite;
  readonly #seconds: number;
  readonly #logLevel: string;

  constructor(
    processes: Processes,
    upstreamPort: number,
    site: GatewaySite,
    { seconds, logLevel }: { readonly seconds: number; readonly logLevel: string },
  ) {
    this.#processes = processes;
    this.#upstreamPort = upstreamPort;
    this.#site = site;
    this.#seconds = seconds;
    this.#logLevel = logLevel;
  }

  /** Measures both targets, `first` before the other. */
  async round(first: TargetName): Promise<Round> {
    if (first === "bare") return { bare: await this.#measure("bare"), gateway: await this.#measure("gateway") };
    return { gateway: await this.#measure("gateway"), bare: await this.#measure("bare") };
  }

  async #measure(name: TargetName): Promise<Round[TargetName]> {
    const { child, port } = await this.#boot(name);
    const load = { port, pid: child.pid ?? 0, key: this.#site.key, connections: CONNECTIONS, seconds: this.#seconds };
    const json = await this.#drive({ ...load, mode: "json", warmup: WARMUP.json });
    const sse = await this.#drive({ ...load, mode: "sse", warmup: WARMUP.sse });
    await this.#processes.end(child);
    return { json, sse };
  }

  async #boot(name: TargetName) {
    if (name === "gateway")
      return { child: await startGateway(this.#processes, this.#site, this.#logLevel), port: this.#site.port };
    const child = this.#processes.start(PROXY_CPU, [pathOf("bare"), `http://127.0.0.1:${this.#upstreamPort}`]);
    return { child, port: Number(await firstLine(child)) };
  }

  async #drive(load: Load): Promise<Result> {
    return JSON.parse(await this.#processes.run(LOAD_CPU, [pathOf("drive"), JSON.stringify(load)])) as Result;
  }
}

function options() {
  const { values } = parseArgs({
    options: {
      rounds: { type: "string", default: "3" },
      seconds: { type: "string", default: "3" },
      json: { type: "boolean", default: false },
      "log-level": { type: "string", default: "info" },
    },
  });
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
  if (!Number.isInteger(rounds) || rounds < 3 || rounds % 2 === 0) throw new Error("--rounds is an odd number from 3");
  if (!(seconds >= 1 && seconds <= 30)) throw new Error("--seconds is a number from 1 to 30");
  return { rounds, seconds, json: values.json, logLevel: values["log-level"] };
}

const { rounds, seconds, json, logLevel } = options();
const processes = new Processes();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void processes.endAll().then(() => process.exit(130)));
}
const folder = await mkdtemp(join(tmpdir(), "gateway-bench-"));
try {
  const upstream = processes.start(LOAD_CPU, [pathOf("upstream")]);
  const upstreamPort = Number(await firstLine(upstream));
  const site = await prepareGateway(processes, folder, upstreamPort);
  const comparison = new Comparison(processes, upstreamPort, site, { seconds, logLevel });
  const done: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
    done.push(await comparison.round(TARGETS[round % 2] ?? "bare"));
  }
  const rows = rowsOf(done);
  const wrong = done.flatMap((round) => TARGETS.flatMap((name) => [round[name].json, round[name].sse]));
  const bad = wrong.reduce((sum, result) => sum + result.bad, 0);
  process.stdout.write(
    json ? `${JSON.stringify({ node: process.version, pinned: PINNED, rows, bad })}\n` : `${tableOf(rows)}\n`,
  );
  if (!PINNED) process.stderr.write("not pinned: no taskset, or one CPU; the figures include each other's work\n");
  if (bad > 0) {
    process.stderr.write(`${bad} wrong answers, such as: ${wrong.find((result) => result.bad > 0)?.sample}\n`);
    process.exitCode = 1;
  }
} finally {
  await processes.endAll();
  await rm(folder, { recursive: true, force: true });
}
