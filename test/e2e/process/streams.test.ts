import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { StreamInfo } from "../../../src/gateway/stream-list.ts";
import { describeRedis } from "../../support/redis.ts";
import { poll } from "../support/child.ts";
import { ask, eventsOf } from "../support/configuration.ts";
import { instancesOf, SharedWorkspace } from "../support/instances.ts";
import { type Account, type GatewayProcess, type SimProcess, Workspace } from "../support/process.ts";

const hosts = new Workspace();
let sim: SimProcess;
let workspace: SharedWorkspace;
let user: Account;

beforeAll(async () => {
  sim = await hosts.sim();
});
afterAll(() => hosts.close());

/** Ends only when it is ended. */
const ENDLESS = { chunks: 100_000, chunk_delay: "50ms" };

async function serve(workers: number): Promise<GatewayProcess> {
  workspace.write("gateway.yaml", workspace.configuration(sim.origin, { workers }));
  return workspace.serve();
}

/** A begun stream on a connection of its own. */
async function stream(gateway: GatewayProcess, requestId: string) {
  const response = await gateway.chat(user.key, ask("x", { stream: true, sim: ENDLESS }), { requestId });
  expect(response.status).toBe(200);
  return response.text().catch((error: unknown) => `broken: ${String(error)}`);
}

interface Listed {
  readonly active: number;
  readonly complete: boolean;
  readonly streams: readonly StreamInfo[];
}

async function list(gateway: GatewayProcess): Promise<Listed> {
  return (await (await gateway.ask("/admin/streams")).json()) as Listed;
}

/** The list once it is whole and has so many begun streams with events. */
function listed(gateway: GatewayProcess, count: number): Promise<Listed> {
  return poll(async () => {
    const all = await list(gateway);
    return all.complete && all.active === count && all.streams.every(({ events }) => events > 0) ? all : null;
  });
}

async function end(gateway: GatewayProcess, id: string): Promise<[status: number, text: string]> {
  const answer = await gateway.ask(`/admin/streams/${id}`, "DELETE");
  return [answer.status, await answer.text()];
}

/** Each has ended as its user would have ended it, is in the ledger once, and holds nothing. */
async function expectKilled(texts: ReadonlyMap<string, Promise<string>>): Promise<void> {
  for (const text of texts.values()) expect(eventsOf(await text).at(-1)).toBe("[DONE]");
  await poll(() =>
    workspace.onStore(async (store) => {
      const { requests, streams, held } = await store.running(user.id);
      return requests === 0 && streams === 0 && held === 0n;
    }),
  );
  const entries = await workspace.onStore((store) => store.ledger(user.id));
  const own = entries.filter(({ requestId }) => texts.has(requestId));
  expect(own.map(({ requestId, outcome }) => `${requestId} ${outcome}`).toSorted()).toEqual(
    [...texts.keys()].map((requestId) => `${requestId} killed`).toSorted(),
  );
}

describeRedis("running streams of one store", () => {
  beforeEach(async () => {
    workspace = await SharedWorkspace.open();
  });
  afterEach(() => workspace.close());

  test("are listed by any instance, and ended wherever they run", async () => {
    const [a, b] = [await serve(1), await serve(1)];
    user = await workspace.account();
    await poll(
      async () => (await instancesOf(a)).instances.length === 2 && (await instancesOf(b)).instances.length === 2,
    );
    const texts = new Map([
      ["on-a", stream(a, "on-a")],
      ["on-b", stream(b, "on-b")],
    ]);
    const { streams } = await listed(a, 2);
    expect(streams.map(({ request_id }) => request_id).toSorted()).toEqual(["on-a", "on-b"]);
    expect(new Set(streams.map(({ instance }) => instance)).size).toBe(2);
    for (const one of streams) expect(one).toMatchObject({ user: user.id, upstream: "alpha", state: "streaming" });
    expect((await listed(b, 2)).streams.map(({ id }) => id).toSorted()).toEqual(streams.map(({ id }) => id).toSorted());
    const idOf = (name: string) => streams.find(({ request_id }) => request_id === name)!.id;

    expect(await end(a, "019b0000-0000-7000-8000-000000000000")).toEqual([404, "No such stream"]);
    expect(await end(a, idOf("on-b"))).toEqual([200, '{"ended":true}']);
    await texts.get("on-b");
    expect((await listed(b, 1)).streams.map(({ request_id }) => request_id)).toEqual(["on-a"]);
    expect(await end(b, idOf("on-a"))).toEqual([200, '{"ended":true}']);
    await expectKilled(texts);

    b.child.process.kill("SIGSTOP");
    try {
      expect(await list(a)).toEqual({ active: 0, complete: false, streams: [] });
    } finally {
      b.child.process.kill("SIGCONT");
    }
    await listed(a, 0);
  });

  test("of workers are listed by their supervisor, with those of other machines, and ended by it", async () => {
    const gateway = await serve(2);
    const other = await serve(1);
    user = await workspace.account();
    await poll(async () => (await instancesOf(gateway)).instances.length === 3);
    const names = ["s0", "s1", "s2", "s3"];
    const texts = new Map<string, Promise<string>>();
    for (const name of names) texts.set(name, stream(gateway, name));
    texts.set("elsewhere", stream(other, "elsewhere"));
    const { streams } = await listed(gateway, 5);
    expect(new Set(streams.map(({ id }) => id)).size).toBe(5);
    expect(new Set(streams.map(({ instance }) => instance)).size).toBe(3);
    for (const { id } of streams) expect(await end(gateway, id)).toEqual([200, '{"ended":true}']);
    await expectKilled(texts);
    expect(await listed(gateway, 0)).toEqual({ active: 0, complete: true, streams: [] });
  });
});
