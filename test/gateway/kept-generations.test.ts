import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { isLoaded, type Loaded, loadAgain, type LoadSettings } from "../../src/gateway/configuration.ts";
import { KeptGenerations } from "../../src/gateway/kept-generations.ts";
import { scratch, SMALL } from "../config/support.ts";
import { type LogLine, memoryLog } from "../server/support.ts";

let folder: string;
let lines: LogLine[];
let settings: LoadSettings;

beforeEach(async () => {
  folder = await scratch();
  lines = [];
  const env = { ALPHA_KEY: "planted-env-secret", GATEWAY_DATA: join(folder, "data") };
  settings = { file: join(folder, "gateway.yaml"), env, strict: false, mode: "serve", log: memoryLog(lines) };
  await writeFile(join(folder, "key"), "planted-file-secret\n");
});

/** The small configuration, which `text` makes another one. */
async function loaded(text: string): Promise<Loaded> {
  const keys = SMALL.replace("[sim]", '["${env:ALPHA_KEY}", "${file:key}"]');
  await writeFile(settings.file, `${keys}\n# ${text}\nstore: { url: "memory:" }\n`);
  const result = await loadAgain(settings);
  if (!isLoaded(result)) throw new Error(JSON.stringify(result.diagnostics));
  return result;
}

async function everything(path: string): Promise<string> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return (await Promise.all(files.map((entry) => readFile(join(entry.parentPath, entry.name), "utf8")))).join("\n");
}

test("a later process finds them, loads them as they were, and none of them holds a secret", async () => {
  const first = await loaded("first");
  const kept = await KeptGenerations.open(first, { settings, writes: true });
  kept.remember(first, 1_000, "start");
  const second = await loaded("second");
  kept.remember(second, 2_000, "guard");
  await kept.done();
  await rm(settings.file);
  const later = await KeptGenerations.open(second, { settings, writes: false });
  expect(later.list).toEqual([
    { hash: second.hash, since: "1970-01-01T00:00:02.000Z", by: "guard" },
    { hash: first.hash, since: "1970-01-01T00:00:01.000Z", by: "start" },
  ]);
  for (const one of later.list) expect(await later.load(one)).toMatchObject({ ok: true, hash: one.hash });
  const texts = await everything(join(folder, "data"));
  expect(texts).toContain("# first");
  expect(texts).not.toContain("planted");
  expect(lines).toEqual([]);
});

test("ten are kept, each once, the latest first; the copies of the others go", async () => {
  const kept = await KeptGenerations.open(await loaded("0"), { settings, writes: true });
  const hashes: string[] = [];
  for (let count = 0; count < 13; count += 1) {
    const one = await loaded(String(count));
    hashes.unshift(one.hash);
    kept.remember(one, count, "file");
  }
  kept.remember(await loaded("5"), 99, "rollback");
  await kept.done();
  const again = hashes[12 - 5]!;
  expect(kept.list.map(({ hash }) => hash)).toEqual([again, ...hashes.slice(0, 10).filter((hash) => hash !== again)]);
  const [own = ""] = await readdir(join(folder, "data/generations"));
  const names = await readdir(join(folder, "data/generations", own));
  expect(names.toSorted()).toEqual(["index.json", ...kept.list.map(({ hash }) => hash.slice(0, 16))].toSorted());
});

test("what is meant by a number, a hash or its beginning", async () => {
  const first = await loaded("first");
  const kept = await KeptGenerations.open(first, { settings, writes: false });
  kept.remember(first, 1, "start");
  const second = await loaded("second");
  kept.remember(second, 2, "reload");
  expect(kept.find(0)).toMatchObject({ hash: second.hash });
  expect(kept.find(1)).toMatchObject({ hash: first.hash });
  expect(kept.find(first.hash)).toMatchObject({ hash: first.hash });
  expect(kept.find(first.hash.slice(0, 8).toUpperCase())).toMatchObject({ hash: first.hash });
  for (const nothing of [2, -1, 0.5, "", "abc", "zzzz", `${first.hash}0`])
    expect(kept.find(nothing)).toBeTypeOf("string");
  await expect(readdir(join(folder, "data"))).rejects.toThrow("ENOENT");
});

test("a folder that cannot be used is a warning, an index that is none counts as empty", async () => {
  await writeFile(join(folder, "data"), "a file");
  const one = await loaded("one");
  const kept = await KeptGenerations.open(one, { settings, writes: true });
  kept.remember(one, 1, "start");
  await kept.done();
  expect(lines).toMatchObject([{ level: "warn", message: "configuration could not be saved for a rollback" }]);
  expect(await kept.load(kept.list[0]!)).toBeNull();
  await rm(join(folder, "data"));
  const good = await KeptGenerations.open(one, { settings, writes: true });
  good.remember(one, 1, "start");
  await good.done();
  const [own = ""] = await readdir(join(folder, "data/generations"));
  const index = join(folder, "data/generations", own, "index.json");
  for (const text of ["{", "null", '{"hash": 1}', '[{"hash": "../../x", "since": "now"}]']) {
    await mkdir(join(folder, "data"), { recursive: true });
    await writeFile(index, text);
    expect((await KeptGenerations.open(one, { settings, writes: false })).list).toEqual([]);
  }
});
