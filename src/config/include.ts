import { dirname, join as joinPath, resolve } from "node:path";
import { inTurns } from "../kit/index.ts";
import { diagnose, type Diagnostic, type Finding, join, type Place, shortPath } from "./diagnostics.ts";
import { type FileAccess, FileError, isPattern } from "./files.ts";
import { parsePlain } from "./fast-parse.ts";
import type { Entry, MapNode, Node } from "./node.ts";
import { type ReferenceSources, resolveScalar } from "./references.ts";

export interface Merged {
  /** Null when a file could not be read or parsed. */
  readonly root: MapNode | null;
  readonly diagnostics: readonly Diagnostic[];
  /** What was defined already, and is left out of the tree, by its pointer. */
  readonly dropped: readonly { readonly pointer: string; readonly node: Node }[];
}

const MAIN_HINT = "name the configuration with --config FILE or in $GATEWAY_CONFIG";

/** Maps whose keys may be spread over files; everywhere else a key belongs to one file. */
const MERGED = new Set(
  ["", "server", "store", "auth", "auth/oauth", "billing", "tiers", "defaults", "defaults/upstream"]
    .concat(["defaults/kinds", "upstreams", "models", "status"])
    .map((path) => (path === "" ? "" : `/${path}`)),
);

/** Reads a configuration file and everything it includes, and merges them; each value keeps its own file and place. */
export async function loadTree(
  main: string,
  files: Pick<FileAccess, "read" | "expand">,
  sources: ReferenceSources,
): Promise<Merged> {
  const start: Place = { file: main, line: 1, column: 1 };
  const diagnostics: Diagnostic[] = [];
  const dropped: { pointer: string; node: Node }[] = [];
  const includedFrom = new Map<string, string>();

  async function load(file: string, from: Place, ancestors: readonly string[]): Promise<MapNode | null> {
    includedFrom.set(file, from.file);
    const root = await readTree(file, from);
    const include = root?.entries.get("include")?.value;
    let merged = root;
    for (const item of include?.kind === "list" ? include.items : []) {
      for (const path of await targets(file, item)) {
        const inner = await enter(path, item.place, [...ancestors, file]);
        merged = merged && inner && merge(merged, inner, "");
      }
    }
    return merged;
  }

  async function readTree(file: string, from: Place): Promise<MapNode | null> {
    try {
      const text = await files.read(file);
      const plain = await inTurns(parsePlain(file, text));
      if (plain !== null) return plain;
      // Most files are plain, and the library takes longer to load than they to check.
      const { parse } = await import("./parse.ts");
      const parsed = parse(file, text);
      diagnostics.push(...parsed.diagnostics);
      return parsed.diagnostics.length === 0 ? parsed.root : null;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      const hint = from === start ? MAIN_HINT : null;
      report(from, { rule: error.rule, message: `${shortPath(file)} ${error.message}`, hint });
      return null;
    }
  }

  /** What is wrong with the item itself is said by the stages that see the merged list. */
  async function targets(file: string, item: Node): Promise<readonly string[]> {
    const value = item.kind === "scalar" ? (await resolveScalar(item, "/include", sources)).node.value : null;
    if (typeof value !== "string" || value === "") return [];
    const folder = dirname(file);
    if (!isPattern(value)) return [resolve(folder, value)];
    const found = await files.expand(value, folder);
    if (found.length === 0) {
      const hint = `patterns start at ${shortPath(joinPath(folder, "."))}`;
      report(item.place, { rule: "include-empty", message: "matches no file", severity: "warning", hint });
    }
    return found;
  }

  async function enter(path: string, place: Place, ancestors: readonly string[]): Promise<MapNode | null> {
    const former = includedFrom.get(path);
    if (former === undefined) return load(path, place, ancestors);
    if (ancestors.includes(path)) {
      const way = [...ancestors.slice(ancestors.indexOf(path)), path].map(shortPath).join(" → ");
      report(place, { rule: "include-cycle", message: `includes form a cycle: ${way}` });
    } else {
      report(place, {
        rule: "include-twice",
        message: `${shortPath(path)} is already included from ${shortPath(former)}`,
      });
    }
    return null;
  }

  function merge(into: MapNode, from: MapNode, pointer: string): MapNode {
    const entries = new Map(into.entries);
    for (const [name, entry] of from.entries) {
      const former = entries.get(name);
      entries.set(name, former ? mergeEntry(name, former, entry, join(pointer, name)) : entry);
    }
    return { ...into, entries };
  }

  function mergeEntry(name: string, former: Entry, entry: Entry, pointer: string): Entry {
    const [a, b] = [former.value, entry.value];
    if (a.kind === "map" && b.kind === "map" && MERGED.has(pointer))
      return { key: former.key, value: merge(a, b, pointer) };
    if (pointer === "/include") {
      // One list, so that the schema and the references of every file's items are checked.
      return a.kind === "list" && b.kind === "list"
        ? { ...former, value: { ...a, items: [...a.items, ...b.items] } }
        : entry;
    }
    // A fragment may state the version, so that it can be opened in an editor on its own.
    const repeated = pointer === "/version" && a.kind === "scalar" && b.kind === "scalar" && a.value === b.value;
    if (!repeated) {
      const { file, line, column } = former.key;
      const message = `'${name}' is defined already in ${shortPath(file)}:${line}:${column}`;
      dropped.push({ pointer, node: entry.value });
      diagnostics.push(
        diagnose(entry.key, pointer, { rule: "duplicate-name", message, hint: "remove one of the two" }),
      );
    }
    return former;
  }

  function report(place: Place, finding: Finding): void {
    diagnostics.push(diagnose(place, place === start ? "" : "/include", finding));
  }

  const root = await load(main, start, []);
  return { root, diagnostics, dropped };
}
