import { join } from "node:path";
import { type Site, withSite } from "./bench.ts";
import { prepareGateway } from "./gateway.ts";
import { measureGrowth } from "./growth.ts";
import { measureLeaving } from "./leaving.ts";
import { measureMany } from "./many.ts";
import { measureMemory } from "./memory.ts";
import { measureProxies, type Measurement, type ProxyOptions } from "./proxies.ts";
import { measureReload } from "./reload.ts";
import { type Comparison, type Line, lineOf } from "./report.ts";
import { measureStart } from "./start.ts";

export type RowOptions = ProxyOptions;

export interface Table {
  readonly lines: readonly Line[];
  /** What the rows that compare proxies are made of. */
  readonly measurements: readonly Measurement[];
}

/** Measures the rows that are asked for, one after the other. */
export async function measureTable(options: RowOptions): Promise<Table> {
  let table: Table = { lines: [], measurements: [] };
  await withSite(async (site) => {
    const { comparisons, measurements } = await measureProxies(site, options);
    const others = await measureOthers(site, options);
    table = { lines: [...comparisons, ...others].map(lineOf), measurements };
  });
  return table;
}

async function measureOthers(site: Site, options: RowOptions) {
  const { folder, upstreamPort } = site;
  const asked = (row: number) => options.rows.includes(row);
  if (![9, 10, 11, 12, 13, 14].some(asked)) return [];
  const gateway = await prepareGateway(join(folder, "alone"), upstreamPort);
  const measure = {
    9: () => measureLeaving(site, gateway, options),
    10: () => measureMemory(site, gateway, options),
    11: () => measureMany(site, options),
    12: () => measureStart(site, gateway, options),
    13: () => measureReload(site, options),
    14: () => measureGrowth(site, gateway, options),
  };
  const comparisons: Comparison[] = [];
  for (const [row, work] of Object.entries(measure)) {
    if (!asked(Number(row))) continue;
    process.stderr.write(`row ${row}\n`);
    comparisons.push(...(await work().catch((error: unknown) => [failed(Number(row), error)])));
  }
  return comparisons;
}

/** A row that fails leaves the others to be shown. */
function failed(row: number, error: unknown): Comparison {
  const absent = `failed: ${error instanceof Error ? error.message : String(error)}`;
  return { row, what: "", unit: "", reference: null, measured: { name: "", values: [] }, absent };
}
