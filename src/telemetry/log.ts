import { destination, pino } from "pino";
import { prettyFactory } from "pino-pretty";
import type { Log } from "../kit/index.ts";
import { redact } from "./redact.ts";
import { bounded, scrub } from "./scrub.ts";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export interface LogOptions {
  readonly level: LogLevel;
  /** Lines for people instead of JSON. */
  readonly pretty: boolean;
  /** Where whole lines go; default: standard error. */
  readonly destination?: { write(line: string): unknown };
}

export interface GatewayLog extends Log {
  /** Whether a line of this level is written at all. */
  enabled(level: Exclude<LogLevel, "silent">): boolean;
}

/** Bytes of JSON lines that are written together, and milliseconds that a line waits at most. */
const BATCH = { minLength: 8 * 1024, periodicFlush: 250 };
/** Characters that wait for a reader of standard error who has stopped reading; further lines are dropped. */
const MOST_WAITING = 16 * 1024 * 1024;

/** Structured log on standard error. Known secrets never reach it, by field name or by shape. */
export function createLog({ level, pretty, destination: given }: LogOptions): GatewayLog {
  const colorize = given === undefined && process.stderr.isTTY && process.stderr.hasColors();
  // Lines for people must not trail behind a prompt or get lost with a crash; JSON lines must not hold up requests.
  const sink =
    given ??
    destination(pretty ? { dest: 2, sync: true } : { dest: 2, sync: false, maxLength: MOST_WAITING, ...BATCH });
  const format = pretty ? prettyFactory({ colorize, singleLine: true, translateTime: "SYS:HH:MM:ss.l" }) : null;
  const logger = pino(
    { level, base: undefined },
    {
      write: (line: string) => {
        // In this order: what is left of a secret that was cut in two would no longer look like one.
        const safe = bounded(scrub(line));
        sink.write(format === null ? safe : format(safe));
      },
    },
  );
  return {
    debug: (fields, message) => logger.debug(redact(fields), message),
    info: (fields, message) => logger.info(redact(fields), message),
    warn: (fields, message) => logger.warn(redact(fields), message),
    error: (fields, message) => logger.error(redact(fields), message),
    enabled: (asked) => logger.isLevelEnabled(asked),
  };
}
