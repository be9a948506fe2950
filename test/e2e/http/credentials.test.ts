import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTokens } from "../../../src/accounts/tokens.ts";
import { Secret } from "../../../src/kit/index.ts";
import { CHAT, MESSAGES, TestGateway, type TestUser } from "../support/in-process.ts";
import { type Answer, send, shown } from "../support/http.ts";

let gateway: TestGateway;
let user: TestUser;
/** Written in the table below by these names. */
const secrets: Record<string, string> = {};

beforeAll(async () => {
  gateway = await TestGateway.start();
  user = await gateway.user();
  const revoked = await gateway.user();
  const [key] = await gateway.store.listKeys(revoked.id);
  await gateway.store.revokeKey(key!.id);
  const stranger = await gateway.user();
  const settings = gateway.gateway.generation.snapshot.auth.tokens;
  const signed = async (changes: Partial<typeof settings>, now = gateway.clock.now, id = user.id): Promise<string> => {
    const changed = { ...settings, ...changes };
    const tokens = await createTokens({ settings: () => changed, now, remember: (_, value) => value });
    return (await tokens.issue({ id, tier: "Max" })).access_token;
  };
  const token = await gateway.token(user);
  const [head, claims, signature] = token.split(".") as [string, string, string];
  const none = Buffer.from('{"alg":"none","kid":"a"}').toString("base64url");
  Object.assign(secrets, {
    good: user.key,
    unknown: `rk_${"0".repeat(64)}`,
    revoked: revoked.key,
    short: user.key.slice(0, -1),
    long: `${user.key}0`,
    upper: user.key.toUpperCase(),
    token,
    expired: await signed({}, () => gateway.clock.now() - 3_600_000),
    forged: await signed({ secrets: [{ kid: "a", value: new Secret("another secret, also longer than 32 bytes") }] }),
    stranger: await signed({}, gateway.clock.now, `${stranger.id}x`),
    elsewhere: await signed({ audience: "elsewhere" }),
    unsigned: `${none}.${claims}.`,
    tampered: `${head}.${claims.slice(0, -2)}.${signature}`,
    huge: "x".repeat(9_000),
  });
});
afterAll(() => gateway.close());

const REQUIRED = [401, undefined, "application/json", '{"message":"Authentication required"}'] as const;
const INVALID_TOKEN = [401, undefined, "application/json", '{"message":"Invalid or expired token"}'] as const;
const INVALID_KEY = [401, "AUTHENTICATION_ERROR", "text/plain; charset=utf-8", "Invalid API key"] as const;
const NO_RIGHT = [401, "AUTHENTICATION_ERROR", "text/plain; charset=utf-8", "Authentication failed"] as const;

/** Headers with `<name>` for a secret, and the answer (decisions 2.1 to 2.5). */
const REFUSED: readonly (readonly [Record<string, string>, readonly unknown[]])[] = [
  [{}, REQUIRED],
  [{ authorization: "" }, REQUIRED],
  [{ authorization: "Bearer" }, REQUIRED],
  [{ authorization: "Bearer " }, REQUIRED],
  [{ authorization: "Basic dXNlcjpwYXNz" }, REQUIRED],
  [{ authorization: "<good>" }, REQUIRED],
  [{ authorization: "Token <good>" }, REQUIRED],
  [{ authorization: "Bearer<good>" }, REQUIRED],
  [{ authorization: "Bearer <unknown>" }, INVALID_KEY],
  [{ authorization: "Bearer <revoked>" }, INVALID_KEY],
  [{ authorization: "Bearer <short>" }, INVALID_KEY],
  [{ authorization: "Bearer <long>" }, INVALID_KEY],
  [{ authorization: "Bearer rk_" }, INVALID_KEY],
  [{ authorization: "Bearer rk_'; DROP TABLE users; --" }, INVALID_KEY],
  [{ authorization: "Bearer <good> trailing" }, INVALID_KEY],
  [{ "x-api-key": "<unknown>" }, INVALID_KEY],
  [{ "x-api-key": "<revoked>" }, INVALID_KEY],
  [{ "x-api-key": "<short>" }, INVALID_KEY],
  [{ "x-api-key": "garbage" }, INVALID_KEY],
  [{ "x-api-key": "Bearer <good>" }, INVALID_KEY],
  [{ "x-api-key": "<token>" }, INVALID_KEY],
  [{ authorization: "Bearer <upper>" }, INVALID_TOKEN],
  [{ authorization: "Bearer garbage" }, INVALID_TOKEN],
  [{ authorization: "Bearer a.b.c" }, INVALID_TOKEN],
  [{ authorization: "Bearer sk-0123456789abcdef0123456789abcdef" }, INVALID_TOKEN],
  [{ authorization: "Bearer <expired>" }, INVALID_TOKEN],
  [{ authorization: "Bearer <forged>" }, INVALID_TOKEN],
  [{ authorization: "Bearer <stranger>" }, INVALID_TOKEN],
  [{ authorization: "Bearer <elsewhere>" }, INVALID_TOKEN],
  [{ authorization: "Bearer <unsigned>" }, INVALID_TOKEN],
  [{ authorization: "Bearer <tampered>" }, INVALID_TOKEN],
  [{ authorization: "Bearer <huge>" }, INVALID_TOKEN],
  [{ authorization: "Bearer <token>" }, NO_RIGHT],
  [{ authorization: "bearer <token>" }, NO_RIGHT],
  // Both: X-API-Key decides, whatever the other says.
  [{ "x-api-key": "<unknown>", authorization: "Bearer <good>" }, INVALID_KEY],
  [{ "x-api-key": "garbage", authorization: "Bearer <good>" }, INVALID_KEY],
  [{ "x-api-key": "<revoked>", authorization: "Bearer <token>" }, INVALID_KEY],
];

/** Headers with `<name>` for a secret, of requests that are served. */
const SERVED: readonly Record<string, string>[] = [
  { authorization: "Bearer <good>" },
  { authorization: "bearer <good>" },
  { authorization: "BEARER <good>" },
  { authorization: "bEaReR   <good>" },
  { "x-api-key": "<good>" },
  { "X-API-KEY": "<good>" },
  { "x-api-key": "<good>", authorization: "Bearer <unknown>" },
  { "x-api-key": "<good>", authorization: "Bearer garbage" },
  { "x-api-key": "<good>", authorization: "Basic dXNlcjpwYXNz" },
];

/** A chat request with these headers. */
function ask(written: Record<string, string>): Promise<Answer> {
  const headers = Object.entries(written).map(([name, value]) => [
    name,
    value.replace(/<(\w+)>/g, (_, key: string) => secrets[key]!),
  ]);
  return send(gateway.url + CHAT, {
    headers: { "content-type": "application/json", ...Object.fromEntries(headers) },
    body: { model: "route/one", messages: MESSAGES },
  });
}

test.each(SERVED)("%j is served", async (written) => {
  const before = await gateway.books(user);
  expect((await ask(written)).status).toBe(200);
  expect((await gateway.books(user)).used.day).toBe(before.used.day + 1);
});

test.each(REFUSED)("%j is refused, and counts nowhere", async (written, expected) => {
  const before = await gateway.books(user);
  const answer = await ask(written);
  expect(shown(answer)).toEqual(expected);
  expect(answer.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(Object.keys(answer.headers).filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
  expect(await gateway.books(user)).toEqual(before);
});

test("when both headers carry a good key, the one in X-API-Key is charged", async () => {
  const other = await gateway.user();
  const before = await gateway.books(user);
  const headers = { "x-api-key": other.key };
  expect((await gateway.chat(user, {}, { headers })).status).toBe(200);
  expect(await gateway.books(user)).toEqual(before);
  expect((await gateway.books(other)).used.day).toBe(1);
});

test("a header that is sent twice is no key", async () => {
  const { status, text } = await send(gateway.url + CHAT, {
    headers: { "content-type": "application/json", "x-api-key": [user.key, user.key] },
    body: { model: "route/one", messages: MESSAGES },
  });
  expect([status, text]).toEqual([401, "Invalid API key"]);
});

describe("keys change while the gateway serves", () => {
  test("a revoked key stops working within a second, a new one works at once", async () => {
    const someone = await gateway.user();
    expect((await gateway.chat(someone)).status).toBe(200);
    const [key] = await gateway.store.listKeys(someone.id);
    await gateway.store.revokeKey(key!.id);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect((await gateway.chat(someone)).status).toBe(401);
    expect((await gateway.chat(await gateway.user())).status).toBe(200);
  });
});
