import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { loadConfig, type LoadResult } from "../../src/config/load.ts";
import { isLocal } from "../../src/config/local.ts";
import { compare } from "../../src/effects/compare.ts";
import type { Json, Snapshot } from "../../src/kit/index.ts";
import { options } from "./support.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const SHORTEST = parse(readFileSync(resolve(ROOT, "docs/shortest.yaml"), "utf8")) as Json;

function load(config: Json, more: object = {}): Promise<LoadResult> {
  return loadConfig(options("/gateway.yaml", { read: async () => JSON.stringify(config), ...more }));
}

async function snapshotOf(config: Json): Promise<Snapshot> {
  const { diagnostics, snapshot } = await load(config, { mode: "serve", strict: true });
  expect(diagnostics).toEqual([]);
  return snapshot!;
}

const NO_LIMITS = { day: "none", hour: "none", minute: "none", streams: "none" };
const ZERO = { input_per_million: 0, output_per_million: 0 };
/** The same configuration with every default written. */
const WRITTEN: Json = {
  version: 1,
  auth: { signup: { tier: "Open" } },
  tiers: { Open: { access: "all", limits: NO_LIMITS } },
  upstreams: SHORTEST["upstreams"],
  models: {
    "route/llama": {
      kind: "chat",
      tier: "Open",
      owned_by: "ollama",
      price: ZERO,
      chain: [{ upstream: "ollama", model: "llama3.2" }],
    },
    "route/embed": {
      kind: "embedding",
      tier: "Open",
      owned_by: "ollama",
      price: { input_per_million: 0 },
      chain: [{ upstream: "ollama", model: "nomic-embed-text" }],
    },
  },
  pipeline: ["auth", "plan-check", "quota", "breaker", "stream-relay", "meter"],
};

test("the shortest file means what its defaults mean, written out", async () => {
  expect(readFileSync(resolve(ROOT, "docs/shortest.yaml"), "utf8").trimEnd().split("\n")).toHaveLength(6);
  const [short, long] = await Promise.all([snapshotOf(SHORTEST), snapshotOf(WRITTEN)]);
  expect({ ...short, hash: "" }).toEqual({ ...long, hash: "" });
  expect(compare({ snapshot: short, code: {} }, { snapshot: long, code: {} })).toEqual([]);
});

test("the shipped pipeline is the default", async () => {
  const shipped = parse(readFileSync(resolve(ROOT, "gateway.yaml"), "utf8")) as Json;
  const { pipeline } = await snapshotOf(SHORTEST);
  expect(pipeline.map(({ use }) => use)).toEqual(shipped["pipeline"]);
});

test("a key that is there keeps its value, whatever the default", async () => {
  const { models, auth, pipeline } = await snapshotOf({
    ...SHORTEST,
    auth: { signup: { credits: 5 } },
    models: {
      "route/llama": {
        kind: "chat",
        owned_by: "meta",
        price: { input_per_million: 1, output_per_million: 2 },
        chain: [
          {
            balance: "latency",
            targets: [
              { upstream: "ollama", model: "a" },
              { upstream: "ollama", model: "b" },
            ],
          },
        ],
      },
    },
    pipeline: ["auth", "quota", "stream-relay", "meter"],
  });
  expect(models["route/llama"]).toMatchObject({ ownedBy: "meta", tier: "Open" });
  expect(models["route/llama"]!.price).not.toEqual(ZERO);
  expect(auth.signup.tier).toBe("Open");
  expect(pipeline.map(({ use }) => use)).toEqual(["auth", "quota", "stream-relay", "meter"]);
});

test("the owner is the upstream of the first target, also of a balanced step", async () => {
  const { models } = await snapshotOf({
    ...SHORTEST,
    upstreams: { a: local(1), b: local(2) },
    models: {
      "route/one": {
        kind: "chat",
        chain: [
          { upstream: "b", model: "m" },
          { upstream: "a", model: "m" },
        ],
      },
      "route/two": {
        kind: "chat",
        chain: [
          {
            balance: "weighted",
            targets: [
              { upstream: "b", model: "m", weight: 1 },
              { upstream: "a", model: "m", weight: 3 },
            ],
          },
        ],
      },
    },
  });
  expect(Object.values(models).map(({ ownedBy }) => ownedBy)).toEqual(["b", "b"]);
});

function local(port: number): Json {
  return { dialect: "openai", base_url: `http://127.0.0.1:${port}/v1` };
}

/** The shortest file with another address, and no vendor. */
function ollamaAt(url: string): Json {
  return { ...SHORTEST, upstreams: { ollama: { dialect: "openai", base_url: url } } };
}

/** What is found with the shortest file at another address, without a vendor. */
async function rules(url: string, env: object): Promise<readonly string[]> {
  return (await load(ollamaAt(url), { env })).diagnostics.map(({ rule }) => rule);
}

describe("local servers", () => {
  test.for([
    ["http://localhost:11434/v1", true],
    ["http://LOCALHOST/v1", true],
    ["http://localhost./v1", true],
    ["https://llm.localhost/v1", true],
    ["http://127.0.0.1/v1", true],
    ["http://127.255.255.254:1/v1", true],
    ["http://127.1:8000/v1", true],
    ["http://[::1]:8000/v1", true],
    ["http://[0:0:0:0:0:0:0:1]/v1", true],
    ["http://[::ffff:127.0.0.1]/v1", true],
    ["http://128.0.0.1/v1", false],
    ["http://0.0.0.0/v1", false],
    ["http://[::]/v1", false],
    ["http://host.docker.internal:11434/v1", false],
    ["http://ollama:11434/v1", false],
    ["http://10.0.0.1/v1", false],
    ["http://localhost.example.com/v1", false],
    ["http://notlocalhost/v1", false],
    ["https://127.0.0.1.example.com/v1", false],
    ["https://example.com/localhost", false],
    ["ftp://127.0.0.1/v1", false],
    ["localhost:11434", false],
    ["sim:", false],
    ["", false],
  ] as const)("%s", ([url, expected]) => {
    expect(isLocal({ base_url: url })).toBe(expected);
    for (const vendor of ["ollama", "vllm", "lmstudio", "llamacpp"] as const)
      expect(isLocal({ base_url: url, vendor })).toBe(true);
    for (const vendor of ["openai", "groq", "generic"] as const)
      expect(isLocal({ base_url: url, vendor })).toBe(expected);
  });

  test("where an address comes from a variable, its value decides", async () => {
    const paid = ["empty-api-key", "missing-price", "missing-price"];
    expect(await rules("${env:U}", { U: "http://127.0.0.1:1/v1" })).toEqual([]);
    expect(await rules("${env:U:-http://localhost:1/v1}", {})).toEqual([]);
    expect(await rules("${env:U}", { U: "https://api.example.com/v1" })).toEqual(paid);
    expect(await rules("http://${env:HOST:-localhost}:1/v1", { HOST: "gpu.example.com" })).toEqual(paid);
    expect(await rules("${env:U}", {})).toEqual(["unresolved-reference"]);
  });

  test("what stands in the file costs: a mixed chain, a cost above a price that is not there", async () => {
    const target = { upstream: "ollama", model: "m", cost: { input_per_million: 1 } };
    const { diagnostics } = await load({ ...SHORTEST, models: { "route/a": { kind: "chat", chain: [target] } } });
    expect(diagnostics.map(({ rule }) => rule)).toEqual(["negative-margin"]);
  });
});

describe("the schema for editors agrees with the check", () => {
  const schema = JSON.parse(readFileSync(resolve(ROOT, "schemas/gateway.schema.json"), "utf8")) as Json;
  const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);

  test.for([
    ["what is required", {}, []],
    ["version", { version: undefined }, ["missing-key"]],
    ["tiers, of models that name them", { tiers: undefined }, []],
    ["tiers, and the models' own", { tiers: undefined, models: without("tier") }, []],
    ["the models' tiers alone", { models: without("tier") }, ["missing-key", "missing-key"]],
    ["owned_by", { models: without("owned_by") }, []],
    ["price", { models: without("price") }, []],
    ["kind", { models: without("kind") }, ["missing-key", "missing-key"]],
    ["pipeline", { pipeline: undefined }, []],
    ["a pipeline's steps", { pipeline: [] }, ["wrong-length"]],
    ["a tier", { tiers: {} }, ["wrong-length"]],
  ] as const)("without %s", async ([, change, expected]) => {
    const config = JSON.parse(JSON.stringify({ ...WRITTEN, ...change })) as Json;
    const { diagnostics } = await load(config);
    expect(diagnostics.filter(({ severity }) => severity === "error").map(({ rule }) => rule)).toEqual(expected);
    expect([validate(config), (validate.errors ?? []).length > 0]).toEqual([
      expected.length === 0,
      expected.length > 0,
    ]);
  });

  test("an editor is told which tier is missing, and where", () => {
    validate({ ...WRITTEN, models: without("tier") });
    const paths = (validate.errors ?? []).filter(({ keyword }) => keyword === "dependencies");
    expect(paths.map(({ instancePath }) => instancePath)).toEqual(["/models/route~1llama", "/models/route~1embed"]);
  });
});

/** The models without one of their keys. */
function without(key: string): Json {
  const models = Object.entries(WRITTEN["models"] as Json);
  return Object.fromEntries(models.map(([id, model]) => [id, { ...(model as Json), [key]: undefined }]));
}
