import { SignJWT } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTokens } from "../../../../src/accounts/tokens.ts";
import { Secret } from "../../../../src/kit/index.ts";
import { ENDPOINTS as ROUTES } from "../../../../src/server/endpoints.ts";
import type { Answer } from "../../support/http.ts";
import { TestGateway, type TestUser } from "../../support/in-process.ts";
import { type KindEndpoint, askKind, ENDPOINTS, KIND_CHAINS, PLACES } from "../../support/kinds.ts";

let gateway: TestGateway;
let user: TestUser;
/** Written in the table below by these names. */
const secrets: Record<string, string> = {};

/** Status, code and body of an answer; "served" for a 200. */
const SERVED = "served";
const REQUIRED = '401 - application/json {"message":"Authentication required"}';
const INVALID_TOKEN = '401 - application/json {"message":"Invalid or expired token"}';
const INVALID_KEY = "401 AUTHENTICATION_ERROR text/plain; charset=utf-8 Invalid API key";
const NO_RIGHT = "401 AUTHENTICATION_ERROR text/plain; charset=utf-8 Authentication failed";
const NO_SESSION = "429 RATE_LIMIT_ERROR text/plain; charset=utf-8 Authentication required";

type Headers = Readonly<Record<string, string>>;

/** Headers with `<name>` for a secret; then what inference, the account's own data and key management say to them. */
const TABLE: readonly (readonly [Headers, inference: string, account: string, keys: string])[] = [
  // 2.1
  [{}, REQUIRED, REQUIRED, NO_SESSION],
  [{ authorization: "" }, REQUIRED, REQUIRED, NO_SESSION],
  [{ authorization: "Bearer" }, REQUIRED, REQUIRED, NO_SESSION],
  [{ authorization: "Bearer " }, REQUIRED, REQUIRED, NO_SESSION],
  [{ authorization: "Basic dXNlcjpwYXNz" }, REQUIRED, REQUIRED, NO_SESSION],
  [{ authorization: "<good>" }, REQUIRED, REQUIRED, NO_SESSION],
  [{ authorization: "<token>" }, REQUIRED, REQUIRED, NO_SESSION],
  [{ authorization: "Token <token>" }, REQUIRED, REQUIRED, NO_SESSION],
  [{ authorization: "Bearer<token>" }, REQUIRED, REQUIRED, NO_SESSION],
  [{ "x-access-token": "<token>" }, REQUIRED, REQUIRED, NO_SESSION],
  [{ cookie: "token=<token>; gateway_refresh=<token>" }, REQUIRED, REQUIRED, NO_SESSION],
  // 2.2
  [{ "x-api-key": "<good>" }, SERVED, SERVED, NO_SESSION],
  [{ authorization: "Bearer <good>" }, SERVED, SERVED, INVALID_TOKEN],
  [{ authorization: "bEaReR   <good>" }, SERVED, SERVED, INVALID_TOKEN],
  // 2.3
  [{ "x-api-key": "<unknown>" }, INVALID_KEY, INVALID_KEY, NO_SESSION],
  [{ "x-api-key": "<revoked>" }, INVALID_KEY, INVALID_KEY, NO_SESSION],
  [{ "x-api-key": "<short>" }, INVALID_KEY, INVALID_KEY, NO_SESSION],
  [{ "x-api-key": "<token>" }, INVALID_KEY, INVALID_KEY, NO_SESSION],
  [{ "x-api-key": "Bearer <good>" }, INVALID_KEY, INVALID_KEY, NO_SESSION],
  [{ authorization: "Bearer <unknown>" }, INVALID_KEY, INVALID_KEY, INVALID_TOKEN],
  [{ authorization: "Bearer <revoked>" }, INVALID_KEY, INVALID_KEY, INVALID_TOKEN],
  [{ authorization: "Bearer <short>" }, INVALID_KEY, INVALID_KEY, INVALID_TOKEN],
  [{ authorization: "Bearer <long>" }, INVALID_KEY, INVALID_KEY, INVALID_TOKEN],
  [{ authorization: "Bearer <good> x" }, INVALID_KEY, INVALID_KEY, INVALID_TOKEN],
  [{ authorization: "Bearer rk_'; DROP TABLE users; --" }, INVALID_KEY, INVALID_KEY, INVALID_TOKEN],
  [{ authorization: "Bearer rk_" }, INVALID_KEY, INVALID_KEY, INVALID_TOKEN],
  // 2.4
  [{ authorization: "Bearer x" }, INVALID_TOKEN, INVALID_TOKEN, INVALID_TOKEN],
  [{ authorization: "Bearer <upper>" }, INVALID_TOKEN, INVALID_TOKEN, INVALID_TOKEN],
  [{ authorization: "Bearer <huge>" }, INVALID_TOKEN, INVALID_TOKEN, INVALID_TOKEN],
  [{ authorization: "Bearer <forged>" }, INVALID_TOKEN, INVALID_TOKEN, INVALID_TOKEN],
  [{ authorization: "Bearer <tampered>" }, INVALID_TOKEN, INVALID_TOKEN, INVALID_TOKEN],
  [{ authorization: "Bearer <refresh>" }, INVALID_TOKEN, INVALID_TOKEN, INVALID_TOKEN],
  [{ authorization: "Bearer <token> x" }, INVALID_TOKEN, INVALID_TOKEN, INVALID_TOKEN],
  [{ authorization: "Bearer <expired>" }, INVALID_TOKEN, INVALID_TOKEN, INVALID_TOKEN],
  [{ authorization: "Bearer <nobody>" }, INVALID_TOKEN, INVALID_TOKEN, INVALID_TOKEN],
  [{ authorization: "Bearer <unsigned>" }, INVALID_TOKEN, INVALID_TOKEN, INVALID_TOKEN],
  [{ authorization: "Bearer <hs512>" }, INVALID_TOKEN, INVALID_TOKEN, INVALID_TOKEN],
  [{ authorization: "Bearer <kidless>" }, INVALID_TOKEN, INVALID_TOKEN, INVALID_TOKEN],
  [{ authorization: "Bearer <endless>" }, INVALID_TOKEN, INVALID_TOKEN, INVALID_TOKEN],
  [{ authorization: "Bearer <elsewhere>" }, INVALID_TOKEN, INVALID_TOKEN, INVALID_TOKEN],
  // 2.5
  [{ authorization: "Bearer <token>" }, NO_RIGHT, SERVED, SERVED],
  [{ authorization: "bEARER <token>" }, NO_RIGHT, SERVED, SERVED],
  // Both headers: X-API-Key decides, and is not read where keys are managed.
  [{ "x-api-key": "<good>", authorization: "Bearer <token>" }, SERVED, SERVED, SERVED],
  [{ "x-api-key": "<good>", authorization: "Bearer x" }, SERVED, SERVED, INVALID_TOKEN],
  [{ "x-api-key": "<good>", authorization: "Bearer <unknown>" }, SERVED, SERVED, INVALID_TOKEN],
  [{ "x-api-key": "<good>", authorization: "Basic dXNlcjpwYXNz" }, SERVED, SERVED, NO_SESSION],
  [{ "x-api-key": "<unknown>", authorization: "Bearer <good>" }, INVALID_KEY, INVALID_KEY, INVALID_TOKEN],
  [{ "x-api-key": "<revoked>", authorization: "Bearer <token>" }, INVALID_KEY, INVALID_KEY, SERVED],
];

/** What a user who runs no stream is told of one, by the rows that serve. */
const NO_STREAM = "404 NOT_FOUND text/plain; charset=utf-8 No such stream";
const ACCOUNT = ROUTES.filter(({ credentials }) => credentials === "API key or access token").map(
  ({ method, path }) => [method, path.replace("{model_id}", "route%2Fone")] as const,
);
const PUBLIC = ROUTES.filter(
  ({ method, path, credentials }) => method === "GET" && credentials === "none" && path.startsWith("/v1"),
).map(({ path }) => path);

beforeAll(async () => {
  gateway = await TestGateway.start({ chains: KIND_CHAINS });
  user = await gateway.user();
  const other = await gateway.user();
  const [key] = await gateway.store.listKeys(other.id);
  await gateway.store.revokeKey(key!.id);
  const settings = gateway.gateway.generation.snapshot.auth.tokens;
  const issue = async (
    id: string,
    { age = 0, ...changes }: { age?: number } & Partial<typeof settings> = {},
  ): Promise<string> => {
    const now = () => gateway.clock.now() - age;
    const tokens = await createTokens({
      settings: () => ({ ...settings, ...changes }),
      now,
      remember: (_, value) => value,
    });
    return (await tokens.issue({ id, tier: "Max" })).access_token;
  };
  const seconds = Math.floor(gateway.clock.now() / 1000);
  const claims = { sub: user.id, plan: "Max", iss: settings.issuer, aud: settings.audience, iat: seconds, jti: "1" };
  const secret = Buffer.from(settings.secrets[0]!.value.reveal());
  const sign = (alg: string, kid: string | undefined, more: object): Promise<string> =>
    new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg, typ: "JWT", ...(kid && { kid }) }).sign(secret);
  const token = await issue(user.id);
  const [head, payload, signature] = token.split(".") as [string, string, string];
  Object.assign(secrets, {
    good: user.key,
    unknown: `rk_${"0".repeat(64)}`,
    revoked: other.key,
    short: user.key.slice(0, -1),
    long: `${user.key}0`,
    upper: user.key.toUpperCase(),
    huge: "x".repeat(9_000),
    refresh: `rt_${"a".repeat(43)}`,
    token,
    tampered: `${head}.${payload.slice(0, -2)}.${signature}`,
    forged: await issue(user.id, {
      secrets: [{ kid: "a", value: new Secret("another secret, also longer than 32 bytes") }],
    }),
    expired: await issue(user.id, { age: 3_600_000 }),
    nobody: await issue("user_nobody"),
    elsewhere: await issue(user.id, { audience: "elsewhere" }),
    unsigned: `${encode({ alg: "none", kid: "a" })}.${encode({ ...claims, exp: seconds + 900 })}.`,
    hs512: await sign("HS512", "a", { exp: seconds + 900 }),
    kidless: await sign("HS256", undefined, { exp: seconds + 900 }),
    endless: await sign("HS256", "a", {}),
  });
  // The claims themselves are good: what is refused above is refused for what it is named after.
  Object.assign(secrets, { made: await sign("HS256", "a", { exp: seconds + 900 }) });
});
afterAll(() => gateway.close());

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString("base64url");
}

function filled(headers: Headers): Headers {
  const filling = Object.entries(headers).map(([name, value]) => [
    name,
    value.replace(/<(\w+)>/g, (_, secret: string) => secrets[secret]!),
  ]);
  return Object.fromEntries(filling) as Headers;
}

/** An answer as the table writes it; a 429 that does not say when to come back is none of the table's. */
function written({ status, headers, text }: Answer): string {
  if (status === 429 && !(Number(headers["retry-after"]) >= 1)) return "429 without Retry-After";
  if (status === 200) return SERVED;
  return `${status} ${String(headers["x-error-code"] ?? "-")} ${headers["content-type"]} ${text}`;
}

function askEndpoint(endpoint: KindEndpoint, headers: Headers): Promise<Answer> {
  if (!("authorization" in headers || "x-api-key" in headers)) return ask("POST", PLACES[endpoint].path, headers, {});
  return askKind(gateway, user, endpoint, {}, { headers: { authorization: "", ...headers } });
}

function ask(method: string, path: string, headers: Headers, body?: unknown): Promise<Answer> {
  const type = body === undefined ? null : { "content-type": "application/json" };
  return gateway.send(path, { method, headers: { ...type, ...headers }, body });
}

test.each(TABLE)("%j", async (headers, inference, account, keys) => {
  const given = filled(headers);
  const before = await gateway.books(user);
  const made: string[] = [];
  const said: Record<string, string> = {};
  for (const endpoint of ENDPOINTS) said[endpoint] = written(await askEndpoint(endpoint, given));
  for (const [method, path] of ACCOUNT) said[path] = written(await ask(method, path, given));
  const created = await ask("POST", "/v1/user/key", given, { name: "x" });
  if (created.status === 200) made.push((JSON.parse(created.text) as { id: string }).id);
  said["create"] = written(created);
  said["list"] = written(await ask("GET", "/v1/user/key", given));
  said["revoke"] = written(await ask("DELETE", `/v1/user/key/${made[0] ?? "key_x"}`, given));
  expect(said).toEqual({
    ...Object.fromEntries(ENDPOINTS.map((endpoint) => [endpoint, inference])),
    ...Object.fromEntries(
      ACCOUNT.map(([, path]) => [path, account === SERVED && path.includes("{stream_id}") ? NO_STREAM : account]),
    ),
    create: keys,
    list: keys,
    revoke: keys,
  });
  for (const path of PUBLIC) expect([path, (await ask("GET", path, given)).status]).toEqual([path, 200]);
  const after = await gateway.books(user);
  expect(after.used.hour - before.used.hour).toBe(inference === SERVED ? ENDPOINTS.length : 0);
  expect(after.ledger.length - before.ledger.length).toBe(inference === SERVED ? ENDPOINTS.length : 0);
});

test("the claims that the table's bad tokens have are good ones", async () => {
  expect((await ask("GET", "/v1/user/key", filled({ authorization: "Bearer <made>" }))).status).toBe(200);
});

test("when both headers carry a good key, the one in X-API-Key is charged", async () => {
  const [one, other] = [await gateway.user(), await gateway.user()];
  expect((await gateway.chat(one, {}, { headers: { "x-api-key": other.key } })).status).toBe(200);
  expect([(await gateway.books(one)).used.day, (await gateway.books(other)).used.day]).toEqual([0, 1]);
});

test("a header that is sent twice is refused, whatever it says", async () => {
  const headers = { authorization: [], "x-api-key": [user.key, user.key] };
  const answer = await gateway.chat(user, {}, { headers });
  expect([answer.status, answer.headers["x-error-code"]]).toEqual([400, "INVALID_REQUEST"]);
});

test("a key that is revoked behind the gateway's back stops working within a second", async () => {
  const someone = await gateway.user();
  expect((await gateway.chat(someone)).status).toBe(200);
  const [key] = await gateway.store.listKeys(someone.id);
  await gateway.store.revokeKey(key!.id);
  // The gateway's clock, by which it forgets what it knows of a key.
  gateway.clock.advance(1_000);
  expect((await gateway.chat(someone)).status).toBe(401);
});

test("where keys are managed a body is not looked at before the session", async () => {
  expect((await gateway.send("/v1/user/key", { body: "{" })).status).toBe(429);
  const headers = { authorization: "Bearer x" };
  expect((await gateway.send("/v1/user/key", { headers, body: "{" })).status).toBe(401);
});

test("by an access token the user's own counters and streams", async () => {
  const someone = await gateway.user();
  await gateway.chat(someone);
  const token = await gateway.token(someone);
  const { text } = await ask("GET", "/v1/user/requests", { authorization: `Bearer ${token}` });
  expect(JSON.parse(text)).toMatchObject({ requests_used_today: 1, plan_tier: "Max" });
  const stream = gateway.open(someone, { stream: true, sim: "?stall_after=2" });
  await stream.until("data:");
  const killed = await ask("POST", "/v1/user/streams/kill", { authorization: `Bearer ${token}` });
  expect(killed.text).toBe('{"killed_streams":1}');
  expect((await stream.whole()).text.endsWith("data: [DONE]\n\n")).toBe(true);
});

test("the tier in force is the stored one, not the one in the token", async () => {
  const someone = await gateway.user();
  const token = await gateway.token(someone);
  await gateway.store.setTier(someone.id, "Free");
  const { text } = await ask("GET", "/v1/user/requests", { authorization: `Bearer ${token}` });
  expect(JSON.parse(text)).toMatchObject({ plan_tier: "Free" });
});
