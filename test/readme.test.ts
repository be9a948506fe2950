import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ERRORS } from "../src/kit/index.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

/** The rows of README's table whose header is `| status | code | body | when |`. */
function errorRows(): readonly (readonly string[])[] {
  const [, table = ""] = /^\| status +\| code +\| body +\| when +\|\n\|[-| ]+\|\n((?:\|.*\|\n)+)/m.exec(readme) ?? [];
  return table
    .trim()
    .split("\n")
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

test("README's error table is the table of errors, both ways", () => {
  const written = errorRows().map(([status, code = "", body]) => {
    const [, name = code] = /^`(\w+)`/.exec(code) ?? [];
    return [name, Number(status), !code.endsWith("(not sent)"), body];
  });
  const inForce = Object.entries(ERRORS).map(([name, row]) => [
    name,
    row.status,
    row.coded,
    row.body === "text" ? "text" : "JSON",
  ]);
  expect(new Set(written)).toEqual(new Set(inForce));
  expect(written).toHaveLength(inForce.length);
});

test("every row of README's error table says when", () => {
  for (const [, code, , when] of errorRows()) expect([code, when]).toEqual([code, expect.stringMatching(/\w/)]);
});
