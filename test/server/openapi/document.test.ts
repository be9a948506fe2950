import { Validator } from "@seriousme/openapi-schema-validator";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isUsableName } from "../../../src/accounts/key-limits.ts";
import { parseEmail } from "../../../src/accounts/users.ts";
import { type BodyName, validateBody } from "../../../src/server/body-schemas.ts";
import { ERRORS, isJson, type Json } from "../../../src/kit/index.ts";
import { openApiDocument } from "../../../src/server/openapi/document.ts";
import { ENDPOINTS } from "../../../src/server/endpoints.ts";
import { BAD, GOOD, STILL_GOOD } from "../body-cases.ts";
import { faults } from "../../support/openapi.ts";

/** As a client reads it. */
const document = JSON.parse(JSON.stringify(openApiDocument())) as Json;

/** Every value in the document, with the keys that lead to it. */
function* values(value: unknown, path: readonly string[] = []): Generator<readonly [readonly string[], unknown]> {
  yield [path, value];
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) yield* values(inner, [...path, key]);
}

function at(path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document);
}

const references = [...values(document)].filter(([path, value]) => path.at(-1) === "$ref" && typeof value === "string");

describe("the document", () => {
  test("is OpenAPI 3.1", async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
  });

  test("has no reference to nothing, and nothing that nobody refers to", () => {
    const targets = references.map(([, reference]) => String(reference));
    expect(targets.filter((target) => !isJson(at(target.slice(2).split("/"))))).toEqual([]);
    const components = ["schemas", "headers"].flatMap((section) =>
      Object.keys(at(["components", section]) as Json).map((name) => `#/components/${section}/${name}`),
    );
    expect(components.filter((component) => !targets.includes(component))).toEqual([]);
    const security = Object.keys(at(["components", "securitySchemes"]) as Json);
    const required = [...values(at(["paths"]))].filter(([path]) => path.at(-2) === "security");
    expect(new Set(required.flatMap(([, schemes]) => Object.keys(schemes as Json)))).toEqual(new Set(security));
  });

  test("is written in 3.1's own terms, and knows no address", () => {
    const keys = [...values(document)].map(([path]) => path.at(-1) ?? "");
    expect(keys.filter((key) => ["definitions", "$schema", "$id", "nullable"].includes(key))).toEqual([]);
    expect(keys.filter((key) => key.startsWith("x-"))).toEqual([]);
    expect(JSON.stringify(document)).not.toMatch(/https?:/);
  });

  test("describes the whole public API and nothing of the admin listener", () => {
    const described = Object.entries(document["paths"] as Record<string, Json>).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.toSorted()).toEqual(ENDPOINTS.map(({ method, path }) => `${method} ${path}`).toSorted());
    expect(described.filter((line) => /admin|livez|readyz|metrics/.test(line))).toEqual([]);
    expect(new Set(ENDPOINTS.map(({ id }) => id)).size).toBe(ENDPOINTS.length);
  });

  test("gives every parameter of a path, and only those", () => {
    for (const { path, parameters = [] } of ENDPOINTS) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(parameters.filter((one) => one.in === "path").map(({ name }) => name)).toEqual(named);
    }
  });
});

/** The media types of an answer to a POST. */
function types(path: string, status: number): string[] {
  return Object.keys(at(["paths", path, "post", "responses", String(status), "content"]) as Json);
}

describe("errors", () => {
  test("stand at the status of their row, each somewhere", () => {
    const headers = [...values(document["paths"])].filter(([path]) => path.at(-1) === "X-Error-Code");
    const found = headers.flatMap(([path, header]) =>
      (header as { schema: { enum: string[] } }).schema.enum.map((code) => `${path.at(-3)} ${code}`),
    );
    const coded = Object.entries(ERRORS).filter(([, row]) => row.coded);
    const rows = coded.flatMap(([code, { status, ...row }]) =>
      [status, ...(("others" in row ? row.others : null) ?? [])].map((one) => `${one} ${code}`),
    );
    expect(new Set(found)).toEqual(new Set(rows));
  });

  test("every one of the table can be met but those of a wrong method, of a WebSocket and of the admin listener", () => {
    const met = new Set([...ENDPOINTS.flatMap(({ errors }) => errors), "IP_RATE_LIMIT", "INTERNAL"]);
    expect(Object.keys(ERRORS).filter((code) => !met.has(code as never))).toEqual([
      "FORBIDDEN",
      "METHOD_NOT_ALLOWED",
      "UPGRADE_REQUIRED",
    ]);
  });

  test("on images failures of upstreams are JSON, elsewhere text, and JSON for clients that ask for it", () => {
    expect([502, 503, 504].map((status) => types("/v1/images/generations", status))).toEqual([
      ["application/json"],
      ["text/plain", "application/json"],
      ["application/json"],
    ]);
    expect([502, 503, 504].flatMap((status) => types("/v1/embeddings", status))).toEqual(
      [1, 2, 3].flatMap(() => ["text/plain", "application/json"]),
    );
  });
});

/** What the document says a JSON or form body of a path must be. */
function requestSchema(endpoint: BodyName): readonly string[] {
  if (endpoint === "transcription") return ["components", "schemas", "TranscriptionForm"];
  const path = {
    chat: "/v1/chat/completions",
    messages: "/v1/messages",
    count_tokens: "/v1/messages/count_tokens",
    responses: "/v1/responses",
    embeddings: "/v1/embeddings",
    rerank: "/v1/rerank",
    speech: "/v1/audio/speech",
    image: "/v1/images/generations",
  }[endpoint];
  return ["paths", path, "post", "requestBody", "content", "application/json", "schema"];
}

describe.for(Object.keys(GOOD) as BodyName[])("bodies of %s", (endpoint) => {
  const accepted = (body: unknown): boolean => faults(document, requestSchema(endpoint), body).length === 0;

  test("are described as they are checked", () => {
    const changes = [{}, ...STILL_GOOD[endpoint], ...BAD[endpoint].map(([change]) => change)];
    for (const change of changes) {
      const body: unknown = JSON.parse(JSON.stringify({ ...GOOD[endpoint], ...change }));
      expect(accepted(body)).toBe(validateBody(endpoint, body) === null);
    }
  });

  test("whatever they hold", () => {
    const fields = [...new Set([GOOD[endpoint], ...STILL_GOOD[endpoint]].flatMap((change) => Object.keys(change)))];
    const change = fc.dictionary(fc.constantFrom(...fields), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 2 });
    fc.assert(
      fc.property(change, (fields) => {
        const body: unknown = { ...GOOD[endpoint], ...fields };
        expect(accepted(body)).toBe(validateBody(endpoint, body) === null);
      }),
    );
  });
});

function isDescribed(title: string, body: unknown): boolean {
  return faults(document, ["components", "schemas", title], body).length === 0;
}

function isEmail(value: unknown): boolean {
  try {
    return parseEmail(value) !== "";
  } catch {
    return false;
  }
}

describe("bodies of the account routes", () => {
  test("whatever is taken is described", () => {
    const value = fc.oneof(fc.jsonValue(), fc.string({ unit: "binary", maxLength: 130 }), fc.emailAddress());
    const names = fc.string({ unit: fc.constantFrom("a", " ", "😀", "\ud800"), minLength: 98, maxLength: 102 });
    fc.assert(
      fc.property(fc.oneof(value, names), (value) => {
        expect(!isUsableName(value) || isDescribed("ApiKeyRequest", { name: value })).toBe(true);
        expect(!isEmail(value) || isDescribed("LoginRequest", { email: value })).toBe(true);
      }),
    );
    expect(isUsableName("😀".repeat(100)) && isEmail("ada@example.com")).toBe(true);
  });

  test("what is described as wrong is refused", () => {
    for (const name of ["", "x".repeat(101), 5, null])
      expect([isDescribed("ApiKeyRequest", { name }), isUsableName(name)]).toEqual([false, false]);
    for (const email of ["", `${"a".repeat(250)}@b.co`, 5, null])
      expect([isDescribed("LoginRequest", { email }), isEmail(email)]).toEqual([false, false]);
    for (const fields of [{}, { email: "a@b.co" }, { code: "123456" }, { email: "a@b.co", code: 123_456 }])
      expect(isDescribed("VerifyRequest", fields)).toBe(false);
  });
});
