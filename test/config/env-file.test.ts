import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inspect } from "node:util";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { formatText } from "../../src/config/diagnostics.ts";
import { environmentOf, parseEnvFile, readEnvFile } from "../../src/config/env-file.ts";
import { disk, FileError } from "../../src/config/files.ts";
import { loadLastGood, saveLastGood } from "../../src/config/last-good.ts";
import { loadConfig, type LoadResult } from "../../src/config/load.ts";
import { watchConfig } from "../../src/config/watch.ts";
import { options, scratch, SMALL } from "./support.ts";

/** A reader of a file that cannot be read, for the reason that the system names. */
const failing = (code: string) => () =>
  Promise.reject(new FileError("file-unreadable", "may not be read", Object.assign(new Error(), { code })));

describe("lines", () => {
  test.for([
    ["NAME=value", "value"],
    ["export NAME=value", "value"],
    ["  export\tNAME = value  ", "value"],
    ["NAME=a b  c", "a b  c"],
    ["NAME=value # a comment", "value"],
    ["NAME=value#a comment", "value"],
    ['NAME="value # no comment" # a comment', "value # no comment"],
    ["NAME='value # no comment'", "value # no comment"],
    ['NAME=`it\'s "so"`', 'it\'s "so"'],
    ['NAME="a\\nb"', "a\nb"],
    ["NAME='a\\nb'", "a\\nb"],
    ["NAME=a\\nb", "a\\nb"],
    ['NAME="a\nb\nc"', "a\nb\nc"],
    ['NAME="a\r\nb"\r\nOTHER=1\r\n', "a\nb"],
    ['NAME=\'{\n  "type": "service_account"\n}\'', '{\n  "type": "service_account"\n}'],
    ["NAME=", ""],
    ["NAME=   ", ""],
    ["NAME= # nothing", ""],
    ['NAME=""', ""],
    ["NAME=a=b==", "a=b=="],
    ["NAME=$HOME/${X}", "$HOME/${X}"],
    ['NAME=say "hi"', 'say "hi"'],
    ["NAME=one\nNAME=two", "two"],
    ["\uFEFFNAME=value", "value"],
    ["# NAME=none\n\n \t\nNAME=value", "value"],
    ["OTHER=1\rNAME=value", "value"],
    ["NAME=\u00a0value", "\u00a0value"],
  ] as const)("%j", ([text, expected]) => {
    const { values, bad } = parseEnvFile(text);
    expect([values["NAME"], bad]).toEqual([expected, []]);
  });

  test.for([
    ["NAME", [1]],
    ["A=1\nsk-secret\nB=2", [2]],
    ["NAME: value", [1]],
    ["=value", [1]],
    ["MY NAME=value", [1]],
    ["export NAME", [1]],
    ["export", [1]],
    ["set NAME=value", [1]],
    ["$env:NAME=value", [1]],
    ['NAME="open\nOTHER=1', [1]],
    ["NAME='it's'", [1]],
    ['NAME="a" b', [1]],
    ['NAME="say \\"hi\\""', [1]],
    ['A="1\nB="2"\nC=3', [1]],
    ["// a comment", [1]],
    ["[section]", [1]],
    ["\u0000", [1]],
    ["A=1\r\n\r\nB\r\nC=3", [3]],
    ['A="one\ntwo"\nB', [3]],
  ] as const)("%j is told by its number", ([text, expected]) => {
    const { values, bad } = parseEnvFile(text);
    expect(bad.map(({ line }) => line)).toEqual(expected);
    expect(values["NAME"]).toBeUndefined();
  });

  test("a line that is wrong does not take the others with it", () => {
    expect({ ...parseEnvFile('A="1\nB="2"\nC=3').values }).toEqual({ B: "2", C: "3" });
  });

  test("names that only other programs can use are names", () => {
    expect(parseEnvFile("MY-NAME=1\nspring.datasource=2\n3RD=3")).toEqual({
      values: { "MY-NAME": "1", "spring.datasource": "2", "3RD": "3" },
      bad: [],
    });
  });

  test("names that objects have are names like others", () => {
    const { values } = parseEnvFile("__proto__=a\nconstructor=b");
    expect(Object.entries(values)).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);
  });
});

function keyOf({ snapshot }: LoadResult): string | undefined {
  return snapshot?.upstreams["alpha"]?.apiKeys[0]?.reveal();
}

/** As a revision is read: it may have a `.env` of its own. */
async function readRevision(path: string): Promise<string> {
  if (path.endsWith(".env")) throw new Error("the .env of a revision is not read");
  return disk.read(path);
}

describe("beside a configuration", () => {
  let folder: string;
  let main: string;
  beforeEach(async () => {
    folder = await scratch();
    main = join(folder, "gateway.yaml");
    await writeFile(main, SMALL.replace("[sim]", '["${env:ALPHA_KEY}"]'));
  });

  const write = (text: string): Promise<void> => writeFile(join(folder, ".env"), text);
  const load = (more: object = {}): Promise<LoadResult> => loadConfig(options(main, { mode: "serve", ...more }));

  test("its variables are there for references; those of the process win, also empty ones", async () => {
    await write("ALPHA_KEY=planted-secret-of-the-file\n");
    expect(keyOf(await load())).toBe("planted-secret-of-the-file");
    expect(keyOf(await load({ env: { ALPHA_KEY: "of-the-process" } }))).toBe("of-the-process");
    expect(keyOf(await load({ env: { ALPHA_KEY: undefined } }))).toBe("planted-secret-of-the-file");
    expect(keyOf(await load({ env: { ALPHA_KEY: "" } }))).toBe("");
    await rm(join(folder, ".env"));
    expect(await load()).toMatchObject({ ok: false, diagnostics: [{ rule: "unresolved-reference" }] });
  });

  test("a variable of the process that is empty takes the default of the reference", async () => {
    await writeFile(main, SMALL.replace("[sim]", '["${env:ALPHA_KEY:-fallback}"]'));
    await write("ALPHA_KEY=of-the-file");
    expect(keyOf(await load({ env: { ALPHA_KEY: "" } }))).toBe("fallback");
  });

  test("the folder of the main file counts, not that of an included one or of the process", async () => {
    await mkdir(join(folder, "conf.d"));
    await writeFile(join(folder, "conf.d/.env"), "ALPHA_KEY=of-the-part\nSHOWN=of-the-part\n");
    await writeFile(join(folder, "conf.d/part.yaml"), "status: { incidents: [] }\n");
    await writeFile(main, `include: ["\${env:PARTS}/*.yaml"]\n${SMALL.replace("[sim]", '["${env:ALPHA_KEY}"]')}`);
    await write("ALPHA_KEY=of-the-main-file\nPARTS=conf.d\n");
    const result = await load();
    expect(keyOf(result)).toBe("of-the-main-file");
    expect(result.sources.map(({ path }) => path)).toContain(join(folder, "conf.d/part.yaml"));
  });

  test("no value is in what a load gives out, but for the snapshot's secrets", async () => {
    await write("ALPHA_KEY=planted-secret\nOTHER=planted-unused\nnonsense planted-line\n");
    const result = await load();
    const { snapshot: _, sources, ...rest } = result;
    expect(
      sources
        .filter(({ kind }) => kind !== "secret")
        .map(({ text }) => text)
        .join(""),
    ).not.toContain("planted");
    expect(inspect([rest, result.snapshot], { depth: 20 })).not.toContain("planted");
    expect(formatText(result.diagnostics)).toMatch(/\.env:3:1: warning env-line /);
  });

  test("the hash changes with a value that is used, and with nothing else there", async () => {
    const hashes: string[] = [];
    for (const text of ["ALPHA_KEY=a", "# a comment\nALPHA_KEY='a'\nOTHER=1", "ALPHA_KEY=b", "OTHER=2\nALPHA_KEY=a"]) {
      await write(text);
      hashes.push((await load()).hash);
    }
    const [a, same, b, again] = hashes;
    expect([same, again]).toEqual([a, a]);
    expect(b).not.toBe(a);
    await rm(join(folder, ".env"));
    const without = await load({ env: { ALPHA_KEY: "c" } });
    await write("ALPHA_KEY=b");
    expect((await load({ env: { ALPHA_KEY: "c" } })).hash).toBe(without.hash);
  });

  test("a configuration that is not the disk's, or a saved one, has the .env of now", async () => {
    await write("ALPHA_KEY=first\n");
    const saved = await load();
    const store = join(await scratch(), "last-good");
    await saveLastGood(store, main, saved);
    await write("ALPHA_KEY=second\n");
    const { file: _, ...rest } = options(main, { mode: "serve" });
    expect(keyOf((await loadLastGood(store, rest))!)).toBe("second");
    expect(keyOf(await load({ read: readRevision }))).toBe("second");
    expect(await load({ envFile: null })).toMatchObject({ ok: false });
  });

  test("one that is there and cannot be read is a warning that names it", async () => {
    await mkdir(join(folder, ".env"));
    const { diagnostics } = await load({ mode: "check" });
    const found = diagnostics.find(({ rule }) => rule === "env-unreadable");
    expect(found).toMatchObject({ severity: "warning", file: join(folder, ".env"), message: ".env is a folder" });
    await rm(join(folder, ".env"), { recursive: true });
    // As some programs of Windows write it.
    await writeFile(join(folder, ".env"), Buffer.from("\uFEFFALPHA_KEY=a", "utf16le"));
    expect((await load({ mode: "check" })).diagnostics.map(({ message }) => message)).toContain(".env is not UTF-8");
  });

  test("of a file that may not be read the reason is told, and of one that is not there nothing", async () => {
    const path = join(folder, ".env");
    const found = { path, values: {}, bad: [], diagnostics: [expect.objectContaining({ rule: "env-unreadable" })] };
    expect(await readEnvFile(path, failing("EACCES"))).toEqual(found);
    expect(await readEnvFile(path, failing("ENOENT"))).toEqual({ ...found, diagnostics: [] });
  });

  test("what is asked of the environment sees it as well", async () => {
    await write("GATEWAY_DATA=/data/here\nB=2");
    expect({ ...(await environmentOf(main, { B: "3" })) }).toEqual({ GATEWAY_DATA: "/data/here", B: "3" });
    expect({ ...(await environmentOf(join(folder, "nowhere/gateway.yaml"), { B: "3" })) }).toEqual({ B: "3" });
  });

  test("the watcher sees it come, change, be swapped as Kubernetes does, and go", async () => {
    let result = await load({ mode: "dev" });
    const onChange = vi.fn<() => Promise<void>>(async () => {
      result = await load({ mode: "dev" });
    });
    const log = { error: (fields: object) => expect.fail(JSON.stringify(fields)) };
    const watch = watchConfig({ files: () => result.files, onChange, log, poll: 50 });
    onTestFinished(() => watch.close());
    const becomes = (key: string | undefined) =>
      expect.poll(() => keyOf(result) ?? "", { timeout: 10_000, interval: 20 }).toBe(key ?? "");
    await write("ALPHA_KEY=first");
    await becomes("first");
    await write("ALPHA_KEY=second");
    await becomes("second");
    // A volume is a link to a folder, which is replaced as a whole.
    for (const generation of ["third", "fourth"]) {
      await mkdir(join(folder, `..${generation}`));
      await writeFile(join(folder, `..${generation}/.env`), `ALPHA_KEY=${generation}`);
      await symlink(`..${generation}`, join(folder, "..data_tmp"));
      await rename(join(folder, "..data_tmp"), join(folder, "..data"));
      if (generation === "third") {
        await symlink("..data/.env", join(folder, "link"));
        await rename(join(folder, "link"), join(folder, ".env"));
      }
      await becomes(generation);
    }
    await rm(join(folder, ".env"));
    await becomes(undefined);
  });
});
