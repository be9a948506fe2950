import { expect, test } from "vitest";
import type { Snapshot, Store } from "../../../src/kit/index.ts";
import { testSnapshot, testTier } from "../../support/snapshot.ts";
import { bearer, startRoutes, TOKEN } from "./support.ts";

const LIMITS = { day: 500, hour: null, minute: 100, streams: 50 };

function snapshot(): Snapshot {
  return testSnapshot({ tiers: [testTier("Free", LIMITS), testTier("Max", { day: 3000, hour: 1000, minute: 100 })] });
}

async function use(store: Store, times: number, units = 1): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    const id = `request-${units}-${n}`;
    const admission = { id, userId: "ann", limits: LIMITS, units, stream: false, hold: 0n, enforceCredits: false };
    await store.admit({ ...admission, model: "route/free" });
  }
}

test("usage: used, limit and remaining; a tier without an hourly cap still counts the hour", async () => {
  const { ask, key, store } = await startRoutes({ snapshot });
  await use(store, 3);
  await use(store, 1, 5);
  for (const credentials of [bearer(key), bearer(TOKEN)]) {
    const answer = await ask("GET", "/v1/user/requests", credentials);
    expect(answer).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
    expect(JSON.parse(answer.text)).toEqual({
      requests_used_today: 8,
      requests_limit_today: 500,
      requests_remaining: 492,
      requests_used_this_hour: 4,
      requests_limit_this_hour: 0,
      requests_remaining_this_hour: 0,
      requests_used_this_minute: 4,
      requests_limit_per_minute: 100,
      requests_remaining_this_minute: 96,
      plan_tier: "Free",
    });
    const hourly = await ask("GET", "/v1/user/requests/hourly", credentials);
    expect(JSON.parse(hourly.text)).toEqual({ limit: 0, used: 4, remaining: 0, plan_tier: "Free" });
  }
});

test("the account: credits, windows with their ends, streams", async () => {
  const { ask, key, store } = await startRoutes({ snapshot });
  await store.grant("ann", 1_500_000_000n);
  await use(store, 2);
  const stream = {
    id: "stream",
    userId: "ann",
    limits: LIMITS,
    units: 5,
    stream: true,
    hold: 1n,
    enforceCredits: true,
  };
  await store.admit({ ...stream, model: "route/free" });
  for (const credentials of [bearer(key), bearer(TOKEN)]) {
    const answer = await ask("GET", "/v1/user", credentials);
    expect(answer).toMatchObject({ status: 200, headers: { "cache-control": "no-store" } });
    expect(JSON.parse(answer.text)).toEqual({
      id: "ann",
      email: "ann@example.com",
      plan_tier: "Free",
      credits: "1.5",
      held: "0.000000001",
      windows: {
        day: { used: 7, limit: 500, resets_at: "2027-01-16T00:00:00.000Z" },
        hour: { used: 3, limit: null, resets_at: "2027-01-15T09:00:00.000Z" },
        minute: { used: 3, limit: 100, resets_at: "2027-01-15T08:31:00.000Z" },
      },
      streams: { running: 1, limit: 50 },
    });
  }
});

test("after a change of plan the new limits are shown, and what remains is never negative", async () => {
  const { ask, store } = await startRoutes({ snapshot });
  await use(store, 3);
  await store.setTier("ann", "Max");
  expect(JSON.parse((await ask("GET", "/v1/user/requests/hourly", bearer(TOKEN))).text)).toEqual({
    limit: 1000,
    used: 3,
    remaining: 997,
    plan_tier: "Max",
  });
  await store.setTier("ann", "Gone");
  expect(JSON.parse((await ask("GET", "/v1/user/requests", bearer(TOKEN))).text)).toMatchObject({
    requests_used_today: 3,
    requests_limit_today: 0,
    requests_remaining: 0,
    plan_tier: "Gone",
  });
});

test("the kill says how many streams of the caller it ended; a body is overlooked", async () => {
  const killed: string[] = [];
  const kill = async (userId: string) => {
    killed.push(userId);
    return 2;
  };
  const { ask, key } = await startRoutes({ snapshot, parts: { kill } });
  const bodies = ["", "{}", "not json", "x".repeat(100_000)];
  for (const body of bodies) {
    const answer = await ask("POST", "/v1/user/streams/kill", bearer(key), body);
    expect(answer).toMatchObject({ status: 200, text: '{"killed_streams":2}' });
  }
  expect((await ask("POST", "/v1/user/streams/kill", bearer(TOKEN))).text).toBe('{"killed_streams":2}');
  expect(killed).toEqual(["ann", "ann", "ann", "ann", "ann"]);
  expect((await ask("GET", "/v1/user/streams/kill", bearer(key))).headers.allow).toBe("POST");
});
