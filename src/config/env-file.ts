import { dirname, join } from "node:path";
import { diagnose, type Diagnostic } from "./diagnostics.ts";
import { disk, type FileAccess, FileError } from "./files.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** What a `.env` file says. */
export interface EnvFile {
  readonly values: Readonly<Record<string, string>>;
  /** Lines that say nothing, from 1, with the reason; never their text. */
  readonly bad: readonly { readonly line: number; readonly why: string }[];
}

export interface ReadEnvFile extends EnvFile {
  /** Absolute. */
  readonly path: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** The `.env` of a configuration: in the folder of its main file, whatever the working directory is. */
export function envFileOf(file: string): string {
  return join(dirname(file), ".env");
}

/** The variables that references of a configuration see: those of the process, and below them those of its `.env`. */
export async function environmentOf(file: string, env: Variables): Promise<Variables> {
  const { values } = await readEnvFile(envFileOf(file), disk.read);
  return overEnvFile(values, env);
}

/** A variable of the process wins, also an empty one. */
export function overEnvFile(values: EnvFile["values"], env: Variables): Variables {
  const set = Object.entries(env).filter(([, value]) => value !== undefined);
  return Object.assign(Object.create(null) as Variables, values, Object.fromEntries(set));
}

const ABSENT: EnvFile = { values: {}, bad: [] };
const NOT_THERE: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR"]);
const LINE_HINT = 'write NAME=value, NAME="value" or a comment that begins with #';

/** Reads a `.env` file. One that is not there says nothing; one that cannot be read is a warning. */
export async function readEnvFile(path: string, read: FileAccess["read"]): Promise<ReadEnvFile> {
  const warn = (line: number, rule: "env-line" | "env-unreadable", message: string, hint: string): Diagnostic =>
    diagnose({ file: path, line, column: 1 }, "", { rule, severity: "warning", message, hint });
  try {
    const found = parseEnvFile(await read(path));
    return { ...found, path, diagnostics: found.bad.map(({ line, why }) => warn(line, "env-line", why, LINE_HINT)) };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    const { cause, message } = error;
    if (cause instanceof Error && "code" in cause && NOT_THERE.has(cause.code)) {
      return { ...ABSENT, path, diagnostics: [] };
    }
    const hint = "references see the variables of the process alone: mend the file, or remove it";
    return { ...ABSENT, path, diagnostics: [warn(1, "env-unreadable", `.env ${message}`, hint)] };
  }
}

/** Names may be longer than those that a reference can have: the file may be for other programs, too. */
const ASSIGNMENT = /^[ \t]*(?:export[ \t]+)?([A-Za-z0-9_.-]+)[ \t]*=[ \t]*(.*)$/;
const COMMENT_OR_NOTHING = /^[ \t]*(?:#.*)?$/;
const QUOTES: ReadonlySet<string> = new Set(["'", '"', "`"]);
const NO_ASSIGNMENT = "is not NAME=value";
const OPEN_QUOTE = "has a quote that does not end, or text behind it";

/**
 * Reads what Node's `util.parseEnv` and the npm package dotenv read alike. Where they differ, a line is bad:
 * https://nodejs.org/api/environment_variables.html#env-files, https://github.com/motdotla/dotenv#rules
 */
export function parseEnvFile(text: string): EnvFile {
  const values = Object.create(null) as Record<string, string>;
  const bad: { line: number; why: string }[] = [];
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!;
    if (COMMENT_OR_NOTHING.test(line)) continue;
    const [, name, rest = ""] = ASSIGNMENT.exec(line) ?? [];
    const quote = rest.charAt(0);
    if (name === undefined) {
      bad.push({ line: at + 1, why: NO_ASSIGNMENT });
    } else if (QUOTES.has(quote)) {
      const found = quotedValue(lines, at, rest);
      if (found === null) {
        bad.push({ line: at + 1, why: OPEN_QUOTE });
      } else {
        values[name] = quote === '"' ? found.value.replaceAll("\\n", "\n") : found.value;
        at = found.end;
      }
    } else {
      values[name] = withoutBlanks(rest.split("#", 1)[0]!);
    }
  }
  return { values, bad };
}

/** Without the blanks at its end. Other kinds of space belong to a value. */
function withoutBlanks(text: string): string {
  let end = text.length;
  while (end > 0 && " \t".includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The text up to the next such quote, on this line or a later one; null where it is not the end of a line. */
function quotedValue(
  lines: readonly string[],
  start: number,
  rest: string,
): { readonly value: string; readonly end: number } | null {
  const quote = rest.charAt(0);
  const parts: string[] = [];
  let part = rest.slice(1);
  for (let end = start; ;) {
    const close = part.indexOf(quote);
    if (close >= 0) {
      const value = [...parts, part.slice(0, close)].join("\n");
      return COMMENT_OR_NOTHING.test(part.slice(close + 1)) ? { value, end } : null;
    }
    parts.push(part);
    end += 1;
    if (end >= lines.length) return null;
    part = lines[end]!;
  }
}

/** What of a `.env` a configuration uses, as text to compare: a change of anything else there changes nothing. */
export function usedOf({ values }: EnvFile, env: Variables, texts: Iterable<string>): string | null {
  const named = new Set<string>();
  for (const text of texts) for (const [, name] of text.matchAll(/\$\{env:(\w+)/g)) named.add(name!);
  const used = [...named].filter((name) => Object.hasOwn(values, name) && env[name] === undefined).toSorted();
  return used.length === 0 ? null : JSON.stringify(used.map((name) => [name, values[name]]));
}
