import { dirname, resolve } from "node:path";
import type { ConfigTest } from "#schema";
import source from "../../schemas/config-test.source.schema.json" with { type: "json" };
import { compileSchema } from "../config/compile.ts";
import {
  ConfigurationError,
  diagnose,
  type Diagnostic,
  didYouMean,
  type Finding,
  join,
  type Place,
  sorted,
} from "../config/diagnostics.ts";
import { disk, FileError } from "../config/files.ts";
import { type Entry, find, type MapNode, type Node, type ScalarNode } from "../config/node.ts";
import { parse } from "../config/parse.ts";
import { isRecord, type Schema } from "../config/schema.ts";
import { check, place } from "../config/validate.ts";
import type { Snapshot } from "../kit/index.ts";
import type { loadOffline } from "../offline/load.ts";
import { TRANSPORT_HEADERS } from "../offline/requests.ts";
import { PATTERN_FLAGS } from "./expectations.ts";
import { type Binding, bindings, filled, type Names, namesIn, unboundValue, unknownName } from "./table.ts";

type Loaded = Awaited<ReturnType<typeof loadOffline>>;

/** One test with the values of one combination of its `each`. */
export interface TestCase {
  readonly name: string;
  /** As written, and where: what the cases of one table share. */
  readonly group: string;
  readonly pointer: string;
  readonly test: ConfigTest;
  /** The same with its places. */
  readonly node: Node;
}

/** A test file with the configuration that it is about. */
export interface TestFile {
  readonly path: string;
  readonly text: string;
  /** Why it cannot be run; then there are no cases. */
  readonly diagnostics: readonly Diagnostic[];
  /** null when it cannot be run. */
  readonly loaded: Loaded | null;
  /** Unix milliseconds at which each test begins. */
  readonly now: number;
  readonly cases: readonly TestCase[];
}

export interface ReadOptions {
  /** Of test files: it takes longer to compile than a file to read. */
  readonly schema: Schema;
  /** In place of the file's own. */
  readonly config?: string;
  /** Makes a configuration of a file. @throws ConfigurationError */
  readonly load: (file: string, env: Readonly<Record<string, string>>) => Promise<Loaded>;
}

const CONFIG = "gateway.yaml";
const CLOCK = "2026-01-05T12:00:00Z";
/** Keys of `given` that values of `each` with their name are put at. */
const GIVEN = ["tier", "credits", "user", "model", "endpoint", "stream", "prompt", "max_tokens"] as const;

export function testFileSchema(): Schema {
  return compileSchema(source);
}

/** Reads a test file and its configuration. Never throws for what they hold. */
export async function readTestFile(file: string, options: ReadOptions): Promise<TestFile> {
  const path = resolve(file);
  const failed = (text: string, diagnostics: readonly Diagnostic[]): TestFile => {
    return { path, text, diagnostics: sorted(diagnostics), loaded: null, now: 0, cases: [] };
  };
  let text: string;
  try {
    text = await disk.read(path);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return failed("", [diagnose({ file: path, line: 1, column: 1 }, "", { rule: error.rule, message: error.message })]);
  }
  const { root, diagnostics } = parse(path, text);
  if (root === null || diagnostics.length > 0) return failed(text, diagnostics);
  let loaded: Loaded;
  try {
    loaded = await options.load(
      options.config ?? resolve(dirname(path), textAt(root, "/config") ?? CONFIG),
      envOf(root),
    );
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return failed(text, error.diagnostics);
  }
  const reader = new CaseReader(root, loaded.snapshot);
  const cases = reader.read(options.schema);
  const now = Date.parse(textAt(root, "/clock") ?? CLOCK);
  if (Number.isNaN(now)) reader.report("/clock", { rule: "wrong-format", message: "is no time that a clock shows" });
  if (reader.diagnostics.length > 0) return failed(text, reader.diagnostics);
  return { path, text, diagnostics: [], loaded, now, cases };
}

function textAt(root: Node, pointer: string): string | null {
  const node = find(root, pointer)?.node;
  return node?.kind === "scalar" && typeof node.value === "string" && node.value !== "" ? node.value : null;
}

function envOf(root: MapNode): Record<string, string> {
  const env = root.entries.get("env")?.value;
  const entries = env?.kind === "map" ? [...env.entries] : [];
  return Object.fromEntries(
    entries.flatMap(([name, { value }]) => (value.kind === "scalar" ? [[name, String(value.value)] as const] : [])),
  );
}

/** Makes cases of the tests of a file, or diagnostics. */
class CaseReader {
  readonly #root: MapNode;
  readonly #names: Names;
  readonly #found = new Map<string, Diagnostic>();

  constructor(root: MapNode, { tiers, models, upstreams }: Snapshot) {
    this.#root = root;
    const sets = root.entries.get("sets")?.value;
    this.#names = {
      tier: Object.keys(tiers),
      model: Object.keys(models),
      upstream: Object.keys(upstreams),
      sets: new Map(sets?.kind === "map" ? [...sets.entries].map(([name, { value }]) => [name, value]) : []),
    };
  }

  get diagnostics(): readonly Diagnostic[] {
    return [...this.#found.values()];
  }

  /** Of what stands at the pointer, unless it is wrong already. */
  report(pointer: string, finding: Finding): void {
    const node = find(this.#root, pointer)?.node;
    if (node !== undefined && this.#found.size === 0) this.#report(node, pointer, finding);
  }

  read(schema: Schema): readonly TestCase[] {
    const tests = this.#root.entries.get("tests")?.value;
    const items = tests?.kind === "list" ? tests.items : [];
    const tables = items.map((item, index) => this.#expanded(item, join("/tests", index)));
    // The shape of the whole file is that of each test's first case.
    const first = items.map((item, index) => withTable(tables[index]![0]?.node, item));
    const whole = tests?.kind === "list" ? withEntry(this.#root, "tests", { ...tests, items: first }) : this.#root;
    this.#check(schema, whole, "");
    const one: Schema = { ...schema, validate: schema.branch({ $ref: "#/definitions/test" }) };
    return tables.flatMap((cases, index) => {
      const pointer = join("/tests", index);
      const group = textAt(items[index]!, "/name") ?? "";
      return cases.flatMap(({ node, binding }) => {
        const test = this.#check(one, node, pointer);
        if (test === null) return [];
        this.#checkNames(node, test, pointer);
        return [{ name: nameOf(test.name, group, binding), group, pointer, test, node }];
      });
    });
  }

  /** The test once for each combination of values. */
  #expanded(test: Node, pointer: string): readonly { readonly node: Node; readonly binding: Binding }[] {
    if (test.kind !== "map") return [{ node: test, binding: new Map() }];
    const each = test.entries.get("each");
    const rows = bindings(each?.value, join(pointer, "each"), this.#names, (diagnostic) => this.#add(diagnostic));
    const rest = new Map([...test.entries].filter(([key]) => key !== "each"));
    this.#checkUse(rows?.[0] ?? new Map(), { ...test, entries: rest }, pointer);
    return (rows ?? []).map((binding) => {
      const unbound = (node: Node, name: string, hint: string | null): void =>
        this.#report(node, pointer, unboundValue(name, hint));
      const twice = (place: Place, name: string): void => {
        const finding: Finding = { rule: "duplicate-name", message: `'${name}' stands twice in this map` };
        this.#add(diagnose(place, pointer, finding));
      };
      const node = filled({ ...test, entries: rest }, binding, unbound, twice);
      return { node: node.kind === "map" ? withGiven(node, binding) : node, binding };
    });
  }

  /** Values that change nothing make the same case several times, and the report says that each was tested. */
  #checkUse(binding: Binding, test: MapNode, pointer: string): void {
    const used = namesIn(test);
    const given = test.entries.get("given")?.value;
    for (const [name, node] of binding) {
      const isGiven = GIVEN.some((key) => key === name) && !(given?.kind === "map" && given.entries.has(name));
      if (used.has(name) || isGiven) continue;
      const message = `the value '${name}' is used nowhere`;
      const isSaid = GIVEN.some((key) => key === name);
      const meant = isSaid ? "given says it already" : didYouMean(name, GIVEN);
      const hint = meant ?? `write $${name} where it belongs`;
      this.#report(node, join(pointer, "each"), { rule: "unknown-value", message, hint });
    }
  }

  #check(schema: Schema, node: Node, pointer: string): ConfigTest | null {
    const { value, problems } = check(schema, node, pointer);
    for (const problem of problems) this.#add(place(node, pointer, problem));
    return problems.length === 0 && isRecord(value) ? (value as unknown as ConfigTest) : null;
  }

  #checkNames(node: Node, test: ConfigTest, pointer: string): void {
    const name = (at: string, what: "tier" | "model" | "upstream", written: string | undefined): void => {
      if (written === undefined || this.#names[what].includes(written)) return;
      this.#report(find(node, at)?.node ?? node, pointer + at, unknownName(what, written, this.#names[what]));
    };
    const parts = [["", test] as const, ...(test.steps ?? []).map((step, index) => [`/steps/${index}`, step] as const)];
    name("/given/tier", "tier", test.given?.tier);
    for (const [at, { given, expect }] of parts) {
      name(`${at}/given/model`, "model", given?.model);
      for (const upstream of Object.keys(given?.upstreams ?? {})) {
        if (upstream !== "*") name(join(`${at}/given/upstreams`, upstream), "upstream", upstream);
      }
      if (expect?.upstream !== "none") name(`${at}/expect/upstream`, "upstream", expect?.upstream);
      for (const [index, attempt] of Array.isArray(expect?.attempts) ? expect.attempts.entries() : []) {
        const upstream = typeof attempt === "string" ? attempt.split(" ")[0] : attempt.upstream;
        name(join(`${at}/expect/attempts`, index), "upstream", upstream);
      }
    }
    for (const [at, { expect }] of parts) {
      const expected = find(node, `${at}/expect`)?.node;
      if (expected !== undefined) this.#checkPatterns(expected, pointer);
      for (const header of Object.keys(expect?.headers ?? {})) {
        if (!TRANSPORT_HEADERS.has(header.toLowerCase())) continue;
        const finding: Finding = {
          rule: "unknown-value",
          message: `the header '${header}' is of the connection, and not compared`,
        };
        this.#report(find(node, join(`${at}/expect/headers`, header))?.node ?? node, pointer, finding);
      }
    }
    if (parts.every(([, { expect }]) => expect === undefined)) {
      const hint = "give it expect, or steps that have it";
      this.#report(node, pointer, { rule: "missing-key", message: "expects nothing", hint });
    }
  }

  /** What is expected to match is a regular expression. */
  #checkPatterns(node: Node, pointer: string): void {
    if (node.kind === "list") for (const item of node.items) this.#checkPatterns(item, pointer);
    if (node.kind !== "map") return;
    for (const [key, { value }] of node.entries) {
      // Below `json` stand values, whatever they are called.
      if (key !== "json") this.#checkPatterns(value, pointer);
      if (key !== "matches" || value.kind !== "scalar") continue;
      try {
        RegExp(String(value.value), PATTERN_FLAGS);
      } catch (error) {
        const message = `is no regular expression: ${error instanceof Error ? error.message : String(error)}`;
        this.#report(value, pointer, { rule: "wrong-format", message });
      }
    }
  }

  #report(node: Node, pointer: string, finding: Finding): void {
    this.#add(diagnose(node.place, pointer, finding));
  }

  /** The cases of a table make the same mistake at the same place. */
  #add(diagnostic: Diagnostic): void {
    const { line, column, message } = diagnostic;
    this.#found.set(`${line}:${column} ${message}`, diagnostic);
  }
}

function withEntry(map: MapNode, key: string, value: Node): MapNode {
  const place = map.entries.get(key)?.key ?? value.place;
  return { ...map, entries: new Map<string, Entry>([...map.entries, [key, { key: place, value }]]) };
}

/** The values of a table that are what is given have their place there. */
function withGiven(test: MapNode, binding: Binding): MapNode {
  const given = test.entries.get("given")?.value ?? {
    kind: "map",
    place: test.place,
    entries: new Map<string, Entry>(),
  };
  if (given.kind !== "map") return test;
  const put = GIVEN.flatMap((key): (readonly [string, ScalarNode])[] => {
    const value = binding.get(key);
    return value === undefined || given.entries.has(key) ? [] : [[key, value]];
  });
  if (put.length === 0) return test;
  return withEntry(
    test,
    "given",
    put.reduce((map: MapNode, [key, value]) => withEntry(map, key, value), given),
  );
}

/** The first case of a test with its table; without a case, what of the test can be checked all the same. */
function withTable(first: Node | undefined, test: Node): Node {
  if (test.kind !== "map") return test;
  const each = test.entries.get("each")?.value;
  if (first?.kind === "map") return each === undefined ? first : withEntry(first, "each", each);
  return { ...test, entries: new Map([...test.entries].filter(([key]) => key === "name" || key === "each")) };
}

/** Cases whose name has no value in it are told apart by all of them. */
function nameOf(name: string, group: string, binding: Binding): string {
  if (binding.size === 0 || name !== group) return name;
  return `${name} (${[...binding].map(([key, { value }]) => `${key} ${value}`).join(", ")})`;
}
