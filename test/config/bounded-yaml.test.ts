import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "../../src/config/parse.ts";
import { storeUrlHint } from "../../src/config/last-good.ts";

const MIB = 1024 * 1024;
const found = (text: string) =>
  parse("/g.yaml", text).diagnostics.map(({ rule, line, column, message }) => [rule, line, column, message]);

/** As many of a beginning as come to two mebibytes. */
const much = (piece: string): string => piece.repeat((2 * MIB) / piece.length);

const block = (levels: number): string =>
  Array.from({ length: levels }, (_, level) => `${" ".repeat(level)}a:\n`).join("");

describe("depth", () => {
  test.each<[string, string]>([
    ["lists", much("[")],
    ["maps", much("{a: ")],
    ["lists of maps", much("[{a: ")],
    ["block lists", much("- ")],
    ["keys that are lists", much("? - ")],
    ["block maps", block(1_500)],
    ["five thousand lists that are closed", `a: ${"[".repeat(5_000)}${"]".repeat(5_000)}`],
  ])("%s are given up while they are read, with their place", (_, text) => {
    const [finding, ...more] = found(text);
    expect(more).toEqual([]);
    expect(finding).toEqual([
      "yaml-depth",
      expect.any(Number),
      expect.any(Number),
      "is nested more than 100 levels deep",
    ]);
    const [, line, column] = finding!;
    expect(Number(line) + Number(column)).toBeLessThan(2_000);
  });

  test.each<[string, (levels: number) => string]>([
    ["lists", (levels) => `a: ${"[".repeat(levels - 1)}1${"]".repeat(levels - 1)}`],
    ["maps", (levels) => `${"{a: ".repeat(levels)}${"}".repeat(levels)}`],
    ["block maps", (levels) => block(levels)],
  ])("a hundred levels of %s are read, one more is not", (_, text) => {
    expect(found(text(100))).toEqual([]);
    expect(found(text(101)).map(([rule]) => rule)).toEqual(["yaml-depth"]);
  });
});

describe("characters", () => {
  test.each([0x00, 0x01, 0x07, 0x08, 0x0b, 0x0c, 0x0e, 0x1b, 0x1f, 0x7f, 0x80, 0x84, 0x86, 0x9f])(
    "0x%s is refused with its place, wherever it stands",
    (code) => {
      const letter = String.fromCharCode(code);
      const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
      for (const text of [`a: 1\n# xy${letter}`, `a: 1\nbcde${letter}: 2`, `a: 1\r\nb: "${letter}"`]) {
        expect(found(text)).toEqual([["yaml-character", 2, 5, `the control character ${name} is not allowed`]]);
      }
    },
  );

  test("tabs, line ends, NEL and letters of every script are taken", () => {
    expect(found('a: "x\ty\u0085z é漢😀"\r\nb: 2\n')).toEqual([]);
  });

  test("at the very beginning, and behind eight megabytes", () => {
    expect(found("\u0000")).toEqual([["yaml-character", 1, 1, "the control character U+0000 is not allowed"]]);
    const lines = "# a comment\n".repeat(600_000);
    expect(found(`${lines}a: \u0000`).map((finding) => finding.slice(0, 3))).toEqual([["yaml-character", 600_001, 4]]);
  });
});

test("the address of the store is not looked for in what is nested without end", async () => {
  const folder = await mkdtemp(join(tmpdir(), "gateway-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "gateway.yaml");
  await writeFile(file, `store: {url: "sqlite:a.db"}\nx: ${"[".repeat(MIB)}`);
  expect(await storeUrlHint(file, {})).toBeNull();
});
