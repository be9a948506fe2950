import { expect, onTestFinished, test } from "vitest";
import { type InstanceInfo, InstanceRegistry } from "../../src/gateway/instances.ts";
import { configBody, upstreamsBody, type ProcessReport } from "../../src/gateway/admin-view.ts";
import { storeUnavailable, type Store } from "../../src/kit/index.ts";
import { openStore } from "../../src/store/open.ts";
import { poll } from "../e2e/support/child.ts";
import { memoryLog, type LogLine } from "../server/support.ts";

const SELF: InstanceInfo = {
  instance: "a-1",
  host: "a",
  pid: 1,
  started_at: "2026-01-01T00:00:00.000Z",
  hash: "one",
  generation: 1,
  loaded_at: "2026-01-01T00:00:00.000Z",
  draining: false,
  breakers: { alpha: "closed" },
  health: { alpha: "healthy" },
  streams: 0,
  shedding: [],
};
const OTHER: InstanceInfo = { ...SELF, instance: "b-2", host: "b", pid: 2, breakers: { alpha: "open" } };

async function memory(now: () => number = Date.now): Promise<Store> {
  const store = await openStore("memory:", { serving: true, now });
  onTestFinished(() => store.close());
  return store;
}

function join(
  store: Pick<Store, "publishInstance" | "listInstances">,
  self: () => InstanceInfo,
  lines: LogLine[] = [],
) {
  const registry = new InstanceRegistry({ store, self, log: memoryLog(lines), intervalMs: 5 });
  registry.start();
  onTestFinished(() => registry.close());
  return registry;
}

test("instances of one store see each other as they are now, but not themselves", async () => {
  const store = await memory();
  let hash = "one";
  const one = join(store, () => ({ ...SELF, hash }));
  const two = join(store, () => OTHER);
  await poll(async () => (await one.others())?.length === 1);
  expect(await one.others()).toEqual([OTHER]);
  expect(await two.others()).toEqual([SELF]);
  hash = "two";
  await one.publish();
  expect(await two.others(), "at once").toEqual([{ ...SELF, hash }]);
});

test("one that leaves is gone at once, one that dies within seconds", async () => {
  let now = 0;
  const store = await memory(() => now);
  const watcher = join(store, () => SELF);
  const leaving = join(store, () => OTHER);
  await leaving.publish();
  expect(await watcher.others()).toHaveLength(1);
  await leaving.close();
  now += 1;
  expect(await watcher.others()).toEqual([]);
  await store.publishInstance("c-3", JSON.stringify({ ...SELF, instance: "c-3" }), 4_000);
  now += 3_999;
  expect(await watcher.others()).toHaveLength(1);
  now += 1;
  expect(await watcher.others()).toEqual([]);
});

test.each(["", "{", "null", "7", "[]", "{}", '{"instance":5,"hash":"x"}', '{"instance":"x"}'])(
  "what is no instance's own is passed over: %j",
  async (state) => {
    const store = await memory();
    await store.publishInstance("odd", state, 60_000);
    await store.publishInstance("old", '{"instance":"old","hash":"h"}', 60_000);
    const others = await join(store, () => SELF).others();
    expect(others).toEqual([{ instance: "old", hash: "h", breakers: {}, health: {}, draining: false, shedding: [] }]);
  },
);

const isAway = (): Promise<never> => Promise.reject(storeUnavailable(new Error("away")));

test("a store that is away is said once, others are unknown, and all is as before when it is back", async () => {
  const store = await memory();
  const lines: LogLine[] = [];
  let away = true;
  let asked = 0;
  const registry = join(
    {
      publishInstance: (...args) => {
        asked += 1;
        return away ? isAway() : store.publishInstance(...args);
      },
      listInstances: () => (away ? isAway() : store.listInstances()),
    },
    () => SELF,
    lines,
  );
  await poll(() => asked > 3);
  expect(await registry.others()).toBeNull();
  expect(lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  away = false;
  await store.publishInstance(OTHER.instance, JSON.stringify(OTHER), 60_000);
  expect(await registry.others()).toEqual([OTHER]);
});

test("reports of guards in the shape of another version are left out", async () => {
  const store = await memory();
  const registry = join(store, () => SELF);
  const whole = { id: "1", base: "a", candidate: "b", decision: null, counts: { base: {}, candidate: {} } };
  const { counts: _, ...without } = whole;
  const shapes = [[whole, without, null, { ...whole, counts: { base: {} } }], "none", null, { 0: whole }];
  for (const [index, guards] of shapes.entries())
    await store.publishInstance(`odd-${index}`, JSON.stringify({ ...OTHER, instance: `odd-${index}`, guards }), 60_000);
  expect(Object.fromEntries(await registry.guards())).toEqual({
    "odd-0": [whole],
    "odd-1": [],
    "odd-2": [],
    "odd-3": [],
  });
});

test("a slow store is not told more and more", async () => {
  const store = await memory();
  let running = 0;
  let most = 0;
  let asked = 0;
  const registry = join(
    {
      async publishInstance(...args) {
        asked += 1;
        most = Math.max(most, (running += 1));
        await new Promise((resolve) => setTimeout(resolve, 20));
        running -= 1;
        return store.publishInstance(...args);
      },
      listInstances: () => store.listInstances(),
    },
    () => SELF,
  );
  await poll(() => asked > 3);
  await registry.publish();
  expect(most).toBe(1);
});

const STATUS = {
  generation: 1,
  hash: "one",
  file: "/gateway.yaml",
  loaded_at: SELF.loaded_at,
  pending: [],
  warnings: [],
  last_rejection: null,
  passed_over: null,
  guard: null,
  generations: [],
};
const VIEW: ProcessReport = {
  status: STATUS,
  upstreams: {
    alpha: {
      breaker: "closed",
      health: "healthy",
      latency_ms: 5,
      can_serve: true,
      manual: null,
      keys: [],
      targets: {},
      in_flight: 0,
      waiting: 0,
      cooldowns: [],
    },
  },
  self: OTHER,
  others: [SELF],
  complete: true,
};

function shown({ instance, hash, generation, loaded_at, draining }: InstanceInfo) {
  return { instance, hash, generation, loaded_at, draining };
}

test("the configuration's view keeps its fields and lists every instance, in order", () => {
  expect(configBody(VIEW)).toEqual({ ...STATUS, instances: [shown(SELF), shown(OTHER)], agree: true });
});

test.each<[string, Partial<ProcessReport>, boolean | null]>([
  ["one alone", { others: [] }, true],
  ["two with different configurations", { others: [{ ...SELF, hash: "two" }] }, false],
  ["one that leaves with an older one", { others: [{ ...SELF, hash: "two", draining: true }] }, true],
  ["nobody knows, while the store is away", { others: [], complete: false }, null],
])("whether they agree: %s", (_name, change, agree) => {
  expect(configBody({ ...VIEW, ...change }).agree).toBe(agree);
});

test("an upstream shows its breaker in every instance that knows it", () => {
  const without = { ...SELF, instance: "c-3", breakers: {} };
  const history = [{ at: "", state: "open", cause: "failures", detail: "", instance: "b-2" }] as const;
  expect(upstreamsBody({ ...VIEW, others: [SELF, without] }, { alpha: history })).toEqual({
    alpha: { ...VIEW.upstreams["alpha"], instances: { "a-1": "closed", "b-2": "open" }, history },
  });
});
