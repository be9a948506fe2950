/**
 * What a number of users and a rate of requests need of a Redis and of gateways.
 *
 * The cost of one of everything is measured on a real server (measure.ts), the rest is arithmetic (model.ts): the method,
 * what the model leaves out and the figures are in docs/stores.md.
 *
 * `node bench/scale/run.ts [--users 1000000] [--rps 100000] [--stream-share 0.5] [--chunks 200] [--seconds 5]
 *   [--active-share 1] [--ledger-days 90] [--utilisation 0.6] [--workers 8] [--shard-gib 16]
 *   [--runs 3 | --constants FILE] [--gateway-request US --gateway-chunk US] [--simulate [--sim-users 2000] [--sim-rps 300] [--sim-stream-share 0.2]
 *   [--sim-chunks 100]] [--json]`
 * A FILE is what `--json` has printed; three measurements take about two minutes.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { withSite } from "../load/bench.ts";
import type { Site } from "../load/bench.ts";
import { orEnd } from "../load/options.ts";
import { startRedis } from "../load/redis.ts";
import type { RedisServer } from "../load/redis.ts";
import { medianOf, readConstants } from "./constants.ts";
import { measureGateway, measureStore } from "./measure.ts";
import type { StoreMeasurement } from "./measure.ts";
import { need } from "./model.ts";
import type { Constants } from "./model.ts";
import { readOptions } from "./options.ts";
import { describeConstants, describeNeed, describeSimulation } from "./report.ts";
import { simulate } from "./simulate.ts";

/** People of a measurement: calls of each operation, and records of each kind. */
const PEOPLE = 20_480;
/** Of each mode of load on the gateway. */
const GATEWAY_SECONDS = 3;

interface Measurement {
  readonly constants: Constants;
  readonly scripts: StoreMeasurement["scripts"];
}

interface Known {
  readonly constants: Constants;
  readonly scripts: StoreMeasurement["scripts"] | null;
  /** What `constants` are the medians of. */
  readonly measurements: readonly Measurement[];
}

async function onFreshServer<T>(site: Site, work: (server: RedisServer) => Promise<T>): Promise<T> {
  const server = await startRedis(site.processes, join(site.folder, randomUUID()));
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

async function measure(site: Site, runs: number): Promise<Known> {
  const measurements: Measurement[] = [];
  for (let run = 0; run < runs; run++) {
    process.stderr.write(`measurement ${run + 1} of ${runs}\n`);
    const { store, scripts } = await onFreshServer(site, (server) => measureStore(server, PEOPLE));
    const gateway =
      givenGateway ?? (await onFreshServer(site, (server) => measureGateway(site, server, GATEWAY_SECONDS)));
    measurements.push({ constants: { store, gateway }, scripts });
  }
  return { ...medianOf(measurements), measurements };
}

function readGiven(file: string): Known {
  const text = readFileSync(file, "utf8");
  try {
    const constants = readConstants(text);
    const gateway = givenGateway ?? constants.gateway;
    return { constants: { ...constants, gateway }, scripts: null, measurements: [] };
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

const {
  load,
  constants: file,
  gateway: givenGateway,
  runs,
  scene,
  json,
} = orEnd(() => readOptions(process.argv.slice(2)));
const given = file === null ? null : orEnd(() => readGiven(file));

async function answer({ constants, scripts, measurements }: Known, site: Site | null): Promise<void> {
  const needed = need(constants, load);
  const simulation = scene && site && (await onFreshServer(site, (server) => simulate(site, server, constants, scene)));
  if (simulation && simulation.passage.bad > 0) {
    process.stderr.write(`${simulation.passage.bad} wrong answers, such as: ${simulation.passage.sample}\n`);
    process.exitCode = 1;
  }
  const whole = { node: process.version, constants, scripts, measurements, load, need: needed, simulation };
  const texts = [describeConstants(constants, scripts), describeNeed(needed, load, constants)];
  if (simulation) texts.push(describeSimulation(simulation));
  process.stdout.write(json ? `${JSON.stringify(whole, null, 2)}\n` : `${texts.join("\n\n")}\n`);
}

// Arithmetic alone needs no processes.
if (given && !scene) await answer(given, null);
else await withSite(async (site) => answer(given ?? (await measure(site, runs)), site));
