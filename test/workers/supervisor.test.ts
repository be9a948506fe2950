import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { adminSettings } from "../../src/workers/pool.ts";
import { poolAdminView } from "../../src/workers/supervisor.ts";
import type { WorkerHandle } from "../../src/workers/worker-handle.ts";
import type { Scrape } from "../../src/telemetry/metrics.ts";
import { metricsWith, samplesOf } from "../telemetry/support.ts";

/** A worker that answers as it is told. */
class FakeWorker {
  readonly metrics = metricsWith({ breakers: [], streams: 1 });
  /** Rejects for the one whose question is kept waiting. */
  readonly kept = Promise.withResolvers<never>();
  slow = false;
  deaf = false;
  readonly serving = true;
  missedHeartbeats = 0;
  count = 0;

  serve(): void {
    this.count += 1;
    this.metrics.pluginFailed("x");
  }

  async ask(): Promise<Scrape> {
    if (this.deaf) throw new Error("does not answer");
    const scrape = JSON.parse(JSON.stringify(await this.metrics.collect())) as Scrape;
    return this.slow ? this.kept.promise : scrape;
  }
}

function poolOf(size: number) {
  const workers = Array.from({ length: size }, () => new FakeWorker());
  const pool = { workers: workers as unknown as WorkerHandle[], stopping: false };
  const view = poolAdminView(pool, "gateway.yaml");
  const total = async (): Promise<Record<string, number>> => samplesOf((await view.metrics()).body);
  return {
    workers,
    /** As a pool does: the new one comes later. */
    replace: (place: number) => {
      const [dead] = workers.splice(place, 1, new FakeWorker());
      view.retainCounters(dead as unknown as WorkerHandle);
    },
    failures: async () => (await total())['gateway_plugin_failures_total{plugin="x"}'] ?? 0,
    streams: async () => (await total())["gateway_active_streams"] ?? 0,
  };
}

test("a worker that does not answer in time hides nobody: of it what it said before is shown", async () => {
  const { workers, failures, streams } = poolOf(3);
  for (const worker of workers) worker.serve();
  expect(await failures()).toBe(3);
  workers[0]!.deaf = true;
  for (const worker of workers) worker.serve();
  expect(await failures()).toBe(5);
  expect(await streams()).toBe(3);
  workers[0]!.deaf = false;
  expect(await failures()).toBe(6);
});

test("what the configuration was made of is told by the first that can answer", async () => {
  const told = { hash: "a", files: [], plugins: [], code: {} };
  const asked: string[] = [];
  const worker = (name: string, isDeaf: boolean) => ({
    serving: true,
    missedHeartbeats: 0,
    async ask(question: string) {
      asked.push(`${name} ${question}`);
      if (isDeaf) throw new Error("does not answer");
      return told;
    },
  });
  const workers = [worker("one", true), worker("two", false)] as unknown as WorkerHandle[];
  expect(await poolAdminView({ workers, stopping: false }, "gateway.yaml").source()).toEqual(told);
  expect(asked).toEqual(["one source", "two source"]);
  await expect(poolAdminView({ workers: [], stopping: false }, "gateway.yaml").source()).rejects.toThrow("no worker");
});

test("a question of what would be is put to one worker, with the time that it takes, and to the next only when that one is gone", async () => {
  const asked: [name: string, timeoutMs: number | undefined][] = [];
  const worker = (name: string, fault: "ends" | "is slow" | null) => ({
    serving: true,
    missedHeartbeats: 0,
    ended: false,
    async ask(_question: string, { timeoutMs }: { readonly timeoutMs?: number }) {
      asked.push([name, timeoutMs]);
      this.ended = fault === "ends";
      if (fault !== null) throw new Error("does not answer");
      return { ok: true, explanation: name };
    },
  });
  const explainedBy = (...workers: ReturnType<typeof worker>[]) =>
    poolAdminView({ workers: workers as unknown as WorkerHandle[], stopping: false }, "gateway.yaml").explain({
      request: "r",
    });
  expect(await explainedBy(worker("one", "ends"), worker("two", null))).toEqual({ ok: true, explanation: "two" });
  const slow = await explainedBy(worker("three", "is slow"), worker("four", null));
  expect(slow).toMatchObject({ ok: false, code: "OVERLOADED" });
  expect(asked.map(([name]) => name)).toEqual(["one", "two", "three"]);
  for (const [, timeoutMs] of asked) expect(timeoutMs).toBeGreaterThanOrEqual(30_000);
});

test("a number of generations back means the same one on every worker, also where one of them is a change behind", async () => {
  const generations = ["c", "b", "a"].map((hash) => ({ hash, since: "", serves: false }));
  const worker = (own: typeof generations) => ({
    serving: true,
    missedHeartbeats: 0,
    async ask(question: string, { about = "" } = {}) {
      if (question === "report")
        return { status: { generations: own, pending: [], last_rejection: null }, others: [], self: {} };
      const to = JSON.parse(about) as string | number;
      const hash = typeof to === "number" ? own[to]?.hash : to;
      const diagnostics = [{ message: `there is no generation ${to} back` }];
      return hash === undefined ? { ok: false, diagnostics } : { ok: true, hash, changed: true };
    },
  });
  const workers = [worker(generations), worker(generations.slice(1))] as unknown as WorkerHandle[];
  const view = poolAdminView({ workers, stopping: false }, "gateway.yaml");
  expect(await view.rollback(1)).toEqual({ ok: true, hash: "b" });
  expect(await view.rollback("a")).toEqual({ ok: true, hash: "a" });
  expect(await view.rollback(7)).toMatchObject({
    ok: false,
    diagnostics: [{ message: "there is no generation 7 back" }],
  });
});

test("one that is blocked is not asked, and one that has never answered is left out", async () => {
  const { workers, failures } = poolOf(2);
  for (const worker of workers) worker.serve();
  workers[0]!.missedHeartbeats = 1_000;
  expect(await failures()).toBe(1);
});

test("what a dead worker had counted stays, what it was doing does not", async () => {
  const { workers, failures, streams, replace } = poolOf(2);
  for (const worker of workers) worker.serve();
  expect([await failures(), await streams()]).toEqual([2, 2]);
  replace(0);
  workers[0]!.deaf = true;
  expect([await failures(), await streams()]).toEqual([2, 1]);
  workers[0]!.deaf = false;
  workers[0]!.serve();
  replace(1);
  expect([await failures(), await streams()]).toEqual([3, 2]);
});

test("of two scrapes at the same time the later answer stays, whichever ends first", async () => {
  const { workers, failures } = poolOf(2);
  const [first, second] = workers as [FakeWorker, FakeWorker];
  second.slow = true;
  first.serve();
  const early = failures();
  // The first one has answered to it, the second one lets it wait.
  await sleep(10);
  for (let more = 0; more < 4; more++) first.serve();
  second.slow = false;
  expect(await failures()).toBe(5);
  second.kept.reject(new Error("does not answer"));
  expect(await early).toBeGreaterThan(0);
  first.deaf = true;
  expect(await failures(), "a count that has been shown").toBe(5);
});

/** What happens to workers: one serves, does not hear from now on, hears again, dies and is replaced; or all are scraped. */
const EVENT = fc.record({
  what: fc.constantFrom("serve", "serve", "deaf", "hear", "die", "scrape", "scrape"),
  place: fc.nat({ max: 2 }),
});

test("whatever workers do, a count never goes back, and is exact once all have answered", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(EVENT, { maxLength: 40 }), async (events) => {
      const { workers, failures, replace } = poolOf(3);
      const shown: number[] = [];
      const expected: number[] = [];
      /** Of those that have died, as last seen; and of those that live. */
      let left = 0;
      const seen = new Map<FakeWorker, number>();
      for (const { what, place } of [...events, { what: "scrape", place: 0 }]) {
        const worker = workers[place]!;
        if (what === "serve") worker.serve();
        else if (what === "deaf") worker.deaf = true;
        else if (what === "hear") worker.deaf = false;
        else if (what === "die") {
          left += seen.get(worker) ?? 0;
          replace(place);
        } else {
          for (const one of workers) if (!one.deaf) seen.set(one, one.count);
          shown.push(await failures());
          expected.push(workers.reduce((sum, one) => sum + (seen.get(one) ?? 0), left));
        }
      }
      expect(shown).toEqual(expected);
      expect(shown, "never back").toEqual(shown.toSorted((a, b) => a - b));
    }),
    { numRuns: Number(process.env["NUM_RUNS"] ?? 100) },
  );
});

const told = (toldAt: number, token: string) => ({
  adminAccess: { toldAt, tokens: [{ name: "grace", role: "operator", token }], trustedProxies: ["10.0.0.0/8"] },
});

test("admin tokens are those that a worker has told last, also after it has ended", () => {
  const pool: { workers: WorkerHandle[] } = { workers: [] };
  const settings = adminSettings(pool, { host: "127.0.0.1", tokens: [] });
  const now = () => settings().tokens.map(({ token }) => token.reveal());
  const workers = (...list: readonly object[]) => {
    pool.workers = list as WorkerHandle[];
  };
  expect(now()).toEqual([]);
  workers({ adminAccess: null }, told(1, "old"));
  expect(now()).toEqual(["old"]);
  workers(told(3, "new"), told(1, "old"), told(2, "older"));
  expect(now()).toEqual(["new"]);
  expect(settings()).toMatchObject({ host: "127.0.0.1", trustedProxies: ["10.0.0.0/8"] });
  workers();
  expect(now()).toEqual(["new"]);
  workers(told(4, "newest"));
  expect(now()).toEqual(["newest"]);
});
