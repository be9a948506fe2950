import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { ERRORS, GatewayError, type Json } from "../../../src/kit/index.ts";
import { ADMIN_ENDPOINTS } from "../../../src/server/admin/endpoints.ts";
import { adminDocument } from "../../../src/server/openapi/admin-document.ts";
import { refusalOf } from "../../../src/server/respond.ts";
import { answered, conforms } from "../../support/openapi.ts";
import { admin, AUTH, pathOf } from "../admin/support.ts";

const document = JSON.parse(JSON.stringify(adminDocument())) as Json;

test("is OpenAPI 3.1", async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
});

test("has every reference, and every schema of what comes in and goes out", () => {
  const text = JSON.stringify(document);
  const targets = new Set(
    [...text.matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)].map(([, kind, name]) => `${kind} ${name}`),
  );
  const { schemas, headers } = document["components"] as Record<string, Json>;
  const names = [
    ...Object.keys(schemas ?? {}).map((name) => `schemas ${name}`),
    ...Object.keys(headers ?? {}).map((name) => `headers ${name}`),
  ];
  expect(new Set(names)).toEqual(targets);
});

test("each row stands in it once, with a name of its own", () => {
  const paths = Object.entries(document["paths"] as Record<string, Record<string, Json>>);
  const operations = paths.flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => [method.toUpperCase(), path, operationId]),
  );
  const expected = ADMIN_ENDPOINTS.map(({ method, path, id }) => [method, path, id]);
  expect(new Set(operations.map(String))).toEqual(new Set(expected.map(String)));
  expect(new Set(ADMIN_ENDPOINTS.map(({ id }) => id)).size).toBe(ADMIN_ENDPOINTS.length);
});

test("each part of a path is described", () => {
  for (const { path, params = {} } of ADMIN_ENDPOINTS) {
    expect([path, Object.keys(params)]).toEqual([path, [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)]);
  }
});

test.each(ADMIN_ENDPOINTS)(
  "the errors of $method $path are as they leave the gateway",
  ({ method, path, errors, role }) => {
    const common = role === "none" ? [] : (["FORBIDDEN", "TOO_MANY_REQUESTS", "STORE_UNAVAILABLE"] as const);
    for (const code of [...errors, ...common, "INVALID_REQUEST", "INTERNAL"] as const) {
      const fields = code === "TOO_MANY_REQUESTS" ? { retry_after: 7 } : undefined;
      const error = new GatewayError(code, "What happened", { fields, retryAfter: fields?.retry_after });
      const { status, contentType, headers, body } = refusalOf(error);
      const answer = answered(method, pathOf(path), { status, contentType, headers: { ...headers }, body });
      expect([code, ERRORS[code].status, conforms(document, answer)]).toEqual([code, status, []]);
    }
  },
);

test("is served to whoever has a token", async () => {
  const { ask } = await admin();
  const { status, text } = await ask("/admin/openapi.json", AUTH);
  expect([status, JSON.parse(text)]).toEqual([200, document]);
});

/** The rows of the guide's table of paths. */
function guided(): readonly string[] {
  const guide = readFileSync(new URL("../../../docs/admin.md", import.meta.url), "utf8");
  const [, table = ""] = /^\| path +\| role +\|.*\n\|[-| ]+\|\n((?:\|.*\|\n)+)/m.exec(guide) ?? [];
  return table
    .trim()
    .split("\n")
    .map((line) =>
      line
        .split("|")
        .slice(1, 3)
        .map((cell) => cell.trim())
        .join(" ")
        .trim(),
    );
}

test("the guide's table is the table of rows", () => {
  const rows = ADMIN_ENDPOINTS.map(({ method, path, role }) =>
    `\`${method} ${path}\` ${role === "none" ? "" : role}`.trim(),
  );
  expect(guided().toSorted()).toEqual(rows.toSorted());
});

test("an answer that is not as described is found", () => {
  const wrong = answered("GET", "/admin/session", { body: '{"name":"a","role":"king","expires_at":null}' });
  expect(conforms(document, wrong).length).toBeGreaterThan(0);
  const line = answered("GET", "/admin/ledger/export", { contentType: "application/x-ndjson", body: "{}\n" });
  expect(conforms(document, line)).toContainEqual(expect.stringContaining("required property 'cost'"));
});
