import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ERRORS } from "../src/kit/index.ts";
import { ENDPOINTS } from "../src/server/endpoints.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

/** The rows of README's table with these columns. */
function rowsOf(...columns: readonly string[]): readonly (readonly string[])[] {
  const head = columns.map((column) => String.raw`\| ${column} +`).join("");
  const [, table = ""] = new RegExp(String.raw`^${head}\|\n\|[-| ]+\|\n((?:\|.*\|\n)+)`, "m").exec(readme) ?? [];
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
  const written = rowsOf("status", "code", "body", "when").map(([status, code = "", body]) => {
    const [, name = code] = /^`(\w+)`/.exec(code) ?? [];
    return [name, Number(status), !code.endsWith("(not sent)"), body];
  });
  const inForce = Object.entries(ERRORS).flatMap(([name, row]) => {
    const statuses = [row.status, ...(("others" in row ? row.others : null) ?? [])];
    return statuses.map((status) => [name, status, row.coded, row.body === "text" ? "text" : "JSON"]);
  });
  expect(new Set(written)).toEqual(new Set(inForce));
  expect(written).toHaveLength(inForce.length);
});

test("every row of README's error table says when", () => {
  for (const [, code, , when] of rowsOf("status", "code", "body", "when"))
    expect([code, when]).toEqual([code, expect.stringMatching(/\w/)]);
});

test("README's table of endpoints is the whole public API, in its order", () => {
  const written = rowsOf("method", "path", "credentials");
  expect(written).toEqual(ENDPOINTS.map(({ method, path, credentials }) => [method, `\`${path}\``, credentials]));
});
