import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { linesOf, plantPlugin } from "../support/instances.ts";
import { poll } from "../support/child.ts";
import { ask, configuration, eventsOf } from "../support/configuration.ts";
import { type Account, type GatewayProcess, type SimProcess, Workspace } from "../support/process.ts";

let workspace: Workspace;
let sim: SimProcess;
let user: Account;

const hosts = new Workspace();

beforeAll(async () => {
  sim = await hosts.sim();
});
afterAll(() => hosts.close());

beforeEach(async () => {
  workspace = new Workspace();
  await sim.forget();
});
afterEach(() => workspace.close());

/** A gateway with a plugin that does `code` when the prompt says so. */
async function start(code: string): Promise<GatewayProcess> {
  const pipeline = plantPlugin(workspace, code);
  workspace.write("gateway.yaml", { ...configuration(sim.origin), pipeline });
  const gateway = await workspace.serve();
  user = await workspace.account();
  return gateway;
}

const IDLE = { requests: 0, streams: 0, held: 0n };

describe("a fault that nothing has caught", () => {
  test("an exception: is logged, what can finish does, exit code 1", async () => {
    const gateway = await start('setTimeout(() => { throw new Error("planted"); }, 0);');
    const open = async (requestId: string, chunks: number) => {
      const script = { stream: true, sim: { chunks, chunk_delay: "20ms" } };
      const response = await gateway.chat(user.key, ask("x", script), { requestId });
      return response.text();
    };
    const short = open("short", 75);
    const long = open("long", 10_000);
    await poll(async () => ((await workspace.books(user.id)).running.streams === 2 ? true : null));
    void gateway.chat(user.key, ask("now!"), { requestId: "odd" }).catch(() => null);
    await poll(async () => (await gateway.ask("/readyz")).status === 503);
    expect(eventsOf(await short).at(-1)).toBe("[DONE]");
    expect(eventsOf(await long).at(-2), "within five seconds").toContain("Server is shutting down");
    expect(await gateway.child.exited).toMatchObject({ code: 1, signal: null });
    const lines = linesOf(gateway.child.stderr, /^uncaught exception/);
    expect(lines).toMatchObject([{ level: 50, err: { message: "planted" } }]);
    const { outcomes, drift, running } = await workspace.books(user.id);
    expect(outcomes).toMatchObject({ short: "served", long: "shutdown" });
    expect({ drift, running }).toEqual({ drift: 0n, running: IDLE });
  });

  test("a rejection is one, too; further ones are logged and change nothing", async () => {
    const gateway = await start(
      `void Promise.reject(new Error("planted"));
       for (const n of [1, 2]) setTimeout(() => { throw new Error("planted " + n); }, 0);`,
    );
    void gateway.chat(user.key, ask("now!")).catch(() => null);
    expect(await gateway.child.exited).toMatchObject({ code: 1, signal: null });
    const lines = linesOf(gateway.child.stderr, /^uncaught exception/);
    expect(lines).toMatchObject([{ level: 50, err: { message: "planted" } }]);
    expect(linesOf(gateway.child.stderr, /^(another )?uncaught exception/)).toHaveLength(3);
  });
});

test("an event loop that was blocked for five seconds: not ready for a while, then ready again", async () => {
  const gateway = await start("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_500);");
  expect((await gateway.ask("/readyz")).status).toBe(200);
  const blocking = gateway.chat(user.key, ask("now!"));
  const unready = await poll(async () => {
    const response = await gateway.ask("/readyz");
    return response.status === 503 ? response.json() : null;
  });
  expect(unready).toEqual({ status: "unavailable", reasons: ["event loop blocked"] });
  expect((await blocking).status).toBe(200);
  await poll(async () => (await gateway.ask("/readyz")).status === 200);
  expect(await gateway.stop()).toMatchObject({ code: 0 });
});
