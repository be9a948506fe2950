import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadOffline } from "../../../src/offline/load.ts";
import { replay, type ReplayReport } from "../../../src/offline/replay/replay.ts";
import { replayMarkdown, replayText } from "../../../src/offline/replay/report.ts";

/**
 * A folder a case: `log.jsonl`, `new.yaml`, with `old.yaml` for `--against` and `options.json` for other options, and
 * what is expected of them. `WRITE_CASES=1` writes what is expected anew, to be read before it is committed.
 */
const CASES = join(import.meta.dirname, "cases");

interface Options {
  readonly since?: string;
  readonly until?: string;
  readonly tier?: string;
  readonly model?: string;
  readonly limits?: boolean;
}

async function replayed(folder: string): Promise<ReplayReport> {
  const [log, now, old, options] = ["log.jsonl", "new.yaml", "old.yaml", "options.json"].map((name) =>
    join(folder, name),
  );
  const given = existsSync(options!) ? (JSON.parse(readFileSync(options!, "utf8")) as Options) : {};
  const { since, until, tier = null, model = null, limits = false } = given;
  const report = await replay({
    files: [log!],
    configuration: await loadOffline({ file: now!, env: {} }),
    against: existsSync(old!) ? await loadOffline({ file: old!, env: {} }) : null,
    limits,
    since: since === undefined ? null : Date.parse(since),
    until: until === undefined ? null : Date.parse(until),
    tier,
    model,
  });
  const bad_lines = report.log.bad_lines.map((line) => line.replace(`${folder}/`, ""));
  return { ...report, log: { ...report.log, bad_lines } };
}

describe("cases", () => {
  test.each(readdirSync(CASES))("%s", async (name) => {
    const folder = join(CASES, name);
    const report = await replayed(folder);
    const found = {
      "expected.json": `${JSON.stringify(report, null, 2)}\n`,
      "expected.txt": replayText(report),
      "expected.md": replayMarkdown(report),
    };
    for (const [file, text] of Object.entries(found)) {
      if (process.env["WRITE_CASES"] === "1") writeFileSync(join(folder, file), text);
      expect(text).toBe(readFileSync(join(folder, file), "utf8"));
    }
  });
});
