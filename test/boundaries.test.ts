import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { codeOf, MODULES, packageOf, ROOT } from "./support/modules.ts";

/** Who may import whom: a layer to the layers it may use. `index` is src/index.ts. */
const GATEWAY = [
  "kit",
  "config",
  "effects",
  "dialects",
  "pipeline",
  "store",
  "telemetry",
  "accounts",
  "upstream",
  "network",
  "simulator",
];
const MAY_IMPORT: Record<string, readonly string[] | "everything"> = {
  kit: [],
  config: ["kit", "schema"],
  effects: ["kit"],
  dialects: ["kit"],
  pipeline: ["kit"],
  store: ["kit"],
  network: ["kit"],
  telemetry: ["kit", "network", "schema"],
  accounts: ["kit", "network"],
  upstream: ["kit", "network", "dialects"],
  simulator: ["kit"],
  server: ["kit", "dialects", "accounts", "schema"],
  plugins: ["kit", "schema"],
  gateway: [...GATEWAY, "server", "plugins", "offline"],
  offline: [...GATEWAY, "server", "gateway", "schema"],
  "config-tests": ["kit", "config", "server", "gateway", "offline", "schema"],
  import: ["kit", "config", "dialects", "schema"],
  testing: ["kit", "config", "gateway", "offline", "plugins"],
  workers: ["kit", "gateway", "server", "telemetry"],
  ui: ["schema"],
  cli: "everything",
  index: "everything",
};

/** Each package is imported from one file, or from the files of one folder that share its subject. */
const HOMES: Readonly<Record<string, string>> = {
  h3: "src/server/",
  srvx: "src/server/router.ts",
  listhen: "src/server/listen.ts",
  "@fastify/busboy": "src/server/form.ts",
  yaml: "src/config/parse.ts",
  ajv: "src/config/compile.ts",
  "ajv-formats": "src/config/compile.ts",
  "node:sqlite": "src/store/",
  ioredis: "src/store/redis/",
  jose: "src/accounts/",
  "openid-client": "src/accounts/sign-in/oauth.ts",
  nodemailer: "src/accounts/sign-in/mail.ts",
  "lru-cache": "src/accounts/",
  undici: "src/upstream/send/",
  "p-retry": "src/upstream/send/route.ts",
  "eventsource-parser": "src/dialects/",
  "@smithy/signature-v4": "src/upstream/signing/aws.ts",
  "google-auth-library": "src/upstream/signing/google.ts",
  "@aws-crypto/sha256-js": "src/upstream/signing/aws.ts",
  pino: "src/telemetry/log.ts",
  "pino-pretty": "src/telemetry/log.ts",
  "@prometheus-io/client": "src/telemetry/",
  "@opentelemetry/api": "src/telemetry/otlp.ts",
  "@opentelemetry/exporter-metrics-otlp-http": "src/telemetry/otlp.ts",
  "@opentelemetry/exporter-trace-otlp-http": "src/telemetry/otlp.ts",
  "@opentelemetry/resources": "src/telemetry/otlp.ts",
  "@opentelemetry/sdk-metrics": "src/telemetry/otlp.ts",
  "@opentelemetry/sdk-trace": "src/telemetry/otlp.ts",
  commander: "src/cli/",
  "gpt-tokenizer": "src/gateway/tokenizer-worker.ts",
  "jsonc-parser": "src/cli/connect/formats.ts",
  "smol-toml": "src/cli/connect/formats.ts",
  vite: "src/ui/",
  preact: "src/ui/",
  "@preact/signals": "src/ui/",
  uplot: "src/ui/shared/chart.tsx",
};
/** The only second homes. */
const SECOND_HOMES: readonly (readonly [name: string, home: string, why: string])[] = [
  ["yaml", "src/import/source.ts", "files of other tools: YAML 1.1, with merge keys"],
  ["yaml", "src/import/write.ts", "a configuration with comments"],
  ["undici", "src/network/agents.ts", "the fetch that goes through a proxy"],
  ["ajv", "src/server/body-schemas.ts", "the type of what a validator that is compiled ahead reports"],
  ["yaml", "src/cli/connect/formats.ts", "settings of other programs, edited with their comments"],
];

/** Places where time, environment and network are real; everywhere else they come through `Host` or as arguments. */
const IMPURE_LAYERS = new Set([
  "network",
  "gateway",
  "workers",
  "cli",
  "server",
  "upstream",
  "simulator",
  "store",
  "accounts",
  "offline",
  "ui",
]);
const IMPURE_FILES = new Set(["src/config/watch.ts"]);

const sources = MODULES.map((module) => ({ ...module, layer: layerOf(module.path) }));

function layerOf(path: string): string {
  const [top, second = ""] = path.split("/");
  if (top === "plugins") return "plugins";
  return second.endsWith(".ts") ? second.slice(0, -".ts".length) : second;
}

/** With a slash at their end, the nearest first. */
function foldersOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => `${parts.slice(0, parts.length - index).join("/")}/`);
}

function matching(pattern: RegExp): string[] {
  return sources.filter(({ text }) => pattern.test(codeOf(text))).map(({ path }) => path);
}

describe("layers", () => {
  test("every source file belongs to a known layer", () => {
    expect(sources.length).toBeGreaterThan(40);
    expect(sources.filter((source) => !(source.layer in MAY_IMPORT)).map((source) => source.path)).toEqual([]);
  });

  test("a layer imports only what it may", () => {
    const wrong: string[] = [];
    for (const { path, layer, imports } of sources) {
      const allowed = MAY_IMPORT[layer]!;
      for (const { specifier, target } of imports) {
        if (target === null || allowed === "everything") continue;
        const to = target.startsWith("schemas/") ? "schema" : layerOf(target);
        // A plugin has the parts in the folder of its name; another plugin it has only by `plugins/index.ts`.
        const own = path.replace(/^(plugins\/[^/.]+).*/, "$1/");
        const sibling = layer === "plugins" && path !== "plugins/index.ts" && !target.startsWith(own);
        if (to === layer && !sibling) continue;
        if (!allowed.includes(to)) wrong.push(`${path} imports ${specifier} (${layer} -> ${to})`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("what is remembered of an upstream does not know how it is sent to", () => {
    const inside = sources.filter(({ path }) => path.startsWith("src/upstream/state/"));
    const wrong = inside.flatMap(({ path, imports }) =>
      imports
        .map(({ target }) => target)
        .filter((target) => target !== null && !/^src\/(kit|upstream\/state)\//.test(target))
        .map((target) => `${path} imports ${target}`),
    );
    expect(inside.length).toBeGreaterThan(4);
    expect(wrong).toEqual([]);
  });

  test("a package is imported only in its home, and every home is in use", () => {
    const homes = new Set([
      ...Object.entries(HOMES).map(([name, home]) => `${name} ${home}`),
      ...SECOND_HOMES.map(([name, home]) => `${name} ${home}`),
    ]);
    const used = new Set<string>();
    const wrong: string[] = [];
    for (const { path, imports } of sources) {
      for (const name of imports.map(packageOf)) {
        if (name === null || (name.startsWith("node:") && !(name in HOMES))) continue;
        const entry = [`${name} ${path}`, ...foldersOf(path).map((folder) => `${name} ${folder}`)].find((one) =>
          homes.has(one),
        );
        if (entry === undefined) wrong.push(`${path} imports ${name}; its home is ${HOMES[name] ?? "nowhere"}`);
        else used.add(entry);
      }
    }
    expect(wrong).toEqual([]);
    expect([...homes].filter((entry) => !used.has(entry))).toEqual([]);
  });

  test("a client's half of a wire format shares its native vocabulary with the upstream's half, and nothing else", () => {
    const half = /^src\/dialects\/(\w+)\/client(?:\/|\.ts$)/;
    const halves = sources.filter(({ path }) => half.test(path));
    expect(new Set(halves.map(({ path }) => half.exec(path)![1]))).toEqual(new Set(["chat", "messages", "responses"]));
    const wrong: string[] = [];
    for (const { path, imports } of halves) {
      const format = half.exec(path)![1]!;
      for (const { specifier, target } of imports) {
        if (target === null || !target.startsWith("src/dialects/")) continue;
        const shared = target.startsWith("src/dialects/canonical/") || target === `src/dialects/${format}/native.ts`;
        if (!shared && !half.test(target)) wrong.push(`${path} imports ${specifier}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("there are no cycles", () => {
    const graph = new Map(
      sources.map(({ path, imports }) => [
        path,
        imports.map(({ target }) => target).filter((target) => target !== null),
      ]),
    );
    const done = new Set<string>();
    const visit = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) throw new Error(`cycle: ${[...trail.slice(trail.indexOf(path)), path].join(" -> ")}`);
      if (done.has(path)) return;
      for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
      done.add(path);
    };
    for (const path of graph.keys()) visit(path, []);
    expect(done.size).toBeGreaterThanOrEqual(sources.length);
  });
});

/** The files that Node loads with one: types vanish, and `import()` loads when it is called. */
function filesLoadedWith(entry: string): ReadonlySet<string> {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const loaded = new Set<string>();
  const visit = (path: string): void => {
    const source = byPath.get(path);
    if (source === undefined || loaded.has(path)) return;
    loaded.add(path);
    for (const { target, lazy, typeOnly } of source.imports) if (target !== null && !lazy && !typeOnly) visit(target);
  };
  visit(entry);
  return loaded;
}

const loadedWith = (entry: string): ReadonlySet<string> => new Set([...filesLoadedWith(entry)].map(layerOf));

test("a command loads only what it needs", () => {
  expect([...loadedWith("src/cli/program.ts")].toSorted()).toEqual(["accounts", "cli", "config", "kit", "simulator"]);
  const check = loadedWith("src/cli/check.ts");
  expect(["server", "store", "telemetry", "upstream", "workers"].filter((layer) => check.has(layer))).toEqual([]);
  expect(loadedWith("src/cli/serve.ts")).toContain("server");
  // Compiling the schema took a third of a check, and so did reading a plain file by the YAML library.
  const files = filesLoadedWith("src/cli/check.ts");
  expect(["src/config/compile.ts", "src/config/parse.ts"].filter((file) => files.has(file))).toEqual([]);
});

test("a start loads nothing that only some gateways use", () => {
  const loaded = filesLoadedWith("src/cli/serve.ts");
  const packages = sources
    .filter(({ path }) => loaded.has(path))
    .flatMap(({ imports }) => imports.filter(({ lazy, typeOnly }) => !lazy && !typeOnly).map(packageOf));
  expect(packages).toContain("undici");
  const some = [
    ...Object.keys(HOMES).filter((name) => name.startsWith("@opentelemetry/")),
    "@aws-crypto/sha256-js",
    "@smithy/signature-v4",
    "ajv",
    "google-auth-library",
    "gpt-tokenizer",
    "ioredis",
    "jose",
    "listhen",
    "nodemailer",
    "openid-client",
    "pino-pretty",
  ];
  expect(some.filter((name) => packages.includes(name))).toEqual([]);
  expect(loaded.has("src/gateway/start.ts")).toBe(true);
  expect(loaded.has("src/simulator/server.ts")).toBe(false);
});

describe("effects", () => {
  test("time, timers, environment and fetch stay in their layers", () => {
    const effect =
      /\bDate\.now\(|\bnew Date\(\)|\bset(?:Timeout|Interval|Immediate)\(|\bprocess\.env\b|(?<![.\w])fetch\(/;
    const wrong = sources
      .filter(({ path, layer }) => !IMPURE_LAYERS.has(layer) && !IMPURE_FILES.has(path))
      .filter(({ text }) => effect.test(codeOf(text)))
      .map(({ path, text }) => `${path}: ${effect.exec(codeOf(text))![0]}`);
    expect(wrong).toEqual([]);
  });

  test("nothing evaluates code, and nothing starts programs but what reads from git or runs ${exec:}", () => {
    expect(matching(/\beval\(|\bnew Function\(|node:vm\b/)).toEqual([]);
    expect(matching(/node:child_process\b/)).toEqual(["src/cli/revision.ts", "src/gateway/commands.ts"]);
  });

  test("no global fetch, and no `any`", () => {
    const wrong = sources.filter(({ text }) => /\bglobalThis\.fetch|:\s*any\b|\bas any\b|<any>/.test(codeOf(text)));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});

test("the top level holds what it should and nothing else", () => {
  const files =
    "package.json package-lock.json tsconfig.json gateway.yaml README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE";
  const folders = "plugins src schemas test bench deploy docs node_modules data dist";
  const known = new Set(`${files} ${folders}`.split(" "));
  const extra = readdirSync(ROOT).filter((name) => !name.startsWith(".") && !known.has(name));
  expect(extra).toEqual([]);
});
