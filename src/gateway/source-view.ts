import { basename, dirname, isAbsolute, matchesGlob, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Diagnostic, Place } from "../config/diagnostics.ts";
import { disk, type FileAccess } from "../config/files.ts";
import type { Rejected } from "../config/load.ts";
import { eachScalar, toPlain } from "../config/node.ts";
import { parse } from "../config/parse.ts";
import { isRecord } from "../config/schema.ts";
import { coveredPlaces, looksLikeKey, masked } from "../config/secrets.ts";
import { maskedUnread } from "../config/unread.ts";
import { REDACTED } from "../effects/same.ts";
import { isPluginPath } from "../kit/index.ts";
import { codeOf } from "./compile.ts";
import type { Loaded } from "./configuration.ts";

/** `GET /admin/config/source`: what the configuration in force was made of, as it is written, without its secrets. */
export interface SourceBody {
  readonly hash: string;
  /**
   * With the path from the folder of the main file, which is the first, and the absolute one: includes name either. `text`
   * has the lines and columns of the file; a secret in it is as many dots.
   */
  readonly files: readonly (SourceText & { readonly value: unknown })[];
  /** The texts that the diagnostics of the last rejection have their places in; null when there is none. */
  readonly rejected: {
    /** ISO 8601. */
    readonly at: string;
    readonly diagnostics: readonly Diagnostic[];
    readonly files: readonly SourceText[];
  } | null;
  /** Local plugins: what the linker has to know of one, and nothing that could be run. */
  readonly plugins: readonly {
    /** The path as it is configured. */
    readonly use: string;
    readonly name: string;
    readonly stage: string;
    /** Further stages; absent: none. */
    readonly also?: readonly string[];
    readonly needs: readonly string[];
    readonly schema: unknown;
  }[];
  /** Digest of every file of code that the local plugins consist of. */
  readonly code: Readonly<Record<string, string>>;
}

interface SourceText {
  readonly path: string;
  readonly file: string;
  readonly text: string;
}

/** References stay as they are written; a secret that stands in a file itself is left out. */
export function sourceBody(loaded: Loaded, rejected: Rejected | null = null): SourceBody {
  const { snapshot, sources, steps, hash } = loaded;
  const folder = dirname(snapshot.file);
  const files = sources
    .filter(({ kind }) => kind === "config")
    .map(({ path, text }) => {
      const { root } = parse(path, text);
      const value = root && redact(toPlain(root), []);
      return { path: relative(folder, path), file: path, text: withoutSecrets(path, text, []), value };
    });
  const mainFirst = <T extends SourceText>(all: readonly T[]): readonly T[] =>
    all.toSorted((a, b) => Number(b.file === snapshot.file) - Number(a.file === snapshot.file));
  const plugins = steps.flatMap(({ plugin, settings }) => {
    if (!isPluginPath(settings.use)) return [];
    const schemaFile = fileURLToPath(plugin.schema);
    const schema = sources.find(({ kind, path }) => kind === "plugin" && schemaFile.endsWith(path))?.text ?? "{}";
    const { name, stage, also = [], needs = [] } = plugin;
    return [
      {
        use: settings.use,
        name,
        stage,
        ...(also.length > 0 && { also }),
        needs,
        schema: JSON.parse(schema) as unknown,
      },
    ];
  });
  return {
    hash,
    files: mainFirst(files),
    rejected: rejected && {
      at: rejected.at,
      diagnostics: rejected.diagnostics,
      files: mainFirst(
        rejected.sources
          .filter(({ kind }) => kind === "config")
          .map(({ path, text }) => ({
            path: relative(folder, path),
            file: path,
            text: withoutSecrets(path, text, rejected.diagnostics),
          })),
      ),
    },
    plugins,
    code: codeOf(loaded),
  };
}

/** Values that are secrets wherever they come from; `*` stands for any one key. */
const SECRETS = [
  "server/admin/token",
  "server/admin/tokens/*/token",
  "store/url",
  "store/nodes/*",
  "auth/tokens/secrets/*/value",
  "auth/email/smtp",
  "auth/oauth/*/client_secret",
  "upstreams/*/api_keys/*",
  "upstreams/*/headers/*",
  "telemetry/otlp/headers/*",
].map((path) => path.split("/"));
/** What an operator's own options and parameters call a secret. */
const SECRET_NAME = /(?:^|[^a-z])(?:secret|token|password|passwd|key|credential|authorization|cookie)s?$/i;
const SECRET_NAME_IN_CAMEL_CASE = /[a-z](?:Secret|Token|Password|Key|Credential)s?$/;
const FREE_FORM = /^(?:pipeline\/\d+\/options|models\/[^\n]*\/parameters\/set)\//;
const REFERENCE = /\$\{(?:env|file|exec):[^{}]*\}/g;
const USER_OF_URL = /(\w:\/\/)[^/\s]*@/g;
/** Where keys are put that have no other place. */
const QUERY_OF_URL = /(\w:\/\/[^\s?#]*)(\?[^\s#]*)/g;
/** As often as makes it long enough for a secret that signs tokens. */
const TOKEN_SECRET_REPEATS = 4;

function redact(value: unknown, path: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item, index) => redact(item, [...path, String(index)]));
  if (isRecord(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redact(inner, [...path, key])]));
  }
  if (typeof value === "number" && isSecret(path)) return redacted(path);
  if (typeof value !== "string" || value === "") return value;
  if (isSecret(path)) return withoutSecret(value, path);
  return looksLikeKey(value)
    ? REDACTED
    : value.replace(USER_OF_URL, `$1${REDACTED}@`).replace(QUERY_OF_URL, withoutValues);
}

function isSecret(path: readonly string[]): boolean {
  const isNamed = SECRETS.some(
    (pattern) => pattern.length === path.length && pattern.every((part, index) => part === "*" || part === path[index]),
  );
  if (isNamed) return true;
  return (
    FREE_FORM.test(path.join("/")) && path.some((key) => SECRET_NAME.test(key) || SECRET_NAME_IN_CAMEL_CASE.test(key))
  );
}

/** What a value is replaced by has to be at its place in the text: nothing behind it moves. */
const DOT = "•";
const KEPT_IN_TEXT = /["']?\$\{(?:(?:(?:file|exec):[^{}]*|env:\w+)\}["']?|env:\w+:-)|\}["']?/g;
/** Half of a key is shown no more than a whole one. */
const MIN_KEY_CHARACTERS = 64;
/** Of what stands in comments: former values, as a rule. */
const SECRET_IN_COMMENT = /((?:key|secret|token|passw\w*|authorization|credential|cookie)s?["']?\s*:\s*)(\S.*)$/i;

/** A file's text with every secret in it replaced by dots. @param found where the text was refused: keys may be misspelt. */
function withoutSecrets(file: string, text: string, found: readonly Diagnostic[]): string {
  const lines = text.split("\n");
  const { root } = parse(file, text);
  if (root === null) return maskedUnread(lines).join("\n");
  const covered = new Set(coveredPlaces(root, "", found));
  const places: Place[] = [];
  eachScalar(root, [], ({ place, value }, path) => {
    if (redact(value, path) !== value || covered.has(place)) places.push(place);
  });
  return lines
    .map((line, index) => withKept(line, masked(line, index + 1, places)))
    .map((line) => line.replace(/(?:^|\s)#.*$/, dottedComment))
    .join("\n");
}

/** References in what is masked, and where the rest of it goes on, can be read: they are no secrets. */
function withKept(line: string, dotted: string): string {
  if (line === dotted) return line;
  let shown = dotted;
  for (const { 0: kept, index } of line.matchAll(KEPT_IN_TEXT)) {
    shown = shown.slice(0, index) + kept + shown.slice(index + kept.length);
  }
  return shown;
}

function dottedComment(comment: string): string {
  return comment
    .replace(SECRET_IN_COMMENT, (_, key: string, value: string) => key + DOT.repeat(value.length))
    .replaceAll(/(\w:\/\/)([^/\s]*)@/g, (_, scheme: string, user: string) => `${scheme}${DOT.repeat(user.length)}@`)
    .replaceAll(/[^\s"'[\],{}]+/g, (word) =>
      looksLikeKey(word.padEnd(MIN_KEY_CHARACTERS)) ? DOT.repeat(word.length) : word,
    );
}

/** Still of the form that its place asks for; nothing is left of it but references without their defaults. */
function withoutSecret(text: string, path: readonly string[]): string {
  if (path[0] === "store") return withoutUser(text);
  if (text.replaceAll(REFERENCE, "") === "") {
    return text.replaceAll(/\$\{env:(\w+):-([^{}]*)\}/g, (whole, name: string, fallback: string) =>
      fallback === "" || fallback === "sim" ? whole : `\${env:${name}:-${redacted(path)}}`,
    );
  }
  if (path.at(-1) === "smtp") return withoutUser(text);
  return redacted(path);
}

function redacted(path: readonly string[]): string {
  if (path.at(-1) === "value") return REDACTED.repeat(TOKEN_SECRET_REPEATS);
  // Of its own each: no two tokens may be the same.
  return path[2] === "tokens" && path[1] === "admin" ? REDACTED.repeat(Number(path[3]) + 2) : REDACTED;
}

/** An address without who asks there. */
function withoutUser(url: string): string {
  return url.replace(/(\w:\/\/).*@/s, `$1${REDACTED}@`);
}

/** A brace that is left over ends the reference whose default the address is. */
function withoutValues(_: string, address: string, query: string): string {
  return address + query.replaceAll(/=(?:\$\{[^{}]*\}|[^&{}])*/g, `=${REDACTED}`);
}

function schemaName(path: string): string {
  return `${basename(path)}.schema.json`;
}

/** What `sourceBody` has said of another gateway, as files below `folder`; every other file is the disk's. */
export function sourceAccess(body: SourceBody, folder: string): FileAccess {
  const at = (path: string): string => resolve(folder, path);
  const files = new Map(
    body.files.flatMap(({ path, file, value }) => {
      const text = JSON.stringify(value);
      return [[at(path), text] as const, [file, text] as const];
    }),
  );
  const plugins = new Map(body.plugins.map((plugin) => [at(plugin.use), plugin]));
  // A file that nobody else may write; nothing of it is run.
  const anchor = import.meta.filename;
  for (const [path, { schema }] of plugins) {
    files.set(path, "");
    files.set(resolve(dirname(path), schemaName(path)), JSON.stringify(schema));
  }
  return {
    async read(path) {
      const text = files.get(path);
      return text ?? disk.read(path);
    },
    async expand(pattern, from) {
      const paths = body.files.map(({ path, file }) => (isAbsolute(pattern) ? file : at(path)));
      return paths.filter((path) => matchesGlob(path, resolve(from, pattern))).sort();
    },
    locate: (path) => (plugins.has(path) ? anchor : path),
    async importModule(url) {
      const path = fileURLToPath(new URL(url).searchParams.get("origin") ?? "file:///");
      const plugin = plugins.get(path);
      if (plugin === undefined) throw new Error("is not known");
      const { name, stage, also, needs } = plugin;
      const schema = pathToFileURL(resolve(dirname(anchor), schemaName(path)));
      return { default: { name, stage, also, needs, schema, setup: () => ({}) } };
    },
  };
}
