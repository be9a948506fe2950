import { RENEWAL } from "../../src/store/redis/leases.ts";

/** What the gateway asks of the store; `principal` and `touch` follow a pointer first, which is counted into their costs. */
export const OPERATIONS = ["admit", "settle", "renew", "principal", "touch", "poll"] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Of one operation. */
export interface Cost {
  /** Microseconds of the server's CPU: script, protocol and append-only file. */
  readonly cpu: number;
  /** Bytes on the wire, both directions together. */
  readonly wire: number;
}

/** What one operation, record or request costs, as measure.ts finds it. */
export interface Constants {
  readonly store: {
    readonly operations: Readonly<Record<Operation, Cost>>;
    /** Bytes of the server's memory. */
    readonly memory: {
      /** A user with one key, address and pointers. */
      readonly user: number;
      /** What a user who calls has besides: counters, last use of the key, an empty ledger. */
      readonly caller: number;
      /** A running stream, the only one of its user. */
      readonly reservation: number;
      readonly ledgerEntry: number;
    };
  };
  /** Microseconds of the gateway's CPU. */
  readonly gateway: {
    /** A request without its chunks. */
    readonly request: number;
    /** A streamed chunk. */
    readonly chunk: number;
  };
}

export interface Load {
  readonly users: number;
  /** Of the users, those who call; all of them equally often. */
  readonly activeShare: number;
  readonly requestsPerSecond: number;
  readonly streamShare: number;
  readonly chunksPerStream: number;
  /** Mean seconds that a request runs. */
  readonly seconds: number;
  /** Seconds for which the store keeps ledger entries. */
  readonly ledgerSeconds: number;
  /** How busy a core may be on average. */
  readonly utilisation: number;
  /** Gateway processes on one machine. */
  readonly workers: number;
  /** Memory of one shard that data may fill. */
  readonly shardBytes: number;
}

export interface Need {
  readonly store: {
    readonly operationsPerSecond: number;
    readonly operations: Readonly<Record<Operation, number>>;
    readonly cores: number;
    readonly bytesPerSecond: number;
    readonly memory: {
      readonly users: number;
      readonly callers: number;
      readonly running: number;
      readonly ledger: number;
      readonly total: number;
    };
    /** Primaries, one core each: enough for the CPU and for the memory. */
    readonly shards: number;
    readonly shardsByCpu: number;
    readonly shardsByMemory: number;
  };
  readonly gateway: {
    readonly cores: number;
    readonly processes: number;
    readonly machines: number;
    /** Requests at any moment. */
    readonly running: number;
  };
  readonly perThousand: {
    readonly storeOperations: number;
    readonly storeCpuMs: number;
    readonly storeBytes: number;
    readonly gatewayCpuMs: number;
  };
  /** Bytes of store memory. */
  readonly perUser: { readonly atRest: number; readonly active: number };
}

/** Seconds between renewals of what a process runs. */
export const RENEWAL_SECONDS = RENEWAL / 1_000;
/** Seconds between looks at the stop tokens of users with running streams (src/gateway/stream-kill.ts). */
export const POLL_SECONDS = 1;
/** Seconds between notes of when keys were last used (src/accounts/authenticate.ts). */
export const TOUCH_SECONDS = 30;
/** Keys that a process knows, and the seconds for which it does (src/accounts/authenticate.ts). */
export const KNOWN_KEYS = 100_000;
export const KNOWN_SECONDS = 600;

/** What a load needs, from what one of everything costs. Linear: it knows no queue, and no gain of larger batches. */
export function need({ store, gateway }: Constants, load: Load): Need {
  const { requestsPerSecond: rate } = load;
  const perRequest = gateway.request + load.streamShare * load.chunksPerStream * gateway.chunk;
  const cores = (rate * perRequest) / 1e6;
  const processes = Math.max(1, Math.ceil(cores / load.utilisation));

  const operations = operationsOf(load, processes);
  const sum = (of: (operation: Operation) => number) =>
    OPERATIONS.reduce((total, operation) => total + operations[operation] * of(operation), 0);
  const operationsPerSecond = sum(() => 1);
  const storeCores = sum((operation) => store.operations[operation].cpu) / 1e6;
  const bytesPerSecond = sum((operation) => store.operations[operation].wire);
  const memory = memoryOf(store.memory, load);
  const shardsByCpu = Math.max(1, Math.ceil(storeCores / load.utilisation));
  const shardsByMemory = Math.max(1, Math.ceil(memory.total / load.shardBytes));

  const perThousand = (amount: number) => (1_000 * amount) / rate;
  return {
    store: {
      operationsPerSecond,
      operations,
      cores: storeCores,
      bytesPerSecond,
      memory,
      shards: Math.max(shardsByCpu, shardsByMemory),
      shardsByCpu,
      shardsByMemory,
    },
    gateway: { cores, processes, machines: Math.ceil(processes / load.workers), running: rate * load.seconds },
    perThousand: {
      storeOperations: perThousand(operationsPerSecond),
      storeCpuMs: perThousand(storeCores * 1_000),
      storeBytes: perThousand(bytesPerSecond),
      gatewayCpuMs: perThousand(cores * 1_000),
    },
    perUser: { atRest: store.memory.user, active: store.memory.user + store.memory.caller },
  };
}

/** Operations a second that a load asks of the store through so many gateway processes, once it runs evenly. */
export function operationsOf(load: Load, processes: number): Readonly<Record<Operation, number>> {
  const { requestsPerSecond: rate } = load;
  const running = rate * load.seconds;
  const callers = load.users * load.activeShare;
  /** How often a process hears of one of the callers, a second. */
  const perCaller = rate / processes / callers;
  const known = Math.min(KNOWN_KEYS / callers, (perCaller * KNOWN_SECONDS) / (1 + perCaller * KNOWN_SECONDS));
  return {
    admit: rate,
    settle: rate,
    // All that run at that moment, however short they are.
    renew: running / RENEWAL_SECONDS,
    principal: rate * (1 - known),
    touch: (processes * callers * (1 - Math.exp(-perCaller * TOUCH_SECONDS))) / TOUCH_SECONDS,
    poll: (running * load.streamShare) / POLL_SECONDS,
  };
}

function memoryOf(each: Constants["store"]["memory"], load: Load): Need["store"]["memory"] {
  const { requestsPerSecond: rate } = load;
  const kept = {
    users: load.users * each.user,
    callers: load.users * load.activeShare * each.caller,
    running: rate * load.seconds * each.reservation,
    ledger: rate * load.ledgerSeconds * each.ledgerEntry,
  };
  return { ...kept, total: kept.users + kept.callers + kept.running + kept.ledger };
}
