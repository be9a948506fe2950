/** Rows 1 to 8: the gateway beside other proxies, under the same loads. */
import { type Site } from "./bench.ts";
import type { Result } from "./drive.ts";
import { type Figure, FIGURES, type LoadName, loadsOf } from "./loads.ts";
import type { Comparison } from "./report.ts";
import type { Sizes } from "./sizes.ts";
import { prepareTarget, type Target, type TargetName, TARGETS, whyMissing } from "./targets.ts";
import { setRate } from "./upstream.ts";
import { RATE } from "./wire.ts";

interface Row {
  readonly row: number;
  readonly what: string;
  readonly load: LoadName;
  readonly figure: Figure;
  readonly measured: TargetName;
  /** null: the figure stands alone. */
  readonly reference: TargetName | null;
}

export interface ProxyOptions {
  readonly rows: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  readonly logLevel: string;
  readonly sizes: Sizes;
  /** Rows 1 to 4 have a further line: what the floor costs. */
  readonly floor?: boolean;
}

/** One load on one target in one round. */
export interface Measurement {
  readonly target: TargetName;
  readonly load: LoadName;
  readonly result: Result;
}

export interface Proxies {
  readonly comparisons: readonly Comparison[];
  readonly measurements: readonly Measurement[];
}

function rowsOf({ requestsPerSecond, fewStreams, manyStreams }: Sizes): readonly Row[] {
  const events = manyStreams * 40;
  const all = { row: 8, load: "all the events", ...against("bare") } as const;
  return [
    { row: 1, what: "2 KB request, SQLite", load: "2 KB", figure: "cpu", ...against("bare") },
    { row: 2, what: `the same at ${requestsPerSecond}/s`, load: "2 KB at a rate", figure: "cpu", ...against("bare") },
    { row: 3, what: "2 KB request, Redis", load: "2 KB", figure: "cpu", ...against("bare", "gateway on Redis") },
    { row: 3, what: "its server", load: "2 KB", figure: "storeCpu", ...against(null, "gateway on Redis") },
    { row: 4, what: "200 KB request", load: "200 KB", figure: "cpu", ...against("bare") },
    { row: 5, what: `event, ${fewStreams} streams`, load: "few streams", figure: "cpu", ...against("bare") },
    { row: 5, what: `event, ${manyStreams} streams`, load: "many streams", figure: "cpu", ...against("bare") },
    { row: 5, what: "event, OpenAI to Anthropic", load: "OpenAI to Anthropic", figure: "cpu", ...against("bare") },
    { row: 5, what: "event, Anthropic to OpenAI", load: "Anthropic to OpenAI", figure: "cpu", ...against("bare") },
    { row: 6, what: "2 KB requests, Portkey", load: "2 KB", figure: "perSecond", ...against("portkey") },
    { row: 7, what: "2 KB request, nginx", load: "2 KB", figure: "cpu", ...against("nginx") },
    { row: 7, what: "2 KB request, haproxy", load: "2 KB", figure: "cpu", ...against("haproxy") },
    { ...all, what: `events of ${events}/s that arrive`, figure: "perSecond" },
    { ...all, what: `delay of an event at ${events}/s`, figure: "p50" },
    { ...all, what: `delay of an event at ${events}/s`, figure: "p99" },
  ];
}

/** What no gateway can leave out, in the rows of requests. */
function floorRowsOf({ requestsPerSecond }: Sizes): readonly Row[] {
  const floor = { figure: "cpu", ...against("bare", "floor") } as const;
  return [
    { row: 1, what: "the floor of it", load: "2 KB", ...floor },
    { row: 2, what: `the floor at ${requestsPerSecond}/s`, load: "2 KB at a rate", ...floor },
    { row: 3, what: "the floor on Redis", load: "2 KB", figure: "cpu", ...against("bare", "floor on Redis") },
    { row: 4, what: "the floor of 200 KB", load: "200 KB", ...floor },
  ];
}

function against(reference: TargetName | null, measured: TargetName = "gateway") {
  return { measured, reference };
}

/** Boots each target afresh in each round, in an order that moves on from round to round, and puts its loads on it. */
export async function measureProxies(site: Site, options: ProxyOptions): Promise<Proxies> {
  const { rounds, seconds, logLevel, sizes } = options;
  const known = [...rowsOf(sizes), ...(options.floor ? floorRowsOf(sizes) : [])].toSorted((a, b) => a.row - b.row);
  const rows = known.filter(({ row }) => options.rows.includes(row));
  const loads = loadsOf(sizes);
  const missing = new Map(TARGETS.map((name) => [name, whyMissing(name)]));
  const wanted = wantedLoads(rows.filter((row) => targetsOf(row).every((name) => missing.get(name) === null)));
  const prepared = new Map<TargetName, Target>();
  for (const name of wanted.keys()) prepared.set(name, await prepareTarget(site, name, logLevel));
  const measurements: Measurement[] = [];
  const measure = async (name: TargetName): Promise<void> => {
    const target = prepared.get(name)!;
    const booted = await target.boot();
    for (const load of wanted.get(name) ?? []) {
      const spec = loads[load];
      await setRate(site.upstreamPort, ("eventRate" in spec.load && spec.load.eventRate) || RATE);
      measurements.push({ target: name, load, result: await target.drive(booted, spec, seconds) });
    }
    await target.end(booted);
  };
  await inRounds(rounds, [...prepared.keys()], measure);
  if (rows.length > 0) await addCeilings(site, options, wanted, measure, prepared);
  return { comparisons: rows.map((row) => compare(row, measurements, missing)), measurements };
}

/** What the driver reaches without any proxy, once: it may be what limits the fastest ones. */
async function addCeilings(
  site: Site,
  { logLevel }: ProxyOptions,
  wanted: Map<TargetName, ReadonlySet<LoadName>>,
  measure: (name: TargetName) => Promise<void>,
  prepared: Map<TargetName, Target>,
): Promise<void> {
  const known = new Set<LoadName>(["2 KB", "200 KB", "all the events"]);
  const loads = new Set([...wanted.values()].flatMap((names) => [...names]).filter((name) => known.has(name)));
  if (loads.size === 0) return;
  wanted.set("upstream", loads);
  prepared.set("upstream", await prepareTarget(site, "upstream", logLevel));
  await measure("upstream");
}

/** As many rounds, in each of them every name once, in an order that moves on. */
export async function inRounds<Name>(
  count: number,
  names: readonly Name[],
  work: (name: Name) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < count && names.length > 0; round++) {
    process.stderr.write(`round ${round + 1} of ${count}\n`);
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) await work(name);
  }
}

function targetsOf({ measured, reference }: Row): readonly TargetName[] {
  return reference === null ? [measured] : [measured, reference];
}

function wantedLoads(rows: readonly Row[]): Map<TargetName, Set<LoadName>> {
  const wanted = new Map<TargetName, Set<LoadName>>();
  for (const row of rows)
    for (const name of targetsOf(row)) wanted.set(name, (wanted.get(name) ?? new Set()).add(row.load));
  return wanted;
}

function compare(
  { row, what, load, figure, measured, reference }: Row,
  measurements: readonly Measurement[],
  missing: ReadonlyMap<TargetName, string | null>,
): Comparison {
  const { unit, of } = FIGURES[figure];
  const side = (name: TargetName) => {
    const own = measurements.filter((one) => one.target === name && one.load === load);
    return { name, values: own.map(({ result }) => of(result)) };
  };
  const absent = [measured, reference].flatMap((name) => (name && missing.get(name)) ?? []).join(", ");
  const sides = { measured: side(measured), reference: reference === null ? null : side(reference) };
  return { row, what, unit, ...sides, ...(absent !== "" && { absent }) };
}
