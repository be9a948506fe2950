/** Row 13: the slowest request at a fixed rate, without and with a reload of the configuration in the meantime. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bootGateway, driveOn, type Site } from "./bench.ts";
import { prepareGateway } from "./gateway.ts";
import { sleep } from "./held.ts";
import type { Comparison } from "./report.ts";
import type { RowOptions } from "./table.ts";

/** As many models as a large catalogue has. */
const MODELS = 100;
const PATIENCE_MS = 10_000;

export async function measureReload(
  site: Site,
  { sizes: { requestsPerSecond: rate, starts, streamWarmup: warmup, reload: seconds } }: RowOptions,
): Promise<readonly Comparison[]> {
  const folder = join(site.folder, "reload");
  const gateway = await prepareGateway(folder, site.upstreamPort, undefined, MODELS);
  // The log tells of reloads.
  const booted = await bootGateway(site, gateway, "info");
  const slowest = async () => {
    const how = { key: gateway.key, mode: "json", rate, warmup, seconds } as const;
    const { delay, bad, sample } = await driveOn(site, booted, how);
    if (bad > 0) throw new Error(`wrong answers: ${sample}`);
    return delay?.max ?? NaN;
  };
  const text = await readFile(gateway.config, "utf8");
  const without: number[] = [];
  const reloaded: number[] = [];
  for (let round = 0; round < starts; round++) {
    without.push(await slowest());
    const price = `output_per_million: 0.${61 + round} `;
    const edit = sleep((warmup + seconds / 3) * 1_000).then(() =>
      writeFile(gateway.config, text.replaceAll("output_per_million: 0.60 ", price)),
    );
    reloaded.push(await slowest());
    await edit;
    await untilLogged(gateway.log, round + 1);
  }
  await site.processes.end(booted.child);
  return [
    {
      row: 13,
      what: `slowest request at ${rate}/s, a reload in it`,
      unit: "ms",
      reference: { name: "without", values: without },
      measured: { name: "gateway", values: reloaded },
    },
  ];
}

/** @throws Error when so many reloads are not in the log. */
async function untilLogged(log: string, count: number): Promise<void> {
  const reloads = async () => (await readFile(log, "utf8")).split('"msg":"configuration reloaded"').length - 1;
  for (const end = performance.now() + PATIENCE_MS; (await reloads()) < count; await sleep(50))
    if (performance.now() > end) throw new Error(`${await reloads()} reloads of ${count}`);
}
