import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { LineFile } from "../../src/telemetry/decision-file.ts";
import { BadDecision, readDecisions } from "../../src/telemetry/decision-reader.ts";
import { decisionOf } from "../../src/telemetry/decisions.ts";
import { poll } from "../e2e/support/child.ts";
import { FEW_RUNS, PATIENCE } from "../properties/runs.ts";
import { TestLog } from "../support/host.ts";
import { exchange, outcome } from "./support.ts";

const DECISION = JSON.stringify(
  decisionOf(exchange(), outcome(), { config: "h", features: [], digest: (id) => String(id.length) }),
);

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "decisions-"));
  file = join(folder, "log.jsonl");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function lineFile(settings: { maxSize?: number; keep?: number; maxWaitingCharacters?: number } = {}, target = file) {
  const { maxSize = 1e9, keep = 3, maxWaitingCharacters = 1e6 } = settings;
  const clock = { now: Date.UTC(2026, 0, 10) };
  const log = new TestLog();
  const lines = new LineFile({ now: () => clock.now, log, maxWaitingCharacters });
  lines.configure({ file: target, maxSize, keep });
  onTestFinished(() => lines.close());
  return { lines, log, clock };
}

/** All lines, those put aside first. */
async function everyLine(): Promise<string[]> {
  const names = (await readdir(folder)).toSorted();
  const aside = names.filter((name) => name !== "log.jsonl");
  const texts = await Promise.all(
    [...aside, "log.jsonl"].map((name) => readFile(join(folder, name), "utf8").catch(() => "")),
  );
  return texts.join("").split("\n").slice(0, -1);
}

const holds = (path: string, text: string) =>
  poll(async () => (await readFile(path, "utf8").catch(() => "")).includes(text));

describe("lines", () => {
  test(
    "are written once, whole and in order, however often the file is put aside or opened again",
    async () => {
      const action = fc.oneof(
        { weight: 8, arbitrary: fc.nat(200) },
        { weight: 1, arbitrary: fc.constant("reopen" as const) },
      );
      const property = fc.asyncProperty(
        fc.array(action, { maxLength: 60 }),
        fc.integer({ min: 1, max: 2_000 }),
        async (actions, maxSize) => {
          await rm(folder, { recursive: true, force: true });
          const { lines } = lineFile({ maxSize, keep: 10_000 });
          const written: string[] = [];
          for (const [index, step] of actions.entries()) {
            if (step === "reopen") lines.configure({ file, maxSize, keep: 10_000 });
            else {
              written.push(`${index} ${"x".repeat(step)}`);
              lines.write(written.at(-1)!);
            }
            if (index % 7 === 0) await new Promise(setImmediate);
          }
          await lines.close();
          expect(lines.dropped).toBe(0);
          expect(written.length === 0 ? [] : await everyLine()).toEqual(written);
        },
      );
      await fc.assert(property, { numRuns: FEW_RUNS });
    },
    PATIENCE,
  );

  test("of two processes share one file; what one puts aside the other leaves", async () => {
    const settings = { maxSize: 400, keep: 1_000 };
    const [a, b] = [lineFile(settings), lineFile(settings)];
    // Another process has another clock, and another number in the names.
    b.clock.now += 60_000;
    for (let count = 0; count < 200; count += 1) {
      a.lines.write(`a${count} ${"x".repeat(30)}`);
      b.lines.write(`b${count} ${"x".repeat(30)}`);
      if (count % 5 === 0) await new Promise(setImmediate);
    }
    await Promise.all([a.lines.close(), b.lines.close()]);
    const all = (await everyLine()).map((line) => line.split(" ")[0]);
    expect(all.length).toBe(400);
    expect(new Set(all).size).toBe(400);
    // Both may find the same file full: who comes second has lost nothing.
    expect([a.lines.dropped, b.lines.dropped, a.log.lines, b.log.lines]).toEqual([0, 0, [], []]);
  });

  test("that are written are not counted as dropped when their file cannot be put aside", async () => {
    const { lines, log } = lineFile({ maxSize: 10 }, join(folder, "x".repeat(250)));
    for (const line of ["the first line", "the second line"]) {
      lines.write(line);
      await holds(join(folder, "x".repeat(250)), line);
    }
    await lines.close();
    expect(lines.dropped).toBe(0);
    expect(log.lines.map(({ message }) => message)).toEqual(["the decision log cannot be put aside: it grows on"]);
  });

  test("beyond the files to be kept the oldest go, and no other file does", async () => {
    await writeFile(join(folder, "log.jsonl.note"), "mine");
    const { lines } = lineFile({ maxSize: 10, keep: 2 });
    for (let count = 0; count < 6; count += 1) {
      lines.write(`line number ${count}`);
      await poll(async () => (await everyLine()).at(-1)?.endsWith(String(count)) ?? false);
    }
    await lines.close();
    expect((await readdir(folder)).toSorted()).toEqual([
      "log.jsonl.20260110T000000004Z-" + process.pid,
      "log.jsonl.20260110T000000005Z-" + process.pid,
      "log.jsonl.note",
    ]);
  });

  test("a file that was moved away is written to until it is opened again", async () => {
    const { lines } = lineFile();
    lines.write("one");
    await holds(file, "one");
    await rename(file, `${file}.old`);
    lines.write("two");
    await holds(`${file}.old`, "two");
    lines.configure({ file, maxSize: 1e9, keep: 1 });
    lines.write("three");
    await holds(file, "three");
    await lines.close();
    expect(await readFile(`${file}.old`, "utf8")).toBe("one\ntwo\n");
    expect(await readFile(file, "utf8")).toBe("three\n");
  });

  test("a file that was removed is made anew, and no line is lost in what nobody can read any more", async () => {
    const { lines } = lineFile();
    lines.write("one");
    await holds(file, "one");
    await rm(file);
    for (const line of ["two", "three"]) lines.write(line);
    await holds(file, "three");
    await lines.close();
    expect(await readFile(file, "utf8")).toBe("two\nthree\n");
  });

  test("that wait while the log is turned off or moved are written where they belong", async () => {
    const { lines } = lineFile();
    for (const line of ["one", "two"]) lines.write(line);
    lines.configure(null);
    const other = join(folder, "other.jsonl");
    lines.configure({ file: other, maxSize: 1e9, keep: 1 });
    lines.write("three");
    await lines.close();
    expect(await readFile(other, "utf8")).toBe("three\n");
    expect(await readFile(file, "utf8")).toBe("one\ntwo\n");
  });

  test("a cut line is ended before the next", async () => {
    await writeFile(file, 'whole\n{"cut');
    const { lines } = lineFile();
    lines.write("next");
    await lines.close();
    expect(await readFile(file, "utf8")).toBe('whole\n{"cut\nnext\n');
  });

  test("more than may wait are dropped and counted", async () => {
    const { lines } = lineFile({ maxWaitingCharacters: 100 });
    for (let count = 0; count < 50; count += 1) lines.write("x".repeat(9));
    await lines.close();
    const written = (await everyLine()).length;
    expect(written).toBeGreaterThanOrEqual(10);
    expect(written + lines.dropped).toBe(50);
    expect(lines.dropped).toBeGreaterThan(30);
  });

  test("that cannot be written are dropped, told once for each time, and tried again", async () => {
    const blocked = join(folder, "blocked");
    await writeFile(blocked, "a file where the folder should be");
    const { lines, log, clock } = lineFile({}, join(blocked, "log.jsonl"));
    lines.write("one");
    await poll(() => lines.dropped === 1);
    await rm(blocked);
    await mkdir(blocked);
    clock.now += 2_000;
    lines.write("two");
    await holds(join(blocked, "log.jsonl"), "two");
    expect(log.lines.map(({ level }) => level)).toEqual(["error"]);
    await rm(blocked, { recursive: true });
    await writeFile(blocked, "again");
    lines.write("three");
    await poll(() => lines.dropped === 2);
    lines.write("four");
    clock.now += 2_000;
    lines.write("five");
    await poll(() => lines.dropped === 4);
    expect(log.lines.map(({ level }) => level)).toEqual(["error", "error"]);
  });

  test("without settings nothing is written", async () => {
    const lines = new LineFile({ now: Date.now, log: new TestLog() });
    lines.write("one");
    await lines.close();
    expect([lines.on, lines.dropped, await readdir(folder)]).toEqual([false, 0, []]);
  });
});

async function read(text: string, onBad?: (bad: BadDecision) => void) {
  await writeFile(file, text);
  const found = [];
  for await (const decision of readDecisions(file, onBad)) found.push(decision.request_id);
  return found;
}

const changed = (change: object) => JSON.stringify({ ...(JSON.parse(DECISION) as object), ...change });

describe("reading", () => {
  test("decisions come in the file's order; blank lines are passed over", async () => {
    const second = DECISION.replace('"r1"', '"r2"');
    expect(await read(`${DECISION}\n\n${second}\r\n${DECISION}`)).toEqual(["r1", "r2", "r1"]);
  });

  test.each([
    ['{"v":1,"time"', "not JSON: the line is cut, or another program's"],
    ["[]", "not a JSON object"],
    ["{}", "version undefined of the format: this gateway reads version 1"],
    [changed({ v: 2 }), "version 2 of the format: this gateway reads version 1"],
    [changed({ time: null }), "time must be text"],
    [changed({ time: "yesterday" }), "time must be a date"],
    [changed({ status: "200" }), "status must be a number"],
    [changed({ charge: "-1" }), "charge must be a decimal"],
    [changed({ attempts: {} }), "attempts must be a list"],
    [changed({ tokens: null }), "tokens must be an object"],
    [
      changed({ tokens: { prompt: "12", completion: 1, cached: 0, reasoning: 0 } }),
      "tokens/prompt must be a number, not less than 0",
    ],
    [
      changed({ tokens: { prompt: 12, completion: -1, cached: 0, reasoning: 0 } }),
      "tokens/completion must be a number, not less than 0",
    ],
    [changed({ asked: undefined }), "asked must be an object"],
    [changed({ asked: { images: "two" } }), "asked/images must be a number, not less than 0"],
    [changed({ estimated: {} }), "estimated/prompt must be a number, not less than 0"],
    [changed({ attempts: [null] }), "attempts/0 must be an object"],
    [changed({ attempts: [{}] }), "attempts/0/upstream must be text"],
    [changed({ endpoint: "toString" }), 'endpoint "toString" is none of this gateway\'s'],
    [changed({ user: {} }), "user must be text or null"],
    [changed({ body_ms: "soon" }), "body_ms must be a number, not less than 0, or null"],
    [changed({ total_ms: -1 }), "total_ms must be a number, not less than 0"],
  ])("of %s it is said where it stands and what is wrong", async (line, why) => {
    const text = `${DECISION}\n${line}\n${DECISION}\n`;
    await expect(read(text)).rejects.toThrow(new BadDecision(file, 2, why));
    const bad: BadDecision[] = [];
    expect(await read(text, (one) => bad.push(one))).toEqual(["r1", "r1"]);
    expect(bad.map(({ message }) => message)).toEqual([`${file}:2: ${why}`]);
  });

  test("a file that is not there is an error", async () => {
    await expect(readDecisions(join(folder, "none")).next()).rejects.toThrow("ENOENT");
  });
});
