import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createKey } from "../../../src/accounts/api-keys.ts";
import type { Json } from "../../../src/kit/index.ts";
import { CHAT, MESSAGES, TestGateway, type TestUser } from "../support/in-process.ts";
import { askKind, chains, ENDPOINTS } from "../support/kinds.ts";
import type { Answer } from "../support/http.ts";

/** The clock of these tests begins on 2026-01-15 at 12:30:05 UTC. */
const DEPRECATED = "2026-01-10";
const SUNSET = "2026-01-15T12:40:00Z";
const HEADERS = { deprecation: "@1768003200", sunset: "Thu, 15 Jan 2026 12:40:00 GMT" };
const TEN_MINUTES = 600_000;
const END = { deprecated_at: DEPRECATED, sunset_at: SUNSET };

let gateway: TestGateway;
let user: TestUser;

beforeEach(async () => {
  gateway = await TestGateway.start({
    chains: {
      "route/ends": { scripts: ["-"], ...END },
      "route/followed": { scripts: ["-"], ...END, successor: "route/next" },
      "route/next": { scripts: ["-"], tier: "Pro", price: { input_per_million: 1000, output_per_million: 1000 } },
      "route/fails": { scripts: ["?status=500"], ...END },
    },
    config: {
      tiers: { Pro: { access: "all", limits: { day: "none", hour: "none", minute: "none", streams: "none" } } },
    },
  });
  user = await gateway.user({ tier: "Max" });
});
afterEach(() => gateway.close());

const json = (text: string): Json => JSON.parse(text) as Json;
const FORMATS = [
  [CHAT, { messages: MESSAGES }],
  ["/v1/messages", { messages: MESSAGES, max_tokens: 50 }],
  ["/v1/responses", { input: "Hello there" }],
] as const;

function ask(path: string, body: Json, caller = user): Promise<Answer> {
  const headers = { authorization: `Bearer ${caller.key}`, "content-type": "application/json" };
  return gateway.send(path, { headers, body });
}

describe("before its end a model says when that is", () => {
  for (const [path, body] of FORMATS) {
    test(`${path}: whole, streamed and refused`, async () => {
      const whole = await ask(path, { ...body, model: "route/ends" });
      const streamed = await ask(path, { ...body, model: "route/ends", stream: true });
      const failed = await ask(path, { ...body, model: "route/fails" });
      expect([whole.status, streamed.status, failed.status]).toEqual([200, 200, 502]);
      for (const answer of [whole, streamed, failed]) expect(answer.headers).toMatchObject(HEADERS);
      const poor = await gateway.user({ tier: "Max", credits: "0" });
      const refused = await ask(path, { ...body, model: "route/ends" }, poor);
      expect([refused.status, refused.headers["sunset"]]).toEqual([402, HEADERS.sunset]);
      const other = await ask(path, { ...body, model: "route/next" });
      expect([other.headers["deprecation"], other.headers["sunset"]]).toEqual([undefined, undefined]);
    });
  }

  test("detail and count_tokens too, and the detail has the dates", async () => {
    const detail = await gateway.get("/v1/models/route/followed", user);
    expect(detail.headers).toMatchObject(HEADERS);
    expect(json(detail.text)).toMatchObject({
      id: "route/followed",
      deprecated_at: "2026-01-10T00:00:00.000Z",
      sunset_at: "2026-01-15T12:40:00.000Z",
      successor: "route/next",
    });
    const count = await ask("/v1/messages/count_tokens", { model: "route/ends", messages: MESSAGES });
    expect([count.status, count.headers["deprecation"]]).toEqual([200, HEADERS.deprecation]);
  });
});

describe("after its sunset, without a reload", () => {
  beforeEach(() => gateway.clock.advance(TEN_MINUTES));

  test("a model without a successor is unknown, everywhere", async () => {
    for (const [path, body] of FORMATS) {
      const answer = await ask(path, { ...body, model: "route/ends" });
      expect([answer.status, answer.headers["x-error-code"]]).toEqual([400, "INVALID_MODEL"]);
    }
    expect((await gateway.get("/v1/models/route/ends", user)).status).toBe(404);
    const count = await ask("/v1/messages/count_tokens", { model: "route/ends", messages: MESSAGES });
    expect(count.headers["x-error-code"]).toBe("INVALID_MODEL");
    const listed = json((await gateway.get("/v1/models")).text)["data"] as readonly Json[];
    expect(listed.map(({ id }) => id)).toEqual(["route/one", "route/next"]);
    const priced = json((await gateway.get("/v1/pricing", user)).text)["models"] as readonly Json[];
    expect(priced.map(({ model }) => model)).toEqual(["route/one", "route/next"]);
    const { models } = json((await gateway.get("/v1/status")).text) as { models: readonly Json[] };
    expect(models.map(({ id }) => id)).toEqual(["route/one", "route/next"]);
  });

  test("the successor serves under its own name, price and access", async () => {
    for (const [path, body] of FORMATS) {
      for (const stream of [false, true]) {
        const answer = await ask(path, { ...body, model: "route/followed", stream });
        expect([answer.status, answer.headers["deprecation"]]).toEqual([200, HEADERS.deprecation]);
        expect(answer.text).toContain('"route/next"');
        expect(answer.text).not.toContain('"route/followed"');
      }
    }
    const entries = await gateway.store.ledger(user.id);
    expect(new Set(entries.map(({ model }) => model))).toEqual(new Set(["route/next"]));
    const free = await gateway.user({ tier: "Free" });
    const refused = await ask(CHAT, { model: "route/followed", messages: MESSAGES }, free);
    expect([refused.status, refused.headers["x-error-code"]]).toEqual([403, "MODEL_NOT_ALLOWED"]);
    expect(json((await gateway.get("/v1/models/route/followed", user)).text)).toMatchObject({ id: "route/next" });
  });
});

test("every kind of model says when it ends", async () => {
  const kinds = await TestGateway.start({ chains: chains("", ["-"], END) });
  const caller = await kinds.user();
  for (const endpoint of ENDPOINTS) {
    const { status, headers } = await askKind(kinds, caller, endpoint);
    expect([endpoint, status, headers["deprecation"], headers["sunset"]]).toEqual([
      endpoint,
      200,
      HEADERS.deprecation,
      HEADERS.sunset,
    ]);
  }
  await kinds.close();
});

const ids = ({ text }: Answer) => (json(text)["data"] as readonly Json[]).map(({ id }) => id);

describe("GET /v1/models?available=true", () => {
  test("lists what plan and key may call", async () => {
    const free = await gateway.user({ tier: "Free" });
    const all = ["route/one", "route/ends", "route/followed", "route/next", "route/fails"];
    expect(ids(await gateway.get("/v1/models?available=true", user))).toEqual(all);
    expect(ids(await gateway.get("/v1/models?available=true", free))).toEqual(all.filter((id) => id !== "route/next"));
    const { body } = await createKey(gateway.store, {
      userId: user.id,
      name: "narrow",
      limits: { models: ["route/n*"] },
    });
    expect(ids(await gateway.get("/v1/models?available=true", { ...user, key: body.key }))).toEqual(["route/next"]);
    expect(ids(await gateway.get("/v1/models", free))).toEqual(all);
    expect(ids(await gateway.get("/v1/models?available=false"))).toEqual(all);
  });

  test("needs credentials, as the detail does", async () => {
    const header = (authorization: string) =>
      gateway.send("/v1/models?available=true", { method: "GET", headers: { authorization } });
    const none = await gateway.get("/v1/models?available=true");
    expect([none.status, json(none.text)["message"]]).toEqual([401, "Authentication required"]);
    const wrong = await header("Bearer rk_of-nobody");
    expect([wrong.status, wrong.headers["x-error-code"]]).toEqual([401, "AUTHENTICATION_ERROR"]);
    expect((await header(`Bearer ${await gateway.token(user)}`)).status).toBe(200);
    expect((await header("Bearer no-token")).status).toBe(401);
  });
});
