import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ERRORS } from "../src/kit/index.ts";
import { ENDPOINTS } from "../src/server/endpoints.ts";

const page = readFileSync(new URL("../docs/api.md", import.meta.url), "utf8");

/** The rows of the page's table with these columns. */
function rowsOf(...columns: readonly string[]): readonly (readonly string[])[] {
  const head = columns.map((column) => String.raw`\| ${column} +`).join("");
  const [, table = ""] = new RegExp(String.raw`^${head}\|\n\|[-| ]+\|\n((?:\|.*\|\n)+)`, "m").exec(page) ?? [];
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

test("the error table of docs/api.md is the table of errors, both ways", () => {
  const written = rowsOf("status", "code", "body", "when").map(([status, code = "", body]) => {
    const [, name = code] = /^`(\w+)`/.exec(code) ?? [];
    return [name, Number(status), !code.endsWith("(internal)"), body];
  });
  const inForce = Object.entries(ERRORS).flatMap(([name, row]) => {
    const statuses = [row.status, ...(("others" in row ? row.others : null) ?? [])];
    return statuses.map((status) => [name, status, row.coded, row.body === "text" ? "text" : "JSON"]);
  });
  expect(new Set(written)).toEqual(new Set(inForce));
  expect(written).toHaveLength(inForce.length);
});

test("every row of the error table of docs/api.md says when", () => {
  for (const [, code, , when] of rowsOf("status", "code", "body", "when"))
    expect([code, when]).toEqual([code, expect.stringMatching(/\w/)]);
});

test("the endpoint table of docs/api.md is the whole public API, in its order", () => {
  const written = rowsOf("method", "path", "credentials");
  expect(written).toEqual(ENDPOINTS.map(({ method, path, credentials }) => [method, `\`${path}\``, credentials]));
});
