import { describe, expect, test } from "vitest";
import { GatewayError } from "../../../src/kit/index.ts";
import { ENDPOINTS } from "../../../src/server/endpoints.ts";
import { bearer, startRoutes, TOKEN } from "./support.ts";

const UNKNOWN = `rk_${"0".repeat(64)}`;

type Sent = (key: string) => Record<string, string>;

/** Every way to come along, and the row of decisions 2 that it belongs to. */
const CREDENTIALS: readonly (readonly [row: string, what: string, sent: Sent])[] = [
  ["2.1", "nothing", () => ({})],
  ["2.1", "Basic", () => ({ authorization: "Basic dTpw" })],
  ["2.1", "a bare key", (key) => ({ authorization: key })],
  ["2.1", "an empty Bearer", () => ({ authorization: "Bearer " })],
  ["2.1", "no space after Bearer", (key) => ({ authorization: `Bearer${key}` })],
  ["2.2", "a Bearer key", (key) => bearer(key)],
  ["2.2", "a bearer key", (key) => ({ authorization: `bearer ${key}` })],
  ["2.2 x", "X-API-Key", (key) => ({ "x-api-key": key })],
  ["2.2 x", "X-API-Key and Basic", (key) => ({ "x-api-key": key, authorization: "Basic dTpw" })],
  ["2.2 bad", "X-API-Key and a bad token", (key) => ({ "x-api-key": key, ...bearer("bad") })],
  ["2.2", "X-API-Key and a bad Bearer key", (key) => ({ "x-api-key": key, ...bearer(UNKNOWN) })],
  ["2.3", "an unknown Bearer key", () => bearer(UNKNOWN)],
  ["2.3", "a misshapen Bearer key", () => bearer("rk_short")],
  ["2.3 x", "an unknown X-API-Key", () => ({ "x-api-key": UNKNOWN })],
  ["2.3 x", "an X-API-Key that is none", () => ({ "x-api-key": "anything" })],
  ["2.3 x", "a token as X-API-Key", () => ({ "x-api-key": TOKEN })],
  ["2.3", "a bad X-API-Key and a good Bearer key", (key) => ({ "x-api-key": UNKNOWN, ...bearer(key) })],
  ["2.3 both", "a bad X-API-Key and a good token", () => ({ "x-api-key": UNKNOWN, ...bearer(TOKEN) })],
  ["2.4", "a bad token", () => bearer("a.bad.token")],
  ["2.4", "a key in capitals", (key) => bearer(key.toUpperCase())],
  ["2.5", "a good token", () => bearer(TOKEN)],
  ["2.5 both", "X-API-Key and a good token", (key) => ({ "x-api-key": key, ...bearer(TOKEN) })],
];

const JSON_TYPE = "application/json";
const TEXT_TYPE = "text/plain; charset=utf-8";
const NOBODY = [401, JSON_TYPE, undefined, '{"message":"Authentication required"}'] as const;
const BAD_KEY = [401, TEXT_TYPE, "AUTHENTICATION_ERROR", "Invalid API key"] as const;
const BAD_TOKEN = [401, JSON_TYPE, undefined, '{"message":"Invalid or expired token"}'] as const;
const NO_SESSION = [429, TEXT_TYPE, "RATE_LIMIT_ERROR", "Authentication required"] as const;
const SERVED = [200] as const;

type Expected = readonly [status: number, type?: string, code?: string, text?: string];

/** The third column. */
const BY_KEY_OR_TOKEN: Readonly<Record<string, Expected>> = {
  "2.1": NOBODY,
  "2.2": SERVED,
  "2.2 x": SERVED,
  "2.2 bad": SERVED,
  "2.3": BAD_KEY,
  "2.3 x": BAD_KEY,
  "2.3 both": BAD_KEY,
  "2.4": BAD_TOKEN,
  "2.5": SERVED,
  "2.5 both": SERVED,
};

/** The fourth: only `Authorization` is read. */
const BY_SESSION: Readonly<Record<string, Expected>> = {
  "2.1": NO_SESSION,
  "2.2": BAD_TOKEN,
  "2.2 x": NO_SESSION,
  "2.2 bad": BAD_TOKEN,
  "2.3": BAD_TOKEN,
  "2.3 x": NO_SESSION,
  "2.3 both": SERVED,
  "2.4": BAD_TOKEN,
  "2.5": SERVED,
  "2.5 both": SERVED,
};

const NEW_KEY = { body: '{"name":"laptop"}', type: { "content-type": "application/json" } };
const NO_BODY = { body: "", type: {} };

describe.each(ENDPOINTS.filter(({ credentials }) => credentials.includes("access token")))(
  "$method $path",
  ({ method, path, credentials }) => {
    const column = credentials === "access token" ? BY_SESSION : BY_KEY_OR_TOKEN;

    test.each(CREDENTIALS)("%s: %s", async (row, _what, sent) => {
      const { ask, key, store } = await startRoutes();
      const { body, type } = method === "POST" && path === "/v1/user/key" ? NEW_KEY : NO_BODY;
      const [first] = await store.listKeys("ann");
      const url = path.replace("{model_id}", "route/free").replace("{key_id}", first!.id);
      const answer = await ask(method, url, { ...sent(key), ...type }, body);
      const [status, contentType, code, text] = column[row]!;
      expect(answer.status).toBe(status);
      if (status === 200) return;
      expect(answer.text).toBe(text);
      expect(answer.headers["content-type"]).toBe(contentType);
      expect(answer.headers["x-error-code"]).toBe(code);
      expect(Number(answer.headers["retry-after"] ?? 0)).toBe(status === 429 ? 1 : 0);
    });
  },
);

test.each(
  ENDPOINTS.filter(
    ({ method, path, credentials }) => method === "GET" && credentials === "none" && path.startsWith("/v1"),
  ),
)("$path ignores credentials, even bad ones", async ({ path }) => {
  const { ask, key } = await startRoutes();
  const { text } = await ask("GET", path);
  for (const [, , sent] of CREDENTIALS) expect(await ask("GET", path, sent(key))).toMatchObject({ status: 200, text });
});

test("a revoked key is an unknown one", async () => {
  const { ask, key, store } = await startRoutes();
  await store.revokeKey((await store.listKeys("ann"))[0]!.id);
  expect(await ask("GET", "/v1/pricing", bearer(key))).toMatchObject({ status: 401, text: "Invalid API key" });
});

test("a store that does not answer is a 503, never a 401", async () => {
  const unavailable = new GatewayError("STORE_UNAVAILABLE", "Store unavailable", { retryAfter: 1 });
  const away = () => Promise.reject(unavailable);
  const { ask } = await startRoutes({ parts: { identities: { byKey: away, byToken: away } } });
  for (const path of ["/v1/pricing", "/v1/user/key", "/v1/user/requests"]) {
    const answer = await ask("GET", path, bearer(TOKEN));
    expect(answer).toMatchObject({ status: 503, text: "Store unavailable" });
    expect(answer.headers).toMatchObject({ "x-error-code": "STORE_UNAVAILABLE", "retry-after": "1" });
  }
});
