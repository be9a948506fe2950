import { rmSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { Agent, fetch as request } from "undici";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { instancesOf, isAlive, linesOf, pidOf, plantPlugin, SharedWorkspace } from "../support/instances.ts";
import { freePort } from "../../support/ports.ts";
import { describeRedis } from "../../support/redis.ts";
import { poll } from "../support/child.ts";
import { ask, eventsOf } from "../support/configuration.ts";
import { startLoad } from "../support/load.ts";
import { type Account, type GatewayProcess, type SimProcess, Workspace } from "../support/process.ts";

const hosts = new Workspace();
let sim: SimProcess;
let workspace: SharedWorkspace;
let user: Account;

beforeAll(async () => {
  sim = await hosts.sim();
});

afterAll(() => hosts.close());

/** How often one worker, then all at once are killed in an ordinary run; `KILL_ROUNDS=3` is the long form. */
const ROUNDS = Number(process.env["KILL_ROUNDS"] ?? 1);
const IDLE = { requests: 0, streams: 0, held: 0n };
const LONG = { chunks: 10_000, chunk_delay: "20ms" };

async function start(workers: number, server: object = {}, ...options: readonly string[]): Promise<GatewayProcess> {
  workspace.write("gateway.yaml", workspace.configuration(sim.origin, { workers, ...server }));
  const gateway = await workspace.serve(...options);
  user = await workspace.account();
  return gateway;
}

/** The workers' process ids, once all are known. */
function pids(gateway: GatewayProcess, count: number): Promise<readonly number[]> {
  return poll(async () => {
    const { instances } = await instancesOf(gateway);
    return instances.length === count ? instances.map(pidOf) : null;
  });
}

/** Streams that have begun, each on a connection of its own, and so spread over the workers. */
async function streams(gateway: GatewayProcess, names: readonly string[], script: object) {
  const begun = [];
  for (const requestId of names) {
    const response = await gateway.chat(user.key, ask("x", { stream: true, sim: script }), { requestId });
    expect(response.status).toBe(200);
    const text = response.text().catch((error: unknown) => `broken: ${String(error)}`);
    begun.push({ requestId, text });
  }
  return begun;
}

/** So many that every worker has one. */
const CLIENTS = 10;

/** A client with a connection of its own. @returns sends what blocks the worker. */
async function connected(gateway: GatewayProcess) {
  const dispatcher = new Agent();
  await (await request(`${gateway.origin}/v1/models`, { dispatcher })).text();
  const headers = { authorization: `Bearer ${user.key}`, "content-type": "application/json" };
  const body = JSON.stringify(ask("now!"));
  return () => request(`${gateway.origin}/v1/chat/completions`, { method: "POST", headers, body, dispatcher });
}

/** A request on a connection of its own. @returns its status, or what became of the connection. */
function once(gateway: GatewayProcess): Promise<string> {
  const headers = { authorization: `Bearer ${user.key}`, "content-type": "application/json" };
  return new Promise((resolve) => {
    const options = { method: "POST", headers, agent: false, timeout: 20_000 };
    const sent = httpRequest(`${gateway.origin}/v1/chat/completions`, options, (response) => {
      response.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      response.on("end", () => resolve(String(response.statusCode))).resume();
    });
    sent.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    sent.on("timeout", () => {
      resolve("waits for ever");
      sent.destroy();
    });
    sent.end(JSON.stringify(ask("x")));
  });
}

async function metric(gateway: GatewayProcess, pattern: RegExp): Promise<number> {
  const text = await (await gateway.ask("/metrics")).text();
  return text
    .split("\n")
    .filter((line) => pattern.test(line))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

/** Each worker tells the others within some seconds what it has recorded. */
async function showOneLedger(gateway: GatewayProcess, requests: number): Promise<void> {
  const entries = await poll(async () => {
    const { data } = (await (await gateway.ask("/admin/ledger?limit=1000")).json()) as { data: { id: string }[] };
    return data.length === requests && data;
  });
  const exported = (await (await gateway.ask(`/admin/ledger/export?user=${user.id}`)).text()).trimEnd().split("\n");
  expect(exported.map((line) => JSON.parse(line) as object)).toEqual(entries);
  const usage = (await (await gateway.ask("/admin/usage?by=user")).json()) as { data: object[] };
  expect(usage.data).toMatchObject([{ user_id: user.id, requests }]);
  const own = await fetch(`${gateway.origin}/v1/user/ledger`, { headers: { "x-api-key": user.key } });
  expect(((await own.json()) as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(
    entries.map(({ id }) => id),
  );
}

/** By the admin listener and by SIGHUP. */
async function allReloadOrNone(gateway: GatewayProcess): Promise<void> {
  const first = await gateway.config();
  const config = workspace.configuration(sim.origin, { workers: 3 });
  const hashes = async () => new Set((await instancesOf(gateway)).instances.map(({ hash }) => hash));

  const tokens = [{ name: "grace", token: "of-grace", role: "viewer" }];
  const withToken = { ...config.server, admin: { ...config.server.admin, tokens } };
  const isGraceIn = async () =>
    (await fetch(`${gateway.admin}/admin/session`, { headers: { authorization: "Bearer of-grace" } })).status === 200;
  workspace.write("gateway.yaml", { ...config, server: withToken, billing: { cost_multiplier: 2 } });
  const reloaded = await gateway.reload();
  expect(await isGraceIn(), "the supervisor takes tokens over").toBe(true);
  expect(reloaded.ok).toBe(true);
  expect(reloaded.hash).not.toBe(first.hash);
  expect([...(await hashes())]).toEqual([reloaded.hash]);
  expect((await instancesOf(gateway)).agree).toBe(true);

  workspace.write("gateway.yaml", "version: 1\nmodels: {");
  const refused = await gateway.ask("/admin/reload", "POST");
  expect(refused.status).toBe(422);
  expect(await refused.json()).toMatchObject({ ok: false, diagnostics: [{ line: 2 }] });
  expect([...(await hashes())]).toEqual([reloaded.hash]);
  expect((await gateway.config()).last_rejection).not.toBeNull();

  workspace.write("gateway.yaml", { ...config, billing: { cost_multiplier: 3 } });
  gateway.child.process.kill("SIGHUP");
  await poll(async () => {
    const now = await hashes();
    return now.size === 1 && !now.has(reloaded.hash!);
  });
  await poll(async () => !(await isGraceIn()));
}

/** A worker that starts later listens and stores where the others do, whatever the file says by then. */
async function startsWhereTheOthersDid(gateway: GatewayProcess, victim: number): Promise<void> {
  const config = workspace.configuration(sim.origin, { workers: 2, listen: [{ host: "127.0.0.2", port: 9 }] });
  workspace.write("gateway.yaml", { ...config, store: { url: "redis://127.0.0.1:9/0" } });
  await gateway.reload();
  expect((await gateway.config()).pending).toEqual(["server.listen", "store"]);
  process.kill(victim, "SIGKILL");
  await replaced(gateway, [victim]);
  const statuses = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const response = await gateway.chat(user.key, ask("x"));
      await response.text();
      return response.status;
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
}

/** Waits until two others serve in place of those that were killed. */
function replaced(gateway: GatewayProcess, victims: readonly number[]): Promise<boolean> {
  return poll(async () => {
    const { instances } = await instancesOf(gateway).catch(() => ({ instances: [] }));
    return instances.length === 2 && !instances.some((one) => victims.includes(pidOf(one)));
  });
}

const SERVED = /^gateway_requests_total\{.*outcome="served"/;

describeRedis("workers", () => {
  beforeEach(async () => {
    workspace = await SharedWorkspace.open();
  });

  afterEach(() => workspace.close());

  test("share the address and the work, look like one gateway, and all reload or none", async () => {
    const gateway = await start(3);
    expect(linesOf(gateway.child.stderr, /^listening$/)).toMatchObject([{ workers: 3, listen: [gateway.origin] }]);
    expect(new Set(await pids(gateway, 3)).size).toBe(3);
    expect((await instancesOf(gateway)).agree).toBe(true);
    const source = (await (await gateway.ask("/admin/config/source")).json()) as { files: object[] };
    expect(source.files).toMatchObject([{ path: "gateway.yaml", value: { server: { workers: 3 } } }]);

    const running = await streams(gateway, ["s0", "s1", "s2", "s3", "s4", "s5"], { chunks: 150, chunk_delay: "20ms" });
    expect(await (await gateway.ask("/admin/streams")).json()).toMatchObject({ active: 6 });
    await poll(async () => {
      const shares = (await workspace.instances()).map((instance) => instance.streams);
      return shares.length === 3 && shares.every((share) => share === 2);
    });
    expect(await metric(gateway, /^gateway_active_streams /)).toBe(6);
    for (const { text } of running) expect(eventsOf(await text).at(-1)).toBe("[DONE]");
    await poll(async () => (await metric(gateway, SERVED)) === 6);
    await showOneLedger(gateway, 6);
    expect(await metric(gateway, /^gateway_breaker_state\{upstream="alpha"\}/)).toBe(0);
    const upstreams = (await (await gateway.ask("/admin/upstreams")).json()) as Record<string, { instances: object }>;
    expect(upstreams["alpha"]).toMatchObject({ breaker: "closed", health: "healthy" });
    expect(Object.values(upstreams["alpha"]!.instances)).toEqual(["closed", "closed", "closed"]);

    const explained = await gateway.ask("/admin/explain", "POST", { model: "route/one", user: user.id });
    expect(await explained.json()).toMatchObject({ request: { user: user.id }, answer: { status: 200 } });
    const unknown = await gateway.ask("/admin/explain", "POST", { model: "route/onn", tier: "Free" });
    expect({ status: unknown.status, text: await unknown.text() }).toMatchObject({
      status: 400,
      text: expect.stringContaining("did you mean route/one?"),
    });

    await allReloadOrNone(gateway);
    expect(await gateway.stop()).toMatchObject({ code: 0, signal: null });
    const { drift, running: left, ledger } = await workspace.books(user.id);
    expect({ drift, left, charges: ledger.length }).toEqual({ drift: 0n, left: IDLE, charges: 6 });
  });

  test("one that is killed is replaced at once, its slots and holds are free within seconds, others notice nothing; later ones start where it did", async () => {
    const port = await freePort();
    const gateway = await start(2, {}, "--port", String(port));
    expect(gateway.origin, "every worker listens on the port of the command line").toBe(`http://127.0.0.1:${port}`);
    const before = await pids(gateway, 2);
    const short = await gateway.chat(user.key, ask("x"));
    expect(short.status).toBe(200);
    await short.text();
    await streams(gateway, ["a", "b", "c", "d"], { ...LONG, chunks: 500 });
    expect((await workspace.books(user.id)).running.streams).toBe(4);
    const served = await metric(gateway, SERVED);
    const [victim = 0, other = 0] = before;
    process.kill(victim, "SIGKILL");
    const after = await poll(async () => {
      const { instances } = await instancesOf(gateway);
      const live = instances.map(pidOf).filter((pid) => pid !== victim);
      return live.length === 2 ? live : null;
    });
    expect(after).toContain(other);
    const [line] = linesOf(gateway.child.stderr, /^worker exited/);
    expect(line).toMatchObject({
      pid: victim,
      signal: "SIGKILL",
      msg: expect.stringContaining("replacing it in 100 ms"),
    });
    // Leases last a minute: these were freed.
    await poll(async () => (await workspace.books(user.id)).running.streams === 2, 10_000);
    expect((await gateway.chat(user.key, ask("y"))).status).toBe(200);
    expect(await metric(gateway, SERVED), "counts never go back").toBeGreaterThanOrEqual(served);
    expect((await instancesOf(gateway)).agree).toBe(true);
    await startsWhereTheOthersDid(gateway, other);
    await poll(async () => (await workspace.books(user.id)).running.streams === 0);
    expect(await gateway.stop()).toMatchObject({ code: 0 });
    const { drift, running } = await workspace.books(user.id);
    expect({ drift, running }).toEqual({ drift: 0n, running: IDLE });
  });

  test("killed under load: every answer that came whole is charged once, and no new client is refused", async () => {
    const gateway = await start(2);
    const load = startLoad(gateway, user, 6, { chunks: 4, chunk_delay: "2ms" });
    for (let round = 0; round < ROUNDS; round++) {
      const [victim] = await pids(gateway, 2);
      process.kill(victim!, "SIGKILL");
      await replaced(gateway, [victim!]);
    }
    await load.stop();
    const outcomes = new Map<string, number>();
    const over = new AbortController();
    const lanes = Array.from({ length: 6 }, async () => {
      while (!over.signal.aborted) {
        const outcome = await once(gateway);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
    });
    const served = () => outcomes.get("200") ?? 0;
    const serves = async () => {
      const before = served();
      await poll(() => served() > before + 10);
    };
    for (let round = 0; round < ROUNDS; round++) {
      const victims = await pids(gateway, 2);
      await serves();
      for (const pid of victims) process.kill(pid, "SIGKILL");
      await replaced(gateway, victims);
    }
    await serves();
    over.abort();
    await Promise.all(lanes);
    // Whoever a worker had taken when it was killed loses the connection.
    expect([...outcomes.keys()].filter((outcome) => !["200", "ECONNRESET", "EPIPE"].includes(outcome))).toEqual([]);
    expect(linesOf(gateway.child.stderr, /^worker exited/)).toHaveLength(3 * ROUNDS);
    await poll(async () => (await workspace.books(user.id)).running.requests === 0);
    expect(await gateway.stop()).toMatchObject({ code: 0 });
    const { ledger, drift, running } = await workspace.books(user.id);
    expect({ drift, running }).toEqual({ drift: 0n, running: IDLE });
    const charges = Map.groupBy(ledger, ({ requestId }) => requestId);
    const complete = load.seen.filter((one) => one.complete);
    expect(complete.length).toBeGreaterThan(5 * ROUNDS);
    for (const { requestId } of complete) expect(charges.get(requestId), `charges of ${requestId}`).toHaveLength(1);
  }, 150_000);

  test("a signal to every process of the group drains once", async () => {
    const gateway = await start(2, { drain: { delay: "0s", timeout: "20s" } });
    const all = await pids(gateway, 2);
    const running = await streams(gateway, ["a", "b"], { chunks: 60, chunk_delay: "20ms" });
    const [first = 0, second = 0] = all;
    process.kill(gateway.child.pid, "SIGTERM");
    process.kill(first, "SIGTERM");
    process.kill(second, "SIGINT");
    await poll(async () => (await gateway.ask("/readyz")).status === 503);
    for (const { text } of running) expect(eventsOf(await text).at(-1)).toBe("[DONE]");
    expect(await gateway.child.exited).toMatchObject({ code: 0, signal: null });
    expect(all.filter(isAlive)).toEqual([]);
    const { outcomes, running: left } = await workspace.books(user.id);
    expect({ outcomes, left }).toEqual({ outcomes: { a: "served", b: "served" }, left: IDLE });
  });

  test("a second signal ends all at once", async () => {
    const gateway = await start(2, { drain: { delay: "0s", timeout: "60s" } });
    const all = await pids(gateway, 2);
    const running = await streams(gateway, ["a", "b"], LONG);
    gateway.child.process.kill("SIGINT");
    await poll(async () => (await gateway.ask("/readyz")).status === 503);
    expect(await gateway.stop("SIGTERM")).toMatchObject({ code: 3 });
    expect(all.filter(isAlive)).toEqual([]);
    for (const { text } of running) await text;
    expect((await workspace.books(user.id)).drift).toBe(0n);
  });

  test("workers that lose their supervisor finish what they have and end", async () => {
    const gateway = await start(2, { drain: { delay: "0s", timeout: "20s" } });
    const all = await pids(gateway, 2);
    const running = await streams(gateway, ["a", "b"], { chunks: 60, chunk_delay: "20ms" });
    process.kill(gateway.child.pid, "SIGKILL");
    for (const { text } of running) expect(eventsOf(await text).at(-1)).toBe("[DONE]");
    await poll(() => !all.some(isAlive));
    const { outcomes, running: left } = await workspace.books(user.id);
    expect({ outcomes, left }).toEqual({ outcomes: { a: "served", b: "served" }, left: IDLE });
  });

  test("one whose event loop is blocked is passed over; with all blocked nobody is ready", async () => {
    const flag = workspace.path("go");
    const until = `const { existsSync } = process.getBuiltinModule("node:fs"), end = Date.now() + 60_000;
                   const nothing = new Int32Array(new SharedArrayBuffer(4));
                   while (!existsSync(${JSON.stringify(flag)}) && Date.now() < end) Atomics.wait(nothing, 0, 0, 20);`;
    const pipeline = plantPlugin(workspace, until);
    workspace.write("gateway.yaml", { ...workspace.configuration(sim.origin, { workers: 2 }), pipeline });
    const gateway = await workspace.serve();
    user = await workspace.account();
    await pids(gateway, 2);
    const first = gateway.chat(user.key, ask("now!"));
    await gateway.child.printed("stderr", /worker does not respond: its event loop is blocked/);
    expect((await gateway.ask("/readyz")).status, "the other one serves").toBe(200);
    expect((await gateway.chat(user.key, ask("x"))).status).toBe(200);
    workspace.write("go", "");
    expect((await first).status).toBe(200);
    rmSync(flag);
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connected(gateway)));
    const answers = clients.map((send) => send());
    await poll(async () => {
      const response = await gateway.ask("/readyz");
      const { reasons = [] } = (await response.json()) as { reasons?: readonly string[] };
      return response.status === 503 && reasons.includes("event loop blocked");
    });
    workspace.write("go", "");
    // Those behind the block may have waited too long for the store.
    for (const answer of answers) expect([200, 503]).toContain((await answer).status);
    await poll(async () => (await gateway.ask("/readyz")).status === 200);
    expect(await gateway.stop()).toMatchObject({ code: 0 });
  }, 90_000);

  test("one with a fault of its own lets go of its work, ends and is replaced", async () => {
    const pipeline = plantPlugin(workspace, 'setTimeout(() => { throw new Error("planted"); }, 0);');
    workspace.write("gateway.yaml", { ...workspace.configuration(sim.origin, { workers: 2 }), pipeline });
    const gateway = await workspace.serve();
    user = await workspace.account();
    const before = await pids(gateway, 2);
    const running = await streams(gateway, ["a", "b"], { chunks: 100, chunk_delay: "20ms" });
    await gateway.chat(user.key, ask("now!")).then((response) => response.text());
    for (const { text } of running) expect(eventsOf(await text).at(-1)).toBe("[DONE]");
    const line = await poll(() => linesOf(gateway.child.stderr, /^worker exited/)[0] ?? null);
    expect(line).toMatchObject({ code: 1, signal: null });
    const after = await poll(async () => {
      const live = (await instancesOf(gateway)).instances.map(pidOf);
      return live.length === 2 && !live.includes(Number(line["pid"])) ? live : null;
    });
    expect(after.filter((pid) => before.includes(pid))).toHaveLength(1);
    expect(await gateway.stop()).toMatchObject({ code: 0 });
    const { outcomes, drift, running: left } = await workspace.books(user.id);
    expect(outcomes).toMatchObject({ a: "served", b: "served" });
    expect({ drift, left }).toEqual({ drift: 0n, left: IDLE });
  }, 60_000);

  test("a store that is away: not ready, and nobody knows whether all agree", async () => {
    const gateway = await start(2);
    await pids(gateway, 2);
    await workspace.redis.kill();
    const unready = await poll(async () => {
      const response = await gateway.ask("/readyz");
      return response.status === 503 ? response.json() : null;
    });
    expect(unready).toMatchObject({ reasons: ["store unavailable"] });
    expect((await gateway.ask("/livez")).status).toBe(200);
    const { instances, agree } = await instancesOf(gateway);
    expect({ count: instances.length, agree }).toEqual({ count: 2, agree: null });
    await workspace.redis.restart();
    await poll(async () => (await gateway.ask("/readyz")).status === 200);
    expect(await gateway.stop()).toMatchObject({ code: 0 });
  });
});

describeRedis("a start with workers that cannot be", () => {
  beforeEach(async () => {
    workspace = await SharedWorkspace.open();
  });

  afterEach(() => workspace.close());

  test("a bad configuration ends with 1 and one report", async () => {
    workspace.write("gateway.yaml", {
      ...workspace.configuration(sim.origin, { workers: 4 }),
      pipeline: ["auth", "qota"],
    });
    const { code, stdout, stderr } = await workspace.cli("serve");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr.match(/cannot serve/g)).toHaveLength(1);
  });

  test("a plugin that fails only where it serves ends with 1 and one report, and is not tried again", async () => {
    workspace.write("plugins/bad.schema.json", { type: "object" });
    workspace.write(
      "plugins/bad.ts",
      `import cluster from "node:cluster";
       import { definePlugin } from "#kit";
       export default definePlugin({
         name: "bad", stage: "transform", schema: new URL("bad.schema.json", import.meta.url),
         setup() { if (cluster.isWorker) throw new Error("no such thing"); return {}; },
       });`,
    );
    const pipeline = ["auth", "plan-check", "quota", "breaker", { use: "./plugins/bad.ts" }, "stream-relay", "meter"];
    workspace.write("gateway.yaml", { ...workspace.configuration(sim.origin, { workers: 3 }), pipeline });
    const { code, stderr } = await workspace.cli("serve");
    expect(code).toBe(1);
    expect(stderr.match(/no such thing/g)).toHaveLength(1);
    expect(linesOf(stderr, /./)).toEqual([]);
  });

  test("a busy port, public or the admin's, ends with 3 and is named once", async () => {
    const gateway = await start(2);
    const port = Number(new URL(gateway.origin).port);
    const taken = { host: "127.0.0.1", port };
    for (const server of [{ listen: [taken] }, { admin: { ...taken, token: "t" } }]) {
      workspace.write("other.yaml", workspace.configuration(sim.origin, { workers: 2, ...server }));
      const { code, stderr } = await workspace.cli("serve", "--config", "other.yaml");
      expect(code).toBe(3);
      expect(stderr.match(new RegExp(`cannot listen on 127.0.0.1:${port}: the port is in use`, "g"))).toHaveLength(1);
    }
    expect((await gateway.ask("/readyz")).status).toBe(200);
  });
});
