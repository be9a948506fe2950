/** Row 14: what memory grows by after warm-up, over many requests and streams that are broken off. */
import { readFile } from "node:fs/promises";
import { type Booted, driveOn, type Site } from "./bench.ts";
import { residentMemory } from "./cpu.ts";
import { type GatewaySite, startGateway } from "./gateway.ts";
import { holdStreams, sleep } from "./held.ts";
import type { Comparison } from "./report.ts";
import type { RowOptions } from "./table.ts";
import { setRate } from "./upstream.ts";
import { RATE } from "./wire.ts";

const TELL_HEAP = new URL("./tell-heap.ts", import.meta.url).pathname;
/** Streams that are open together before all are broken off. */
const TOGETHER = 200;
/** Of all requests and streams before those that are measured: buffers and caches fill up to their bounds. */
const WARMUP_SHARE = 0.25;

interface Memory {
  readonly heap: number;
  readonly resident: number;
}

export async function measureGrowth(
  site: Site,
  gateway: GatewaySite,
  { logLevel, sizes: { growthRequests, growthStreams, settling } }: RowOptions,
): Promise<readonly Comparison[]> {
  const child = await startGateway(site.processes, gateway, logLevel, ["--expose-gc", "--import", TELL_HEAP]);
  const booted: Booted = { child, port: gateway.port };
  await pass(site, booted, gateway.key, growthRequests * WARMUP_SHARE, growthStreams * WARMUP_SHARE);
  await sleep(settling * 1_000);
  const before = await memoryOf(booted, gateway);
  await pass(site, booted, gateway.key, growthRequests, growthStreams);
  await sleep(settling * 1_000);
  const after = await memoryOf(booted, gateway);
  await site.processes.end(child);
  const line = (name: keyof Memory): Comparison => ({
    row: 14,
    what: `${name} memory, ${growthRequests} requests and ${growthStreams} streams later`,
    unit: "MiB more",
    reference: null,
    measured: { name: "gateway", values: [(after[name] - before[name]) / 2 ** 20] },
  });
  return [line("heap"), line("resident")];
}

async function pass(site: Site, booted: Booted, key: string, requests: number, streams: number): Promise<void> {
  await setRate(site.upstreamPort, RATE);
  for (let answers = 0; answers < requests;) {
    const how = { key, mode: "json", warmup: 0, warmupAnswers: 0, seconds: 1 } as const;
    const result = await driveOn(site, booted, how);
    if (result.bad > 0) throw new Error(`wrong answers: ${result.sample}`);
    answers += result.answers;
  }
  for (let left = streams; left > 0; left -= TOGETHER)
    (await holdStreams(booted.port, key, Math.min(left, TOGETHER))).close();
}

/** After everything that can go has gone. */
async function memoryOf({ child }: Booted, { log }: GatewaySite): Promise<Memory> {
  const told = async () => (await readFile(log, "latin1")).match(/^heap \d+$/gm) ?? [];
  const before = (await told()).length;
  child.kill("SIGUSR2");
  for (;;) {
    const lines = await told();
    if (lines.length > before)
      return { heap: Number(lines.at(-1)!.slice("heap ".length)), resident: residentMemory(child.pid ?? 0) };
    await sleep(50);
  }
}
