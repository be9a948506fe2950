/** Row 9: how long upstreams stay open when many clients leave at once. */
import { type Booted, bootBare, bootGateway, type Site } from "./bench.ts";
import type { GatewaySite } from "./gateway.ts";
import { holdStreams, sleep } from "./held.ts";
import type { Comparison } from "./report.ts";
import type { Sizes } from "./sizes.ts";
import type { RowOptions } from "./table.ts";
import { setRate, upstreamState } from "./upstream.ts";

/** Events a second in each stream. */
const RATES = { silent: 0, busy: 10 };
/** What is still open then stays open. */
const GIVEN_UP_MS = 20_000;

export async function measureLeaving(
  site: Site,
  gateway: GatewaySite,
  { rounds, logLevel, sizes }: RowOptions,
): Promise<readonly Comparison[]> {
  const bare = await bootBare(site);
  const own = await bootGateway(site, gateway, logLevel);
  const comparisons: Comparison[] = [];
  for (const [how, rate] of Object.entries(RATES)) {
    await setRate(site.upstreamPort, rate);
    const values: Record<"bare" | "gateway", number[]> = { bare: [], gateway: [] };
    for (let round = 0; round < rounds; round++) {
      values.bare.push(await untilClosed(site, bare, "none", sizes));
      values.gateway.push(await untilClosed(site, own, gateway.key, sizes));
    }
    comparisons.push({
      row: 9,
      what: `upstreams closed, ${sizes.leavingStreams} ${how} streams left`,
      unit: "ms",
      reference: { name: "bare", values: values.bare },
      measured: { name: "gateway", values: values.gateway },
    });
  }
  await site.processes.end(bare.child);
  await site.processes.end(own.child);
  return comparisons;
}

async function untilClosed(site: Site, { port }: Booted, key: string, sizes: Sizes): Promise<number> {
  const streams = await holdStreams(port, key, sizes.leavingStreams);
  await sleep(sizes.settling * 1_000);
  const left = performance.now();
  streams.close();
  for (;;) {
    const { open } = await upstreamState(site.upstreamPort);
    const waited = performance.now() - left;
    if (open === 0 || waited > GIVEN_UP_MS) return waited;
    await sleep(2);
  }
}
