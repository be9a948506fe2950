import { linesOf } from "../load/report.ts";
import { OPERATIONS } from "./model.ts";
import type { Constants, Load, Need, Operation } from "./model.ts";
import type { Simulation } from "./simulate.ts";

/** Whole numbers with separators; small ones with a digit or two. */
function plain(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

/** @param value bytes */
function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(value, 1)) / 3)));
  return `${plain(value / 1_000 ** power)} ${units[power]}`;
}

/** @param scripts microseconds within scripts, where they were measured */
export function describeConstants(
  { store, gateway }: Constants,
  scripts: Readonly<Record<Operation, number>> | null,
): string {
  const head = ["store operation", "CPU us", "of it script", "wire bytes"];
  const rows = OPERATIONS.map((name) => {
    const { cpu, wire } = store.operations[name];
    return [name, cpu.toFixed(1), scripts ? scripts[name].toFixed(1) : "", wire.toFixed(0)];
  });
  const { user, caller, reservation, ledgerEntry } = store.memory;
  return [
    linesOf([head, ...rows]),
    `store memory, bytes: user with key ${plain(user)}, caller ${plain(caller)} more, running stream ${plain(reservation)}, ledger entry ${plain(ledgerEntry)}`,
    `gateway CPU, us: request ${plain(gateway.request)}, chunk ${plain(gateway.chunk)}`,
  ].join("\n");
}

export function describeNeed({ store, gateway, perThousand, perUser }: Need, load: Load, constants: Constants): string {
  const { memory } = store;
  const parts = OPERATIONS.map((name) => `${name} ${plain(store.operations[name])}`).join(", ");
  const perDay = load.requestsPerSecond * 86_400 * constants.store.memory.ledgerEntry;
  const gib = load.shardBytes / 2 ** 30;
  const lines = [
    ["store operations/s", plain(store.operationsPerSecond), parts],
    ["store CPU", `${plain(store.cores)} cores`, ""],
    ["store network", `${bytes(store.bytesPerSecond)}/s`, "to and from gateways; replicas get the writes besides"],
    [
      "store memory",
      bytes(memory.total),
      `users ${bytes(memory.users)}, callers ${bytes(memory.callers)}, running ${bytes(memory.running)}, ledger ${bytes(memory.ledger)} (${bytes(perDay)} a day)`,
    ],
    [
      "shards",
      plain(store.shards),
      `${plain(store.shardsByCpu)} for the CPU, ${plain(store.shardsByMemory)} for the memory`,
    ],
    ["gateway CPU", `${plain(gateway.cores)} cores`, `${plain(gateway.running)} requests at any moment`],
    ["gateway processes", plain(gateway.processes), `${plain(gateway.machines)} machines`],
    [
      "1,000 requests",
      `${plain(perThousand.storeOperations)} operations`,
      `${plain(perThousand.storeCpuMs)} ms of store CPU, ${bytes(perThousand.storeBytes)}, ${plain(perThousand.gatewayCpuMs)} ms of gateway CPU`,
    ],
    ["a user", bytes(perUser.atRest), `${bytes(perUser.active)} with calls, without ledger`],
  ];
  const percent = (share: number) => `${plain(share * 100)} %`;
  return [
    `${plain(load.users)} users, ${plain(load.requestsPerSecond)} requests/s`,
    `assumed: ${percent(load.activeShare)} of the users call, equally often; ${percent(load.streamShare)} of the requests stream, ${plain(load.chunksPerStream)} chunks each;`,
    `a request runs ${plain(load.seconds)} s; the ledger is kept ${plain(load.ledgerSeconds / 86_400)} days at this rate; cores are ${percent(load.utilisation)} busy;`,
    `${plain(load.workers)} gateway processes a machine; ${plain(gib)} GiB of data a shard`,
    linesOf(lines),
  ].join("\n");
}

export function describeSimulation({ passage, comparisons }: Simulation): string {
  const { answers, seconds, chunks, duration } = passage;
  const rate = `${plain(answers / seconds)} requests/s, ${plain(chunks / seconds)} chunks/s, ${plain(duration)} s a request`;
  const rows = comparisons.map(({ name, predicted, measured }) => [
    name,
    plain(predicted),
    plain(measured),
    (measured / predicted).toFixed(2),
  ]);
  return [
    `simulated for ${plain(seconds)} s: ${rate}`,
    linesOf([["", "predicted", "measured", "measured/predicted"], ...rows]),
  ].join("\n");
}
