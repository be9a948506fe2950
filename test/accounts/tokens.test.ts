import { createHmac, generateKeyPairSync } from "node:crypto";
import * as fc from "fast-check";
import { CompactEncrypt, decodeJwt, decodeProtectedHeader, SignJWT, UnsecuredJWT } from "jose";
import { describe, expect, test } from "vitest";
import { createTokens, type TokenOptions } from "../../src/accounts/tokens.ts";
import { storeUnavailable } from "../../src/kit/index.ts";
import { PATIENCE, RUNS } from "../properties/runs.ts";
import { START, storeWithUser, tokenSettings } from "./support.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const OTHER = "fedcba9876543210fedcba9876543210";
const USER = { id: "user_1", tier: "Lite" };
const SECONDS = START / 1000;

function remember(): never {
  throw new Error("no secret is to be made");
}

async function tokensWith(secrets: Readonly<Record<string, string>>, clock = { now: START }) {
  const settings = tokenSettings(secrets);
  const tokens = await createTokens({ settings: () => settings, now: () => clock.now, remember });
  return { tokens, clock };
}

/** Tokens whose settings are replaced, as a reload does. */
async function reloadable(secrets: Readonly<Record<string, string>>, keep: TokenOptions["remember"] = remember) {
  let settings = tokenSettings(secrets);
  const tokens = await createTokens({ settings: () => settings, now: () => START, remember: keep });
  const reload = (next: Readonly<Record<string, string>>, more: Partial<typeof settings> = {}) => {
    settings = { ...tokenSettings(next), ...more };
  };
  const issue = async () => (await tokens.issue(USER)).access_token;
  return { tokens, reload, issue };
}

function encode(part: object | string): string {
  return Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");
}

/** A token by hand: any header, any payload, signed with `secret` by the header's algorithm, or HS256. */
function forge(header: object | string, payload: object | string, secret = SECRET, hash = "sha256"): string {
  const signed = `${encode(header)}.${encode(payload)}`;
  return `${signed}.${createHmac(hash, secret).update(signed).digest("base64url")}`;
}

const HEADER = { alg: "HS256", typ: "JWT", kid: "a" };
const CLAIMS = { sub: "user_1", iss: "route-gateway", aud: "route-gateway", iat: SECONDS, exp: SECONDS + 60, jti: "1" };

describe("access tokens", () => {
  test("carry the promised claims and are verified", async () => {
    const { tokens } = await tokensWith({ a: SECRET });
    const { access_token, expires_in } = await tokens.issue(USER);
    expect(expires_in).toBe(900);
    expect(decodeProtectedHeader(access_token)).toEqual(HEADER);
    expect(decodeJwt(access_token)).toEqual({
      sub: "user_1",
      plan: "Lite",
      iss: "route-gateway",
      aud: "route-gateway",
      iat: SECONDS,
      exp: SECONDS + 900,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(await tokens.verify(access_token)).toMatchObject({ userId: "user_1" });
    expect(await tokens.verify((await tokens.issue(USER)).access_token)).toMatchObject({ userId: "user_1" });
  });

  test("made by hand in the same way are the same", async () => {
    const { tokens } = await tokensWith({ a: SECRET });
    expect(await tokens.verify(forge(HEADER, CLAIMS))).toMatchObject({ userId: "user_1" });
  });

  test("expire to the second, from the cache too", async () => {
    const { tokens, clock } = await tokensWith({ a: SECRET });
    const { access_token } = await tokens.issue(USER);
    for (const cached of [false, true]) {
      clock.now = START + 899_999;
      expect(await tokens.verify(access_token), `cached ${cached}`).not.toBeNull();
      clock.now = START + 900_000;
      expect(await tokens.verify(access_token), `cached ${cached}`).toBeNull();
    }
  });

  test("the first secret signs, all verify, one that is gone does not", async () => {
    const before = await tokensWith({ a: SECRET });
    const rotated = await tokensWith({ b: OTHER, a: SECRET });
    const after = await tokensWith({ b: OTHER });
    const old = (await before.tokens.issue(USER)).access_token;
    const fresh = (await rotated.tokens.issue(USER)).access_token;
    expect(decodeProtectedHeader(fresh).kid).toBe("b");
    expect(await rotated.tokens.verify(old)).not.toBeNull();
    expect(await rotated.tokens.verify(fresh)).not.toBeNull();
    expect(await after.tokens.verify(old)).toBeNull();
    expect(await after.tokens.verify(fresh)).not.toBeNull();
  });

  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const { kid: _, ...withoutKid } = HEADER;
  const { exp: __, ...withoutExp } = CLAIMS;
  const { sub: ___, ...withoutSub } = CLAIMS;
  test.each<[string, string | Promise<string>]>([
    ["nothing", ""],
    ["a word", "token"],
    ["two parts", "a.b"],
    ["empty parts", ".."],
    ["parts that are no base64", "*.*.*"],
    ["a header that is no JSON", forge("{", CLAIMS)],
    ["claims that are no JSON", forge(HEADER, "x")],
    ["claims that are an array", forge(HEADER, "[]")],
    ["another secret", forge(HEADER, CLAIMS, OTHER)],
    ["the empty secret", forge(HEADER, CLAIMS, "")],
    ["alg none", new UnsecuredJWT(CLAIMS).encode()],
    ["alg none with a signature", forge({ ...HEADER, alg: "none" }, CLAIMS)],
    ["alg hs256", forge({ ...HEADER, alg: "hs256" }, CLAIMS)],
    ["alg HS384", forge({ ...HEADER, alg: "HS384" }, CLAIMS, SECRET, "sha384")],
    ["alg HS512", forge({ ...HEADER, alg: "HS512" }, CLAIMS, SECRET, "sha512")],
    ["alg RS256", new SignJWT(CLAIMS).setProtectedHeader({ ...HEADER, alg: "RS256" }).sign(privateKey)],
    ["alg RS256 signed as HS256", forge({ ...HEADER, alg: "RS256" }, CLAIMS)],
    ["no alg", forge({ kid: "a" }, CLAIMS)],
    ["no kid", forge(withoutKid, CLAIMS)],
    ["an unknown kid", forge({ ...HEADER, kid: "b" }, CLAIMS)],
    ["a kid of a prototype", forge({ ...HEADER, kid: "__proto__" }, CLAIMS)],
    ["a kid that is a path", forge({ ...HEADER, kid: "../../dev/null" }, CLAIMS)],
    ["a kid that is a number", forge({ ...HEADER, kid: 0 }, CLAIMS)],
    ["a kid that is a list", forge({ ...HEADER, kid: ["a"] }, CLAIMS)],
    ["crit", forge({ ...HEADER, crit: ["exp"], exp: 1 }, CLAIMS)],
    ["crit b64", forge({ ...HEADER, crit: ["b64"], b64: true }, CLAIMS)],
    ["b64", forge({ ...HEADER, b64: true }, CLAIMS)],
    ["jku", forge({ ...HEADER, jku: "https://example.com/jwks" }, CLAIMS)],
    ["jwk", forge({ ...HEADER, jwk: { kty: "oct", k: "AAAA" } }, CLAIMS)],
    ["x5u", forge({ ...HEADER, x5u: "https://example.com/x" }, CLAIMS)],
    ["x5c", forge({ ...HEADER, x5c: ["AAAA"] }, CLAIMS)],
    ["no exp", forge(HEADER, withoutExp)],
    ["exp as text", forge(HEADER, { ...CLAIMS, exp: String(CLAIMS.exp) })],
    ["exp null", forge(HEADER, { ...CLAIMS, exp: null })],
    ["exp now", forge(HEADER, { ...CLAIMS, exp: SECONDS })],
    ["nbf in the future", forge(HEADER, { ...CLAIMS, nbf: SECONDS + 120 })],
    ["nbf as text", forge(HEADER, { ...CLAIMS, nbf: "0" })],
    ["no sub", forge(HEADER, withoutSub)],
    ["an empty sub", forge(HEADER, { ...CLAIMS, sub: "" })],
    ["sub as a number", forge(HEADER, { ...CLAIMS, sub: 1 })],
    ["another issuer", forge(HEADER, { ...CLAIMS, iss: "eve" })],
    ["no issuer", forge(HEADER, { ...CLAIMS, iss: undefined })],
    ["another audience", forge(HEADER, { ...CLAIMS, aud: "other" })],
    ["no audience", forge(HEADER, { ...CLAIMS, aud: undefined })],
    ["more than 8 KiB", forge(HEADER, { ...CLAIMS, pad: "x".repeat(8 * 1024) })],
    [
      "encrypted",
      new CompactEncrypt(Buffer.from(JSON.stringify(CLAIMS)))
        .setProtectedHeader({ alg: "dir", enc: "A256GCM", kid: "a" })
        .encrypt(Buffer.from(SECRET)),
    ],
  ])("refuses %s", async (_, token) => {
    const { tokens } = await tokensWith({ a: SECRET });
    expect(await tokens.verify(await token)).toBeNull();
    expect(await tokens.verify(await token), "a second time").toBeNull();
  });

  test("any change of a good token is refused, whatever was cached", async () => {
    const { tokens } = await tokensWith({ a: SECRET });
    const { access_token } = await tokens.issue(USER);
    expect(await tokens.verify(access_token)).not.toBeNull();
    // The last character of the signature carries bits that decode to nothing: it is left out.
    for (let at = 0; at < access_token.length - 1; at++) {
      const other = access_token[at] === "A" ? "B" : "A";
      const changed = access_token.slice(0, at) + other + access_token.slice(at + 1);
      expect(await tokens.verify(changed), `at ${at}`).toBeNull();
    }
  });

  test("tokens that are alike for most of their length are different users", async () => {
    const { tokens } = await tokensWith({ a: SECRET });
    const users = Array.from({ length: 20 }, (_, index) => `user_${index}`);
    const all = users.map((sub) => forge(HEADER, { ...CLAIMS, sub }));
    for (const round of [1, 2]) {
      const found = await Promise.all(all.map(async (token) => tokens.verify(token)));
      expect(
        found.map((claims) => claims?.userId),
        `round ${round}`,
      ).toEqual(users);
    }
  });

  test(
    "nothing makes verification throw",
    async () => {
      const { tokens } = await tokensWith({ a: SECRET });
      const part = fc.oneof(fc.string({ unit: "binary" }), fc.base64String(), fc.json());
      const token = fc.oneof(
        fc.string({ unit: "binary" }),
        fc.array(part, { minLength: 2, maxLength: 6 }).map((parts) => parts.join(".")),
        fc.tuple(fc.json(), fc.json()).map(([header, payload]) => forge(header, payload)),
        fc.json().map((payload) => forge(HEADER, payload)),
      );
      await fc.assert(
        fc.asyncProperty(token, async (text) => {
          expect(await tokens.verify(text)).toBeNull();
        }),
        { numRuns: RUNS },
      );
    },
    PATIENCE,
  );

  test("an empty secret is made once and kept by the store", async () => {
    const { store } = await storeWithUser();
    const settings = tokenSettings({ a: "" });
    const make = () =>
      createTokens({
        settings: () => settings,
        now: () => START,
        remember: (name, value) => store.remember(name, value),
      });
    const [first, second] = await Promise.all([make(), make()]);
    const { access_token } = await first.issue(USER);
    expect(await second.verify(access_token)).not.toBeNull();
    const kept = await store.remember("jwt-secret", "too late");
    expect(Buffer.from(kept, "base64url")).toHaveLength(32);
    expect(first.weakSecrets).toEqual([]);
    expect(await first.verify(forge(HEADER, CLAIMS, kept))).not.toBeNull();
    expect(await first.verify(forge(HEADER, CLAIMS, "")), "the empty text is no secret").toBeNull();
  });

  test("a store that is away does not keep from starting: its secret is asked for when it is needed", async () => {
    const { store } = await storeWithUser();
    const state = { away: true };
    const tokens = await createTokens({
      settings: () => tokenSettings({ a: "" }),
      now: () => START,
      remember(name, value) {
        if (state.away) throw storeUnavailable(new Error("away"));
        return store.remember(name, value);
      },
    });
    await expect(tokens.issue(USER)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await expect((async () => tokens.verify("a.b.c"))()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    state.away = false;
    const { access_token } = await tokens.issue(USER);
    expect(await tokens.verify(access_token)).toMatchObject({ userId: USER.id });
  });

  test("names secrets that are too short", async () => {
    const { tokens } = await tokensWith({ a: SECRET, b: "short", c: SECRET.slice(1), d: "ä".repeat(16) });
    expect(tokens.weakSecrets).toEqual(["b", "c"]);
  });

  test("without any secret there are no tokens", async () => {
    await expect(tokensWith({})).rejects.toThrow("auth.tokens.secrets is empty");
  });
});

describe("a reload", () => {
  test("rotates secrets: the new first one signs, all verify, one that is gone does not, cached or not", async () => {
    const { tokens, reload, issue } = await reloadable({ a: SECRET });
    const [old, unseen] = [await issue(), await issue()];
    expect(await tokens.verify(old), "into the cache").not.toBeNull();
    reload({ b: OTHER, a: SECRET });
    const fresh = await issue();
    expect(decodeProtectedHeader(fresh).kid).toBe("b");
    expect(await tokens.verify(old)).toMatchObject({ userId: USER.id });
    expect(await tokens.verify(fresh)).toMatchObject({ userId: USER.id });
    reload({ b: OTHER });
    expect(await tokens.verify(old), "cached").toBeNull();
    expect(await tokens.verify(unseen), "not cached").toBeNull();
    expect(await tokens.verify(fresh)).not.toBeNull();
  });

  test("ends tokens of a kid that got another secret", async () => {
    const { tokens, reload, issue } = await reloadable({ a: SECRET });
    const old = await issue();
    await tokens.verify(old);
    reload({ a: OTHER });
    expect(await tokens.verify(old)).toBeNull();
    expect(await tokens.verify(await issue())).not.toBeNull();
  });

  test("changes life, issuer and audience", async () => {
    const { tokens, reload, issue } = await reloadable({ a: SECRET });
    const old = await issue();
    await tokens.verify(old);
    reload({ a: SECRET }, { accessTtl: 60_000, issuer: "other" });
    expect(await tokens.verify(old)).toBeNull();
    expect(await tokens.issue(USER)).toMatchObject({ expires_in: 60 });
    expect(decodeJwt(await issue())).toMatchObject({ iss: "other", exp: SECONDS + 60 });
    reload({ a: SECRET });
    expect(await tokens.verify(old)).not.toBeNull();
  });

  test("leaves a made secret as it is, also when the store would give another", async () => {
    const { tokens, reload, issue } = await reloadable({ a: "" }, (_, value) => value);
    const old = await issue();
    reload({ b: OTHER, a: "" });
    expect(await tokens.verify(old)).not.toBeNull();
    reload({ a: "" });
    expect(await tokens.verify(old)).not.toBeNull();
    expect(tokens.weakSecrets).toEqual([]);
  });

  test("whose secret the store cannot keep fails what is asked meanwhile, no longer", async () => {
    let away = false;
    const { tokens, reload, issue } = await reloadable({ a: SECRET }, (_, value) => {
      if (away) throw storeUnavailable(null);
      return value;
    });
    const old = await issue();
    away = true;
    reload({ a: SECRET, b: "" });
    const asked = [tokens.verify(old), tokens.verify(old), issue()];
    for (const answer of asked) await expect(answer).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    away = false;
    expect(await tokens.verify(old)).not.toBeNull();
  });

  test("is followed without a wait for what is in force", async () => {
    const { tokens, issue } = await reloadable({ a: SECRET });
    const token = await issue();
    await tokens.verify(token);
    expect(tokens.verify(token), "from the cache: no promise").toMatchObject({ userId: USER.id });
  });
});
