import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { loadLastGood, saveLastGood } from "../../src/config/last-good.ts";
import { loadConfig, type LoadResult } from "../../src/config/load.ts";
import { options, scratch, SMALL } from "./support.ts";

let folder: string;
let main: string;
let store: string;
const env = { ALPHA_KEY: "planted-env-secret" };

beforeEach(async () => {
  folder = await scratch();
  store = join(await scratch(), "last-good");
  main = join(folder, "gateway.yaml");
  await mkdir(join(folder, "plugins/lib"), { recursive: true });
  await mkdir(join(folder, "conf.d"));
  await writeFile(join(folder, "key"), "planted-file-secret\n");
  await writeFile(
    join(folder, "conf.d/b.yaml"),
    'upstreams: { beta: { dialect: openai, base_url: "https://b.example.com", api_keys: ["${file:key}"] } }\n',
  );
  await writeFile(join(folder, "plugins/lib/name.ts"), 'export const name = "own";\n');
  await writeFile(join(folder, "plugins/own.schema.json"), '{ "type": "object" }');
  await writeFile(
    join(folder, "plugins/own.ts"),
    'import { definePlugin } from "#kit";\nimport { name } from "./lib/name.ts";\nexport default definePlugin({ name, stage: "transform", schema: new URL("./own.schema.json", import.meta.url), setup: () => ({}) });\n',
  );
  const text = SMALL.replace("[sim]", '["${env:ALPHA_KEY}"]')
    .replace("chain: [", "chain: [{ upstream: beta, model: b }, ")
    .replace("breaker,", "breaker, ./plugins/own.ts,");
  await writeFile(main, `include: [./conf.d/*.yaml]\n${text}`);
});

const load = (): Promise<LoadResult> => loadConfig(options(main, { env, mode: "serve" }));

async function loadSaved(): Promise<LoadResult | null> {
  const { file: _, ...rest } = options(main, { env, mode: "serve" });
  return loadLastGood(store, rest);
}

async function save(): Promise<LoadResult> {
  const result = await load();
  expect(result.diagnostics).toEqual([]);
  await saveLastGood(store, main, result);
  return result;
}

/** Everything below a folder, as one text. */
async function everything(path: string): Promise<string> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const texts = entries
    .filter((entry) => entry.isFile())
    .map((entry) => readFile(join(entry.parentPath, entry.name), "utf8"));
  return (await Promise.all(texts)).join("\n");
}

test("what served loads again, after everything but the secrets is gone", async () => {
  const served = await save();
  for (const name of ["gateway.yaml", "conf.d", "plugins"]) await rm(join(folder, name), { recursive: true });
  const again = await loadSaved();
  expect(again?.diagnostics).toEqual([]);
  expect([again?.ok, again?.hash, again?.snapshot?.file]).toEqual([true, served.hash, main]);
  expect(again?.steps.map(({ plugin }) => plugin.name)).toEqual(served.steps.map(({ plugin }) => plugin.name));
  expect(again?.snapshot?.upstreams.beta?.apiKeys[0]?.reveal()).toBe("planted-file-secret");
  expect(again?.snapshot?.upstreams.alpha?.apiKeys[0]?.reveal()).toBe("planted-env-secret");
});

test("references are kept, resolved secrets are not", async () => {
  await save();
  const kept = await everything(store);
  expect(kept).toContain("${env:ALPHA_KEY}");
  expect(kept).toContain("${file:key}");
  expect(kept).not.toContain("planted");
});

test("only its owner can read it", async () => {
  await save();
  for (const entry of await readdir(store, { recursive: true, withFileTypes: true })) {
    const { mode } = await stat(join(entry.parentPath, entry.name));
    expect([entry.name, mode & 0o077]).toEqual([entry.name, 0]);
  }
});

test("the newest replaces the one before, which is removed", async () => {
  const first = await save();
  await writeFile(main, `${await readFile(main, "utf8")}server: { heartbeat: 5s }\n`);
  const second = await save();
  expect(second.hash).not.toBe(first.hash);
  expect((await loadSaved())?.snapshot?.server.heartbeat).toBe(5000);
  expect((await readdir(store)).filter((name) => name.startsWith("saved-"))).toHaveLength(1);
});

test("saving the same again changes nothing", async () => {
  await save();
  const before = await readdir(store);
  await save();
  expect(await readdir(store)).toEqual(before);
});

test("a save that was interrupted leaves the former one", async () => {
  const first = await save();
  await mkdir(join(store, "saved-half"));
  await writeFile(join(store, "saved-half/current.json"), "{");
  expect((await loadSaved())?.hash).toBe(first.hash);
});

test("a file added to a pattern's folder later is not part of it", async () => {
  const first = await save();
  await writeFile(join(folder, "conf.d/c.yaml"), "nonsense: true\n");
  expect((await load()).ok).toBe(false);
  expect((await loadSaved())?.hash).toBe(first.hash);
});

test.for([null, "", "{", "[]", '{"hash":1}'])("nothing, or nonsense, is null: %j", async (index) => {
  if (index !== null) {
    await mkdir(store);
    await writeFile(join(store, "current.json"), index);
  }
  expect(await loadSaved()).toBeNull();
});

test("a saved text that was lost is a finding, not a crash", async () => {
  await save();
  const copies = (await readdir(store)).find((name) => name.startsWith("saved-")) ?? "";
  await rm(join(store, copies), { recursive: true });
  const again = await loadSaved();
  expect([again?.ok, again?.diagnostics.map(({ rule }) => rule)]).toEqual([false, ["file-unreadable"]]);
});
