import { destination, pino } from "pino";
import type { Log } from "../kit/index.ts";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export interface LogOptions {
  readonly level: LogLevel;
  /** Lines for people, by `prettyLines`, instead of JSON. */
  readonly pretty: PrettyLines | false;
  /** Where whole lines go; default: standard error. */
  readonly destination?: LineSink;
}

interface LineSink {
  write(line: string): unknown;
}

/** Makes what turns a line of JSON into a line for people: `prettyFactory` of pino-pretty. */
export type PrettyLines = (options: {
  readonly colorize: boolean;
  readonly singleLine: boolean;
  readonly translateTime: string;
}) => (line: string) => string;

/** Loaded only where people read. */
export async function prettyLines(): Promise<PrettyLines> {
  return (await import("pino-pretty")).prettyFactory;
}

export interface GatewayLog extends Log {
  /** Whether a line of this level is written at all. */
  enabled(level: Exclude<LogLevel, "silent">): boolean;
  /**
   * The line of a request, at `info`; left out: it comes by `info`.
   * @param fields JSON without its braces, whose texts are literals or made by `logged`.
   * @param config see `withConfig`.
   */
  requestLine?(fields: string, config?: string): void;
}

/** A log whose lines carry `config`, the short hash of a configuration, unless they name one themselves. */
export function withConfig<L extends Log & Pick<Partial<GatewayLog>, "requestLine">>(log: L, config: () => string): L {
  const marked = (fields: object): object => ("config" in fields ? fields : { config: config(), ...fields });
  return {
    ...log,
    debug: (fields, message) => log.debug(marked(fields), message),
    info: (fields, message) => log.info(marked(fields), message),
    warn: (fields, message) => log.warn(marked(fields), message),
    error: (fields, message) => log.error(marked(fields), message),
    ...(log.requestLine && { requestLine: (fields, own = config()) => log.requestLine!(fields, own) }),
  };
}

/** JSON lines are written together, up to so many bytes and milliseconds. */
const BATCHING = { minLength: 32 * 1024, maxWrite: 64 * 1024, periodicFlush: 250 };
/** While nobody reads standard error so much is kept; further lines are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** At the exit, a tenth of a second each, for a reader who does not take more. */
const MAX_EXIT_RETRIES = 10;

/** Structured log on standard error. Known secrets never reach it, by field name or by shape. */
export function createLog({ level, pretty, destination: given }: LogOptions): GatewayLog {
  const colorize = given === undefined && process.stderr.isTTY && process.stderr.hasColors();
  // Synchronous for people: lines must neither trail behind a prompt nor get lost in a crash. JSON lines must not
  // block.
  const sink = given ?? standardError(pretty !== false);
  const format = pretty ? pretty({ colorize, singleLine: true, translateTime: "SYS:HH:MM:ss.l" }) : null;
  const write = (line: string): void => {
    const short = bounded(line);
    sink.write(format === null ? short : format(short));
  };
  // Scrubbed before it is bounded: a secret that is cut in two is no longer recognised.
  const logger = pino({ level, base: undefined }, { write: (line: string) => write(withoutUsers(scrub(line))) });
  const isInfo = logger.isLevelEnabled("info");
  return {
    debug: (fields, message) => logger.debug(redact(fields), message),
    info: (fields, message) => logger.info(redact(fields), message),
    warn: (fields, message) => logger.warn(redact(fields), message),
    error: (fields, message) => logger.error(redact(fields), message),
    enabled: (asked) => logger.isLevelEnabled(asked),
    requestLine(fields, config) {
      if (!isInfo) return;
      const own = config === undefined ? "" : `"config":${logged(config)},`;
      write(
        `{"level":${pino.levels.values["info"]}${pino.stdTimeFunctions.epochTime()},${own}${fields},"msg":"request"}\n`,
      );
    },
  };
}

/** @param isSynchronous see `createLog`. */
function standardError(isSynchronous: boolean): LineSink {
  if (isSynchronous) return destination({ dest: 2, sync: true });
  // As bytes: the text of all lines that wait would be put together again for each further line.
  const sink = destination({
    dest: 2,
    sync: false,
    contentMode: "buffer",
    maxLength: MAX_WAITING_BYTES,
    ...BATCHING,
  });
  const flush = sink.flushSync.bind(sink);
  // Called at the exit of the process. What a reader who has gone or stands still does not take must not keep it, nor
  // change its exit code.
  sink.flushSync = () => {
    // Not before: a write that gives up while the process serves would end it.
    Object.assign(sink, { maxWriteRetries: MAX_EXIT_RETRIES });
    try {
      flush();
    } catch {
      // There is nowhere left to tell it.
    }
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- by `contentMode` it takes bytes and no text
  const bytes = sink as unknown as { write(line: Buffer): boolean };
  return { write: (line) => bytes.write(Buffer.from(line)) };
}

/** Names of fields whose value is a secret, as they are written in headers, bodies and configurations. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  "authorization",
  "cookie",
  "set-cookie",
  "password",
  "secret",
  "token",
  "access_token",
  "refresh_token",
  "api_key",
  "apiKey",
  "x-api-key",
]);
/** A field, an object in it, its headers: nothing deeper is logged. */
const MAX_REDACTED_DEPTH = 3;

/** The fields with the values of secret ones replaced; the same object when it has none, which is the ordinary case. */
function redact(fields: object, depth = MAX_REDACTED_DEPTH): object {
  const given = fields as Readonly<Record<string, unknown>>;
  let copy: Record<string, unknown> | null = null;
  // In place of Object.entries, which would make a list for each line of log.
  for (const name in given) {
    const value = given[name];
    const safe = SECRET_FIELDS.has(name) ? "[redacted]" : redactValue(value, depth - 1);
    if (safe !== value) (copy ??= { ...fields })[name] = safe;
  }
  return copy ?? fields;
}

function redactValue(value: unknown, depth: number): unknown {
  if (depth === 0 || typeof value !== "object" || value === null || value instanceof Error) return value;
  return redact(value, depth);
}

/**
 * Our keys and refresh tokens, providers' keys, JSON Web Tokens, passwords inside URLs. A token is matched only from
 * the beginning of a word: otherwise each of many beginnings in one line would be scanned to its end.
 */
const SECRET_PATTERN =
  /rk_[0-9a-f]{64}|\brt_[\w-]{43}|\bsk-[\w-]{16,}|(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*|(?<=:\/\/[^\s/@:"]{0,256}:)[^\s/@"]+(?=@)/gi;

/**
 * Every secret contains one of these: texts without any skip the expression, whose look-behind is slow. In this form, for
 * with the flag that ignores case, and with a third class, it takes four times as long.
 */
const SECRET_MARKERS = /[Rr][KkTt]_|[Ss][Kk]-|[Yy][Jj]|:\/\//;

/** The JSON of a value, or of what one field of a line has, as `createLog` would write it. */
export function logged(value: string | object): string {
  const safe = redactValue(value, MAX_REDACTED_DEPTH - 1);
  return scrub(JSON.stringify(safe));
}

/** Longer lines are shortened. */
const MAX_LINE_CHARACTERS = 64 * 1024;
/** What is left of each text in a line that is shortened. */
const SHORTENED_CHARACTERS = 2 * 1024;
const MAX_LINE_DEPTH = 6;

/** Bounds the length of a line, which clients and upstreams can make long; it stays valid JSON. */
function bounded(line: string): string {
  if (line.length <= MAX_LINE_CHARACTERS) return line;
  const shorter = `${JSON.stringify(shortened(JSON.parse(line), MAX_LINE_DEPTH))}\n`;
  return shorter.length <= MAX_LINE_CHARACTERS
    ? shorter
    : `${JSON.stringify({ level: 50, msg: "a line of log was too long" })}\n`;
}

function shortened(value: unknown, depth: number): unknown {
  if (typeof value === "string") {
    return value.length <= SHORTENED_CHARACTERS
      ? value
      : `${value.slice(0, SHORTENED_CHARACTERS)}… (${value.length - SHORTENED_CHARACTERS} more characters)`;
  }
  if (typeof value !== "object" || value === null) return value;
  if (depth === 0) return "…";
  if (Array.isArray(value)) return value.slice(0, 32).map((item: unknown) => shortened(item, depth - 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, 64)
      .map(([name, inner]) => [name.slice(0, 256), shortened(inner, depth - 1)]),
  );
}

/** As `newId` makes them. */
const USER_ID = /\buser_[\w-]{24}(?![\w-])/g;

/** Removes ids of users, which messages of errors may hold. */
function withoutUsers(line: string): string {
  return line.includes("user_") ? line.replace(USER_ID, "[user]") : line;
}

/** Removes secrets by their form, wherever they came from: redaction by field name may miss some. */
export function scrub(line: string): string {
  return SECRET_MARKERS.test(line) ? line.replace(SECRET_PATTERN, "[redacted]") : line;
}
