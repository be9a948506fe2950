import { readdirSync, readFileSync } from "node:fs";
import type { GatewayConfig } from "#schema";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { startLoad } from "../support/load.ts";
import { poll } from "../support/child.ts";
import { ask, configuration } from "../support/configuration.ts";
import { type Account, type SimProcess, Workspace } from "../support/process.ts";

/** In an ordinary run, a multiple of 20; `EDITS=200` is the long form. */
const EDITS = Number(process.env["EDITS"] ?? 40);
const LANES = 8;
/** Every edit takes the charge with it, so that a charge says which configuration it was made by. */
const PRICE = 1000;

let workspace: Workspace;
let sim: SimProcess;
let user: Account;

const hosts = new Workspace();

beforeAll(async () => {
  sim = await hosts.sim();
});
afterAll(() => hosts.close());

beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace.close());

/** The configuration after an edit: price always, and in turn the limits, the chain, the upstreams, the pipeline. */
function edited(edit: number): GatewayConfig {
  const base = configuration(sim.origin);
  const one = base.models["route/one"]!;
  const alpha = base.upstreams["alpha"]!;
  const chain = [
    { upstream: edit % 4 < 2 ? "alpha" : "beta", model: "sim-one" },
    { upstream: "alpha", model: `sim-${edit}` },
  ];
  const price = { input_per_million: PRICE + edit, output_per_million: 0 };
  const limits = { day: 1_000_000 + edit, hour: "none", minute: "none", streams: "none" } as const;
  const extra = { use: "transform", options: { set: { "/metadata/edit": String(edit) } } } as const;
  return {
    ...base,
    tiers: { ...base.tiers, Free: { access: ["Free"], limits } },
    upstreams: { alpha, beta: { ...alpha, connections: 16 + (edit % 5) } },
    models: { ...base.models, "route/one": { ...one, price, chain } },
    pipeline:
      edit % 3 === 0 ? base.pipeline : ["auth", "plan-check", "quota", "breaker", extra, "stream-relay", "meter"],
  };
}

function resources(pid: number): { readonly rss: number; readonly handles: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const rss = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  return { rss, handles: readdirSync(`/proc/${pid}/fd`).length };
}

test(`${EDITS} edits under load: no request fails and the last edit is in force`, { timeout: 60_000 }, async () => {
  workspace.write("gateway.yaml", edited(0));
  const gateway = await workspace.serve();
  user = await workspace.account();
  const load = startLoad(gateway, user, LANES, { chunks: 12, chunk_delay: "2ms" });
  let early = resources(gateway.child.pid);
  let rejected = 0;
  for (let edit = 1; edit <= EDITS; edit++) {
    const bad = edit % 10 === 5;
    const text = JSON.stringify(bad ? { ...edited(edit), pipelin: [] } : edited(edit));
    if (edit % 2 === 0) workspace.replace("gateway.yaml", text);
    else workspace.write("gateway.yaml", text);
    const result = await gateway.reload();
    const { last_rejection } = await gateway.config();
    const said = last_rejection?.diagnostics.map(({ message }) => message).join() ?? "";
    expect({ ok: result.ok, said: said.includes("'pipelin'") }, `edit ${edit}`).toEqual({ ok: !bad, said: bad });
    if (bad) rejected++;
    if (edit === EDITS / 4) early = resources(gateway.child.pid);
  }
  const { last_rejection, generation } = await gateway.config();
  expect(last_rejection, "a good edit clears it").toBeNull();
  expect(generation, "one generation a good edit").toBe(1 + EDITS - rejected);

  const response = await gateway.chat(user.key, ask("the last one"), { requestId: "last" });
  expect(response.headers.get("x-ratelimit-limit-day")).toBe(String(1_000_000 + EDITS));
  const { charge, usage } = await workspace.charged(user.id, "last");
  expect(charge).toBe(BigInt(usage.prompt) * BigInt(PRICE + EDITS) * 1_000n);

  await load.stop();
  expect(load.seen.filter(({ fault }) => fault !== "")).toEqual([]);
  expect(load.seen.length).toBeGreaterThan(EDITS);
  expect(load.seen.some(({ stream }) => stream)).toBe(true);

  // Retired generations let go of their pools: sockets and memory do not grow with the number of edits.
  const late = resources(gateway.child.pid);
  expect(late.handles).toBeLessThan(early.handles + 30);
  expect(late.rss).toBeLessThan(early.rss + 80);
  const { stderr, code } = await gateway.stop();
  expect(code).toBe(0);
  expect(stderr).not.toContain("could not be kept");
  const kept = JSON.parse(readFileSync(workspace.path("data/last-good/current.json"), "utf8")) as { hash: string };
  expect(kept.hash, "what served last is what a start would fall back to").toBe(lastHash(stderr));
});

/** Of the last reload that the log tells of. */
function lastHash(log: string): string {
  return (
    [...log.matchAll(/"hash":"([0-9a-f]{64})","generation":\d+,"msg":"configuration reloaded"/g)].at(-1)?.[1] ?? ""
  );
}

test("an edit takes effect by itself: by the watcher, and by SIGHUP", { timeout: 60_000 }, async () => {
  workspace.write("gateway.yaml", edited(0));
  const gateway = await workspace.serve();
  const { hash } = await gateway.config();
  workspace.replace("gateway.yaml", edited(1));
  await poll(async () => (await gateway.config()).generation === 2);
  workspace.write("gateway.yaml", edited(2));
  gateway.child.process.kill("SIGHUP");
  await poll(async () => (await gateway.config()).generation === 3);
  workspace.write("gateway.yaml", "version: 1\nmodels: {");
  await poll(async () => (await gateway.config()).last_rejection);
  expect(await gateway.config()).toMatchObject({ generation: 3, hash: expect.not.stringContaining(hash) });
  await gateway.child.printed(
    "stderr",
    /configuration rejected; the old one continues to serve: \S*gateway\.yaml:\d+:\d+: /,
  );
  const { models, ...others } = edited(2);
  workspace.write("gateway.yaml", { ...others, modells: models });
  await gateway.child.printed("stderr", /unknown key 'modells' \(did you mean 'models'\?\)/);
  const metrics = await (await gateway.ask("/metrics")).text();
  expect(metrics).toMatch(/gateway_config_reloads_total\{result="rejected"\} [1-9]/);
  workspace.write("gateway.yaml", edited(2));
  await poll(async () => (await gateway.config()).last_rejection === null);
  expect((await gateway.config()).generation, "back to what runs is no change").toBe(3);
});

test("what needs a restart is pending, and no longer when it is taken back", async () => {
  workspace.write("gateway.yaml", edited(0));
  const gateway = await workspace.serve();
  const { server } = edited(0);
  workspace.write("gateway.yaml", {
    ...edited(0),
    server: { ...server, listen: [...server!.listen!, { host: "127.0.0.1", port: 0 }] },
    store: { url: "sqlite:./data/other.db" },
  });
  await gateway.reload();
  expect((await gateway.config()).pending).toEqual(["server.listen", "store"]);
  workspace.write("gateway.yaml", edited(1));
  await gateway.reload();
  expect((await gateway.config()).pending).toEqual([]);
});

/** Reading its message throws, so that whoever tells of it throws as well. */
const UNREADABLE = `const fault = new Error();
  Object.defineProperty(fault, "message", { get() { throw fault; } });`;

test("a reload that throws, by the watcher or by SIGHUP, is a rejected reload: the process serves on", async () => {
  const config = configuration(sim.origin);
  workspace.write("gateway.yaml", config);
  const gateway = await workspace.serve();
  user = await workspace.account();
  workspace.write("odd.schema.json", { type: "object" });
  workspace.write(
    "odd.ts",
    `${UNREADABLE}
     export default { name: "odd", stage: "transform", schema: new URL("odd.schema.json", import.meta.url),
       setup() { throw fault; } };`,
  );
  const pipeline = ["auth", "plan-check", "quota", "breaker", { use: "./odd.ts" }, "stream-relay", "meter"];
  workspace.replace("gateway.yaml", { ...config, pipeline });
  const watched = await poll(async () => (await gateway.config()).last_rejection);
  gateway.child.process.kill("SIGHUP");
  const signalled = await poll(async () => {
    const { last_rejection } = await gateway.config();
    return last_rejection?.at === watched.at ? null : last_rejection;
  });
  for (const { diagnostics } of [watched, signalled])
    expect(diagnostics).toMatchObject([{ rule: "reload-fault", severity: "error" }]);
  const answer = await gateway.chat(user.key, ask("still here"));
  expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
  expect(await gateway.stop()).toMatchObject({ code: 0 });
});
