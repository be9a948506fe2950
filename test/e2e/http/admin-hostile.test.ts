import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { schemas } from "../../../schemas/admin-schemas.gen.js";
import { isJson, type Json } from "../../../src/kit/index.ts";
import type { AdminEndpoint } from "../../../src/server/admin/endpoint.ts";
import { ADMIN_ENDPOINTS } from "../../../src/server/admin/endpoints.ts";
import { type Answer, send } from "../support/http.ts";
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

function fieldsOf(title: string | undefined): readonly string[] {
  const { properties } = (title === undefined ? undefined : schemas[title]) ?? {};
  return isJson(properties) ? Object.keys(properties) : [];
}

/** A fault of the gateway is no answer to whatever anybody sends; and it is looked at, but where tokens are tried out. */
async function expectNoFault(what: string, asked: Promise<Answer>, { path }: AdminEndpoint): Promise<void> {
  const { status, text } = await asked;
  const isUnseen = status === 429 && path !== "/admin/session";
  expect(status >= 500 || isUnseen, `${what}: ${status} ${text}`).toBe(false);
}

describe.each(ROWS)("$method $path", (row) => {
  const { method, query, body } = row;

  /** Wrong tokens of the test before are forgotten, or everything would be refused for them. */
  beforeEach(() => gateway.clock.advance(MINUTE_MS));

  test("parts of the path of any content", async () => {
    const parts = row.path.includes("{") ? STRANGE_TEXTS : [];
    for (const part of parts) {
      const answer = await gateway.admin(pathOf(row, part), { method, headers: JSON_TYPE, body: body ? "{}" : "" });
      expect([200, 204, 400, 404, 409, 415, 422], `${part}: ${answer.text}`).toContain(answer.status);
    }
    for (const raw of parts.length === 0 ? [] : ["%", "%FF", "%00", "%2e%2e", "%ED%A0%80", "a%2Fb%5C"]) {
      const path = row.path.replaceAll(/\{\w+\}/g, raw);
      await expectNoFault(path, send(gateway.adminUrl + path, { method, headers: { ...AUTH, ...JSON_TYPE } }), row);
    }
  });

  test("parameters of any content, known or not", async () => {
    const path = pathOf(row);
    const sent = { method, headers: { ...AUTH, ...JSON_TYPE }, ...(body && { body: "{}" }) };
    for (const name of [...fieldsOf(query), "unknown", "__proto__"]) {
      for (const text of STRANGE_TEXTS) {
        const target = `${path}?${encoded(name)}=${encoded(text)}`;
        await expectNoFault(target, send(gateway.adminUrl + target, sent), row);
      }
      const twice = `${path}?${encoded(name)}=1&${encoded(name)}=1&=&&%`;
      await expectNoFault(twice, send(gateway.adminUrl + twice, sent), row);
    }
  });

  test("bodies and fields of any content", async () => {
    const bodies = body === undefined ? [] : STRANGE_BODIES;
    const fields = fieldsOf(body).flatMap((name) => STRANGE_VALUES.map((value): Json => ({ [name]: value })));
    for (const text of [...bodies, ...fields.map((one) => JSON.stringify(one))]) {
      const asked = send(gateway.adminUrl + pathOf(row), { method, headers: { ...AUTH, ...JSON_TYPE }, body: text });
      await expectNoFault(text.slice(0, 100), asked, row);
    }
  });

  test("headers of any content", async () => {
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
      ...STRANGE_TEXTS.filter((text) => /^[\x20-\x7e]+$/.test(text)).map((text) => ({
        ...AUTH,
        ...JSON_TYPE,
        "idempotency-key": text,
        "x-request-id": text,
      })),
    ];
    for (const headers of strange) {
      const asked = send(gateway.adminUrl + pathOf(row), { method, headers, ...(body && { body: "{}" }) });
      await expectNoFault(JSON.stringify(headers).slice(0, 100), asked, row);
    }
  });
});
