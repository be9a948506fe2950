import { globSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = new URL("..", import.meta.url).pathname;

/** Who may import whom: a layer to the layers it may use. `index` is src/index.ts. */
const GATEWAY = ["kit", "config", "dialects", "pipeline", "store", "telemetry", "accounts", "upstream", "simulator"];
const MAY_IMPORT: Record<string, readonly string[] | "everything"> = {
  kit: [],
  config: ["kit", "schema"],
  dialects: ["kit"],
  pipeline: ["kit"],
  store: ["kit"],
  telemetry: ["kit"],
  accounts: ["kit"],
  upstream: ["kit", "dialects"],
  simulator: ["kit"],
  server: ["kit", "dialects", "accounts", "schema"],
  plugins: ["kit", "schema"],
  gateway: [...GATEWAY, "server", "plugins"],
  workers: ["kit", "gateway", "server", "telemetry"],
  cli: "everything",
  index: "everything",
};

/** Each package has one home; a wire format's framing is also the simulator's. */
const HOMES: Record<string, string | readonly string[]> = {
  h3: "server",
  srvx: "server",
  listhen: "server",
  "@fastify/busboy": "server",
  yaml: "config",
  ajv: ["config", "server"],
  "ajv-formats": "config",
  chokidar: "config",
  "node:sqlite": "store",
  ioredis: "store",
  jose: "accounts",
  "openid-client": "accounts",
  nodemailer: "accounts",
  "lru-cache": "accounts",
  undici: "upstream",
  "p-retry": "upstream",
  "eventsource-parser": "dialects",
  "@smithy/eventstream-codec": ["dialects", "simulator"],
  "@smithy/signature-v4": "upstream",
  "google-auth-library": "upstream",
  "@aws-crypto/sha256-js": "upstream",
  pino: "telemetry",
  "pino-pretty": "telemetry",
  "@prometheus-io/client": "telemetry",
  commander: "cli",
  "gpt-tokenizer": "gateway",
};

/** Places where time, environment and network are real; everywhere else they come through `Host` or as arguments. */
const IMPURE_LAYERS = new Set(["gateway", "workers", "cli", "server", "upstream", "simulator", "store", "accounts"]);
const IMPURE_FILES = new Set(["src/config/watch.ts"]);

interface Source {
  readonly path: string;
  readonly layer: string;
  readonly text: string;
  readonly imports: readonly string[];
}

const IMPORT =
  /^(?:import|export)\s+(?:type\s+)?(?:\*(?:\s+as\s+\w+)?|\{[^}]*\}|\w+(?:\s*,\s*\{[^}]*\})?)\s+from\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\(\s*"([^"]+)"/gm;

const sources: readonly Source[] = globSync(["src/**/*.ts", "plugins/**/*.ts"], { cwd: ROOT })
  .filter((path) => !path.endsWith(".test.ts"))
  .map((path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    return {
      path,
      layer: layerOf(path),
      text,
      imports: [...text.matchAll(IMPORT)].map((m) => (m[1] ?? m[2] ?? m[3])!),
    };
  });

function layerOf(path: string): string {
  const [top, second = ""] = path.split("/");
  if (top === "plugins") return "plugins";
  // Validation of request bodies, which the gateway hands to the server.
  if (path === "src/bodies.ts") return "gateway";
  return second.endsWith(".ts") ? second.slice(0, -".ts".length) : second;
}

/** The project file an import means, or null for a package. */
function resolve(from: string, specifier: string): string | null {
  if (specifier === "#kit") return "src/kit/index.ts";
  if (specifier === "#schema") return "schemas/types.gen.ts";
  return specifier.startsWith(".") ? normalize(join(dirname(from), specifier)) : null;
}

function packageOf(specifier: string): string {
  const parts = specifier.split("/");
  return specifier.startsWith("@") ? parts.slice(0, 2).join("/") : parts[0]!;
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
      for (const specifier of imports) {
        const target = resolve(path, specifier);
        if (target === null || allowed === "everything") continue;
        const to = target.startsWith("schemas/") ? "schema" : layerOf(target);
        const sibling = layer === "plugins" && path !== "plugins/index.ts";
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
        .map((specifier) => resolve(path, specifier))
        .filter((target) => target !== null && !/^src\/(kit|upstream\/state)\//.test(target))
        .map((target) => `${path} imports ${target}`),
    );
    expect(inside.length).toBeGreaterThan(4);
    expect(wrong).toEqual([]);
  });

  test("a package is imported only in its home", () => {
    const wrong: string[] = [];
    for (const { path, layer, imports } of sources) {
      for (const specifier of imports.filter((name) => !/^[.#]/.test(name))) {
        const name = specifier.startsWith("node:") ? specifier : packageOf(specifier);
        if (name.startsWith("node:") && !(name in HOMES)) continue;
        if (![HOMES[name]].flat().includes(layer))
          wrong.push(`${path} imports ${specifier}; its home is ${HOMES[name] ?? "nowhere"}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("a client's half of a wire format shares its native vocabulary with the upstream's half, and nothing else", () => {
    const half = /^src\/dialects\/(\w+)\/client(?:\/|\.ts$)/;
    const halves = sources.filter(({ path }) => half.test(path));
    expect(new Set(halves.map(({ path }) => half.exec(path)![1]))).toEqual(new Set(["chat", "messages", "responses"]));
    const wrong: string[] = [];
    for (const { path, imports } of halves) {
      const format = half.exec(path)![1]!;
      for (const specifier of imports) {
        const target = resolve(path, specifier);
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
        imports.map((name) => resolve(path, name)).filter((to) => to !== null),
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

/** The layers that Node loads with a file: types vanish, and `import()` loads when it is called. */
function loadedWith(entry: string): ReadonlySet<string> {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const loaded = new Set<string>();
  const visit = (path: string): void => {
    const source = byPath.get(path);
    if (source === undefined || loaded.has(path)) return;
    loaded.add(path);
    for (const [statement, from, bare] of source.text.matchAll(IMPORT)) {
      const specifier = from ?? bare;
      if (specifier === undefined || /^(?:import|export) type /.test(statement)) continue;
      const target = resolve(path, specifier);
      if (target !== null) visit(target);
    }
  };
  visit(entry);
  return new Set([...loaded].map(layerOf));
}

test("a command loads only what it needs", () => {
  expect([...loadedWith("src/cli/program.ts")].toSorted()).toEqual(["accounts", "cli", "config", "kit", "simulator"]);
  const check = loadedWith("src/cli/check.ts");
  expect(["server", "store", "telemetry", "upstream", "workers"].filter((layer) => check.has(layer))).toEqual([]);
  expect(loadedWith("src/cli/serve.ts")).toContain("server");
});

/** Without comments. */
function code(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
}

describe("effects", () => {
  test("time, timers, environment and fetch stay in their layers", () => {
    const effect =
      /\bDate\.now\(|\bnew Date\(\)|\bset(?:Timeout|Interval|Immediate)\(|\bprocess\.env\b|(?<![.\w])fetch\(/;
    const wrong = sources
      .filter(({ path, layer }) => !IMPURE_LAYERS.has(layer) && !IMPURE_FILES.has(path))
      .filter(({ text }) => effect.test(code(text)))
      .map(({ path, text }) => `${path}: ${effect.exec(code(text))![0]}`);
    expect(wrong).toEqual([]);
  });

  test("nothing evaluates code or starts programs", () => {
    const wrong = sources
      .filter(({ text }) => /\beval\(|\bnew Function\(|node:vm\b|node:child_process\b/.test(code(text)))
      .map(({ path }) => path);
    expect(wrong).toEqual([]);
  });

  test("no global fetch, and no `any`", () => {
    const wrong = sources.filter(({ text }) => /\bglobalThis\.fetch|:\s*any\b|\bas any\b|<any>/.test(code(text)));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});

test("the top level holds what it should and nothing else", () => {
  const files = "package.json package-lock.json tsconfig.json gateway.yaml README.md LICENSE";
  const folders = "plugins src schemas test bench deploy node_modules data dist";
  const known = new Set(`${files} ${folders}`.split(" "));
  const extra = readdirSync(ROOT).filter((name) => !name.startsWith(".") && !known.has(name));
  expect(extra).toEqual([]);
});
