import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { CommanderError, type Command } from "commander";
import { describe, expect, test } from "vitest";
import { parseDocument, stringify } from "yaml";
import { createProgram } from "../src/cli/program.ts";
import { checkConfig } from "../src/gateway/configuration.ts";
import { isJson, type Json } from "../src/kit/index.ts";
import { merge } from "./e2e/support/gateway-config.ts";
import { ROOT } from "./support/modules.ts";

const MAX_README_LINES = 250;

interface Page {
  readonly path: string;
  readonly text: string;
  /** Without blocks of code. */
  readonly prose: string;
  readonly blocks: readonly Block[];
}

interface Block {
  readonly language: string;
  readonly code: string;
}

const FENCE = /^```(\w*)\n(.*?)^```$/gms;

const PAGES: readonly Page[] = ["README.md", "plugins/README.md", ...globSync(["docs/**/*.md"], { cwd: ROOT })]
  .toSorted()
  .map((path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    const blocks = [...text.matchAll(FENCE)].map(([, language = "", code = ""]) => ({ language, code }));
    return { path, text, prose: text.replaceAll(FENCE, ""), blocks };
  });

/** Of one provider or client: names options of other programs. */
const isRecipe = (path: string): boolean => path.startsWith("docs/recipes/");

const named = (pages: readonly Page[]) => pages.map((page) => [page.path, page] as const);

test("README is read in ten minutes, and leads to every guide", () => {
  const { text } = PAGES.find(({ path }) => path === "README.md")!;
  expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(MAX_README_LINES);
  const guides = PAGES.map(({ path }) => path).filter((path) => /^docs\/[^/]+\.md$/.test(path));
  expect(guides.length).toBeGreaterThanOrEqual(6);
  expect(guides.filter((path) => !text.includes(`](${path})`))).toEqual([]);
});

/** The anchors of headings, as GitHub makes them. */
function anchorsOf(file: string): ReadonlySet<string> {
  const prose = readFileSync(file, "utf8").replaceAll(FENCE, "");
  const found = new Set<string>();
  for (const [, heading = ""] of prose.matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const slug = plain.replaceAll(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
    let anchor = slug;
    for (let n = 1; found.has(anchor); n++) anchor = `${slug}-${n}`;
    found.add(anchor);
  }
  return found;
}

/** Relative links of a file that lead nowhere, or out of the repository. */
function brokenLinks(file: string, prose: string): readonly string[] {
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = ""]) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [target = "", anchor] = link.split("#");
      const there = target === "" ? file : resolve(dirname(file), target);
      if (relative(ROOT, there).startsWith("..") || !existsSync(there)) return true;
      return anchor !== undefined && (statSync(there).isDirectory() || !anchorsOf(there).has(anchor));
    });
}

test("links and anchors lead somewhere, in every README and guide", () => {
  const files = [...globSync("{src,schemas}/**/README.md", { cwd: ROOT }), ...PAGES.map(({ path }) => path)];
  expect(files.length).toBeGreaterThan(20);
  for (const path of files) {
    const file = join(ROOT, path);
    const broken = brokenLinks(file, readFileSync(file, "utf8").replaceAll(FENCE, ""));
    expect({ path, broken }).toEqual({ path, broken: [] });
  }
});

test("the tests that the security page names are there", () => {
  const { text } = PAGES.find(({ path }) => path === "docs/security.md")!;
  const tests = [...text.matchAll(/`(test\/[^`]+)`/g)].map(([, path]) => path!);
  expect(tests.length).toBeGreaterThan(25);
  expect(tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

describe.each(named(PAGES))("%s", (path, { text, prose, blocks }) => {
  test("says what it is for", () => {
    expect(text).toMatch(/^# .+\n\n\w/);
  });

  test("its examples of a configuration pass a check", async () => {
    // Recipes have whole files, of other programs, too: test/recipes.test.ts looks at those.
    for (const { code } of isRecipe(path) ? [] : blocks.filter(isFragment)) {
      const errors = await errorsOf(code);
      expect({ code, errors }).toEqual({ code, errors: [] });
    }
  });

  test("its command lines name commands, arguments and options that are there", async () => {
    const lines = blocks
      .filter(({ language }) => language === "sh")
      .flatMap(({ code }) => code.replaceAll("\\\n", " ").split("\n"));
    const wrong: string[] = [];
    for (const line of lines) {
      const [, words] = /^npx gateway (.+)$/.exec(line) ?? [];
      const [, script] = /^npm run (\S+)/.exec(line) ?? [];
      const fault = words === undefined ? null : await wrongUse(wordsOf(words));
      if (fault !== null) wrong.push(`${line}: ${fault}`);
      if (script !== undefined && !Object.hasOwn(SCRIPTS, script)) wrong.push(line);
    }
    expect(wrong).toEqual([]);
  });

  test("what it names in passing is there: commands, scripts, keys of the configuration, metrics, paths", () => {
    const codes = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);
    const own = isRecipe(path) ? codes.filter((code) => !code.startsWith("--")) : codes;
    expect(own.filter((code) => !isThere(code))).toEqual([]);
  });
});

const TIER: Json = { access: "all", limits: { day: 10, hour: "none", minute: 10, streams: 1 } };
const MODEL: Json = {
  kind: "chat",
  tier: "Free",
  owned_by: "base",
  price: { input_per_million: 1, output_per_million: 2 },
  chain: [{ upstream: "base", model: "base" }],
};
const BASE: Json = {
  version: 1,
  store: { url: "memory:" },
  billing: { currency: "USD" },
  tiers: { Free: TIER, Lite: TIER },
  upstreams: { base: { dialect: "openai", base_url: "sim:", api_keys: ["sim"] } },
  models: { "route/base": MODEL },
  pipeline: ["auth", "plan-check", "quota", "breaker", "stream-relay", "meter"],
};
const SERVICE_ACCOUNT = "sa.json";

/** Of a configuration; tests of one have their own test (test/cli/test.test.ts). */
function isFragment({ language, code }: Block): boolean {
  return language === "yaml" && !code.includes("config-test.schema.json");
}

/** Errors of a fragment on top of a small configuration: what a model of it leaves out is taken from that one's model. */
async function errorsOf(code: string): Promise<readonly string[]> {
  const document = parseDocument(code);
  expect(document.errors).toEqual([]);
  const fragment = document.toJS() as Json;
  const whole: Record<string, Json> = {};
  for (const [name, own] of Object.entries((fragment["models"] ?? {}) as Json)) {
    whole[name] = { ...MODEL, ...(own as Json) };
  }
  const store = code.includes("needs a Redis store") ? { url: "redis://127.0.0.1:6379/0" } : {};
  const config = merge(merge(BASE, { store }), { ...fragment, models: whole });
  const file = join(ROOT, "gateway.yaml");
  const text = stringify(config);
  const result = await checkConfig({
    // Examples name files that nobody has here.
    tlsFiles: "skip",
    file,
    env: {},
    read: async (path) => (path === file ? text : path.endsWith(SERVICE_ACCOUNT) ? "" : readFileSync(path, "utf8")),
  });
  return result.diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message);
}

/** A command line as a shell splits it, without comments and redirections. */
function wordsOf(line: string): string[] {
  const words = line.replace(/\s#.*$/, "").replace(/\s>\s*\S+/, "");
  return [...words.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, one, two, three]) => one ?? two ?? three ?? "");
}

/** What the command line says to these words, without doing it; null: it would. */
async function wrongUse(words: readonly string[]): Promise<string | null> {
  const program = createProgram();
  const calm = (command: Command): void => {
    command.configureOutput({ writeOut: () => {}, writeErr: () => {} });
    if (command.commands.length === 0) command.action(() => {});
    for (const one of command.commands) calm(one);
  };
  calm(program);
  try {
    await program.parseAsync(words, { from: "user" });
    return null;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? null : error.message;
    throw error;
  }
}

const SCRIPTS = (JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { readonly scripts: Json }).scripts;
const SCHEMA = JSON.parse(readFileSync(join(ROOT, "schemas/gateway.source.schema.json"), "utf8")) as Json;
const SOURCES = globSync("{src,plugins}/**/*.{ts,lua}", { cwd: ROOT }).map((path) =>
  readFileSync(join(ROOT, path), "utf8"),
);
const ALL_SOURCES = SOURCES.join("\n");

function optionsOf(command: Command): readonly string[] {
  return [...command.options.flatMap(({ long }) => long ?? []), ...command.commands.flatMap(optionsOf)];
}

/** Of commands of the gateway, of scripts beside it, and of Docker Compose. */
const OPTIONS: ReadonlySet<string> = new Set([
  ...optionsOf(createProgram()),
  ...globSync(["test/*/run.ts", "bench/**/*.ts"], { cwd: ROOT }).flatMap((path) =>
    [...readFileSync(join(ROOT, path), "utf8").matchAll(/^ +"?([\w-]+)"?: \{ type: "(?:string|boolean)"/gm)].map(
      ([, name]) => `--${name}`,
    ),
  ),
  "--profile",
]);

function isThere(code: string): boolean {
  const [, command, sub] = /^(?:npx )?gateway ([a-z]+)(?: ([a-z]+))?/.exec(code) ?? [];
  if (command !== undefined) {
    const found = createProgram().commands.find((one) => one.name() === command);
    const subs = found?.commands ?? [];
    return found !== undefined && (subs.length === 0 || sub === undefined || subs.some((one) => one.name() === sub));
  }
  const [option] = /^--[a-z][a-z-]*/.exec(code) ?? [];
  if (option !== undefined) return OPTIONS.has(option);
  const [, script] = /^npm run ([\w:-]+)/.exec(code) ?? [];
  if (script !== undefined) return Object.hasOwn(SCRIPTS, script);
  const [, path] = /^(?:(?:GET|POST|DELETE) )?(\/(?:v\d|auth|admin)\/[\w/]*\w)/.exec(code) ?? [];
  if (path !== undefined) return ALL_SOURCES.includes(path);
  if (/^gateway_\w+/.test(code)) return ALL_SOURCES.includes(/^\w+/.exec(code)![0]);
  if (/^(?:src|test|schemas|deploy|plugins)\/[\w./-]+$/.test(code)) return existsSync(join(ROOT, code));
  const [first = "", ...rest] = /^[a-z_]+(?:\.[a-z_]+)+$/.test(code) ? code.split(".") : [];
  return !Object.hasOwn(SCHEMA["properties"] as Json, first) || isKey(SCHEMA, [first, ...rest]);
}

/** Whether the schema of the configuration has a key there; any name where names are the operator's. */
function isKey(schema: Json, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true;
  const { $ref: ref, anyOf, properties, additionalProperties } = schema;
  if (typeof ref === "string") {
    const place = ref.split("/").slice(1);
    return isKey(
      place.reduce<Json>((at, name) => at[name] as Json, SCHEMA),
      [key, ...rest],
    );
  }
  if (Array.isArray(anyOf) && (anyOf as readonly Json[]).some((one) => isKey(one, [key, ...rest]))) return true;
  if (isJson(properties) && isJson(properties[key])) return isKey(properties[key], rest);
  return isJson(additionalProperties) && isKey(additionalProperties, rest);
}

test("a mistake in a page is found", async () => {
  expect(await wrongUse(wordsOf("check --strickt gateway.yaml"))).toContain("strickt");
  expect(await wrongUse(wordsOf("diff HEAD:gateway.yaml # one side"))).toContain("new");
  expect(await wrongUse(wordsOf("check --format sariff > out"))).toContain("sariff");
  expect(await errorsOf("reload: { gard: { share: 10% } }")).toEqual([expect.stringContaining("gard")]);
  const wrong = [
    "gateway chek",
    "gateway keys lost",
    "--strickt",
    "npm run tests",
    "server.drain.delays",
    "gateway_requsts_total",
    "src/kit/none.ts",
    "POST /v1/chats",
  ];
  expect(wrong.filter(isThere)).toEqual([]);
  expect(brokenLinks(join(ROOT, "README.md"), "[a](src) [b](src/none.md) [c](README.md#none) [d](../x)")).toEqual([
    "src/none.md",
    "README.md#none",
    "../x",
  ]);
});
