import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createKey } from "../../../src/accounts/api-keys.ts";
import type { Endpoint, Json } from "../../../src/kit/index.ts";
import { ALL_ENDPOINTS, openAt, placeOf } from "../support/formats.ts";
import { tier } from "../support/gateway-config.ts";
import type { Answer } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";
import { askKind, chains, ENDPOINTS, KIND_CHAINS, MEDIA } from "../support/kinds.ts";

/** Requests a day, an hour, a minute, as the specification has them. */
const LIMITS: Readonly<Record<string, readonly [number, number | null, number]>> = {
  Free: [50, 50, 100],
  Lite: [500, null, 100],
  Weekly: [1_800, 500, 100],
  Premium: [1_500, 500, 100],
  Max: [3_000, 1_000, 100],
  Ultra: [10_000, 1_500, 100],
};
const TIERS = Object.keys(LIMITS);

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start({
    chains: { ...KIND_CHAINS, ...chains("-bad", ["?status=500"]) },
    config: {
      tiers: Object.fromEntries(
        Object.entries(LIMITS).map(([name, [day, hour, minute]]) => [
          name,
          { access: "all", limits: { day, hour: hour ?? "none", minute, streams: 50 } },
        ]),
      ),
    },
  });
});
afterAll(() => gateway.close());

const limitsOf = ({ headers }: Pick<Answer, "headers">): Json =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith("x-ratelimit")));

const usage = async (user: TestUser, path = ""): Promise<Json> =>
  JSON.parse((await gateway.get(`/v1/user/requests${path}`, user)).text) as Json;

/** The record of a tier with so much used. */
function record(tier: string, [day, hour, minute]: readonly [number, number, number]): Json {
  const [dayLimit, hourLimit, minuteLimit] = LIMITS[tier]!;
  return {
    requests_used_today: day,
    requests_limit_today: dayLimit,
    requests_remaining: dayLimit - day,
    requests_used_this_hour: hour,
    requests_limit_this_hour: hourLimit ?? 0,
    requests_remaining_this_hour: hourLimit === null ? 0 : hourLimit - hour,
    requests_used_this_minute: minute,
    requests_limit_per_minute: minuteLimit,
    requests_remaining_this_minute: minuteLimit - minute,
    plan_tier: tier,
  };
}

/** The same, to look at through another key. */
async function secondKey(user: TestUser): Promise<TestUser> {
  const { body } = await createKey(gateway.store, { userId: user.id, name: "second" });
  return { ...user, key: body.key };
}

describe("the usage of every tier", () => {
  test.each(TIERS)("%s: nothing used, then what several keys, endpoints and outcomes used together", async (tier) => {
    const user = await gateway.user({ tier });
    const other = await secondKey(user);
    expect(await usage(user)).toEqual(record(tier, [0, 0, 0]));
    // Day: 1 + 5 + 1 + 5 + 1 + 5 + 1 that the upstream refused; nothing for what failed or was refused here.
    for (const endpoint of ENDPOINTS) await askKind(gateway, endpoint === "rerank" ? other : user, endpoint);
    await askKind(gateway, other, "chat", { sim: "?status=400" });
    await askKind(gateway, other, "image", { model: "route/paint-bad" });
    await askKind(gateway, other, "embeddings", { model: "route/none" });
    await askKind(gateway, user, "speech", { voice: undefined });
    const after = record(tier, [19, 7, 7]);
    expect(await usage(user)).toEqual(after);
    expect(await usage(other)).toEqual(after);
    const limit = LIMITS[tier]![1] ?? 0;
    const hourly = { limit, used: 7, remaining: limit === 0 ? 0 : limit - 7, plan_tier: tier };
    expect(await usage(other, "/hourly")).toEqual(hourly);
    const token = { authorization: `Bearer ${await gateway.token(user)}` };
    expect(JSON.parse((await gateway.send("/v1/user/requests", { method: "GET", headers: token })).text)).toEqual(
      after,
    );
    // Somebody else's are somebody else's.
    expect(await usage(await gateway.user({ tier }))).toEqual(record(tier, [0, 0, 0]));
  });

  test("asking costs and counts nothing, and is for the asker alone", async () => {
    const user = await gateway.user();
    const before = await gateway.books(user);
    for (const path of ["", "/hourly"]) {
      const { headers } = await gateway.get(`/v1/user/requests${path}`, user);
      expect(headers["cache-control"]).toBe("no-store");
    }
    expect(await gateway.books(user)).toEqual(before);
  });

  test("a limit that is used up shows 0 left, and one that was lowered below it too", async () => {
    const few = await TestGateway.start({
      config: { tiers: { Few: { access: "all", limits: { day: 2, hour: 2, minute: 2, streams: 1 } } } },
    });
    const user = await few.user({ tier: "Few" });
    for (let count = 0; count < 3; count += 1) await few.chat(user);
    const left = async (): Promise<readonly unknown[]> => {
      const { requests_used_today, requests_limit_today, requests_remaining } = JSON.parse(
        (await few.get("/v1/user/requests", user)).text,
      ) as Json;
      return [requests_used_today, requests_limit_today, requests_remaining];
    };
    expect(await left()).toEqual([2, 2, 0]);
    await few.reload({ tiers: { Few: { limits: { day: 1 } } } });
    expect(await left()).toEqual([2, 1, 0]);
    await few.close();
  });
});

const FIELDS = { minute: "requests_used_this_minute", hour: "requests_used_this_hour", day: "requests_used_today" };

test("a plan that the configuration no longer has allows nothing, and says so", async () => {
  const gone = await TestGateway.start({ config: { tiers: { Gone: tier({ day: 5 }) } } });
  const user = await gone.user({ tier: "Gone" });
  expect((await gone.chat(user)).status).toBe(200);
  expect(await gone.reload({ tiers: { Gone: null } })).toMatchObject({ ok: true });
  const counters = JSON.parse((await gone.get("/v1/user/requests", user)).text) as Json;
  expect(counters).toMatchObject({
    requests_used_today: 1,
    requests_limit_today: 0,
    requests_remaining: 0,
    plan_tier: "Gone",
  });
  expect((await gone.chat(user)).text).toBe("Model 'route/one' is not available on your plan");
  expect(JSON.parse((await gone.get("/v1/models/route/one", user)).text)).toMatchObject({ allowed: false });
  await gone.close();
});

describe("windows", () => {
  test.each(["Free", "Lite"])("%s: end with the calendar's minute, hour and day in UTC", async (tier) => {
    const rolling = await TestGateway.start({
      config: {
        tiers: {
          [tier]: {
            access: "all",
            limits: { day: LIMITS[tier]![0], hour: LIMITS[tier]![1] ?? "none", minute: 100, streams: 50 },
          },
        },
      },
    });
    const user = await rolling.user({ tier });
    const read = async (): Promise<Json> => JSON.parse((await rolling.get("/v1/user/requests", user)).text) as Json;
    const { clock } = rolling;
    clock.stop();
    for (let count = 0; count < 3; count += 1) await rolling.chat(user);
    for (const [window, used] of [
      ["minute", [3, 3, 0]],
      ["hour", [3, 0, 0]],
      ["day", [0, 0, 0]],
    ] as const) {
      // To its last second, and over its end.
      clock.advance((clock.secondsLeft(window) - 1) * 1_000);
      expect((await read())[FIELDS[window]]).toBe(3);
      clock.advance(1_000);
      expect(await read()).toEqual(record(tier, used));
    }
    clock.start();
    await rolling.close();
  });

  test("a request counts in the windows in which it was admitted, however long it runs", async () => {
    const rolling = await TestGateway.start();
    const user = await rolling.user();
    const call = rolling.open(user, { stream: true, sim: "?chunk_delay=20ms" });
    await call.until("data:");
    rolling.clock.advance(86_400_000);
    expect((await call.whole()).text.endsWith("data: [DONE]\n\n")).toBe(true);
    const { used, ledger } = await rolling.books(user);
    expect([used, ledger.length]).toEqual([{ day: 0, hour: 0, minute: 0 }, 1]);
    await rolling.close();
  });
});

describe("rate-limit headers", () => {
  test.each(ALL_ENDPOINTS.flatMap((endpoint) => ["Premium", "Lite"].map((tier) => [endpoint, tier] as const)))(
    "%s of %s: exact, also on what is refused; a tier without an hourly cap has none",
    async (endpoint, tier) => {
      const user = await gateway.user({ tier });
      const open = (model = placeOf(endpoint).model) => openAt(gateway, user, endpoint, { model }, {});
      gateway.clock.stop();
      const [day, hour, minute] = LIMITS[tier]!;
      const expected = (units: number, requests: number): Json =>
        Object.assign(
          {},
          ...(
            [
              ["day", day, units],
              ["hour", hour, requests],
              ["minute", minute, requests],
            ] as const
          ).flatMap(([name, limit, used]) =>
            limit === null
              ? []
              : [
                  {
                    [`x-ratelimit-limit-${name}`]: String(limit),
                    [`x-ratelimit-remaining-${name}`]: String(limit - used),
                    [`x-ratelimit-reset-${name}`]: String(gateway.clock.secondsLeft(name)),
                  },
                ],
          ),
        ) as Json;
      const units = (MEDIA as readonly Endpoint[]).includes(endpoint) ? 5 : 1;
      expect(limitsOf(await open().whole())).toEqual(expected(units, 1));
      expect(limitsOf(await open("route/none").whole())).toEqual(expected(units, 1));
      expect(limitsOf(await open().whole())).toEqual(expected(2 * units, 2));
      const head = await open().head();
      expect(limitsOf(head)).toEqual(expected(3 * units, 3));
      gateway.clock.start();
    },
  );

  test("none on what is no inference", async () => {
    const user = await gateway.user();
    for (const path of ["/v1/pricing", "/v1/user/requests", "/v1/models", "/v1/models/route/one"])
      expect(limitsOf(await gateway.get(path, user))).toEqual({});
  });
});
