import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RUNS } from "../../../properties/runs.ts";
import { shown } from "../../support/http.ts";
import { type SignInGateway, signInGateway } from "../../support/sign-in.ts";

const TEXT = "text/plain; charset=utf-8";
const JSON_TYPE = { "content-type": "application/json" };
const INVALID_TOKEN = [401, undefined, "application/json", '{"message":"Invalid or expired token"}'] as const;

const invalid = (text: string) => [400, "INVALID_REQUEST", TEXT, `Invalid request: ${text}`] as const;
const NO_EMAIL = invalid("/email must be an e-mail address");
const NO_CODE = invalid("/code must be a string of 6 digits");
const NO_OBJECT = invalid("/ must be an object");
const TOO_LARGE = [413, "REQUEST_TOO_LARGE", TEXT, "Request body exceeds the limit of 65536 bytes"] as const;
const NO_JSON = [415, "UNSUPPORTED_MEDIA_TYPE", TEXT, "Content-Type must be application/json"] as const;
const PACKED = [415, "UNSUPPORTED_MEDIA_TYPE", TEXT, "Content-Encoding must be identity"] as const;

type Row = readonly [body: string, expected: readonly unknown[], headers?: Readonly<Record<string, string>>];

/** Bodies of any endpoint that needs one. */
const UNREADABLE: readonly Row[] = [
  ["", invalid("/ must not be empty")],
  ["{", invalid("/ must be valid JSON")],
  ["email=ada@example.com", invalid("/ must be valid JSON")],
  ["[]", NO_OBJECT],
  ["null", NO_OBJECT],
  ["7", NO_OBJECT],
  ['"ada@example.com"', NO_OBJECT],
  [`${"[".repeat(66)}${"]".repeat(66)}`, NO_OBJECT],
  [`{"a":${"[".repeat(200)}${"]".repeat(200)}}`, invalid("/ must not be nested deeper than 200 levels")],
  [`{"email":"ada@example.com","pad":"${"x".repeat(64 * 1024)}"}`, TOO_LARGE],
  ['{"email":"ada@example.com"}', NO_JSON, { "content-type": "" }],
  ['{"email":"ada@example.com"}', NO_JSON, { "content-type": "text/plain" }],
  ['{"email":"ada@example.com"}', NO_JSON, { "content-type": "application/x-www-form-urlencoded" }],
  ['{"email":"ada@example.com"}', PACKED, { ...JSON_TYPE, "content-encoding": "gzip" }],
];

const ADDRESSES: readonly unknown[] = [
  undefined,
  null,
  7,
  true,
  [],
  ["ada@example.com"],
  { address: "ada@example.com" },
  "",
  " ",
  "ada",
  "@example.com",
  "ada@",
  "ada@@example.com",
  "ada@example..com",
  "ada@-example.com",
  "ada@example.com ",
  "ada @example.com",
  "ada@example.com,bob@example.com",
  "ada@example.com\r\nBcc: bob@example.com",
  "ada@example.com\0",
  '"ada lovelace"@example.com',
  "Ada <ada@example.com>",
  "ada@[127.0.0.1]",
  "аda@example.com",
  "ada@exämple.com",
  `${"a".repeat(65)}@example.com`,
  `ada@${"a.".repeat(130)}com`,
];
const CODES: readonly unknown[] = [undefined, null, 123_456, true, [], ["123456"], { code: "123456" }];

/** Sends a row to an endpoint. */
async function ask({ gateway }: SignInGateway, path: string, [body, , headers = JSON_TYPE]: Row) {
  return shown(await gateway.send(path, { body, headers }));
}

const rows = (values: readonly unknown[], name: string, more: object, expected: readonly unknown[]): Row[] =>
  values.map((value) => [JSON.stringify({ ...more, [name]: value }), expected]);

test("bad bodies of /auth/login, /auth/login/verify and /auth/refresh: what is wrong, and nobody gets a mail", async () => {
  const parts = await signInGateway();
  const { mailbox } = parts;
  const logins = [...UNREADABLE, ...rows(ADDRESSES, "email", {}, NO_EMAIL)];
  const verifications = [
    ...UNREADABLE,
    ...rows(ADDRESSES, "email", { code: "123456" }, NO_EMAIL),
    ...rows(CODES, "code", { email: "ada@example.com" }, NO_CODE),
  ];
  const refreshes = [
    ...UNREADABLE.filter(([body]) => body !== ""),
    ...rows([null, 7, [], {}], "refresh_token", {}, invalid("/refresh_token must be a string")),
    ...rows(["", "x", `rt_${"a".repeat(43)}`, `rk_${"a".repeat(200)}`], "refresh_token", {}, INVALID_TOKEN),
    ["", INVALID_TOKEN] as const,
    ["", INVALID_TOKEN, {}] as const,
    ["{}", INVALID_TOKEN] as const,
  ];
  for (const [path, cases] of [
    ["/auth/login", logins],
    ["/auth/login/verify", verifications],
    ["/auth/refresh", refreshes],
  ] as const) {
    for (const row of cases) expect(await ask(parts, path, row), `${path} ${row[0].slice(0, 80)}`).toEqual(row[1]);
  }
  // Whoever says goodbye is let go.
  for (const row of refreshes) expect(await ask(parts, "/auth/logout", row)).toEqual([204, undefined, undefined, ""]);
  // Nothing of it was counted: all codes of the hour are still there.
  for (let count = 0; count < 5; count += 1) await mailbox.ask(parts.gateway.url, "ada@example.com");
  expect(mailbox.mails).toHaveLength(5);
});

test("fields that are not known are passed over", async () => {
  const { gateway, mailbox, verify } = await signInGateway();
  const code = await mailbox.ask(gateway.url, "ada@example.com");
  const more = { plan_tier: "Max", tier: "Max", credits: 1_000, id: "user_1", user_id: "user_1", is_admin: true };
  const { text } = await verify({ email: "ada@example.com", code, ...more });
  expect(JSON.parse(text)).toMatchObject({ user: { plan_tier: "Lite" } });
  expect(await gateway.store.listUsers()).toMatchObject([{ tier: "Lite", granted: 2_500_000_000n }]);
});

test("no JSON at all is a fault of the gateway", async () => {
  const parts = await signInGateway();
  const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(undefined));
  const body = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.record({ email: value, code: value, refresh_token: value, redirect_to: value }),
  );
  const call = fc.constantFrom("login", "verify", "refresh", "logout" as const);
  await fc.assert(
    fc.asyncProperty(call, body, async (name, sent) => {
      const { status, text } = await parts[name](sent);
      expect([202, 204, 400, 401, 429], `${name} ${JSON.stringify(sent)}: ${text}`).toContain(status);
    }),
    { numRuns: Math.ceil(RUNS / 3), seed: 20_260_115 },
  );
  expect(parts.mailbox.mails).toEqual([]);
});
