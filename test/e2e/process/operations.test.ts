import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { describeRedis } from "../../support/redis.ts";
import { poll } from "../support/child.ts";
import { ADMIN_TOKEN, ask, eventsOf } from "../support/configuration.ts";
import { instancesOf, SharedWorkspace } from "../support/instances.ts";
import { type Account, type GatewayProcess, type SimProcess, Workspace } from "../support/process.ts";

const MANUAL = "/admin/upstreams/alpha/manual";
const DRAIN = { mode: "drain", expires_in_seconds: 600, reason: "their maintenance" };
/** Requests on connections of their own: each worker has some. */
const REQUESTS = 8;

const hosts = new Workspace();
let sim: SimProcess;
let workspace: SharedWorkspace;
let user: Account;

beforeAll(async () => {
  sim = await hosts.sim();
});
afterAll(() => hosts.close());

async function read(gateway: GatewayProcess, path: string): Promise<Json> {
  const response = await gateway.ask(path);
  expect({ path, status: response.status }).toEqual({ path, status: 200 });
  return (await response.json()) as Json;
}

async function statuses(gateway: GatewayProcess): Promise<readonly number[]> {
  const one = async (): Promise<number> => {
    const response = await gateway.chat(user.key, ask("x"));
    await response.text();
    return response.status;
  };
  return Promise.all(Array.from({ length: REQUESTS }, one));
}

const all = (status: number): readonly number[] => Array.from({ length: REQUESTS }, () => status);

async function start(workers: number): Promise<GatewayProcess> {
  workspace.write("gateway.yaml", workspace.configuration(sim.origin, { workers }));
  return workspace.serve();
}

describeRedis("operations over several processes", () => {
  beforeEach(async () => {
    workspace = await SharedWorkspace.open();
  });
  afterEach(() => workspace.close());

  test("what is set by hand holds for all workers and other machines, now and later; figures are of all workers", async () => {
    const gateway = await start(2);
    user = await workspace.account();
    await poll(async () => (await instancesOf(gateway)).instances.length === 2);
    const running = await gateway.chat(user.key, ask("x", { stream: true, sim: { chunks: 100, chunk_delay: "20ms" } }));
    const text = running.text();
    const set = await gateway.ask(MANUAL, "POST", DRAIN);
    expect(await set.json()).toMatchObject({ mode: "drain", by: "admin" });
    await poll(async () => (await statuses(gateway)).every((status) => status === 503));
    expect(await statuses(gateway)).toEqual(all(503));
    expect(eventsOf(await text).at(-1)).toBe("[DONE]");

    const { alpha } = (await read(gateway, "/admin/upstreams")) as { alpha: { history: readonly Json[] } };
    expect(alpha.history).toMatchObject([{ cause: "manual" }, { cause: "manual" }]);
    expect(new Set(alpha.history.map(({ instance }) => instance)).size).toBe(2);

    const other = await start(1);
    expect(await statuses(other)).toEqual(all(503));
    const upstreams = (await read(other, "/admin/upstreams")) as Record<string, Json>;
    expect(upstreams["alpha"]).toMatchObject({ breaker: "open", manual: { reason: "their maintenance" } });
    expect(await read(gateway, "/admin/instances")).toMatchObject({
      data: [{ draining: false }, { draining: false }, { draining: false }],
      agree: true,
    });

    workspace.redis.pause();
    try {
      const refused = await other.ask(MANUAL, "DELETE");
      expect(refused.status).toBe(503);
    } finally {
      workspace.redis.resume();
    }
    await poll(async () => (await other.ask(MANUAL, "DELETE")).status === 200);
    await poll(async () => (await statuses(gateway)).every((status) => status === 200));
    expect((await gateway.ask(MANUAL, "DELETE")).status).toBe(404);

    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const events = await fetch(`${gateway.admin}/admin/events`, { headers });
    let told = "";
    const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader();
    expect(await statuses(gateway)).toEqual(all(200));
    const requests = (): number =>
      [...told.matchAll(/^data: (.*)$/gm)].reduce((sum, [, data]) => {
        return sum + (JSON.parse(data!) as { requests_per_second: number }).requests_per_second;
      }, 0);
    while (requests() < REQUESTS) told += (await reader.read()).value ?? "";
    await reader.cancel();
    expect(told).toMatch(/^retry: 2000\n\nevent: figures\n/);

    const { data } = (await read(gateway, "/admin/models")) as { data: Json[] };
    const target = (data[0] as { chain: { targets: { served: number }[] }[] }).chain[0]!.targets[0]!;
    const metrics = await (await gateway.ask("/metrics")).text();
    const [, served] = /^gateway_target_attempts_total\{model="route\/one",.*result="ok"\} (\d+)/m.exec(metrics)!;
    expect(target.served).toBe(Number(served));
    expect(target.served).toBeGreaterThanOrEqual(2 * REQUESTS + 1);
    const plugins = (await read(gateway, "/admin/plugins")) as { data: { hooks: { hook: string; calls: number }[] }[] };
    const admitted = plugins.data.flatMap(({ hooks }) => hooks).find(({ hook }) => hook === "admit");
    expect(admitted!.calls).toBeGreaterThan(3 * REQUESTS);
    const { hash } = await gateway.config();
    // The other one was started with another file, which these workers have read.
    expect(await read(gateway, "/admin/generations")).toMatchObject({
      data: [{ hash, by: "file", serves: true, effect: { changes: [{ kind: "workers-changed" }] } }, { by: "start" }],
    });
    expect(await read(gateway, `/admin/config/diff?from=${hash}`)).toMatchObject({ changes: [] });
    expect((await gateway.ask("/admin/config/diff?from=ffff0000")).status).toBe(404);
  });
});
