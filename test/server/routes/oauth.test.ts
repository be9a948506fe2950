import { expect, test } from "vitest";
import { GatewayError } from "../../../src/kit/index.ts";
import { testSnapshot } from "../../support/snapshot.ts";
import { BEHIND_PROXY, CLEARED, cookiesOf, here, PLAIN, SESSION, startRoutes, TLS } from "./support.ts";

test("begins with a redirect and a state cookie", async () => {
  const routes = await startRoutes();
  const answer = await routes.ask("GET", "/auth/oauth/google?redirect_to=%2Fkeys%3Fx%3D1");
  expect(answer).toMatchObject({ status: 302, text: "" });
  expect(answer.headers).toMatchObject({
    location: "https://idp.example/authorize?x=1",
    "cache-control": "no-store",
  });
  expect(cookiesOf(answer.headers)).toEqual({
    gateway_sign_in: ["sealed.state", "httponly", "max-age=600", "path=/", "samesite=lax"],
  });
  expect(routes.asked).toEqual([["begin", { provider: "google", redirectTo: "/keys?x=1", origin: here(routes) }]]);
});

test("behind a proxy the origin is the one that the client sees", async () => {
  const { ask, asked } = await startRoutes(BEHIND_PROXY);
  const headers = { ...TLS, host: "inner:8080", "x-forwarded-host": "gw.example" };
  const answer = await ask("GET", "/auth/oauth/google", headers);
  expect(cookiesOf(answer.headers)).toEqual({
    "__Host-gateway_sign_in": ["sealed.state", "httponly", "max-age=600", "path=/", "samesite=lax", "secure"],
  });
  expect(asked).toEqual([["begin", { provider: "google", redirectTo: null, origin: "https://gw.example" }]]);
});

test("a host that is none is a 400, an unknown provider a 404", async () => {
  const { ask, asked } = await startRoutes();
  const bad = await ask("GET", "/auth/oauth/google", { host: "gw!example" });
  expect(bad).toMatchObject({ status: 400, text: "Invalid request: / must name its host" });
  expect(asked).toEqual([]);
  for (const name of ["nobody", "%2e", "goo%2Fgle", "__proto__", "%00"]) {
    const answer = await ask("GET", `/auth/oauth/${name}`);
    expect(answer).toMatchObject({ status: 404, text: '{"message":"Not found"}' });
    expect(answer.headers["set-cookie"]).toBeUndefined();
  }
});

const CALLBACK = "/auth/oauth/google/callback?code=c%2B1&state=s";
const STATE = { cookie: "gateway_sign_in=sealed.state" };
const SIGNED_IN = {
  gateway_refresh: ["rt_new", ...PLAIN],
  gateway_sign_in: CLEARED,
};

test("ends where the client wanted to go, with the session's cookie and without the state's", async () => {
  const { ask, asked } = await startRoutes();
  const answer = await ask("GET", CALLBACK, { ...STATE, accept: "text/html,*/*" });
  expect(answer).toMatchObject({ status: 302, text: "" });
  expect(answer.headers).toMatchObject({ location: "/keys?x=1", "cache-control": "no-store" });
  expect(cookiesOf(answer.headers)).toEqual(SIGNED_IN);
  expect(asked).toEqual([["complete", { provider: "google", url: CALLBACK, state: "sealed.state" }]]);
});

test.each(["application/json", "application/json;q=0.9, text/html", "Application/JSON"])(
  "ends with the session for a client that accepts %s",
  async (accept) => {
    const { ask } = await startRoutes();
    const answer = await ask("GET", CALLBACK, { ...STATE, accept });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual(SESSION.body);
    expect(cookiesOf(answer.headers)).toEqual(SIGNED_IN);
  },
);

test.each([{}, { cookie: "gateway_sign_in=other" }, { cookie: "__Host-gateway_sign_in=sealed.state" }])(
  "with %j it is a 401 in JSON; the state is used up all the same",
  async (headers) => {
    const { ask } = await startRoutes();
    const answer = await ask("GET", CALLBACK, headers as Record<string, string>);
    expect(answer).toMatchObject({ status: 401, text: '{"message":"Sign-in failed"}' });
    expect(cookiesOf(answer.headers)).toEqual({ gateway_sign_in: CLEARED });
    expect(answer.headers["cache-control"]).toBe("no-store");
  },
);

const BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8";

test("who fails in a browser goes on to the dashboard's sign-in, from the same 401 and nowhere else", async () => {
  const { ask } = await startRoutes();
  const failed = "/auth/oauth/google/callback?error=<b>no</b>&redirect_to=//evil.example&state=x";
  const answer = await ask("GET", failed, { accept: BROWSER });
  expect(answer).toMatchObject({ status: 401, text: '{"message":"Sign-in failed"}' });
  expect(answer.headers).toMatchObject({
    refresh: "0; url=/#/?sign_in_failed=google",
    "content-type": "application/json",
    "cache-control": "no-store",
  });
  expect(answer.headers.location).toBeUndefined();
  expect(cookiesOf(answer.headers)).toEqual({ gateway_sign_in: CLEARED });
});

test("a newcomer who may not sign up is told so, a browser by the dashboard", async () => {
  const { ask } = await startRoutes({
    signIn: { complete: async () => Promise.reject(new GatewayError("SIGN_UP_CLOSED", "no account")) },
  });
  const answers = [await ask("GET", CALLBACK, STATE), await ask("GET", CALLBACK, { ...STATE, accept: BROWSER })];
  for (const answer of answers) expect(answer).toMatchObject({ status: 403, text: '{"message":"no account"}' });
  expect(answers.map(({ headers }) => headers["refresh"])).toEqual([undefined, "0; url=/#/?sign_up_closed=google"]);
});

test("the provider sends browsers back to server.public_url, whatever Host a request names", async () => {
  const snapshot = testSnapshot();
  const publicUrl = "https://gateway.example.com";
  const { ask, asked } = await startRoutes({
    snapshot: () => ({ ...snapshot, server: { ...snapshot.server, publicUrl } }),
  });
  for (const host of ["evil.example", "127.0.0.1"]) await ask("GET", "/auth/oauth/google", { host });
  expect(asked).toMatchObject([
    ["begin", { origin: publicUrl }],
    ["begin", { origin: publicUrl }],
  ]);
  const headers = { cookie: "gateway_refresh=rt_old" };
  const refresh = async (origin: string) =>
    (await ask("POST", "/auth/refresh", { ...headers, origin, host: "inner" })).status;
  expect([await refresh(publicUrl), await refresh("http://inner"), await refresh("https://evil.example")]).toEqual([
    200, 200, 401,
  ]);
});

test.each([undefined, "*/*", "application/json", `application/json,${BROWSER}`])(
  "a program that accepts %s is sent nowhere",
  async (accept) => {
    const { ask } = await startRoutes();
    const answer = await ask("GET", CALLBACK, accept === undefined ? {} : { accept });
    expect([answer.status, answer.headers["refresh"]]).toEqual([401, undefined]);
  },
);

function refused(code: "UNKNOWN_PATH" | "STORE_UNAVAILABLE"): Promise<never> {
  return Promise.reject(new GatewayError(code, "no"));
}

test("without a dashboard, for a provider that is none, and with a store that is away there is no page to go to", async () => {
  const snapshot = testSnapshot();
  const off = await startRoutes({
    snapshot: () => ({ ...snapshot, server: { ...snapshot.server, dashboard: false } }),
  });
  const away = await startRoutes({ signIn: { complete: () => refused("STORE_UNAVAILABLE") } });
  const unknown = await startRoutes({ signIn: { complete: () => refused("UNKNOWN_PATH") } });
  for (const [{ ask }, status] of [
    [off, 401],
    [away, 503],
    [unknown, 404],
  ] as const) {
    const answer = await ask("GET", CALLBACK, { accept: BROWSER });
    expect([answer.status, answer.headers["refresh"]]).toEqual([status, undefined]);
  }
});
