import { parseArgs } from "node:util";

export interface BenchOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly json: boolean;
  readonly logLevel: string;
}

const LEVELS = ["debug", "info", "warn", "error"];

/** The options of a bench in rounds. @throws Error that names the option and what it takes. */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string", default: "3" },
      seconds: { type: "string", default: "3" },
      json: { type: "boolean", default: false },
      "log-level": { type: "string", default: "info" },
    },
  });
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
  const logLevel = values["log-level"];
  if (!Number.isInteger(rounds) || rounds < 3 || rounds % 2 === 0) throw new Error("--rounds is an odd number from 3");
  if (!(seconds >= 1 && seconds <= 30)) throw new Error("--seconds is a number from 1 to 30");
  if (!LEVELS.includes(logLevel)) throw new Error(`--log-level is one of ${LEVELS.join(", ")}`);
  return { rounds, seconds, json: values.json, logLevel };
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
