import { describe, expect, test } from "vitest";
import { GatewayError } from "../../../src/kit/index.ts";
import { send } from "../support.ts";
import { BEHIND_PROXY, CLEARED, cookiesOf, here, PLAIN, SECURE, SESSION, startRoutes, TLS } from "./support.ts";

const JSON_TYPE = { "content-type": "application/json" };

describe("mail codes", () => {
  test("asking for a code is a 202, whoever asks", async () => {
    const { ask, asked } = await startRoutes(BEHIND_PROXY);
    const headers = { ...JSON_TYPE, "x-forwarded-for": "203.0.113.9" };
    const answer = await ask("POST", "/auth/login", headers, '{"email":"ada@example.com","more":1}');
    expect(answer).toMatchObject({ status: 202, text: '{"message":"Verification code sent"}' });
    expect(answer.headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" });
    expect(asked).toEqual([["requestCode", { email: "ada@example.com", ip: "203.0.113.9" }]]);
  });

  test("a good code is a session, in the body and as a cookie", async () => {
    const { ask, asked } = await startRoutes();
    const answer = await ask("POST", "/auth/login/verify", JSON_TYPE, '{"email":"ada@example.com","code":"123456"}');
    expect(answer).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
    expect(JSON.parse(answer.text)).toEqual(SESSION.body);
    expect(cookiesOf(answer.headers)).toEqual({ gateway_refresh: ["rt_new", ...PLAIN] });
    expect(asked).toEqual([["verifyCode", { email: "ada@example.com", code: "123456", ip: "127.0.0.1" }]]);
  });

  test("a bad code is a 401 in JSON without a cookie", async () => {
    const { ask } = await startRoutes();
    const answer = await ask("POST", "/auth/login/verify", JSON_TYPE, '{"email":"ada@example.com","code":"000000"}');
    expect(answer).toMatchObject({ status: 401, text: '{"message":"Invalid or expired code"}' });
    expect(answer.headers["set-cookie"]).toBeUndefined();
    expect(answer.headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" });
  });

  test("too many are a 429 that says when to come again", async () => {
    const details = { retryAfter: 1800, fields: { retry_after: 1800 } };
    const requestCode = () => Promise.reject(new GatewayError("TOO_MANY_REQUESTS", "Too many requests", details));
    const { ask } = await startRoutes({ signIn: { requestCode } });
    const answer = await ask("POST", "/auth/login", JSON_TYPE, "{}");
    expect(answer).toMatchObject({ status: 429, text: '{"message":"Too many requests","retry_after":1800}' });
    expect(answer.headers["retry-after"]).toBe("1800");
  });

  test.each(["/auth/login", "/auth/login/verify", "/auth/refresh"])("%s: bodies that are none", async (path) => {
    const { ask, asked } = await startRoutes();
    expect(await ask("POST", path, { "content-type": "text/plain" }, "{}")).toMatchObject({ status: 415 });
    expect(await ask("POST", path, {}, "{}")).toMatchObject({ status: 415 });
    for (const body of ["{", "[]", "7", "\0"]) {
      const answer = await ask("POST", path, JSON_TYPE, body);
      expect(answer).toMatchObject({ status: 400, text: expect.stringMatching(/^Invalid request: \/ must be /) });
    }
    expect(asked).toEqual([]);
  });
});

describe("refresh", () => {
  test("by body: a new token, in the body and as a cookie", async () => {
    const { ask, asked } = await startRoutes();
    const answer = await ask("POST", "/auth/refresh", JSON_TYPE, '{"refresh_token":"rt_old"}');
    expect(answer).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
    expect(JSON.parse(answer.text)).toEqual(SESSION.body);
    expect(cookiesOf(answer.headers)).toEqual({ gateway_refresh: ["rt_new", ...PLAIN] });
    expect(asked).toEqual([["refresh", "rt_old"]]);
  });

  test.each(["", "{}"])("by cookie, with the body %j: only for pages of this very host", async (body) => {
    const routes = await startRoutes();
    const { ask, asked, port } = routes;
    const cookie = {
      cookie: "other=1; gateway_refresh=rt_old; __Host-gateway_refresh=rt_other",
      ...(body && JSON_TYPE),
    };
    const good = await ask("POST", "/auth/refresh", { ...cookie, origin: here(routes) }, body);
    expect(good.status).toBe(200);
    expect(cookiesOf(good.headers)).toEqual({ gateway_refresh: ["rt_new", ...PLAIN] });
    expect(asked).toEqual([["refresh", "rt_old"]]);
    const origins = [
      `https://127.0.0.1:${port}`,
      `http://127.0.0.1:${port + 1}`,
      "http://127.0.0.1",
      `http://localhost:${port}`,
      `http://127.0.0.1:${port}/`,
      `http://127.0.0.1:${port}.evil.example`,
      `http://evil.example`,
      "null",
      "",
    ];
    for (const origin of [undefined, ...origins]) {
      const answer = await ask("POST", "/auth/refresh", origin === undefined ? cookie : { ...cookie, origin }, body);
      expect(answer).toMatchObject({ status: 401, text: '{"message":"Invalid or expired token"}' });
      expect(answer.headers["set-cookie"]).toBeUndefined();
    }
    expect(asked).toHaveLength(1);
  });

  test("the body's token goes before the cookie's", async () => {
    const routes = await startRoutes();
    const headers = { ...JSON_TYPE, cookie: "gateway_refresh=rt_cookie", origin: here(routes) };
    await routes.ask("POST", "/auth/refresh", headers, '{"refresh_token":"rt_old"}');
    expect(routes.asked).toEqual([["refresh", "rt_old"]]);
  });

  test.each(["null", "7", "[]", "{}"])("a token that is %s is a 400", async (token) => {
    const { ask, asked } = await startRoutes();
    const answer = await ask("POST", "/auth/refresh", JSON_TYPE, `{"refresh_token":${token}}`);
    expect(answer).toMatchObject({ status: 400, text: "Invalid request: /refresh_token must be a string" });
    expect(asked).toEqual([]);
  });

  test("a token that is no good is a 401 in JSON", async () => {
    const { ask } = await startRoutes();
    const answer = await ask("POST", "/auth/refresh", JSON_TYPE, '{"refresh_token":"rt_used"}');
    expect(answer).toMatchObject({ status: 401, text: '{"message":"Invalid or expired token"}' });
    expect(answer.headers["set-cookie"]).toBeUndefined();
  });
});

describe("over TLS", () => {
  test("cookies are Secure and bound to the host, and only such a one is read", async () => {
    const { ask, asked } = await startRoutes(BEHIND_PROXY);
    const made = await ask("POST", "/auth/login/verify", { ...JSON_TYPE, ...TLS }, '{"code":"123456"}');
    expect(cookiesOf(made.headers)).toEqual({ "__Host-gateway_refresh": ["rt_new", ...SECURE] });

    const page = { ...TLS, host: "gw.example", origin: "https://gw.example" };
    const plain = await ask("POST", "/auth/refresh", { ...page, cookie: "gateway_refresh=rt_old" });
    expect(plain.status).toBe(401);
    const bound = await ask("POST", "/auth/refresh", { ...page, cookie: "__Host-gateway_refresh=rt_old" });
    expect(bound.status).toBe(200);
    expect(cookiesOf(bound.headers)).toEqual({ "__Host-gateway_refresh": ["rt_new", ...SECURE] });
    expect(asked.slice(1)).toEqual([["refresh", "rt_old"]]);

    const http = { ...page, origin: "http://gw.example", cookie: "__Host-gateway_refresh=rt_old" };
    expect((await ask("POST", "/auth/refresh", http)).status).toBe(401);
  });

  test("nobody but a trusted proxy can say so", async () => {
    const { ask } = await startRoutes();
    const made = await ask("POST", "/auth/login/verify", { ...JSON_TYPE, ...TLS }, '{"code":"123456"}');
    expect(Object.keys(cookiesOf(made.headers))).toEqual(["gateway_refresh"]);
  });
});

describe("logout", () => {
  test("a token in the body, or a page's own cookie: ended, and the cookie cleared", async () => {
    const routes = await startRoutes();
    const byBody = await routes.ask("POST", "/auth/logout", JSON_TYPE, '{"refresh_token":"rt_body"}');
    const byCookie = await routes.ask("POST", "/auth/logout", {
      cookie: "gateway_refresh=rt_cookie",
      origin: here(routes),
    });
    for (const answer of [byBody, byCookie]) {
      expect(answer).toMatchObject({ status: 204, text: "" });
      expect(answer.headers["cache-control"]).toBe("no-store");
      expect(cookiesOf(answer.headers)).toEqual({ gateway_refresh: CLEARED });
    }
    expect(routes.asked).toEqual([
      ["logout", "rt_body"],
      ["logout", "rt_cookie"],
    ]);
  });

  test.each<[string, Record<string, string>, string]>([
    ["nothing", {}, ""],
    ["no token", JSON_TYPE, "{}"],
    ["half an object", JSON_TYPE, "{"],
    ["a token that is a number", JSON_TYPE, '{"refresh_token":7}'],
    ["text", { "content-type": "text/plain" }, "x"],
    ["70 KB", JSON_TYPE, `"${"x".repeat(70_000)}"`],
    ["a cookie from nowhere", { cookie: "gateway_refresh=rt_cookie" }, ""],
  ])("%s is a 204 that ends nothing", async (_what, headers, body) => {
    const { ask, asked } = await startRoutes();
    const answer = await ask("POST", "/auth/logout", headers, body);
    expect(answer).toMatchObject({ status: 204, text: "" });
    expect(cookiesOf(answer.headers)).toEqual({ gateway_refresh: CLEARED });
    expect(asked).toEqual([]);
  });

  test("a foreign page signs nobody out", async () => {
    const { ask, asked } = await startRoutes();
    const headers = { cookie: "gateway_refresh=rt_cookie", origin: "https://evil.example" };
    const answer = await ask("POST", "/auth/logout", headers);
    expect(answer).toMatchObject({ status: 204 });
    expect(answer.headers["set-cookie"]).toBeUndefined();
    expect(asked).toEqual([]);
  });

  test("a store that does not answer is a 503: the session may live on", async () => {
    const unavailable = new GatewayError("STORE_UNAVAILABLE", "Store unavailable");
    const { ask } = await startRoutes({ signIn: { logout: () => Promise.reject(unavailable) } });
    expect((await ask("POST", "/auth/logout", JSON_TYPE, '{"refresh_token":"rt_x"}')).status).toBe(503);
  });
});

test("no origin is let in to sign in for somebody: these routes have no CORS", async () => {
  const { port, asked } = await startRoutes();
  for (const method of ["OPTIONS", "POST"]) {
    const answer = await send(port, {
      method,
      path: "/auth/login",
      headers: { origin: "https://evil.example", "access-control-request-method": "POST", ...JSON_TYPE },
      body: "{}",
    });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  }
  expect(asked).toHaveLength(1);
});
