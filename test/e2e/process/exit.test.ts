import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { instancesOf, isAlive, pidOf, SharedWorkspace } from "../support/instances.ts";
import { describeRedis } from "../../support/redis.ts";
import { poll } from "../support/child.ts";
import { ask, eventsOf } from "../support/configuration.ts";
import { type Account, type GatewayProcess, type SimProcess, Workspace } from "../support/process.ts";

const hosts = new Workspace();
let sim: SimProcess;
let workspace: SharedWorkspace;
let user: Account;

beforeAll(async () => {
  sim = await hosts.sim();
});

afterAll(() => hosts.close());

const IDLE = { requests: 0, streams: 0, held: 0n };
const LONG = { chunks: 10_000, chunk_delay: "20ms" };
const STREAMS = ["a", "b", "c", "d"];

/** Of a call to the store. */
const STORE_TIMEOUT = "20s";
/** An exit that waits for a call takes longer: a connection without an answer is given up after 5 s. */
const MAX_EXIT_MS = 4_500;
const DRAIN = { delay: "0s", timeout: "1s" };
const MAX_DRAINED_EXIT_MS = MAX_EXIT_MS + 1_000;

async function start(workers: number): Promise<GatewayProcess> {
  const config = workspace.configuration(sim.origin, { workers, drain: DRAIN });
  workspace.write("gateway.yaml", { ...config, store: { ...config.store, timeout: STORE_TIMEOUT } });
  const gateway = await workspace.serve();
  await poll(async () => (await instancesOf(gateway)).instances.length === workers);
  return gateway;
}

/** Lets every worker start its tokenizer, which would take most of a busy machine's time to an exit. */
async function warm(gateway: GatewayProcess): Promise<void> {
  const headers = { "x-api-key": user.key, "content-type": "application/json" };
  const body = JSON.stringify(ask("x"));
  const url = `${gateway.origin}/v1/messages/count_tokens`;
  const answers = await Promise.all(STREAMS.map(() => fetch(url, { method: "POST", headers, body })));
  for (const answer of answers) expect(answer.status).toBe(200);
}

/** Streams that run for longer than any test. */
async function streams(gateway: GatewayProcess) {
  return Promise.all(
    STREAMS.map(async (requestId) => {
      const response = await gateway.chat(user.key, ask("x", { stream: true, sim: LONG }), { requestId });
      expect(response.status).toBe(200);
      return response.text();
    }),
  );
}

/** Sends SIGTERM, does `fault` when the drain has begun. @returns milliseconds to the end of the last process. */
async function timeToEnd(gateway: GatewayProcess, fault?: () => void | Promise<void>): Promise<number> {
  const from = performance.now();
  gateway.child.process.kill("SIGTERM");
  if (fault) {
    await poll(async () => (await gateway.ask("/readyz")).status === 503);
    await fault();
  }
  expect(await gateway.child.exited).toMatchObject({ code: 0, signal: null });
  return performance.now() - from;
}

/** With nothing to do it does not wait for a Redis that stands still. */
async function endsIdle(gateway: GatewayProcess): Promise<void> {
  await (await gateway.chat(user.key, ask("x"))).text();
  const all = (await instancesOf(gateway)).instances.map(pidOf);
  workspace.redis.pause();
  const took = await timeToEnd(gateway);
  expect(all.filter(isAlive)).toEqual([]);
  workspace.redis.resume();
  expect(took).toBeLessThan(MAX_EXIT_MS);
}

/** Starts again and waits until nothing is left to be settled. */
async function booksAfterStart(workers: number) {
  const gateway = await start(workers);
  await poll(async () => {
    const { pending, rejected } = (await (await gateway.ask("/admin/settlements")).json()) as {
      pending: number;
      rejected: readonly unknown[];
    };
    return pending === 0 && rejected.length === 0;
  });
  const { outcomes, ledger, drift, running } = await poll(async () => {
    const books = await workspace.books(user.id);
    return books.running.requests === 0 ? books : null;
  });
  await endsIdle(gateway);
  return { outcomes, drift, running, charged: ledger.filter(({ charge }) => charge > 0n).length };
}

const SETTLED = {
  outcomes: Object.fromEntries(STREAMS.map((name) => [name, "shutdown"])),
  drift: 0n,
  running: IDLE,
  charged: STREAMS.length,
};

describeRedis("an exit while the store is away", () => {
  beforeEach(async () => {
    workspace = await SharedWorkspace.open(["--appendonly", "yes", "--appendfsync", "always"]);
    user = await workspace.account();
  });

  afterEach(() => workspace.close());

  test.each([1, 2])(
    "%i process(es), Redis stands still in the drain with streams running, and with nothing to do: ends in time, nothing is lost",
    async (workers) => {
      const gateway = await start(workers);
      await warm(gateway);
      const begun = streams(gateway);
      await poll(async () => (await workspace.books(user.id)).running.streams === STREAMS.length);
      const took = await timeToEnd(gateway, () => workspace.redis.pause());
      for (const text of await begun) expect(eventsOf(text).at(-2)).toContain("Server is shutting down");
      workspace.redis.resume();
      expect(await booksAfterStart(workers)).toEqual(SETTLED);
      expect(took).toBeLessThan(MAX_DRAINED_EXIT_MS);
    },
    90_000,
  );

  test.each([1, 2])(
    "%i process(es), Redis is killed in the drain with streams running, and stands still later: ends in time, nothing is lost",
    async (workers) => {
      const gateway = await start(workers);
      await warm(gateway);
      const begun = streams(gateway);
      await poll(async () => (await workspace.books(user.id)).running.streams === STREAMS.length);
      const took = await timeToEnd(gateway, () => workspace.redis.kill());
      for (const text of await begun) expect(eventsOf(text).at(-2)).toContain("Server is shutting down");
      await workspace.redis.restart();
      expect(await booksAfterStart(workers)).toEqual(SETTLED);
      expect(took).toBeLessThan(MAX_DRAINED_EXIT_MS);
    },
    90_000,
  );
});
