/**
 * Whole-process comparison: what the gateway costs over the least that a Node proxy costs.
 *
 * Method. A mock upstream, a bare proxy (node:http and undici, relaying bytes) and the gateway (`serve` with SQLite on
 * disk, credits, the whole pipeline and a log line a request,
 * which `--log-level warn` leaves out) are processes of their own; the proxies are pinned to CPU 0, load and upstream to
 * CPU 1. In each round both proxies are booted fresh, in alternating order, warmed up (by 20,000 answers, if they come in
 * time) and measured:
 * - JSON: 64 keep-alive connections in a closed loop, 2 KB requests, 1 KB answers;
 * - SSE: 64 streams with 100 events of 200 bytes a second each.
 * CPU is the proxy's own (schedstat of each of its threads under /proc, user and system), divided by answers or events.
 * Figures are medians over an odd number of rounds with minimum and maximum; the ratio is taken within a round. Compare
 * ratios, not machines. Every answer is checked; one that is wrong makes the exit code 1.
 *
 * `node bench/load/run.ts [--rounds 3] [--seconds 3] [--log-level info] [--json]`; 3 rounds take about two minutes.
 */
import { bootBare, bootGateway, driveOn, inRounds, withSite } from "./bench.ts";
import type { Booted } from "./bench.ts";
import type { Result } from "./drive.ts";
import { prepareGateway } from "./gateway.ts";
import { orEnd, readOptions } from "./options.ts";
import { report } from "./outcome.ts";
import type { Metric } from "./report.ts";

interface Measured {
  readonly json: Result;
  readonly sse: Result;
}

const METRICS: readonly Metric<Measured>[] = [
  { name: "CPU us/request", of: ({ json }) => json.cpu },
  { name: "requests/s", of: ({ json }) => json.count / json.seconds },
  { name: "CPU us/SSE chunk", of: ({ sse }) => sse.cpu },
  { name: "chunks/s", of: ({ sse }) => sse.count / sse.seconds },
  { name: "RSS MB after JSON", of: ({ json }) => json.residentBytes / 2 ** 20 },
];

const { rounds, seconds, json, logLevel } = orEnd(() => readOptions(process.argv.slice(2)));
await withSite(async (site) => {
  const gateway = await prepareGateway(site.processes, site.folder, site.upstreamPort);
  const measure = async (boot: () => Promise<Booted>): Promise<Measured> => {
    const booted = await boot();
    const { key } = gateway;
    const measured = {
      json: await driveOn(site, booted, { key, mode: "json", seconds }),
      sse: await driveOn(site, booted, { key, mode: "sse", seconds }),
    };
    await site.processes.end(booted.child);
    return measured;
  };
  const done = await inRounds(rounds, {
    bare: () => measure(() => bootBare(site)),
    gateway: () => measure(() => bootGateway(site, gateway, logLevel)),
  });
  report({
    rounds: done,
    metrics: METRICS,
    names: ["bare", "gateway"],
    ratios: [["gateway", "bare"]],
    results: ({ json, sse }) => [json, sse],
    json,
  });
});
