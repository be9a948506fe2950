import { globSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { formatText as formatReport } from "../../src/config-tests/report.ts";
import { runTests } from "../../src/config-tests/run.ts";
import { formatText } from "../../src/config/diagnostics.ts";
import { checkConfig } from "../../src/gateway/configuration.ts";
import { formatFindings } from "../../src/import/findings.ts";
import { importConfiguration, KINDS, type SourceKind } from "../../src/import/run.ts";
import { temporaryFolder } from "../store/support.ts";

const CASES = resolve(import.meta.dirname, "cases");
const BAD = resolve(import.meta.dirname, "bad");
const FILES = globSync("*/*.{yaml,json}", { cwd: CASES }).toSorted();

const kindOf = (name: string): SourceKind => KINDS.find((kind) => kind === dirname(name))!;

/**
 * A file of cases/KIND is a configuration; what becomes of it is beside it in `expected/`, which `vitest -u` writes anew.
 * Every one passes `gateway check` without errors, and its tests pass.
 */
test.each(FILES)("%s", async (name) => {
  const folder = temporaryFolder();
  const [file, tests] = [join(folder, "gateway.yaml"), join(folder, "gateway.test.yaml")];
  const imported = await importConfiguration({
    kind: kindOf(name),
    path: join(CASES, name),
    shown: basename(name),
    tests: { path: tests, config: file },
    schemas: { gateway: "./schemas/gateway.schema.json", tests: "./schemas/config-test.schema.json" },
  });
  const expected = join(CASES, dirname(name), "expected", basename(name).replace(/\.\w+$/, ""));
  await mkdir(dirname(expected), { recursive: true });
  await expect(formatFindings(imported.findings)).toMatchFileSnapshot(`${expected}.txt`);
  await expect(imported.yaml).toMatchFileSnapshot(`${expected}.gateway.yaml`);
  await expect(imported.tests ?? "").toMatchFileSnapshot(`${expected}.test.yaml`);

  await writeFile(file, imported.yaml);
  const checked = await checkConfig({ file, strict: false, now: Date.parse("2026-06-01"), env: {} });
  const warnings = checked.diagnostics.filter(({ rule }) => rule !== "unresolved-reference");
  await expect(formatText(warnings).replaceAll(folder, "")).toMatchFileSnapshot(`${expected}.check.txt`);
  expect(checked.ok).toBe(true);
  if (imported.tests === null) return;
  await writeFile(tests, imported.tests);
  const results = await runTests([tests], { env: {}, clock: () => 0 });
  expect(formatReport(results, (_colour, text) => text)).toMatch(/\n\d+ passed \(0 ms\)\n$/);
});

test("no secret that is planted in the cases is in what is written of them", async () => {
  const files = globSync("*/expected/*", { cwd: CASES });
  const texts = await Promise.all(files.map((path) => readFile(join(CASES, path), "utf8")));
  expect(texts.length).toBeGreaterThan(40);
  expect(texts.join("")).not.toMatch(/planted/i);
});

/** A file of bad/ ends with the message that is in expected/ beside it: it says where, why and what to do. */
test.each(globSync("*.{yaml,json}", { cwd: BAD }).toSorted())("bad input: %s", async (name) => {
  const importing = importConfiguration({ kind: "litellm", path: join(BAD, name), shown: name });
  const message = await importing.then(
    () => "imported",
    (error: unknown) => `${(error as Error).name}: ${(error as Error).message}\n`,
  );
  await mkdir(join(BAD, "expected"), { recursive: true });
  expect(message).toMatch(/^ImportError: /);
  await expect(message).toMatchFileSnapshot(join(BAD, "expected", `${name}.txt`));
});
