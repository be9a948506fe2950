import { destination, pino } from "pino";
import { prettyFactory } from "pino-pretty";
import type { Log } from "../kit/index.ts";
import { scrub } from "./scrub.ts";

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

/** Names of fields whose value is a secret; `err` and one level of nesting are as deep as anything is logged. */
const SECRET_FIELDS = [
  "authorization",
  "cookie",
  "password",
  "secret",
  "token",
  "access_token",
  "refresh_token",
  "api_key",
  "apiKey",
  "x-api-key",
];
const PATHS = SECRET_FIELDS.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]);

/** Structured log on standard error. Known secrets never reach it, by field name or by shape. */
export function createLog({ level, pretty, destination: given }: LogOptions): GatewayLog {
  const colorize = given === undefined && process.stderr.isTTY && process.stderr.hasColors();
  // Lines for people must not trail behind a prompt or get lost with a crash; JSON lines must not hold up requests.
  const sink = given ?? destination({ dest: 2, sync: pretty });
  const format = pretty ? prettyFactory({ colorize, singleLine: true, translateTime: "SYS:HH:MM:ss.l" }) : null;
  const logger = pino(
    { level, base: undefined, redact: { paths: PATHS, censor: "[redacted]" } },
    { write: (line: string) => void sink.write(scrub(format === null ? line : format(line))) },
  );
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    enabled: (asked) => logger.isLevelEnabled(asked),
  };
}
