import { once } from "node:events";
import { get as httpGet, type IncomingMessage } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { adminServices, type AdminServicesParts, answerCall } from "../../../src/gateway/admin-services.ts";
import { type LedgerRecord, type Store, storeUnavailable } from "../../../src/kit/index.ts";
import type { AdminServices } from "../../../src/server/admin/services.ts";
import { createKeys } from "../../../src/store/redis/scripts.ts";
import { packEntry } from "../../../src/store/redis/ledger.ts";
import { openStore } from "../../../src/store/open.ts";
import { poolServices } from "../../../src/workers/supervisor.ts";
import type { WorkerHandle } from "../../../src/workers/worker-handle.ts";
import { describeRedis, redisOfSuite } from "../../support/redis.ts";
import { openAt } from "../../store/redis/support.ts";
import { addUser, admission, RECORD, START, unique } from "../../store/support.ts";
import { admin, auditInMemory, AUTH, VIEWER } from "./support.ts";

/** What the issue asks to be paged and exported. */
const MANY = 40_000;

async function memory(): Promise<Store> {
  const store = await openStore("memory:", { serving: true, now: () => START });
  onTestFinished(async () => store.close());
  return store;
}

/** The store's services, as a supervisor reaches them in its worker: over a channel of JSON. */
function servicesOf(store: Store): AdminServices {
  // What other rows ask for is not asked here.
  const services = adminServices({ store } as AdminServicesParts);
  const worker = {
    serving: true,
    missedHeartbeats: 0,
    ended: false,
    ask: async (_: string, { about = "" }) => JSON.parse(JSON.stringify(await answerCall(services, about))) as unknown,
  };
  return poolServices({ workers: [worker] as unknown as WorkerHandle[] });
}

async function serve(store: Store, userId: string, record: Partial<LedgerRecord> = {}, charge = 1_000_000n) {
  const request = admission(userId);
  await store.admit(request);
  await store.settle({ id: request.id, userId, giveBack: false, charge, record: { ...RECORD, ...record } });
  return request.id;
}

interface Page {
  readonly data: readonly Record<string, unknown>[];
  readonly next_cursor: string | null;
}

async function listening(store: Store, services = servicesOf(store)) {
  const { ask, port } = await admin({ services });
  const read = async (path: string): Promise<Page> => {
    const { status, text } = await ask(path, VIEWER);
    expect([status, status === 200 ? "" : text]).toEqual([200, ""]);
    return JSON.parse(text) as Page;
  };
  return { ask, port, read };
}

test("entries of all users are listed and filtered, and added up", async () => {
  const store = await memory();
  const [a, b] = [(await addUser(store, 10n ** 12n)).id, (await addUser(store, 10n ** 12n)).id];
  const first = await serve(store, a, { tags: { team: "blue" }, tier: "Max" }, 1_500_000_000n);
  const second = await serve(store, b, { model: "m", upstream: null, outcome: "failed", keyId: null });
  const { ask, read } = await listening(store);
  const all = await read("/admin/ledger");
  expect(all.data.map(({ id, user_id, cost }) => [id, user_id, cost])).toEqual([
    [second, b, "0.001"],
    [first, a, "1.5"],
  ]);
  const idsOf = async (filter: string) => (await read(`/admin/ledger?${filter}`)).data.map(({ id }) => id);
  expect(await idsOf(`user=${a}`)).toEqual([first]);
  expect(await idsOf("tag=team:blue&outcome=served&upstream=alpha&key=key_1&model=route/swift")).toEqual([first]);
  expect(await idsOf("request_id=nothing")).toEqual([]);
  expect(await idsOf("from=2027-01-15&to=2027-01-16")).toHaveLength(2);
  const { next_cursor } = await read("/admin/ledger?limit=1");
  expect(await idsOf(`limit=1&cursor=${next_cursor}`)).toEqual([first]);
  const usage = await read("/admin/usage?by=user,tier&from=2027-01-01&to=2027-02-01");
  expect(
    usage.data.map(({ user_id, tier, requests, failed, cost }) => [user_id, tier, requests, failed, cost]),
  ).toEqual([
    [a, "Max", 1, 0, "1.5"],
    [b, null, 1, 1, "0.001"],
  ]);
  for (const [path, what] of [
    ["ledger?limit=1001", "/limit"],
    ["ledger?cursor=e30", "/cursor"],
    ["ledger?tag=x", "/tag"],
    ["ledger?users=x", "/users"],
    ["ledger?from=2027-02-30T25:00:00Z", "/from"],
    ["ledger/export?format=xml", "/format"],
    ["ledger/export?limit=3", "/limit"],
    ["ledger/export?to=2027-99-01", "/to"],
    ["usage?by=day", "/by"],
    ["usage?per=month", "/per"],
  ] as const) {
    const { status, text } = await ask(`/admin/${path}`, AUTH);
    expect([status, text]).toEqual([400, expect.stringContaining(what)]);
  }
  expect((await ask("/admin/ledger/export")).status).toBe(401);
});

test("in CSV nothing is a formula, and every text is as it was", async () => {
  const store = await memory();
  const { id } = await addUser(store, 10n ** 12n);
  const tags = { note: 'a "b", c' };
  await serve(store, id, { model: "=cmd()", requestId: "+1", keyId: "@x", upstream: "-2\n3", tags });
  const { ask } = await listening(store);
  const { headers, text } = await ask("/admin/ledger/export?format=csv", VIEWER);
  expect(headers["content-type"]).toContain("text/csv");
  expect(headers["content-disposition"]).toBe('attachment; filename="ledger.csv"');
  const [head, ...rest] = text.split("\r\n");
  expect(head?.split(",").slice(0, 6)).toEqual(["id", "request_id", "user_id", "key_id", "model", "upstream"]);
  const line = rest.join("\r\n");
  expect(line).toContain(`,'+1,${id},'@x,'=cmd(),"'-2\n3",`);
  expect(line).toContain(`,0.001,"{""note"":""a \\""b\\"", c""}",2027-01-15T08:00:00.000Z,`);
  expect(line.endsWith(",1500\r\n")).toBe(true);
});

/** A store whose pages are looked at as they are asked for. */
function counting(services: AdminServices, fail: (calls: number) => boolean = () => false) {
  const counted = { calls: 0 };
  const ledgerPage: AdminServices["ledgerPage"] = async (query) => {
    counted.calls++;
    if (fail(counted.calls)) throw storeUnavailable(new Error("away"));
    return services.ledgerPage(query);
  };
  return { counted, services: { ...auditInMemory(), ledgerPage } as AdminServices };
}

async function begin(port: number, format = "ndjson"): Promise<IncomingMessage> {
  const request = httpGet({ port, path: `/admin/ledger/export?format=${format}`, headers: VIEWER });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  onTestFinished(() => {
    response.destroy();
  });
  return response;
}

/** As many entries as the store is asked for, without end. */
function endless(): AdminServices {
  const line = "x".repeat(400);
  const data = Array.from({ length: 1_000 }, () => ({ id: line, usage: {}, tags: {} }));
  const ledgerPage = async () => ({ data, next_cursor: "next" });
  return { ...auditInMemory(), ledgerPage } as unknown as AdminServices;
}

test("an export is read as fast as the client takes it, and no further when it leaves", async () => {
  const { counted, services } = counting(endless());
  const { port } = await listening(await memory(), services);
  const response = await begin(port);
  response.pause();
  let before = -1;
  await expect
    .poll(
      () => {
        const stands = counted.calls === before;
        before = counted.calls;
        return stands;
      },
      { interval: 300, timeout: 20_000 },
    )
    .toBe(true);
  // What sockets hold: a few megabytes of 400 KB each.
  expect(counted.calls).toBeLessThan(60);
  response.resume();
  const taken = counted.calls;
  await expect.poll(() => counted.calls, { timeout: 20_000 }).toBeGreaterThan(taken + 20);
  response.destroy();
  await pause(300);
  const left = counted.calls;
  await pause(300);
  expect(counted.calls).toBe(left);
});

test("an export of which nothing is found is read no further when the client leaves", async () => {
  const nothing = { ...endless(), ledgerPage: () => pause(5, { data: [], next_cursor: "next" }) };
  const { counted, services } = counting(nothing);
  const { port } = await listening(await memory(), services);
  const response = await begin(port, "csv");
  response.resume();
  await expect.poll(() => counted.calls).toBeGreaterThan(5);
  response.destroy();
  await pause(300);
  const left = counted.calls;
  await pause(300);
  expect(counted.calls).toBe(left);
});

test("a HEAD of an export has its headers, and reads no more than a page", async () => {
  const { counted, services } = counting(endless());
  const { ask } = await listening(await memory(), services);
  const { status, headers, text } = await ask("/admin/ledger/export?format=csv", VIEWER, "HEAD");
  expect([status, headers["content-type"], text]).toEqual([200, "text/csv; charset=utf-8; header=present", ""]);
  await pause(100);
  expect(counted.calls).toBe(1);
});

test("an export that cannot go on breaks off, one that cannot begin says so", async () => {
  const { services } = counting(endless(), (calls) => calls === 4);
  const { port } = await listening(await memory(), services);
  const response = await begin(port);
  expect(response.statusCode).toBe(200);
  const broken = once(response, "error").then(([error]) => String(error));
  response.resume();
  expect(await broken).toContain("aborted");
  const none = counting(endless(), () => true);
  const { ask } = await listening(await memory(), none.services);
  expect(await ask("/admin/ledger/export", VIEWER)).toMatchObject({ status: 503 });
});

/** Every entry once, in pages and in an export. @returns how many. */
async function readAll(store: Store, users: readonly string[]): Promise<number> {
  const { ask, read } = await listening(store);
  const { text } = await ask("/admin/ledger/export", VIEWER);
  const lines = text.trimEnd().split("\n");
  expect(lines).toHaveLength(MANY);
  const ids = new Set(lines.map((line) => (JSON.parse(line) as { id: string }).id));
  expect(ids.size).toBe(MANY);
  let [paged, cursor] = [0, ""];
  do {
    const page = await read(`/admin/ledger?limit=1000${cursor && `&cursor=${cursor}`}`);
    for (const { id } of page.data) expect(ids.delete(String(id)) ? "" : id).toBe("");
    paged += page.data.length;
    cursor = page.next_cursor ?? "";
  } while (cursor !== "");
  expect([paged, ids.size]).toEqual([MANY, 0]);
  const usage = await read("/admin/usage?from=2020-01-01&to=2030-01-01");
  expect(usage.data.reduce((sum, row) => sum + Number(row["requests"]), 0)).toBe(MANY);
  const own = await ask(`/admin/ledger/export?format=csv&user=${users[0]}`, VIEWER);
  expect(own.text.split("\r\n")).toHaveLength(MANY / users.length + 2);
  for (const other of users.slice(1)) expect(own.text.includes(other)).toBe(false);
  return paged;
}

test(`${MANY} entries of ten users are paged and exported`, { timeout: 120_000 }, async () => {
  const store = await memory();
  const users = await Promise.all(Array.from({ length: 10 }, async () => (await addUser(store, 10n ** 15n)).id));
  for (let done = 0; done < MANY; done += 1_000) {
    await Promise.all(Array.from({ length: 1_000 }, (_, index) => serve(store, users[index % 10]!)));
  }
  expect(await readAll(store, users)).toBe(MANY);
});

describeRedis("on Redis", () => {
  const server = redisOfSuite();

  test(`${MANY} entries of ten users are paged and exported`, { timeout: 120_000 }, async () => {
    const prefix = `${unique("many")}:`;
    const store = await openAt(server.url, { prefix });
    const users = await Promise.all(Array.from({ length: 10 }, async () => (await addUser(store, 10n ** 15n)).id));
    // As settlements have written them before there was a sweep.
    for (const userId of users) {
      const entries = Array.from({ length: MANY / users.length }, () => {
        const settlement = { id: unique("ex"), userId, giveBack: false, charge: 1n, record: RECORD };
        return `${Math.floor(Date.now() / 1_000)}000 ${packEntry(settlement)}`;
      });
      await server.client.rpush(createKeys(prefix).ledger(userId), ...entries);
    }
    await store.sweepAll();
    expect(await readAll(store, users)).toBe(MANY);
  });
});
