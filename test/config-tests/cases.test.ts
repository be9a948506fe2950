import { globSync } from "node:fs";
import { basename, resolve } from "node:path";
import { expect, test } from "vitest";
import { formatText } from "../../src/config-tests/report.ts";
import { runTests } from "../../src/config-tests/run.ts";

const FOLDER = resolve(import.meta.dirname, "cases");
const FILES = globSync("*.test.yaml", { cwd: FOLDER }).toSorted();

/** Each file's report, but for how long it took, is the text beside it; `vitest -u` writes it anew. */
test.each(FILES)("%s", async (name) => {
  const results = await runTests([resolve(FOLDER, name)], { env: {}, clock: () => 0 });
  const report = formatText(results, (_colour, text) => text);
  await expect(report).toMatchFileSnapshot(resolve(FOLDER, `${basename(name, ".test.yaml")}.txt`));
});
