/** Row 10: resident memory at rest, after load, and of each stream that is open and silent. */
import { type Booted, bootBare, bootGateway, driveOn, type Site } from "./bench.ts";
import { residentMemory } from "./cpu.ts";
import type { GatewaySite } from "./gateway.ts";
import { holdStreams, sleep } from "./held.ts";
import type { Comparison } from "./report.ts";
import type { RowOptions } from "./table.ts";
import { setRate } from "./upstream.ts";
import { RATE } from "./wire.ts";

/** Streams before those that are measured: what is loaded and compiled for the first ones is not theirs. */
const WARMUP_SHARE = 0.1;

interface Memory {
  readonly atRest: number;
  readonly afterLoad: number;
  readonly eachStream: number;
}

const FIGURES = [
  { what: "resident at rest", unit: "MiB", of: ({ atRest }: Memory) => atRest / 2 ** 20 },
  { what: "resident after load", unit: "MiB", of: ({ afterLoad }: Memory) => afterLoad / 2 ** 20 },
  { what: "resident for each idle stream", unit: "KiB", of: ({ eachStream }: Memory) => eachStream / 2 ** 10 },
];

export async function measureMemory(
  site: Site,
  gateway: GatewaySite,
  options: RowOptions,
): Promise<readonly Comparison[]> {
  const bare: Memory[] = [];
  const own: Memory[] = [];
  for (let round = 0; round < options.rounds; round++) {
    bare.push(await memoryOf(site, await bootBare(site), "none", options));
    own.push(await memoryOf(site, await bootGateway(site, gateway, options.logLevel), gateway.key, options));
  }
  return FIGURES.map(({ what, unit, of }) => ({
    row: 10,
    what,
    unit,
    reference: { name: "bare", values: bare.map(of) },
    measured: { name: "gateway", values: own.map(of) },
  }));
}

async function memoryOf(site: Site, booted: Booted, key: string, { seconds, sizes }: RowOptions): Promise<Memory> {
  const { child, port } = booted;
  const settle = () => sleep(sizes.settling * 1_000);
  const resident = () => residentMemory(child.pid ?? 0);
  await settle();
  const atRest = resident();
  await setRate(site.upstreamPort, 0);
  const first = await holdStreams(port, key, Math.ceil(sizes.idleStreams * WARMUP_SHARE));
  first.close();
  await settle();
  const before = resident();
  const streams = await holdStreams(port, key, sizes.idleStreams);
  await settle();
  const eachStream = (resident() - before) / sizes.idleStreams;
  streams.close();
  await setRate(site.upstreamPort, RATE);
  const { warmup, warmupAnswers } = sizes;
  const { residentBytes: afterLoad } = await driveOn(site, booted, {
    key,
    mode: "json",
    seconds,
    warmup,
    warmupAnswers,
  });
  await site.processes.end(child);
  return { atRest, afterLoad, eachStream };
}
