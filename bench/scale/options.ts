import { parseArgs } from "node:util";
import type { Constants, Load } from "./model.ts";
import { WARMUP_SECONDS } from "./simulate.ts";
import type { Scene } from "./simulate.ts";
import { rampedSeconds } from "./traffic.ts";

export interface ScaleOptions {
  readonly load: Load;
  /** A file of constants, in place of a measurement. */
  readonly constants: string | null;
  /** Measurements, whose median counts. */
  readonly runs: number;
  /** The gateway's constants, in place of a measurement. */
  readonly gateway: Constants["gateway"] | null;
  /** What to check the model with; null: it is not checked. */
  readonly scene: Scene | null;
  readonly json: boolean;
}

interface Quantity {
  /** What it is when it is not given. */
  readonly default: number;
  readonly from: number;
  readonly to: number;
  readonly whole?: true;
  readonly odd?: true;
}

const QUANTITIES = {
  users: { default: 1_000_000, from: 1, to: 1e10, whole: true },
  rps: { default: 100_000, from: 1, to: 1e9 },
  "active-share": { default: 1, from: 0.0001, to: 1 },
  "stream-share": { default: 0.5, from: 0, to: 1 },
  chunks: { default: 200, from: 0, to: 1e6 },
  seconds: { default: 5, from: 0.001, to: 86_400 },
  "ledger-days": { default: 90, from: 0, to: 3_650 },
  utilisation: { default: 0.6, from: 0.05, to: 1 },
  workers: { default: 8, from: 1, to: 1_024, whole: true },
  "shard-gib": { default: 16, from: 0.1, to: 4_096 },
  runs: { default: 3, from: 1, to: 99, whole: true, odd: true },
  "gateway-request": { default: 0, from: 0.1, to: 1e6 },
  "gateway-chunk": { default: 0, from: 0.1, to: 1e6 },
  "sim-users": { default: 2_000, from: 1, to: 100_000, whole: true },
  "sim-rps": { default: 300, from: 1, to: 10_000 },
  "sim-stream-share": { default: 0.2, from: 0, to: 1 },
  "sim-chunks": { default: 100, from: 1, to: 1_000, whole: true },
} as const satisfies Record<string, Quantity>;

type Name = keyof typeof QUANTITIES;

const NAMES = Object.keys(QUANTITIES) as Name[];

/** @throws Error that names the option and what it takes. */
export function readOptions(args: readonly string[]): ScaleOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...(Object.fromEntries(NAMES.map((name) => [name, { type: "string" }])) as Record<Name, { type: "string" }>),
      constants: { type: "string" },
      simulate: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
    },
  });
  const of = (name: Name) => quantity(name, values[name], QUANTITIES[name]);
  const quantities = Object.fromEntries(NAMES.map((name) => [name, of(name)])) as Record<Name, number>;
  const [request, chunk] = [values["gateway-request"], values["gateway-chunk"]];
  if ((request === undefined) !== (chunk === undefined))
    throw new Error("--gateway-request and --gateway-chunk are given together, in microseconds");
  const most = Math.floor(quantities["sim-rps"] * rampedSeconds(WARMUP_SECONDS, WARMUP_SECONDS));
  if (quantities["sim-users"] > most)
    throw new Error(`--sim-users: at --sim-rps ${quantities["sim-rps"]} at most ${most} users can be simulated`);
  return {
    load: {
      users: quantities.users,
      activeShare: quantities["active-share"],
      requestsPerSecond: quantities.rps,
      streamShare: quantities["stream-share"],
      chunksPerStream: quantities.chunks,
      seconds: quantities.seconds,
      ledgerSeconds: quantities["ledger-days"] * 86_400,
      utilisation: quantities.utilisation,
      workers: quantities.workers,
      shardBytes: quantities["shard-gib"] * 2 ** 30,
    },
    constants: values.constants ?? null,
    runs: quantities.runs,
    gateway:
      request === undefined ? null : { request: quantities["gateway-request"], chunk: quantities["gateway-chunk"] },
    scene: values.simulate
      ? {
          users: quantities["sim-users"],
          requestsPerSecond: quantities["sim-rps"],
          streamShare: quantities["sim-stream-share"],
          chunksPerStream: quantities["sim-chunks"],
        }
      : null,
    json: values.json,
  };
}

function quantity(name: Name, text: string | undefined, { default: usual, from, to, whole, odd }: Quantity): number {
  if (text === undefined) return usual;
  const value = text.trim() === "" ? Number.NaN : Number(text);
  const fits = value >= from && value <= to && (!whole || Number.isInteger(value)) && (!odd || value % 2 === 1);
  if (fits) return value;
  const kind = odd ? "an odd number" : whole ? "a whole number" : "a number";
  throw new Error(`--${name} is ${kind} from ${from} to ${to}`);
}
