import { nearest, pathOf } from "../kit/index.ts";
import { type Diagnostic, join, type Place } from "./diagnostics.ts";
import { eachScalar, type Node, type ScalarNode } from "./node.ts";

/** Keys of plugins' options and of headers that hold secrets, as far as a name can tell. */
const SECRET_KEY = /(?:^|[_-])(?:key|keys|secret|secrets|token|password|passwd|authorization|credentials?|cookie)$/i;
/** Whether a header carries credentials, as far as its name can tell. */
export function isSecretHeader(name: string): boolean {
  return SECRET_KEY.test(name) || /^set-cookie2?$/i.test(name);
}

/** Beginnings of keys that providers give out, whatever key of the configuration they stand at. */
const SECRET_TEXT =
  /^(?:Bearer )?(?:sk-|gsk_|xai-|pplx-|AIza|AKIA|ghp_|github_pat_|glpat-|hf_|nvapi-|xox[bp]-|-----BEGIN [A-Z ]*PRIVATE KEY)/;
const MIN_SECRET_TEXT_CHARACTERS = 20;
/** What is shorter stands in for a key, in an example or for a server that asks for none. */
const MIN_SECRET_CHARACTERS = 8;
/** A URL with a password, or with a query, which is where keys are put that have no other place. */
const SECRET_URL = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/\s@]*@|[^\s?]*\?[^\s=]*=)/i;
/** What stands in place of a key where none is needed. */
export const NO_SECRETS: ReadonlySet<string> = new Set([
  "",
  "sim",
  "none",
  "application-default",
  "lm-studio",
  "no-key-required",
  "not-needed",
]);

/** Whether a value is a secret by where it stands. */
function isSecretPlace([section, ...rest]: readonly string[]): boolean {
  const key = rest.findLast((name) => !/^\d+$/.test(name)) ?? "";
  switch (section) {
    case "upstreams":
      return rest[1] === "api_keys" || (rest[1] === "headers" && SECRET_KEY.test(key));
    case "server":
      return /^admin\/(?:token|tokens\/\d+\/token)$/.test(rest.join("/"));
    case "auth":
      return key === "client_secret" || (rest[1] === "secrets" && key === "value");
    case "telemetry":
      return rest[1] === "headers" && SECRET_KEY.test(key);
    case "pipeline":
      return rest[1] === "options" && SECRET_KEY.test(key);
    default:
      return false;
  }
}

/** A scalar that no output may quote. What a reference brings does not stand in a file, and is not among them. */
export interface SecretScalar {
  readonly pointer: string;
  readonly node: ScalarNode;
}

/** The secrets that stand in the files: by their place, or because they look like one wherever they stand. */
export function secretScalars(root: Node): SecretScalar[] {
  const found: SecretScalar[] = [];
  eachScalar(root, [], (node, path) => {
    const text = textOf(node);
    if (NO_SECRETS.has(text)) return;
    if (looksSecret(text) || (text.length >= MIN_SECRET_CHARACTERS && isSecretPlace(path)))
      found.push({ pointer: join("", ...path), node });
  });
  return found;
}

/** Keys below which no output quotes anything, wherever they stand: also a key that is misspelt, or of a wrong type, has a secret. */
const COVERED_KEY =
  /(?:^|[^a-z]|api)(?:keys?|secrets?|token|passw(?:or)?d|passphrase|authorization|credentials?|cookie)$/i;
const NAMES_OF_SECRETS = ["api_keys", "client_secret", "secrets", "token", "password", "authorization", "credentials"];

export function isCoveredKey(key: string): boolean {
  return COVERED_KEY.test(key.replaceAll(/([a-z])([A-Z])/g, "$1_$2"));
}

/** Whether a key may be one of a secret that is misspelt. */
export function isLikeSecretName(key: string): boolean {
  return nearest(key, NAMES_OF_SECRETS) !== null;
}

/** Where no output may quote what the node, which stands at `base`, holds. @param found tells the keys that are not known. */
export function coveredPlaces(root: Node, base: string, found: readonly Diagnostic[]): Place[] {
  const misspelt = found
    .filter(({ rule, pointer }) => rule === "unknown-key" && isLikeSecretName(pathOf(pointer).at(-1)!))
    .map(({ pointer }) => `${pointer}/`);
  const places: Place[] = [];
  eachScalar(root, [...pathOf(base)], (node, path) => {
    const pointer = `${join("", ...path)}/`;
    const isCovered =
      (path.at(-1) !== "kid" && !isPath(path) && path.some(isCoveredKey)) ||
      misspelt.some((start) => pointer.startsWith(start)) ||
      isSecretPlace(path) ||
      looksSecret(textOf(node));
    if (isCovered && textOf(node) !== "" && !NO_SECRETS.has(textOf(node))) places.push(node.place);
  });
  return places;
}

/** A setting that is named like a secret and holds none: the file of a key, and how long secrets are kept. */
function isPath(path: readonly string[]): boolean {
  return path[0] === "secrets" || (path.at(-2) === "tls" && path.at(-1) === "key");
}

export function looksSecret(text: string): boolean {
  return SECRET_URL.test(text) || looksLikeKey(text);
}

/** Whether a text begins as keys of providers do, and is as long as one. */
export function looksLikeKey(text: string): boolean {
  return text.length >= MIN_SECRET_TEXT_CHARACTERS && SECRET_TEXT.test(text);
}

/** What of a scalar stands in the file: references without default are left out. */
function textOf({ value, reference }: ScalarNode): string {
  const written = reference?.written ?? String(value ?? "");
  if (reference === undefined || !written.includes("${")) return written;
  return written.replaceAll(
    /\$\{(?:env:[A-Za-z_]\w*(?::-([^{}]*))?|(?:file|exec):[^{}]*)\}/g,
    (_, fallback?: string) => fallback ?? "",
  );
}

/** A line of a file without its secrets. @param places that are not shown. */
export function masked(line: string, number: number, places: readonly Place[]): string {
  return places.reduce((text, place) => {
    const { line: first, column, endColumn = line.length + 1, end = { line: first, column: endColumn } } = place;
    if (number < first || number > end.line) return text;
    const from = number === first ? column - 1 : 0;
    const to = Math.min(number === end.line ? end.column - 1 : line.length, line.length);
    return text.slice(0, from) + "•".repeat(Math.max(0, to - from)) + text.slice(Math.max(from, to));
  }, line);
}
