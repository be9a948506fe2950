import { createHash, createHmac } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { Secret } from "../../../src/kit/index.ts";
import type { AuthSettings, OAuthProvider } from "../../../src/kit/index.ts";
import { tokenSettings } from "../support.ts";
import { CLIENT_SECRET, SUBJECT, TestIssuer, visit } from "./issuer.ts";
import { OTHER_SECRET, SECRET, SIGN_IN_FAILED, type SignInBench, signInBench } from "./support.ts";

const ORIGIN = "https://gateway.example";
const GRACE = "grace@example.com";
const UNAVAILABLE = { code: "PROVIDER_ERROR", message: "Identity provider unavailable", status: 502 };

interface Parts {
  readonly issuer: TestIssuer;
  readonly bench: SignInBench;
}

async function start(provider: (issuer: TestIssuer) => Partial<OAuthProvider> = () => ({})): Promise<Parts> {
  const issuer = await TestIssuer.start();
  const bench = await signInBench({ oauth: oauthOf(issuer.provider(provider(issuer))) });
  return { issuer, bench };
}

function oauthOf(provider: OAuthProvider): AuthSettings["oauth"] {
  return { corp: provider, twin: { ...provider } };
}

const begin = ({ bench }: Parts, redirectTo: unknown = "/console", provider = "corp") =>
  bench.signIn.begin({ provider, redirectTo, origin: ORIGIN });

/** The whole round through the provider. */
async function signIn(parts: Parts) {
  const { location, state } = await begin(parts);
  const url = await visit(location);
  return parts.bench.signIn.complete({ provider: "corp", url: url.href, state });
}

describe("the way to an identity provider", () => {
  test("is the code flow with PKCE, state and nonce", async () => {
    const parts = await start();
    const { location, state, maxAge } = await begin(parts);
    const { origin, pathname, searchParams } = new URL(location);
    expect(origin + pathname).toBe(`${parts.issuer.url}/authorize`);
    expect(Object.fromEntries(searchParams)).toEqual({
      response_type: "code",
      client_id: "gateway",
      redirect_uri: `${ORIGIN}/auth/oauth/corp/callback`,
      scope: "openid email",
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    expect(maxAge).toBe(600);
    expect(state, "five parts, the second empty: encrypted").toMatch(/^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(state.length).toBeLessThan(3_000);
    const again = new URL((await begin(parts)).location).searchParams;
    for (const name of ["state", "nonce", "code_challenge"]) expect(again.get(name)).not.toBe(searchParams.get(name));
  });

  test("proves the challenge with its verifier, to the provider alone", async () => {
    const parts = await start();
    const { location, state } = await begin(parts);
    const challenge = new URL(location).searchParams.get("code_challenge");
    let verifier = "";
    parts.issuer.answer = (_, { body }) => {
      verifier = body.code_verifier ?? "";
    };
    const { href: url } = await visit(location);
    await parts.bench.signIn.complete({ provider: "corp", url, state });
    expect(createHash("sha256").update(verifier).digest("base64url")).toBe(challenge);
  });

  test("asks for openid whatever the scopes are", async () => {
    const parts = await start(() => ({ scopes: ["email", "profile"] }));
    expect(new URL((await begin(parts)).location).searchParams.get("scope")).toBe("openid email profile");
  });

  test.each(["nobody", "", "__proto__", "constructor", "corp/", "../corp", "CORP"])(
    "of provider %j does not exist",
    async (provider) => {
      const parts = await start();
      const missing = { code: "UNKNOWN_PATH", message: "Not found", status: 404 };
      await expect(begin(parts, "/", provider)).rejects.toMatchObject(missing);
      const completed = parts.bench.signIn.complete({ provider, url: "/?code=1&state=2", state: "3" });
      await expect(completed).rejects.toMatchObject(missing);
    },
  );
});

describe("a sign-in through an identity provider", () => {
  test("makes the user and a session", async () => {
    const parts = await start();
    const { bench } = parts;
    const { session, redirectTo } = await signIn(parts);
    expect(redirectTo).toBe("/console");
    const user = (await bench.store.findUser(GRACE))!;
    expect(user).toMatchObject({ tier: "Lite", granted: 1_500_000_000n });
    expect(session.body.user).toEqual({ id: user.id, email: GRACE, plan_tier: "Lite" });
    expect(await bench.tokens.verify(session.body.access_token)).toMatchObject({ userId: user.id });
    await bench.signIn.refresh(session.refreshToken);
    expect(bench.log.text).toBe("");
  });

  test("is the user of the proven address, and the same one when the address changes", async () => {
    const parts = await start();
    const byMail = await parts.bench.viaMail(GRACE);
    expect((await signIn(parts)).session.body.user).toEqual(byMail.body.user);
    for (const change of [{ email: "new@example.com" }, { email_verified: false }, { email: undefined }]) {
      Object.assign(parts.issuer.claims, change);
      expect((await signIn(parts)).session.body.user).toEqual(byMail.body.user);
    }
    expect(await parts.bench.store.findUser("new@example.com")).toBeNull();
  });

  test("of another subject with the same proven address is the same user", async () => {
    const parts = await start();
    const first = (await signIn(parts)).session.body.user;
    parts.issuer.claims = { ...parts.issuer.claims, sub: "subject-2" };
    expect((await signIn(parts)).session.body.user).toEqual(first);
  });

  test.each([
    ["/console?x=1#y", "/console?x=1#y"],
    ["//evil.example", "/"],
    ["https://evil.example/", "/"],
    [null, "/"],
  ])("asked to go on to %j ends at %j", async (redirectTo, path) => {
    const parts = await start();
    const { location, state } = await begin(parts, redirectTo);
    const { href: url } = await visit(location);
    expect((await parts.bench.signIn.complete({ provider: "corp", url, state })).redirectTo).toBe(path);
  });

  test("may be completed by the path alone, and with parameters that nobody asked for", async () => {
    const parts = await start();
    parts.issuer.redirect = (url) => {
      url.searchParams.set("session_state", "1");
      url.searchParams.set("scope", "openid");
    };
    const { location, state } = await begin(parts);
    const { pathname, search } = await visit(location);
    const { session } = await parts.bench.signIn.complete({ provider: "corp", url: pathname + search, state });
    expect(session.body.user.email).toBe(GRACE);
  });

  test("may take ten minutes and a rotation of the secrets", async () => {
    const parts = await start();
    const { bench } = parts;
    const { location, state } = await begin(parts);
    const { href: url } = await visit(location);
    bench.clock.now += 599_999;
    bench.reload({ tokens: tokenSettings({ b: OTHER_SECRET, a: SECRET }) });
    const { session } = await bench.signIn.complete({ provider: "corp", url, state });
    expect(session.body.user.email).toBe(GRACE);
  });

  test.each([
    [{ sub: SUBJECT }, "info@example.com"],
    [{ sub: SUBJECT, email: GRACE }, "info@example.com"],
    [{ sub: SUBJECT, email: GRACE, email_verified: true }, GRACE],
  ])("with the ID token %j is by the address %s: UserInfo says what it leaves out", async (claims, email) => {
    const parts = await start();
    parts.issuer.claims = claims;
    parts.issuer.userInfo = { sub: SUBJECT, email: "info@example.com", email_verified: true };
    expect((await signIn(parts)).session.body.user.email).toBe(email);
  });

  test("needs no UserInfo endpoint", async () => {
    const parts = await start();
    parts.issuer.publish = ({ body }) => Reflect.deleteProperty(body as object, "userinfo_endpoint");
    expect((await signIn(parts)).session.body.user.email).toBe(GRACE);
    parts.issuer.claims = { sub: "subject-2" };
    await expect(signIn(parts)).rejects.toMatchObject(SIGN_IN_FAILED);
  });

  test("waits for a store that is away, and is no failure then", async () => {
    const parts = await start();
    const { store } = parts.bench;
    vi.spyOn(store, "findIdentity").mockRejectedValue(Object.assign(new Error("away"), { code: "STORE_UNAVAILABLE" }));
    await expect(signIn(parts)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});

/** How one sign-in is spoiled. */
interface Spoiled extends Parts {
  readonly spoil: {
    /** Cookie of the browser. */
    state: unknown;
    /** Where the provider sent the browser. */
    url: URL;
  };
}

type Spoil = (parts: Spoiled) => unknown;

/** Before the browser is at the provider. */
const AT_THE_PROVIDER: Readonly<Record<string, (issuer: TestIssuer) => unknown>> = {
  "a nonce of another sign-in": ({ claims }) => (claims["nonce"] = "another"),
  "no nonce": ({ claims }) => (claims["nonce"] = undefined),
  "an ID token that has expired": ({ claims }) => (claims["exp"] = Math.floor(Date.now() / 1000) - 60),
  "an ID token of the future": ({ claims }) => (claims["nbf"] = Math.floor(Date.now() / 1000) + 600),
  "an ID token for another client": ({ claims }) => (claims["aud"] = "another"),
  "an ID token of another issuer": ({ claims }) => (claims["iss"] = "https://id.example.com"),
  "an ID token of nobody": ({ claims }) => (claims["sub"] = undefined),
  "no ID token": (issuer) => (issuer.answer = ({ body }) => Reflect.deleteProperty(body as object, "id_token")),
  "an ID token whose signature is not the issuer's": (issuer) =>
    forged(issuer, (head, claims) => `${head}.${claims}.${Buffer.alloc(256, 1).toString("base64url")}`),
  "an ID token that was changed": (issuer) =>
    forged(issuer, (head, claims, signature) => {
      const other = { ...(JSON.parse(Buffer.from(claims, "base64url").toString()) as object), sub: "root" };
      return `${head}.${Buffer.from(JSON.stringify(other)).toString("base64url")}.${signature}`;
    }),
  "an unsigned ID token": (issuer) =>
    forged(issuer, (_, claims) => `${Buffer.from('{"alg":"none"}').toString("base64url")}.${claims}.`),
  "an ID token signed with the client's secret": (issuer) =>
    forged(issuer, (_, claims) => {
      const signed = `${Buffer.from('{"alg":"HS256"}').toString("base64url")}.${claims}`;
      return `${signed}.${createHmac("sha256", CLIENT_SECRET).update(signed).digest("base64url")}`;
    }),
  "a token endpoint that refuses": (issuer) =>
    (issuer.answer = (response) => Object.assign(response, { statusCode: 400, body: { error: "invalid_grant" } })),
  "a token endpoint that fails": (issuer) =>
    (issuer.answer = (response) => Object.assign(response, { statusCode: 500, body: "" })),
  "a token endpoint that answers something else": (issuer) =>
    (issuer.answer = (response) => Object.assign(response, { body: { hello: CLIENT_SECRET } })),
  "an address that is not verified": ({ claims }) => (claims["email_verified"] = false),
  "an address that is verified in words": ({ claims }) => (claims["email_verified"] = "true"),
  "no word about the address": ({ claims }) => (claims["email_verified"] = undefined),
  "no address": ({ claims }) => (claims["email"] = undefined),
  "an address that is none": ({ claims }) => (claims["email"] = "grace"),
  "an address that looks like another": ({ claims }) => (claims["email"] = "gr\u0430ce@example.com"),
  "an address in a list": ({ claims }) => (claims["email"] = [GRACE]),
  "UserInfo of another subject": (issuer) => {
    issuer.claims = { sub: SUBJECT };
    issuer.userInfo = { sub: "root", email: GRACE, email_verified: true };
  },
};

function forged(issuer: TestIssuer, forge: (head: string, claims: string, signature: string) => string): void {
  issuer.answer = ({ body }) => {
    const answer = body as { id_token: string };
    const [head = "", claims = "", signature = ""] = answer.id_token.split(".");
    answer.id_token = forge(head, claims, signature);
  };
}

/** When the browser comes back. */
const AT_THE_CALLBACK: Readonly<Record<string, Spoil>> = {
  "no cookie": ({ spoil }) => (spoil.state = undefined),
  "an empty cookie": ({ spoil }) => (spoil.state = ""),
  "a cookie of noise": ({ spoil }) => (spoil.state = "a.b.c.d.e"),
  "a cookie that is a list": ({ spoil }) => (spoil.state = [spoil.state]),
  "an access token as the cookie": async ({ spoil, bench }) =>
    (spoil.state = (await bench.tokens.issue({ id: "user_1", tier: "Max" })).access_token),
  "the cookie of another sign-in": async (parts) => (parts.spoil.state = (await begin(parts)).state),
  "the cookie and the code of another provider": async (parts) => {
    const { location, state } = await begin(parts, "/", "twin");
    Object.assign(parts.spoil, { state, url: await visit(location) });
  },
  "a cookie that has expired": ({ bench }) => (bench.clock.now += 600_000),
  "a cookie whose secret is gone": ({ bench }) => bench.reload({ tokens: tokenSettings({ b: OTHER_SECRET }) }),
  "a cookie whose secret is another one now": ({ bench }) =>
    bench.reload({ tokens: tokenSettings({ a: OTHER_SECRET }) }),
  "no state": ({ spoil }) => spoil.url.searchParams.delete("state"),
  "another state": ({ spoil }) => spoil.url.searchParams.set("state", "another"),
  "the state twice": ({ spoil }) => spoil.url.searchParams.append("state", spoil.url.searchParams.get("state")!),
  "no code": ({ spoil }) => spoil.url.searchParams.delete("code"),
  "another code": ({ spoil }) => spoil.url.searchParams.set("code", "another"),
  "the code twice": ({ spoil }) => spoil.url.searchParams.append("code", "another"),
  "nothing at all": ({ spoil }) => (spoil.url.search = ""),
  "a provider that denies": ({ spoil }) => {
    spoil.url.searchParams.delete("code");
    spoil.url.searchParams.set("error", "access_denied");
  },
  "a provider that shouts": ({ spoil }) => {
    spoil.url.searchParams.delete("code");
    spoil.url.searchParams.set("error", `${CLIENT_SECRET} <script>`);
  },
  "the iss of another issuer": ({ spoil }) => spoil.url.searchParams.set("iss", "https://id.example.com"),
  "a provider that is gone": ({ issuer }) => issuer.stop(),
  "a provider that has moved": async ({ bench }) => {
    const { url } = await TestIssuer.start();
    bench.reload({ oauth: oauthOf({ issuer: url, clientId: "gateway", clientSecret: new Secret(""), scopes: [] }) });
  },
  "a code that was used": async ({ spoil, bench }) => {
    await bench.signIn.complete({ provider: "corp", url: spoil.url.href, state: spoil.state });
  },
};

/** The sign-in is refused, and the log has none of its secrets. */
async function expectFailure({ bench }: Parts, url: URL, state: unknown): Promise<void> {
  const completed = bench.signIn.complete({ provider: "corp", url: url.href, state });
  await expect(completed).rejects.toMatchObject(SIGN_IN_FAILED);
  const given = [url.searchParams.get("code"), url.searchParams.get("state"), state];
  const secrets = given.filter((secret): secret is string => typeof secret === "string" && secret !== "");
  for (const secret of [CLIENT_SECRET, GRACE, SECRET, ...secrets]) expect(bench.log.text).not.toContain(secret);
}

describe("a sign-in fails with", () => {
  test.each(Object.entries(AT_THE_PROVIDER))("%s", async (_, spoil) => {
    const parts = await start();
    spoil(parts.issuer);
    const { location, state } = await begin(parts);
    await expectFailure(parts, await visit(location), state);
    expect(await parts.bench.store.listUsers()).toHaveLength(1);
    expect(parts.bench.log.lines).toMatchObject([{ level: 40, provider: "corp" }]);
  });

  test.each(Object.entries(AT_THE_CALLBACK))("%s", async (name, spoil) => {
    const parts = await start();
    const { location, state } = await begin(parts);
    const spoiled = { state, url: await visit(location) };
    await spoil({ ...parts, spoil: spoiled });
    await expectFailure(parts, spoiled.url, spoiled.state);
    expect(await parts.bench.store.listUsers()).toHaveLength(name === "a code that was used" ? 2 : 1);
  });

  test("any change of the cookie", async () => {
    const parts = await start();
    const { location, state } = await begin(parts);
    const url = await visit(location);
    for (let at = 0; at < state.length; at += 7) {
      const changed = state.slice(0, at) + (state[at] === "A" ? "B" : "A") + state.slice(at + 1);
      await expectFailure(parts, url, changed);
    }
    const { session } = await parts.bench.signIn.complete({ provider: "corp", url: url.href, state });
    expect(session.body.user.email).toBe(GRACE);
  });
});

describe("what a provider publishes", () => {
  test("is asked for once, by however many at once, and again after an hour", async () => {
    const parts = await start();
    await Promise.all(Array.from({ length: 20 }, () => begin(parts)));
    await signIn(parts);
    expect(parts.issuer.discovered).toBe(1);
    parts.bench.clock.now += 3_599_999;
    await begin(parts);
    expect(parts.issuer.discovered).toBe(1);
    parts.bench.clock.now += 1;
    await begin(parts);
    expect(parts.issuer.discovered).toBe(2);
  });

  test("is asked for again after a failure, and after a reload that changes the provider", async () => {
    const parts = await start();
    const { issuer, bench } = parts;
    issuer.publish = (response) => (response.statusCode = 503);
    await expect(begin(parts)).rejects.toMatchObject(UNAVAILABLE);
    issuer.publish = () => {};
    await begin(parts);
    const moved = await TestIssuer.start();
    bench.reload({ oauth: oauthOf(moved.provider()) });
    expect((await begin(parts)).location).toContain(moved.url);
  });

  test.each<[string, (issuer: TestIssuer) => unknown, string]>([
    ["that is not there", (issuer) => issuer.stop(), "ECONNREFUSED"],
    [
      "that fails",
      (issuer) => (issuer.publish = (response) => (response.statusCode = 500)),
      "OAUTH_RESPONSE_IS_NOT_CONFORM",
    ],
    [
      "that is another",
      (issuer) => (issuer.publish = ({ body }) => Object.assign(body, { issuer: "https://id.example.com" })),
      "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED",
    ],
    [
      "without a page to sign in on",
      (issuer) => (issuer.publish = ({ body }) => Reflect.deleteProperty(body as object, "authorization_endpoint")),
      "OAUTH_MISSING_SERVER_METADATA",
    ],
    [
      "with one that is no address",
      (issuer) => (issuer.publish = ({ body }) => Object.assign(body, { authorization_endpoint: "//" })),
      "OAUTH_INVALID_SERVER_METADATA",
    ],
  ])("of an issuer %s is no use", async (_, spoil, reason) => {
    const parts = await start();
    const url = parts.issuer.url;
    await spoil(parts.issuer);
    await expect(begin(parts)).rejects.toMatchObject(UNAVAILABLE);
    expect(parts.bench.log.lines).toEqual([
      { level: 50, time: expect.any(Number), provider: "corp", reason, msg: "identity provider is not usable" },
    ]);
    expect(parts.bench.log.text).not.toContain(url);
  });

  test("is asked for with patience of five seconds", async () => {
    const timeout = vi.spyOn(AbortSignal, "timeout");
    await signIn(await start());
    expect(timeout.mock.calls.length).toBeGreaterThan(1);
    expect(new Set(timeout.mock.calls.map(([milliseconds]) => milliseconds))).toEqual(new Set([5_000]));
    timeout.mockRestore();
  });

  test("is not asked for in clear but on loopback", async () => {
    const parts = await start(() => ({ issuer: "http://id.example.com" }));
    await expect(begin(parts)).rejects.toMatchObject(UNAVAILABLE);
    expect(parts.bench.log.lines).toMatchObject([{ reason: "OAUTH_HTTP_REQUEST_FORBIDDEN" }]);
  });
});

describe("the gateway proves itself", () => {
  const BASIC = `Basic ${Buffer.from(`gateway:${CLIENT_SECRET.replaceAll("-", "%2D")}`).toString("base64")}`;

  test.each<[string, readonly string[] | undefined, string, { authorization?: string; secret?: string }]>([
    ["in the header", undefined, CLIENT_SECRET, { authorization: BASIC }],
    ["in the header", ["client_secret_basic"], CLIENT_SECRET, { authorization: BASIC }],
    ["in the form", ["client_secret_basic", "client_secret_post"], CLIENT_SECRET, { secret: CLIENT_SECRET }],
    ["not at all without a secret", undefined, "", {}],
  ])("%s where a provider supports %j", async (_, methods, secret, proof) => {
    const parts = await start(() => ({ clientSecret: new Secret(secret) }));
    const { issuer } = parts;
    issuer.publish = ({ body }) => Object.assign(body, { token_endpoint_auth_methods_supported: methods });
    let seen: object = {};
    issuer.answer = (_response, request) => {
      const { client_secret } = request.body as { client_secret?: string };
      seen = { authorization: request.headers.authorization, secret: client_secret };
    };
    await signIn(parts);
    expect(seen).toEqual(proof);
  });
});
