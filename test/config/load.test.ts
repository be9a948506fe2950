import { spawnSync } from "node:child_process";
import { copyFile, mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { globSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import type { LoadResult } from "../../src/config/load.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { Snapshot } from "../../src/kit/index.ts";
import { options, scratch, SMALL } from "./support.ts";

const rules = ({ diagnostics }: LoadResult): string[] => diagnostics.map(({ rule }) => rule);

/** Loads a text as `gateway.yaml` of a folder of its own. */
async function load(text: string, more: Parameters<typeof options>[1] = {}): Promise<LoadResult> {
  const file = join(await scratch(), "gateway.yaml");
  await writeFile(file, text);
  return loadConfig(options(file, more));
}

async function snapshotOf(text: string, more: Parameters<typeof options>[1] = {}): Promise<Snapshot> {
  const { snapshot, diagnostics } = await load(text, more);
  expect(diagnostics).toEqual([]);
  if (!snapshot) throw new Error("no snapshot");
  return snapshot;
}

const FREE = "input_per_million: 0, output_per_million: 0";

/** One entry under models. */
function entry(id: string, kind: string, price: string): string {
  return `  route/${id}: { kind: ${kind}, tier: Free, owned_by: a, price: { ${price} }, chain: [{ upstream: alpha, model: m }] }\n`;
}

async function owner(written: string, env: Record<string, string> = {}): Promise<string | undefined> {
  const text = SMALL.replace("owned_by: alpha", () => `owned_by: ${written}`);
  return (await snapshotOf(text, { env })).models["route/one"]?.ownedBy;
}

describe("the snapshot", () => {
  test("of a small file has every default", async () => {
    const { server, store, auth, billing, upstreams, models, tiers, pipeline, incidents, file } =
      await snapshotOf(SMALL);
    expect({ ...server, admin: undefined }).toMatchObject({
      listen: [{ host: "127.0.0.1", port: 8080 }],
      workers: 1,
      bodyLimit: 32 * 1024 * 1024,
      connections: { total: 10_000, perAddress: null },
      ipLimit: { requests: 600, window: 60_000 },
      cors: { origins: [] },
      heartbeat: 15_000,
      drain: { delay: 0, timeout: 25_000 },
    });
    expect(server.admin).toBeNull();
    expect(store.url.reveal()).toBe(`sqlite:${resolve(file, "../data/gateway.db")}`);
    expect(auth.tokens).toMatchObject({ accessTtl: 900_000, refreshTtl: 2_592_000_000 });
    expect(auth.tokens.secrets.map(({ kid, value }) => [kid, value.empty])).toEqual([["default", true]]);
    expect(auth.signup).toEqual({ tier: "Free", credits: { digits: 0n, scale: 0 } });
    expect(billing).toMatchObject({ currency: "USD", enforce: true, holdOutputTokens: 1024 });
    expect(tiers.Free).toEqual({
      name: "Free",
      access: ["Free"],
      limits: { day: 50, hour: 50, minute: 100, streams: 50 },
    });
    expect(upstreams.alpha).toMatchObject({
      displayName: "alpha",
      baseUrl: "sim:",
      timeouts: { connect: 2000, firstByte: 30_000, idle: 60_000, total: 600_000 },
      retries: { attempts: 1, minDelay: 100, maxDelay: 2000 },
      breaker: {
        consecutive: 3,
        window: 30_000,
        ratio: 0.5,
        minimum: 20,
        openFor: 10_000,
        maxOpenFor: 300_000,
        probes: 1,
      },
      connections: null,
      http2: false,
      probe: null,
    });
    expect(models["route/one"]).toMatchObject({
      displayName: "one",
      created: 0,
      published: true,
      contextWindow: null,
      strict: false,
      price: { inputPerMillion: { digits: 15n, scale: 2 }, outputPerMillion: { digits: 6n, scale: 1 } },
      multipliers: { requests: 1, cost: { digits: 1n, scale: 0 } },
      deadline: 300_000,
    });
    expect(Object.keys(models["route/one"]?.price ?? {})).toEqual(["inputPerMillion", "outputPerMillion"]);
    expect(pipeline.map(({ use, fail, when }) => [use, fail, when])[0]).toEqual(["auth", "closed", null]);
    expect(incidents).toEqual([]);
  });

  test("layers defaults, upstream and step", async () => {
    const text = SMALL.replace(
      "upstreams:",
      "defaults: { upstream: { timeouts: { connect: 1s, idle: 9s }, probe: { every: 1m } } }\nupstreams:",
    )
      .replace("api_keys: [sim]", "api_keys: [sim], timeouts: { idle: 8s, total: 7m }, headers: { x-a: b }")
      .replace("model: one }", "model: one, timeouts: { total: 6m }, context_window: 5, features: [] }");
    const { upstreams, models } = await snapshotOf(text);
    expect(upstreams.alpha?.timeouts).toEqual({ connect: 1000, firstByte: 30_000, idle: 8000, total: 420_000 });
    expect(upstreams.alpha?.probe).toEqual({ every: 60_000, timeout: 5000 });
    const [step] = models["route/one"]?.chain ?? [];
    expect(step).toEqual({
      balance: "single",
      targets: [
        {
          upstream: "alpha",
          model: "one",
          weight: 1,
          timeouts: { connect: 1000, firstByte: 30_000, idle: 8000, total: 360_000 },
          contextWindow: 5,
          features: [],
        },
      ],
    });
  });

  test("has what is said of vendor, endpoint and parameters, and nothing where nothing is said", async () => {
    const accepts = `output_limit: max_tokens, efforts: [low], reasoning_echo: never, unknown_fields: false, fields: [a], stop: 0, tool_name: 64,
      user: 0, stream_options: true, developer_role: false, strict_tools: true, tool_call_ids: any, sampling: true, schema_keywords: [pattern],
      parts: [image], image_urls: false, system_role: first, alternate: true, prefill: closed, cache_marks: marks, verbosity: false,
      max_tools: 9, max_output: 99`;
    const text = SMALL.replace("[sim] }", `[sim], vendor: mistral, api: chat, accepts: { ${accepts} } }`).replace(
      "model: one }",
      "model: one, parameters: { set: { /a/b: { c: 1 } }, rename: { /d: e } } }",
    );
    const { upstreams, models } = await snapshotOf(text);
    expect(upstreams.alpha).toMatchObject({
      vendor: "mistral",
      api: "chat",
      accepts: {
        outputLimit: "max_tokens",
        efforts: ["low"],
        reasoningEcho: "never",
        unknownFields: false,
        fields: ["a"],
        stop: 0,
        toolName: 64,
        user: 0,
        streamOptions: true,
        developerRole: false,
        strictTools: true,
        toolCallIds: "any",
        sampling: true,
        schemaKeywords: ["pattern"],
        parts: ["image"],
        imageUrls: false,
        systemRole: "first",
        alternate: true,
        prefill: "closed",
        cacheMarks: "marks",
        verbosity: false,
        maxTools: 9,
        maxOutput: 99,
      },
    });
    expect(models["route/one"]?.chain[0]?.targets[0]?.parameters).toEqual({
      set: { "/a/b": { c: 1 } },
      remove: [],
      rename: { "/d": "e" },
    });
    const bare = await snapshotOf(SMALL);
    for (const key of ["vendor", "api", "accepts"]) expect(bare.upstreams.alpha).not.toHaveProperty(key);
    expect(bare.models["route/one"]?.chain[0]?.targets[0]).not.toHaveProperty("parameters");
  });

  test("counts audio and images five times unless told", async () => {
    const text = SMALL.replace(
      "pipeline:",
      `${entry("speech", "speech", "per_million_characters: 1")}${entry("image", "image", "per_image: 1")}pipeline:`,
    ).replace(
      "upstreams:",
      "defaults: { kinds: { image: { multipliers: { requests: 7, cost: 1.5 }, deadline: 1m } } }\nupstreams:",
    );
    const { models } = await snapshotOf(text);
    expect(models["route/speech"]?.multipliers.requests).toBe(5);
    expect(models["route/image"]).toMatchObject({
      multipliers: { requests: 7, cost: { digits: 15n, scale: 1 } },
      deadline: 60_000,
    });
  });

  test("has prices of images by size and quality, or one", async () => {
    const price = 'per_image: { default: 0.04, 1024x1536: 0.08, "1024x1536/high": 0.25 }, output_per_million: 8';
    const text = SMALL.replace(
      "pipeline:",
      `${entry("paint", "image", price)}${entry("one-price", "image", "per_image: 1")}pipeline:`,
    );
    const { models } = await snapshotOf(text);
    expect(models["route/paint"]?.price).toEqual({
      perImage: {
        default: { digits: 4n, scale: 2 },
        "1024x1536": { digits: 8n, scale: 2 },
        "1024x1536/high": { digits: 25n, scale: 2 },
      },
      outputPerMillion: { digits: 8n, scale: 0 },
    });
    expect(models["route/one-price"]?.price).toEqual({ perImage: { digits: 1n, scale: 0 } });
  });

  test("says to each target what its model writes at most", async () => {
    const { models } = await snapshotOf(SMALL.replace("chain:", "max_output: 5\n    chain:"));
    expect(models["route/one"]).toMatchObject({ maxOutput: 5, chain: [{ targets: [{ maxOutput: 5 }] }] });
  });

  test("has a price of what is kept in a cache for an hour", async () => {
    const text = SMALL.replace("output_per_million: 0.6", "output_per_million: 0.6, cache_write_1h_per_million: 0.3");
    expect((await snapshotOf(text)).models["route/one"]?.price.cacheWrite1hPerMillion).toEqual({
      digits: 3n,
      scale: 1,
    });
  });

  test("is frozen all through, and its records have no prototype", async () => {
    const snapshot = await snapshotOf(SMALL.replace("api_keys: [sim]", "api_keys: [sim], headers: { constructor: x }"));
    const thawed: string[] = [];
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== "object" || value === null) return;
      if (!Object.isFrozen(value)) thawed.push(path);
      for (const [key, inner] of Object.entries(value)) visit(inner, `${path}/${key}`);
    };
    visit(snapshot, "");
    expect(thawed).toEqual([]);
    for (const record of [
      snapshot.tiers,
      snapshot.upstreams,
      snapshot.models,
      snapshot.auth.oauth,
      snapshot.upstreams.alpha?.headers,
    ]) {
      expect(Object.getPrototypeOf(record)).toBeNull();
    }
    expect(snapshot.upstreams.alpha?.headers.constructor).toBe("x");
  });

  test("a name that is a property of every object is a name like any other", async () => {
    const text = SMALL.replaceAll("alpha", "constructor").replace(
      "Free:",
      "toString: { access: all, limits: { day: none, hour: none, minute: none, streams: none } }\n  Free:",
    );
    const { upstreams, tiers, models } = await snapshotOf(text);
    expect(upstreams.constructor?.name).toBe("constructor");
    expect(Object.entries(tiers)[0]?.[1].limits.day).toBeNull();
    expect(models["route/one"]?.chain[0]?.targets[0]?.upstream).toBe("constructor");
    const missing = await load(SMALL.replace("upstream: alpha", "upstream: hasOwnProperty"));
    expect(rules(missing)).toContain("unknown-upstream");
  });

  test("prints no secret", async () => {
    const snapshot = await snapshotOf(
      SMALL.replace("[sim]", "[planted-key]") + 'store: { url: "redis://:planted-password@h" }\n',
      // A check would say that they stand in the file.
      { mode: "serve" },
    );
    expect(snapshot.upstreams.alpha?.apiKeys[0]?.reveal()).toBe("planted-key");
    expect(
      JSON.stringify(snapshot, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
    ).not.toContain("planted");
  });
});

describe("references", () => {
  test("in any part of a text, several times", async () => {
    expect(await owner('"${env:A}-${env:B:-b}/$$x $y"', { A: "a" })).toBe("a-b/$x $y");
  });

  test("a default also stands in for an empty variable; an empty default is empty", async () => {
    expect(await owner("x${env:A:-b}", { A: "" })).toBe("xb");
    expect(await owner("x${env:A:-}")).toBe("x");
  });

  test("the escape keeps what would be a reference", async () => {
    expect(await owner('"$${env:A}"', { A: "a" })).toBe("${env:A}");
  });

  test("what a variable brings is not read as a reference again", async () => {
    expect(await owner("${env:A}", { A: "${env:B}" })).toBe("${env:B}");
  });

  test("text stays text where text is asked for, whatever it looks like", async () => {
    for (const value of ["12345", "true", "null", "~", "1e3", "0x10", "a: b", "- a", "#x", " padded "]) {
      expect(await owner("${env:A}", { A: value })).toBe(value);
      expect(await owner('"${env:A}"', { A: value })).toBe(value);
    }
  });

  test("numbers and flags are read where they are asked for, quoted or not", async () => {
    for (const written of ["${env:N}", '"${env:N}"', "${env:X:-3}"]) {
      const text = `${SMALL}server: { workers: 1 }\nbilling: { hold_output_tokens: ${written.includes('"') ? written : `"${written}"`} }\n`;
      expect((await snapshotOf(text, { env: { N: "3" } })).billing.holdOutputTokens).toBe(3);
      const block = `${SMALL}billing:\n  hold_output_tokens: ${written}\n  enforce: \${env:E:-false}\n`;
      expect((await snapshotOf(block, { env: { N: "3" } })).billing).toMatchObject({
        holdOutputTokens: 3,
        enforce: false,
      });
    }
  });

  test("in options of any shape a plain one is typed by YAML's rules, a quoted one is text", async () => {
    const text = SMALL.replace(
      "pipeline: [auth, plan-check, quota, breaker, stream-relay, meter]",
      'pipeline:\n  - auth\n  - plan-check\n  - quota\n  - breaker\n  - use: transform\n    options:\n      set:\n        /a: ${env:N}\n        /b: "${env:N}"\n  - stream-relay\n  - meter',
    );
    const { pipeline } = await snapshotOf(text, { env: { N: "7" } });
    expect(pipeline[4]?.options).toEqual({ set: { "/a": 7, "/b": "7" } });
  });

  test("a file's content, without its last line break, relative to the main file's folder", async () => {
    const folder = await scratch();
    await mkdir(join(folder, "secrets"));
    await mkdir(join(folder, "conf.d"));
    await writeFile(join(folder, "secrets/key"), "two\nlines\r\n");
    await writeFile(
      join(folder, "conf.d/up.yaml"),
      'upstreams: { beta: { dialect: openai, base_url: "sim:", display_name: "${file:secrets/key}" } }\n',
    );
    const chain = SMALL.replace("chain: [", "chain: [{ upstream: beta, model: b }, ");
    await writeFile(join(folder, "gateway.yaml"), `include: [conf.d/up.yaml]\n${chain}`);
    const result = await loadConfig(options(join(folder, "gateway.yaml")));
    expect(result.diagnostics).toEqual([]);
    expect(result.snapshot?.upstreams.beta?.displayName).toBe("two\nlines");
    expect(result.sources.map(({ path, kind }) => [path.slice(folder.length + 1), kind])).toEqual([
      ["gateway.yaml", "config"],
      ["conf.d/up.yaml", "config"],
      ["secrets/key", "secret"],
    ]);
  });
});

describe("files", () => {
  test("a pattern merges sections, in order, and its folder is watched", async () => {
    const folder = await scratch();
    await mkdir(join(folder, "conf.d"));
    await writeFile(join(folder, "conf.d/b.yaml"), `models:\n${entry("b", "chat", FREE)}`);
    await writeFile(
      join(folder, "conf.d/a.yaml"),
      `version: 1\nmodels:\n${entry("a", "chat", FREE)}server: { workers: 1 }\n`,
    );
    await writeFile(
      join(folder, "gateway.yaml"),
      `include: ["\${env:DIR:-conf.d}/*.yaml"]\n${SMALL}server: { heartbeat: 5s }\n`,
    );
    const result = await loadConfig(options(join(folder, "gateway.yaml")));
    expect(result.diagnostics).toEqual([]);
    expect(Object.keys(result.snapshot?.models ?? {})).toEqual(["route/one", "route/a", "route/b"]);
    expect(result.snapshot?.server).toMatchObject({ heartbeat: 5000, workers: 1 });
    expect(result.files.map(({ path }) => path).sort()).toEqual(
      [".env", "conf.d", "conf.d/a.yaml", "conf.d/b.yaml", "gateway.yaml"].map((name) => join(folder, name)),
    );
  });

  test("a byte order mark and Windows line ends are fine", async () => {
    const { diagnostics } = await load(`\uFEFF${SMALL.replaceAll("\n", "\r\n").replace("tier: Free", "tier: Gold")}`);
    expect(diagnostics.map(({ line, column, rule }) => [line, column, rule])).toEqual([[9, 11, "unknown-tier"]]);
  });

  test("the hash is over names and contents, wherever the folder is", async () => {
    const [one, same, other] = [await load(SMALL), await load(SMALL), await load(`${SMALL}# more\n`)];
    expect(one.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(same.hash).toBe(one.hash);
    expect(other.hash).not.toBe(one.hash);
    expect(one.snapshot?.hash).toBe(one.hash);
    const secret = SMALL.replace("[sim]", '["${file:key}"]');
    const hashes: string[] = [];
    for (const key of ["a", "b"]) {
      const { hash } = await load(secret, { read: async (path) => (path.endsWith("key") ? key : secret) });
      hashes.push(hash);
    }
    expect(new Set(hashes).size).toBe(2);
  });

  test.for<[string, (file: string) => unknown, string]>([
    ["a missing file", () => undefined, "file-unreadable"],
    ["a folder", (file) => mkdir(file), "file-unreadable"],
    ["a FIFO", (file) => spawnSync("mkfifo", [file]), "file-unreadable"],
    ["a loop of links", (file) => symlink(file, file), "file-unreadable"],
    ["a device", (file) => symlink("/dev/zero", file), "file-unreadable"],
    ["a huge file", async (file) => (await writeFile(file, ""), truncate(file, 8 * 1024 * 1024 + 1)), "file-size"],
    ["bad UTF-8", (file) => writeFile(file, Buffer.from([0x61, 0x3a, 0x20, 0xff])), "file-encoding"],
    ["UTF-16", (file) => writeFile(file, Buffer.from("\uFEFFversion: 1", "utf16le")), "file-encoding"],
    ["an empty file", (file) => writeFile(file, ""), "yaml-root"],
    ["a NUL", (file) => writeFile(file, "a: \0\n"), "yaml-character"],
  ])("%s is refused with a reason", async ([, make, rule]) => {
    const file = join(await scratch(), "gateway.yaml");
    await make(file);
    const result = await loadConfig(options(file));
    expect(result.ok).toBe(false);
    expect(rules(result)).toContain(rule);
    expect(result.files.map(({ path }) => path)).toContain(file);
  });

  test("links are followed", async () => {
    const folder = await scratch();
    await mkdir(join(folder, "v1"));
    await writeFile(join(folder, "v1/gateway.yaml"), SMALL);
    await symlink("v1", join(folder, "..data"));
    await symlink("..data/gateway.yaml", join(folder, "gateway.yaml"));
    expect((await loadConfig(options(join(folder, "gateway.yaml")))).ok).toBe(true);
  });
});

describe("the annotated sample", () => {
  const [sample] = globSync(resolve(import.meta.dirname, "../../../shared/examples/gateway.yaml"));

  test.runIf(sample)("loads, with the warnings its fallback deserves", async () => {
    const folder = await scratch();
    const plugins = resolve(import.meta.dirname, "cases/plugins");
    await mkdir(join(folder, "plugins"));
    await copyFile(sample ?? "", join(folder, "gateway.yaml"));
    await writeFile(
      join(folder, "plugins/redact-names.ts"),
      'export default { name: "redact-names", stage: "transform", schema: new URL("./redact-names.schema.json", import.meta.url), setup: () => ({}) };\n',
    );
    await copyFile(
      resolve(plugins, "../../../../schemas/plugins/redact-names.schema.json"),
      join(folder, "plugins/redact-names.schema.json"),
    );
    const result = await loadConfig(options(join(folder, "gateway.yaml")));
    expect([...new Set(rules(result))].sort()).toEqual(["chain-features", "chain-window"]);
    expect(result.ok).toBe(true);
    const { snapshot } = result;
    expect(
      snapshot?.models["route/swift-mini"]?.chain.map(({ balance, targets }) => [
        balance,
        targets.map(({ weight }) => weight),
      ]),
    ).toEqual([
      ["single", [1]],
      ["single", [1]],
      ["weighted", [3, 1]],
    ]);
    expect(snapshot?.pipeline.find(({ use }) => use === "./plugins/redact-names.ts")).toEqual({
      use: "./plugins/redact-names.ts",
      options: { names: ["Ada"], replacement: "[name]" },
      timeout: 5_000,
      when: { models: ["route/swift-*"], tiers: ["Free", "Lite"] },
      fail: "open",
    });
    expect(snapshot?.upstreams.alpha?.probe).toEqual({ every: 60_000, timeout: 5000 });
    expect(snapshot?.tiers.Lite?.limits.hour).toBeNull();
    expect(snapshot?.models["route/swift-mini"]?.created).toBe(Date.UTC(2026, 0, 15) / 1000);
    expect(result.steps.map(({ plugin }) => plugin.name)).toEqual([
      "auth",
      "plan-check",
      "quota",
      "breaker",
      "redact-names",
      "transform",
      "stream-relay",
      "meter",
    ]);
  });
});
