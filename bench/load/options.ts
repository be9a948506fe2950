import { parseArgs } from "node:util";

export interface BenchOptions {
  readonly rounds: number;
  readonly seconds: number;
  /** Of the table. */
  readonly rows: readonly number[];
  /** Peers that are not here are installed into the cache. */
  readonly peers: boolean;
  /** Whether rows 1 to 4 show the floor, too. */
  readonly floor: boolean;
  readonly json: boolean;
  readonly logLevel: string;
}

const LEVELS = ["debug", "info", "warn", "error"];
export const ALL_ROWS: readonly number[] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14];
/** Takes minutes by itself. */
const ASKED_FOR = 14;

/** @throws Error that names the option and what it takes. */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string", default: "1" },
      seconds: { type: "string", default: "2" },
      rows: { type: "string", default: ALL_ROWS.filter((row) => row !== ASKED_FOR).join(",") },
      peers: { type: "boolean", default: false },
      floor: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      "log-level": { type: "string", default: "info" },
    },
  });
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
  const rows = values.rows === "all" ? ALL_ROWS : values.rows.split(",").map(Number);
  const logLevel = values["log-level"];
  if (!Number.isInteger(rounds) || rounds < 1 || rounds % 2 === 0) throw new Error("--rounds is an odd number");
  if (!(seconds >= 1 && seconds <= 30)) throw new Error("--seconds is a number from 1 to 30");
  if (!rows.every((row) => ALL_ROWS.includes(row)))
    throw new Error("--rows is `all`, or numbers from 1 to 14 with commas between them");
  if (!LEVELS.includes(logLevel)) throw new Error(`--log-level is one of ${LEVELS.join(", ")}`);
  return { rounds, seconds, rows, peers: values.peers, floor: values.floor, json: values.json, logLevel };
}

/** What is read from a command line; what is wrong with it goes to stderr and ends the process with 2. */
export function orEnd<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(2);
  }
}
