import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { eventually, Exchange } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

const VIEWER = "token-of-a-viewer-alone";
const RUNNING = "?chunk_delay=10ms&chunks=100000";
const OF_VIEWER = { authorization: `Bearer ${VIEWER}` };

let gateway: TestGateway;
let user: TestUser;

beforeEach(async () => {
  gateway = await TestGateway.start({
    chains: { "route/two": ["-", "-"], "route/slow": [RUNNING, "-"], "route/sick": ["?status=500", "-"] },
    config: {
      server: { admin: { tokens: [{ name: "victor", token: VIEWER, role: "viewer" }] } },
      upstreams: { "sick-1": { breaker: { consecutive: 2, open_for: "10s", max_open_for: "10s" } } },
    },
  });
  user = await gateway.user();
});
afterEach(() => gateway.close());

async function read(path: string): Promise<Json> {
  const { status, text } = await gateway.admin(path);
  expect({ path, status, text: status === 200 ? "" : text }).toEqual({ path, status: 200, text: "" });
  return JSON.parse(text) as Json;
}

const set = (upstream: string, mode: string, more: Json = {}, headers: Record<string, string> = {}) =>
  gateway.admin(`/admin/upstreams/${upstream}/manual`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: { mode, expires_in_seconds: 60, reason: "new disks", ...more },
  });
const lift = (upstream: string, headers: Record<string, string> = {}) =>
  gateway.admin(`/admin/upstreams/${upstream}/manual`, { method: "DELETE", headers });

async function provider(model: string): Promise<unknown> {
  const { status, text } = await gateway.chat(user, { model });
  return status === 200 ? (JSON.parse(text) as Json)["provider"] : status;
}

describe("an upstream by hand", () => {
  test("drained, it is sent nothing, and what runs finishes; lifted, it is as before", async () => {
    const stream = gateway.open(user, { model: "route/slow", stream: true });
    await stream.until("data:");
    const { status, text } = await set("slow-1", "drain");
    expect(status).toBe(200);
    const shown = JSON.parse(text) as { since: string; until: string };
    expect(shown).toMatchObject({ mode: "drain", by: "admin", reason: "new disks" });
    expect(Date.parse(shown.until) - Date.parse(shown.since)).toBe(60_000);
    expect(await provider("route/slow")).toBe("slow-2");
    const { length } = stream.text;
    await eventually(() => stream.text.length > length + 500);
    const state = (await read("/admin/upstreams"))["slow-1"] as Json;
    expect(state).toMatchObject({ breaker: "open", can_serve: false, health: "healthy", manual: shown });
    expect(await gateway.metric("gateway_upstream_manual", { upstream: "slow-1", mode: "drain" })).toBe(1);
    expect(await gateway.metric("gateway_breaker_state", { upstream: "slow-1" })).toBe(2);
    expect(await lift("slow-1")).toMatchObject({ status: 200, text: '{"lifted":true}' });
    expect(await lift("slow-1")).toMatchObject({ status: 404 });
    const after = (await read("/admin/upstreams"))["slow-1"] as { manual: unknown; history: Json[] };
    expect(after).toMatchObject({
      breaker: "closed",
      manual: null,
      history: [
        { cause: "manual", state: "open", detail: "drain by admin: new disks" },
        { cause: "manual_lifted", state: "closed" },
      ],
    });
    stream.leave();
  });

  test("opened, all of a chain, is what an open breaker is to clients; it survives a reload and ends by itself", async () => {
    await set("two-1", "open", { expires_in_seconds: 5 });
    await set("two-2", "drain", { expires_in_seconds: 5 });
    const refused = await gateway.chat(user, { model: "route/two" });
    expect(refused).toMatchObject({ status: 503, headers: { "x-error-code": "CIRCUIT_BREAKER_OPEN" } });
    expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(5);
    expect(await gateway.reload({ billing: { currency: "EUR" } })).toMatchObject({ ok: true });
    expect(await provider("route/two")).toBe(503);
    gateway.clock.advance(5_000);
    expect(await provider("route/two")).toBe("two-1");
    await eventually(async () => {
      const { history } = (await read("/admin/upstreams"))["two-1"] as { history: Json[] };
      return history.at(-1)?.["cause"] === "manual_ended";
    });
  });

  test("closed, it is tried whatever its breaker has counted; explain and the history say why", async () => {
    for (let count = 0; count < 3; count += 1) expect(await provider("route/sick")).toBe("sick-2");
    const asked = gateway.simulator.ledger().length;
    expect(await provider("route/sick")).toBe("sick-2");
    expect(gateway.simulator.ledger()).toHaveLength(asked + 1);
    await set("sick-1", "close");
    for (let count = 0; count < 5; count += 1) expect(await provider("route/sick")).toBe("sick-2");
    expect(gateway.simulator.ledger()).toHaveLength(asked + 11);
    const { history, breaker } = (await read("/admin/upstreams"))["sick-1"] as { history: Json[]; breaker: string };
    expect(breaker).toBe("closed");
    expect(history).toMatchObject([
      { cause: "failures", state: "open", detail: expect.stringMatching(/^2 in a row failed/) as string },
      { cause: "manual", state: "closed" },
    ]);
    await set("sick-1", "drain", { reason: "given up" });
    const explained = await gateway.admin("/admin/explain", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: { model: "route/sick", tier: "Max" },
    });
    expect(explained.text).toMatch(/drained by admin until \S+: given up/);
  });

  test("is refused to viewers, for what is no upstream, and with a wrong body", async () => {
    expect(await set("two-1", "drain", {}, OF_VIEWER)).toMatchObject({ status: 403 });
    expect(await lift("two-1", OF_VIEWER)).toMatchObject({ status: 403 });
    expect(await set("none", "drain")).toMatchObject({ status: 404 });
    expect(await lift("__proto__")).toMatchObject({ status: 404 });
    const bad: readonly [Json, string][] = [
      [{ mode: "burn" }, "/mode"],
      [{ expires_in_seconds: 0 }, "/expires_in_seconds"],
      [{ expires_in_seconds: 7 * 86_400 + 1 }, "/expires_in_seconds"],
      [{ expires_in_seconds: 1.5 }, "/expires_in_seconds"],
      [{ reason: "" }, "/reason"],
      [{ until: 5 }, "/until"],
    ];
    for (const [more, pointer] of bad) {
      const { status, text } = await set("two-1", "drain", more);
      expect({ status, names: text.includes(pointer) }).toEqual({ status: 400, names: true });
    }
    expect(await provider("route/two")).toBe("two-1");
  });
});

test("by hand also in a pipeline without a breaker, and for the users of a candidate", async () => {
  const pipeline = gateway.gateway.generation.loaded.steps.map(({ settings }) => settings.use);
  const plain = await TestGateway.start({
    chains: { "route/two": ["-", "-"] },
    config: {
      pipeline: pipeline.filter((use) => use !== "breaker"),
      reload: { guard: { share: "50%", for: "60s", min_requests: 1_000 } },
    },
  });
  const users: TestUser[] = [];
  for (let count = 0; count < 12; count += 1) users.push(await plain.user());
  const providers = () =>
    Promise.all(
      users.map(async (one) => {
        const { status, text } = await plain.chat(one, { model: "route/two" });
        return status === 200 ? (JSON.parse(text) as Json)["provider"] : status;
      }),
    );
  const drain = async (upstream: string): Promise<void> => {
    const body = { mode: "drain", expires_in_seconds: 60, reason: "x" };
    const headers = { "content-type": "application/json" };
    const path = `/admin/upstreams/${upstream}/manual`;
    expect(await plain.admin(path, { method: "POST", headers, body })).toMatchObject({ status: 200 });
  };
  expect(await plain.reload({ billing: { currency: "EUR" } })).toMatchObject({ ok: true, guarded: true });
  expect(new Set(await providers())).toEqual(new Set(["two-1"]));
  await drain("two-1");
  expect(new Set(await providers())).toEqual(new Set(["two-2"]));
  await drain("two-2");
  expect(new Set(await providers())).toEqual(new Set([503]));
  await plain.close();
});

test("models show what each step served, plugins how long their hooks took, instances themselves", async () => {
  for (let count = 0; count < 3; count += 1) await provider("route/two");
  await set("two-1", "open");
  expect(await provider("route/two")).toBe("two-2");
  const { data: models } = (await read("/admin/models")) as { data: Json[] };
  expect(models.find(({ id }) => id === "route/two")).toMatchObject({
    served: 4,
    chain: [
      { share: 0.75, targets: [{ upstream: "two-1", served: 3, attempts: 3, failed: 0, can_serve: false }] },
      { share: 0.25, targets: [{ upstream: "two-2", served: 1, share: 0.25, breaker: "closed" }] },
    ],
  });
  const { data: plugins } = (await read("/admin/plugins")) as { data: { plugin: string; hooks: Json[] }[] };
  expect(plugins.map(({ plugin }) => plugin)).toEqual(
    gateway.gateway.generation.loaded.steps.map(({ plugin }) => plugin.name),
  );
  const quota = plugins.find(({ plugin }) => plugin === "quota");
  expect(quota!.hooks).toContainEqual(expect.objectContaining({ hook: "admit", calls: 4 }));
  expect(await read("/admin/instances")).toMatchObject({
    data: [{ instance: gateway.gateway.instance, pid: process.pid, draining: false }],
    agree: true,
    complete: true,
  });
});

test("generations say by what they came and what they meant; two of them are compared", async () => {
  const { hash: first } = gateway.gateway.generation.snapshot;
  expect(await gateway.reload({ billing: { currency: "EUR" } })).toMatchObject({ ok: true });
  const { hash: second } = gateway.gateway.generation.snapshot;
  await gateway.gateway.rollback(1);
  const { data } = (await read("/admin/generations")) as { data: Json[] };
  expect(data).toMatchObject([
    { hash: first, by: "rollback", serves: true, effect: { from: second, summary: { safe: 0 } } },
    { hash: second, serves: false, effect: null },
  ]);
  expect(["file", "reload"]).toContain(data[1]!["by"]);
  const { changes, from, to } = await read(`/admin/config/diff?from=${first.slice(0, 8)}&to=${second}`);
  expect({ from, to }).toMatchObject({ from: { hash: first }, to: { hash: second } });
  expect(changes).toEqual([expect.objectContaining({ kind: "currency-changed", after: "EUR" })]);
  expect(await read(`/admin/config/diff?from=${first}`)).toMatchObject({ changes: [], to: { hash: first } });
  for (const query of ["from=ffff0000", `from=${first}&to=ffff0000`]) {
    expect(await gateway.admin(`/admin/config/diff?${query}`)).toMatchObject({ status: 404 });
  }
  for (const query of ["", "from=ab", `from=${first}&more=1`]) {
    expect(await gateway.admin(`/admin/config/diff?${query}`)).toMatchObject({ status: 400 });
  }
});

interface Told extends Json {
  readonly at: string;
  readonly requests_per_second: number;
  readonly errors: Record<string, number>;
  readonly upstreams: Record<string, { state: string; manual: Json | null }>;
}

/** The events of a stream so far. */
function eventsIn(text: string): readonly Told[] {
  return text
    .split("\n\n")
    .filter((block) => block.startsWith("event: figures\n"))
    .map((block) => JSON.parse(/^data: (.*)$/m.exec(block)![1]!) as Told);
}

test("figures come by the second, with what is set of upstreams, and the last minutes at once", async () => {
  const events = new Exchange(`${gateway.adminUrl}/admin/events`, { method: "GET", headers: OF_VIEWER });
  expect((await events.head()).headers).toMatchObject({ "content-type": "text/event-stream" });
  await events.until("event: figures");
  expect(events.text).toMatch(/^retry: 2000\n\nevent: figures\nid: \d+\ndata: \{/);
  await provider("route/two");
  await gateway.chat(user, { model: "route/none" });
  await set("two-1", "drain");
  const sum = (of: (told: Told) => number): number =>
    eventsIn(events.text).reduce((total, told) => total + of(told), 0);
  await eventually(() => sum(({ requests_per_second: requests }) => requests) >= 2);
  await eventually(() => eventsIn(events.text).at(-1)?.upstreams["two-1"]?.manual?.["mode"] === "drain");
  expect(eventsIn(events.text).flatMap(({ errors }) => Object.entries(errors))).toEqual([["INVALID_MODEL", 1]]);
  expect(eventsIn(events.text).at(-1)).toMatchObject({
    upstreams: { "two-1": { state: "open" } },
    instances: { count: 1, agree: true },
    config: { hash: gateway.gateway.generation.snapshot.hash, last_rejection: null },
  });
  const times = eventsIn(events.text).map(({ at }) => at);
  expect(times).toEqual([...new Set(times)].toSorted());
  const { data } = (await read("/admin/figures")) as { data: Told[] };
  expect(data.map(({ at }) => at)).toEqual(expect.arrayContaining(times));
  // It holds no stop up.
  await gateway.stop();
  expect((await events.whole()).text).toContain("event: figures");
  gateway = await TestGateway.start();
});
