import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { schemas } from "../../../schemas/admin-schemas.gen.js";
import { isJson, type Json } from "../../../src/kit/index.ts";
import type { AdminEndpoint } from "../../../src/server/admin/endpoint.ts";
import { ADMIN_ENDPOINTS } from "../../../src/server/admin/endpoints.ts";
import { send } from "../support/http.ts";
import { ADMIN_TOKEN } from "../support/gateway-config.ts";
import { TestGateway } from "../support/in-process.ts";

const AUTH = { authorization: `Bearer ${ADMIN_TOKEN}` };
const MINUTE_MS = 60_000;
const JSON_TYPE = { "content-type": "application/json" };

/** As parts of a path, parameters and fields. */
const STRANGE_TEXTS = [
  "",
  " ",
  "0",
  "-1",
  "1e999",
  "9".repeat(40),
  "null",
  "undefined",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "../../etc/passwd",
  "a/b",
  "*",
  "{}",
  "' OR 1=1 --",
  "a\u0000b",
  "a\r\nSet-Cookie: x=y",
  "<script>alert(1)</script>",
  "ü🔑\ud83d",
  "x".repeat(5_000),
];
const STRANGE_VALUES: readonly unknown[] = [
  ...STRANGE_TEXTS,
  null,
  true,
  -1,
  0,
  0.5,
  1e308,
  Number.MAX_SAFE_INTEGER,
  [],
  {},
  [null],
  ["x".repeat(5_000)],
  { toString: 1, __proto__: null },
];
const STRANGE_BODIES = [
  "",
  "{",
  "null",
  "[]",
  "3",
  '"text"',
  "{}",
  '{"__proto__":{"role":"operator"}}',
  '{"constructor":{"prototype":{}}}',
  '{"a":1,"a":2}',
  "[".repeat(20_000),
  `{"x":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
  `{"x":"${"x".repeat(70_000)}"}`,
  '{"x":1e999}',
  "\u0000",
];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.close());

/** Rows that end by themselves. */
const ROWS = ADMIN_ENDPOINTS.filter(({ answers }) => answers[200]?.content?.["text/event-stream"] === undefined);

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function pathOf({ path }: AdminEndpoint, part = "none"): string {
  return path.replaceAll(/\{\w+\}/g, () => encoded(part));
}

/** Of a body that is one of several, those of all. */
function fieldsOf(title: string | undefined): readonly string[] {
  const { properties, oneOf = [] } = (title === undefined ? undefined : schemas[title]) ?? {};
  const choices = (oneOf as readonly { readonly $ref: string }[]).flatMap(({ $ref }) =>
    fieldsOf($ref.split("/").at(-1)),
  );
  return [...new Set([...(isJson(properties) ? Object.keys(properties) : []), ...choices])];
}

interface Ask {
  /** In what is said of it. */
  readonly what: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What is answered with a fault of the gateway, or not looked at; tokens that are tried out are refused unseen. */
async function faultsOf({ method, path: template }: AdminEndpoint, asks: readonly Ask[]): Promise<string[]> {
  const faults: string[] = [];
  for (const { what, path, headers = { ...AUTH, ...JSON_TYPE }, body } of asks) {
    const { status, text } = await send(gateway.adminUrl + path, { method, headers, ...(body && { body }) });
    const isUnseen = status === 429 && template !== "/admin/session";
    if (status >= 500 || isUnseen) faults.push(`${what}: ${status} ${text}`);
  }
  return faults;
}

test("the fields of every body are known", () => {
  const bodies = ROWS.flatMap(({ body }) => body ?? []);
  expect(bodies.length).toBeGreaterThan(5);
  expect(bodies.filter((title) => fieldsOf(title).length === 0)).toEqual([]);
});

describe.each(ROWS)("$method $path", (row) => {
  const { method, query, body } = row;
  const least = body === undefined ? {} : { body: "{}" };

  /** Wrong tokens of the test before are forgotten, or everything would be refused for them. */
  beforeEach(() => gateway.clock.advance(MINUTE_MS));

  test("parts of the path of any content", async () => {
    const parts = row.path.includes("{") ? STRANGE_TEXTS : [];
    for (const part of parts) {
      const answer = await gateway.admin(pathOf(row, part), { method, headers: JSON_TYPE, ...least });
      expect([200, 204, 400, 404, 409, 415, 422], `${part}: ${answer.text}`).toContain(answer.status);
    }
    const raw = parts.length === 0 ? [] : ["%", "%FF", "%00", "%2e%2e", "%ED%A0%80", "a%2Fb%5C"];
    const asks = raw.map((part) => ({ what: part, path: row.path.replaceAll(/\{\w+\}/g, part), ...least }));
    expect(await faultsOf(row, asks)).toEqual([]);
  });

  test("parameters of any content, known or not", async () => {
    const targets = [...fieldsOf(query), "unknown", "__proto__"]
      .map(encoded)
      .flatMap((name) => [
        ...STRANGE_TEXTS.map((text) => `${pathOf(row)}?${name}=${encoded(text)}`),
        `${pathOf(row)}?${name}=1&${name}=1&=&&%`,
      ]);
    const asks = targets.map((path) => ({ what: path, path, ...least }));
    expect(await faultsOf(row, asks)).toEqual([]);
  });

  test("bodies and fields of any content", async () => {
    const bodies = body === undefined ? [] : STRANGE_BODIES;
    const names = fieldsOf(body);
    // Alone, and beside others that may be what they should.
    const fields = names.flatMap((name) =>
      STRANGE_VALUES.flatMap((value): Json[] => [
        { [name]: value },
        { ...Object.fromEntries(names.map((other) => [other, "1"])), [name]: value },
      ]),
    );
    const texts = [...bodies, ...fields.map((one) => JSON.stringify(one))];
    const asks = texts.map((text) => ({ what: text.slice(0, 100), path: pathOf(row), body: text }));
    expect(await faultsOf(row, asks)).toEqual([]);
  });

  test("headers of any content", async () => {
    const printable = STRANGE_TEXTS.filter((text) => /^[\x20-\x7e]+$/.test(text));
    const strange: readonly Record<string, string>[] = [
      { authorization: "Bearer" },
      { authorization: `Bearer ${"x".repeat(5_000)}` },
      { authorization: "Basic x" },
      { cookie: "gateway_admin=admin.99999999999999.x; gateway_admin=" },
      { cookie: `gateway_admin=${"x".repeat(5_000)}` },
      { ...AUTH, origin: "null" },
      { ...AUTH, origin: "http://[", "sec-fetch-site": "x" },
      { ...AUTH, "content-type": "text/html" },
      { ...AUTH, ...JSON_TYPE, "content-encoding": "gzip" },
      ...printable.map((text) => ({ ...AUTH, ...JSON_TYPE, "idempotency-key": text, "x-request-id": text })),
    ];
    const asks = strange.map((headers) => {
      return { what: JSON.stringify(headers).slice(0, 100), path: pathOf(row), headers, ...least };
    });
    expect(await faultsOf(row, asks)).toEqual([]);
  });
});
