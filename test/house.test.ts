import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { codeOf, type Module, MODULES, ROOT } from "./support/modules.ts";

const SOURCES = MODULES.filter(({ path }) => path.startsWith("src/"));

const MIN_LINES = 80;
/** A file is divided by its subject; beyond this it has several. */
const MAX_LINES = 500;
const MAX_README_LINES = 30;
const MAX_DIALECTS_README_LINES = 70;

/** A file, or a file and a name, with the reason why the rule does not hold for it. An entry that is no longer true fails. */
type Excuse = readonly [entry: string, why: string];

/** Where a small file with one importer is how something is added: one a command, an endpoint, a vendor, a provider. */
const PLUG_IN_POINTS: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^src\/cli\/\w+\.ts$/, "a command, loaded when it is called"],
  [/^src\/simulator\/dialects\/\w+\.ts$/, "the endpoints of a provider"],
  [/^src\/server\/admin\/routes\/\w+\.ts$/, "rows of the admin API, by what they are about"],
  [/^src\/simulator\/strict\/(?:\w+\/)?[\w-]+\.ts$/, "what a vendor refuses"],
  [/^src\/ui\/(?:dashboard|console|status)\/[\w-]+\.tsx$/, "a page of the browser's"],
];
const SMALL: readonly Excuse[] = [
  ["src/dialects/endpoints/jina-and-voyage.ts", "the dialects of two providers, each a plug-in"],
];
const LONG: readonly Excuse[] = [];
const NAMES_WITHOUT_UNIT: readonly Excuse[] = [
  ["src/kit/errors.ts CLIENT_GONE_STATUS", "a status of HTTP"],
  ["src/kit/money.ts MAX_POWER", "an exponent"],
  ["src/dialects/gemini/models.ts INT32_LIMIT", "the bound of a type of numbers"],
  ["src/simulator/endpoints/embeddings.ts INT32_SCALE", "the bound of a type of numbers"],
  ["src/simulator/endpoints/audio.ts WAVE_AMPLITUDE", "a level of samples, of 32,768"],
  ["src/store/sqlite/database.ts CORRUPT", "a result code of SQLite"],
  ["src/store/sqlite/database.ts NOTADB", "a result code of SQLite"],
];

/** What breaks a rule without an excuse, and the excuses that nothing needs any more. */
function faults(found: readonly string[], excuses: readonly Excuse[]): string[] {
  const needed = new Set(found);
  const excused = new Set(excuses.map(([entry]) => entry));
  const stale = excuses.filter(([entry]) => !needed.has(entry)).map(([entry]) => `no longer needed: ${entry}`);
  return [...found.filter((entry) => !excused.has(entry)), ...stale];
}

test("src holds folders, its README and the public API", () => {
  const entries = readdirSync(join(ROOT, "src"), { withFileTypes: true });
  expect(
    entries
      .filter((entry) => !entry.isDirectory())
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(["README.md", "index.ts"]);
});

/** Names that a file exports. */
function exportsOf({ text }: Module): string[] {
  const declared = text.matchAll(
    /^export (?:declare )?(?:abstract )?(?:async )?(?:const|function\*?|class|interface|type|enum) (\w+)/gm,
  );
  return [...declared].map(([, name]) => name!);
}

/** Files by the files that import them, also lazily or as a thread; what a barrel passes on is imported by who takes it there. */
function importers(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>(MODULES.map(({ path }) => [path, new Set<string>()]));
  const behind = new Map<string, Map<string, string>>();
  for (const barrel of MODULES) {
    const names = new Map<string, string>();
    for (const { statement, target } of barrel.imports) {
      const part = statement.startsWith("export *") ? MODULES.find(({ path }) => path === target) : undefined;
      for (const name of part === undefined ? [] : exportsOf(part)) names.set(name, part!.path);
    }
    if (names.size > 0) behind.set(barrel.path, names);
  }
  for (const { path, text, imports } of MODULES) {
    for (const { target, statement } of imports) {
      if (target === null) continue;
      found.get(target)?.add(path);
      const names = behind.get(target);
      const taken = /\{([^}]*)\}/.exec(statement)?.[1] ?? "";
      for (const [name] of taken.matchAll(/\w+/g)) found.get(names?.get(name) ?? "")?.add(path);
    }
    for (const [, url] of text.matchAll(/new URL\([`"](\.[^`"$]+)/g)) {
      const started = join(dirname(path), url!);
      for (const file of [started, `${started}.ts`]) found.get(file)?.add(path);
    }
  }
  for (const [barrel, names] of behind) for (const part of names.values()) found.get(part)?.delete(barrel);
  return found;
}

describe("files", () => {
  test(`a file has two importers, or ${MIN_LINES} lines, or is a plug-in point`, () => {
    const by = importers();
    const small = SOURCES.filter(({ path, lineCount }) => lineCount < MIN_LINES && by.get(path)!.size === 1).map(
      ({ path }) => path,
    );
    const isPlugIn = (path: string) => PLUG_IN_POINTS.some(([pattern]) => pattern.test(path));
    const others = small.filter((path) => !isPlugIn(path));
    expect(faults(others, SMALL)).toEqual([]);
    expect(PLUG_IN_POINTS.filter(([pattern]) => !small.some((path) => pattern.test(path)))).toEqual([]);
  });

  test(`none has more than ${MAX_LINES} lines`, () => {
    const long = SOURCES.filter(({ lineCount }) => lineCount > MAX_LINES).map(({ path }) => path);
    expect(faults(long, LONG)).toEqual([]);
  });

  test("none is called after what has no subject", () => {
    const grabBags = /^(?:utils?|helpers?|common|misc|shared|stuff)\.tsx?$/;
    expect(SOURCES.filter(({ path }) => grabBags.test(basename(path))).map(({ path }) => path)).toEqual([]);
  });
});

/** A number that is written down as such: factors, sums and other constants. Hexadecimal and octal ones are codes. */
const NUMBER =
  /^(?:export )?const ([A-Z][A-Z0-9_]*) = ((?:[A-Z][A-Z0-9_]*|[\d_]+(?:\.\d+)?(?:e\d+)?n?|[-+*/()\s])+);$/gm;
const SMALLEST_COUNT = 10;
/** What stands at the end of a name for what is counted, besides a plural: `MAX_HOPS`, `CODES_PER_ADDRESS`. */
const UNIT = /_(?:MS|COUNT|DEPTH|SHARE|HZ|PX)$|_PER_[A-Z_]+$|[^SU]S$/;

function numbersOf({ path, text }: Module): string[] {
  const found = [...codeOf(text).matchAll(NUMBER)].filter(([, , value]) => {
    const literals = value!.match(/(?<![\w.])[\d_]+(?:\.\d+)?(?:e\d+)?/g) ?? [];
    return literals.some((literal) => Number(literal.replaceAll("_", "")) >= SMALLEST_COUNT) || /[A-Z]/.test(value!);
  });
  return found.map(([, name]) => `${path} ${name}`);
}

test("a constant that is a number says of what", () => {
  const numbers = MODULES.flatMap(numbersOf);
  expect(numbers.length).toBeGreaterThan(150);
  const bare = numbers.filter((entry) => !UNIT.test(entry));
  expect(faults(bare, NAMES_WITHOUT_UNIT)).toEqual([]);
});

describe("READMEs", () => {
  const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());

  test.each(folders.map(({ name }) => name))(
    "src/%s has one that is short, and the files it names are there",
    (folder) => {
      const path = join(ROOT, "src", folder);
      const text = readFileSync(join(path, "README.md"), "utf8");
      expect(text).toMatch(/^# /);
      const max = folder === "dialects" ? MAX_DIALECTS_README_LINES : MAX_README_LINES;
      expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(max);
      // A name in capitals stands for any.
      const named = [...text.matchAll(/`([\w./-]+\.(?:tsx?|lua|json))`/g)]
        .map(([, file]) => file!)
        .filter((file) => !/(?:^|\/)[A-Z]+[.-]/.test(file));
      const inside = globSync([`src/${folder}/**/*`, `test/${folder}/**/*`], { cwd: ROOT });
      const isThere = (file: string) =>
        [join(ROOT, "src"), ROOT].some((base) => existsSync(join(base, file))) ||
        inside.some((there) => there.endsWith(`/${file}`));
      expect(named.filter((file) => !isThere(file))).toEqual([]);
    },
  );
});
