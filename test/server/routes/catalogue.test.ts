import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decimal, Secret, type Snapshot } from "../../../src/kit/index.ts";
import { step, testModel, testSnapshot, testTier } from "../../support/snapshot.ts";
import { open } from "../support.ts";
import { bearer, startRoutes, TOKEN } from "./support.ts";
import { RUNS } from "../../properties/runs.ts";

const MODELS = [
  testModel("route/free", { displayName: "Free one", ownedBy: "alpha", features: ["tools"] }),
  testModel("route/sub/name:free", { tier: "Max", price: { perImage: decimal("0.04") } }),
  testModel("route/hidden", { published: false, chain: [step("beta")] }),
  testModel("route/10", {
    price: {
      inputPerMillion: decimal("0.15"),
      outputPerMillion: decimal("1e-7"),
      cachedInputPerMillion: decimal("0.075"),
      cacheWritePerMillion: decimal("0.1875"),
      cacheWrite1hPerMillion: decimal("0.3"),
      perRequest: decimal("0.001"),
      perImage: decimal("123456.789"),
      perSecond: decimal("0.0001"),
      perMillionCharacters: decimal(15),
    },
  }),
];

function catalogue(): Snapshot {
  return testSnapshot({ models: MODELS, tiers: [testTier("Free", { access: ["Free"] }), testTier("Max")] });
}

const start = () => startRoutes({ snapshot: catalogue });
const ANY = { object: "model", created: 1_768_435_200, owned_by: "alpha", kind: "chat" };
const SIZES = { context_window: 128_000, max_output: 16_384 };
const DETAIL = {
  ...ANY,
  ...SIZES,
  id: "route/free",
  tier: "Free",
  display_name: "Free one",
  features: ["tools"],
  plans: ["Free", "Max"],
};

test("the list: published models in the order of the configuration", async () => {
  const { ask } = await start();
  const answer = await ask("GET", "/v1/models");
  expect(answer).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
  const list = JSON.parse(answer.text);
  expect(Object.keys(list)).toEqual(["object", "data"]);
  expect(list).toMatchObject({ object: "list", data: [DETAIL, { tier: "Max" }, {}] });
  expect(list.data[0]).toEqual(DETAIL);
  expect(list.data.map(({ id }: { id: string }) => id)).toEqual(["route/free", "route/sub/name:free", "route/10"]);
});

test.each([
  ["/v1/models/route/free", "route/free", true],
  ["/v1/models/route%2Ffree", "route/free", true],
  ["/v1/models/route%2ffree?x=/y", "route/free", true],
  ["/v1/models/%72oute/fre%65", "route/free", true],
  ["/v1/models/route/sub/name:free", "route/sub/name:free", false],
  ["/v1/models/route%2Fsub%2Fname:free", "route/sub/name:free", false],
  ["/v1/models/route%2Fsub/name%3Afree", "route/sub/name:free", false],
  ["/v1/models/route/hidden", "route/hidden", true],
])("%s is the detail of %s, allowed: %s", async (path, id, allowed) => {
  const { ask, key } = await start();
  for (const credentials of [bearer(key), bearer(TOKEN)]) {
    const answer = await ask("GET", path, credentials);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toEqual({
      ...ANY,
      ...SIZES,
      id,
      tier: allowed ? "Free" : "Max",
      display_name: id === "route/free" ? "Free one" : id,
      features: id === "route/free" ? ["tools"] : [],
      plans: allowed ? ["Free", "Max"] : ["Max"],
      allowed,
    });
  }
});

test.each([
  "/v1/models/route/other",
  "/v1/models/free",
  "/v1/models/Route/free",
  "/v1/models/route/free/",
  "/v1/models//route/free",
  "/v1/models/route//free",
  "/v1/models/route%252Ffree",
  "/v1/models/..%2Fsettings",
  "/v1/models/..%2F..%2Fetc%2Fpasswd",
  "/v1/models/%2e%2e%2Fsettings",
  "/v1/models/%00",
  "/v1/models/route/free%00",
  "/v1/models/route/free%0d%0aX-Evil:%201",
  "/v1/models/route/free%20",
  "/v1/models/%F0%9F%98%80",
  "/v1/models/__proto__",
  "/v1/models/constructor",
  "/v1/models/toString",
  "/v1/models/*",
  "/v1/models/**",
  "/v1/models/:id",
  `/v1/models/${"x".repeat(300)}`,
])("%s is no model", async (path) => {
  const { ask, key, port } = await start();
  const answer = await ask("GET", path, bearer(key));
  expect(answer).toMatchObject({ status: 404, text: '{"error":"Model not found"}' });
  expect(answer.headers).toMatchObject({ "content-type": "application/json" });
  expect(answer.headers["x-error-code"]).toBeUndefined();
  expect(answer.headers["x-evil"]).toBeUndefined();
  const nobody = await open(port);
  nobody.socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  expect(await nobody.closed()).toMatch(/^HTTP\/1.1 401 /);
});

test.each([
  ["/v1/models/", 404],
  ["/v1/models/..", 404],
  ["/v1/models/../nothing", 404],
  ["/v1/pricing/", 404],
  ["/v1/models/%", 400],
  ["/v1/models/%zz", 400],
  ["/v1/models/%ff%fe", 400],
])("%s is %i", async (path, status) => {
  const { port, key } = await start();
  const connection = await open(port);
  connection.socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
  );
  const text = await connection.closed();
  expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(text).toContain(
    status === 404 ? '{"message":"Not found"}' : "Invalid request: / must have a well-formed path",
  );
});

test("no path below /v1/models makes a 500", async () => {
  const { port, key, lines } = await start();
  const piece = fc.oneof(
    fc.constantFrom(
      "%",
      "%25",
      "%2F",
      "%2e",
      "..",
      "/",
      "%00",
      "route",
      "free",
      ";",
      ":",
      "*",
      "\\",
      "%C3%28",
      "__proto__",
    ),
    fc.stringMatching(/^[!-"$->@-~]{1,4}$/),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
      const connection = await open(port);
      connection.socket.write(
        `GET /v1/models/${pieces.join("")} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
      );
      expect(await connection.closed()).toMatch(/^HTTP\/1.1 (?:200|400|404) /);
    }),
    { numRuns: Math.ceil(RUNS / 2) },
  );
  expect(lines).toEqual([]);
});

test("prices are the configured numbers; token prices are always there", async () => {
  const { ask, key } = await start();
  const { text } = await ask("GET", "/v1/pricing", bearer(key));
  expect(JSON.parse(text)).toEqual({
    models: [
      { model: "route/free", display_name: "Free one", tier: "free", input_per_million: 1, output_per_million: 2 },
      {
        model: "route/sub/name:free",
        display_name: "route/sub/name:free",
        tier: "max",
        input_per_million: 0,
        output_per_million: 0,
        per_image: 0.04,
      },
      {
        model: "route/10",
        display_name: "route/10",
        tier: "free",
        input_per_million: 0.15,
        output_per_million: 1e-7,
        cached_input_per_million: 0.075,
        cache_write_per_million: 0.1875,
        cache_write_1h_per_million: 0.3,
        per_request: 0.001,
        per_image: 123_456.789,
        per_second: 0.0001,
        per_million_characters: 15,
      },
    ],
  });
});

test("prices of images by size and quality are shown as they are configured", async () => {
  const perImage = { default: decimal("0.04"), "1024x1536/high": decimal("0.25") };
  const { ask, key } = await startRoutes({
    snapshot: () => testSnapshot({ models: [testModel("route/paint", { kind: "image", price: { perImage } })] }),
  });
  const { text } = await ask("GET", "/v1/pricing", bearer(key));
  expect(JSON.parse(text).models[0].per_image).toEqual({ default: 0.04, "1024x1536/high": 0.25 });
});

test("the settings name the identity providers, and nothing of what is secret about them", async () => {
  const provider = { issuer: "https://id.example.com", clientId: "abc", clientSecret: new Secret("s3"), scopes: [] };
  const made = testSnapshot();
  const snapshot = { ...made, auth: { ...made.auth, oauth: { corp: provider, other: provider } } };
  const { ask } = await startRoutes({ snapshot: () => snapshot });
  const { sign_in: signIn } = JSON.parse((await ask("GET", "/v1/settings")).text);
  expect(signIn).toEqual({ providers: ["corp", "other"] });
});

test("a number of up to 15 digits is exactly what was configured", async () => {
  let multiplier = decimal(1);
  const { ask } = await startRoutes({ snapshot: () => testSnapshot({ billing: { costMultiplier: multiplier } }) });
  const digits = fc.bigInt({ min: 0n, max: 999_999_999_999_999n });
  await fc.assert(
    fc.asyncProperty(digits, fc.integer({ min: 0, max: 15 }), async (digits, scale) => {
      multiplier = { digits, scale };
      const [, shown = ""] = /^\{"cost_multiplier":([^,]+),/.exec((await ask("GET", "/v1/settings")).text) ?? [];
      const read = decimal(shown);
      expect(read.digits * 10n ** BigInt(scale)).toBe(digits * 10n ** BigInt(read.scale));
    }),
    { numRuns: Math.ceil(RUNS / 5) },
  );
});

test("the OpenAPI document is served as it is, HEAD too", async () => {
  const { ask } = await startRoutes();
  const answer = await ask("GET", "/openapi.json");
  expect(answer).toMatchObject({ status: 200, text: '{"openapi":"3.1.0"}' });
  expect(answer.headers["content-type"]).toBe("application/json");
  expect(await ask("HEAD", "/openapi.json")).toMatchObject({ status: 200, text: "" });
});

test("answers are those of the configuration in force", async () => {
  let models = MODELS;
  const { ask } = await startRoutes({ snapshot: () => testSnapshot({ models }) });
  expect(JSON.parse((await ask("GET", "/v1/models")).text).data.length).toBe(3);
  models = [testModel("route/new")];
  expect(JSON.parse((await ask("GET", "/v1/models")).text).data).toMatchObject([{ id: "route/new" }]);
});
