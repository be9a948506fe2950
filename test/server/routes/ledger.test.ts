import { expect, test } from "vitest";
import type { LedgerRecord, Store } from "../../../src/kit/index.ts";
import { admission, RECORD } from "../../store/support.ts";
import { bearer, START, startRoutes, TOKEN } from "./support.ts";

async function serve(store: Store, userId: string, record: Partial<LedgerRecord> = {}, charge = 123_000n) {
  const { id } = admission(userId);
  await store.admit({ ...admission(userId), id });
  await store.settle({ id, userId, giveBack: false, charge, record: { ...RECORD, ...record } });
  return id;
}

interface Page {
  readonly data: readonly Record<string, unknown>[];
  readonly next_cursor: string | null;
}

async function begun() {
  const routes = await startRoutes();
  const get = async (path: string, credentials = bearer(TOKEN)) => {
    const { status, text, headers } = await routes.ask("GET", path, credentials);
    return { status, text, headers, page: (status === 200 ? JSON.parse(text) : null) as Page };
  };
  return { ...routes, get };
}

test("a user sees each of its own entries once, with a key as well, and nobody else's", async () => {
  const { store, get, key } = await begun();
  const usage = { ...RECORD.usage, images: 2, cacheWrite: 7, milliseconds: 1_500 };
  const ids = [await serve(store, "ann", { usage, tags: { team: "blue" }, tier: "Free" }), await serve(store, "ann")];
  const bobs = await serve(store, "bob");
  for (const credentials of [bearer(TOKEN), bearer(key)]) {
    const { page, headers } = await get("/v1/user/ledger", credentials);
    expect(page.data.map(({ id }) => id)).toEqual(ids.toReversed());
    expect(page.next_cursor).toBeNull();
    expect(headers["cache-control"]).toBe("no-store");
    expect(page.data.at(-1)).toEqual({
      id: ids[0],
      request_id: "req-1",
      key_id: "key_1",
      model: "route/swift",
      upstream: "alpha",
      tier: "Free",
      outcome: "served",
      estimated: false,
      usage: {
        prompt_tokens: 10,
        completion_tokens: 20,
        cached_tokens: 4,
        reasoning_tokens: 3,
        images: 2,
        cache_write_tokens: 7,
        audio_ms: 1_500,
      },
      cost: "0.000123",
      tags: { team: "blue" },
      received_at: "2027-01-15T08:00:00.000Z",
      ended_at: "2027-01-15T08:00:01.500Z",
      recorded_at: new Date(START).toISOString(),
      duration_ms: 1_500,
    });
  }
  const { text } = await get("/v1/user/ledger?limit=1000&request_id=req-1");
  expect(text).not.toContain(bobs);
  const first = await get("/v1/user/ledger?limit=1");
  const second = await get(`/v1/user/ledger?limit=1&cursor=${first.page.next_cursor}`);
  expect([...first.page.data, ...second.page.data].map(({ id }) => id)).toEqual(ids.toReversed());
});

test("another user's cursor shows nothing", async () => {
  const { store, get } = await begun();
  await serve(store, "ann");
  for (let turn = 0; turn < 3; turn++) await serve(store, "bob");
  for (const query of [{ userId: "bob" as const }, {}]) {
    const { cursor } = await store.ledgerPage({ ...query, limit: 1 });
    const { page } = await get(`/v1/user/ledger?cursor=${cursor}`);
    expect(page.data.filter((entry) => entry["model"] !== undefined)).toHaveLength(0);
  }
});

test("entries are filtered", async () => {
  const { store, get } = await begun();
  const plain = await serve(store, "ann");
  const odd = await serve(store, "ann", {
    model: "m",
    outcome: "failed",
    upstream: null,
    keyId: null,
    tags: { a: "b:c" },
  });
  const of = async (filter: string) => (await get(`/v1/user/ledger?${filter}`)).page.data.map(({ id }) => id);
  expect(await of("model=m")).toEqual([odd]);
  expect(await of("outcome=served")).toEqual([plain]);
  expect(await of("tag=a:b:c")).toEqual([odd]);
  expect(await of("key=key_1&upstream=alpha")).toEqual([plain]);
  expect(await of("from=2027-01-15&to=2027-01-16T00:00:00Z")).toEqual([odd, plain]);
  expect(await of("to=2027-01-15T08:30:15Z")).toEqual([]);
  expect(await of("from=2027-01-15T08:30:16Z")).toEqual([]);
});

test("usage adds the user's own requests up", async () => {
  const { store, get } = await begun();
  await serve(store, "ann", { tier: "Free" }, 1_000_000_000n);
  await serve(store, "ann", { model: "m", outcome: "failed", upstream: null, keyId: null }, 500_000_000n);
  await serve(store, "bob");
  const counts = { cached_tokens: 4, completion_tokens: 20, prompt_tokens: 10, reasoning_tokens: 3, requests: 1 };
  const start = "2027-01-15T00:00:00.000Z";
  const { page } = await get("/v1/user/usage?by=model,upstream,tier");
  expect(page).toEqual({
    data: [
      { start, model: "m", upstream: null, tier: null, ...counts, failed: 1, cost: "0.5" },
      { start, model: "route/swift", upstream: "alpha", tier: "Free", ...counts, failed: 0, cost: "1" },
    ],
    next_cursor: null,
  });
  const hourly = await get("/v1/user/usage?per=hour");
  expect(hourly.page.data).toMatchObject([{ start: "2027-01-15T08:00:00.000Z", requests: 2, failed: 1, cost: "1.5" }]);
  const keys = await get("/v1/user/usage?by=key");
  expect(keys.page.data.map((row) => row["key_id"])).toEqual([null, "key_1"]);
  expect(keys.text).not.toContain("user_id");
  const one = await get("/v1/user/usage?by=model&limit=1");
  const two = await get(`/v1/user/usage?by=model&limit=1&cursor=${one.page.next_cursor}`);
  expect([...one.page.data, ...two.page.data].map((row) => row["model"])).toEqual(["m", "route/swift"]);
  expect((await get("/v1/user/usage?from=2027-01-16")).page.data).toEqual([]);
});

test("usage by the longest names goes on with its cursor", async () => {
  const { store, get } = await begun();
  const models = ["a", "b", "c"].map((name) => `${name}${'"'.repeat(255)}`);
  for (const model of models) {
    await serve(store, "ann", { model, upstream: '"'.repeat(256), keyId: "k".repeat(256), tier: '"'.repeat(256) });
  }
  let [found, cursor] = [[] as unknown[], ""];
  do {
    const { page } = await get(`/v1/user/usage?by=model,upstream,tier,key&limit=1${cursor && `&cursor=${cursor}`}`);
    found = [...found, ...page.data.map((row) => row["model"])];
    cursor = page.next_cursor ?? "";
  } while (cursor !== "");
  expect(found).toEqual(models);
});

test.each([
  ["ledger?user=bob", "/user is no parameter of this path"],
  ["ledger?limit=0", "/limit must be a whole number from 1 to 1000"],
  ["ledger?limit=1001", "/limit must be a whole number from 1 to 1000"],
  ["ledger?limit=1e2", "/limit must be a whole number from 1 to 1000"],
  ["ledger?limit=1&limit=2", "/limit stands twice"],
  ["ledger?cursor=x", "/cursor is none that this list has given"],
  ["ledger?model=", "/model must have 1 to 256 characters"],
  [`ledger?model=${"x".repeat(257)}`, "/model must have 1 to 256 characters"],
  ["ledger?tag=blue", "/tag must match ^[^:]+:"],
  ["ledger?outcome=good", "/outcome must be one of served"],
  ["ledger?from=yesterday", "/from must match"],
  ["ledger?from=2027-13-01", "/from is no time"],
  ["usage?by=user", "/by must match"],
  ["usage?by=model,,tier", "/by must match"],
  ["usage?per=week", "/per must be one of hour, day"],
  ["usage?constructor=1", "/constructor is no parameter of this path"],
])("GET /v1/user/%s is refused", async (path, what) => {
  const { get } = await begun();
  const { status, text } = await get(`/v1/user/${path}`);
  expect(status).toBe(400);
  expect(text).toContain(what);
});

test("without credentials there is nothing to see", async () => {
  const { ask } = await begun();
  for (const path of ["/v1/user/ledger", "/v1/user/usage"]) {
    expect((await ask("GET", path)).status).toBe(401);
    expect((await ask("GET", path, bearer("rk_wrong"))).status).toBe(401);
  }
});
