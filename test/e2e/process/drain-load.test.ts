import { setTimeout as sleep } from "node:timers/promises";
import { Agent, fetch as request } from "undici";
import { expect, onTestFinished, test } from "vitest";
import { poll } from "../support/child.ts";
import { ask, configuration, eventsOf } from "../support/configuration.ts";
import { type Account, type GatewayProcess, Workspace } from "../support/process.ts";

const LANES = 16;
const STREAMS = 20;

/** A client with its own connections that stops when readiness is gone, as a balancer does. */
function follower(gateway: GatewayProcess, user: Account) {
  const agent = new Agent({ connections: LANES, pipelining: 1 });
  const counts = { served: 0, faults: [] as string[] };
  const state = { ready: true, terminated: false };
  const lane = async (number: number): Promise<void> => {
    for (let turn = 0; state.ready; turn++) {
      const body = JSON.stringify(ask(`${number}.${turn}`));
      const headers = { authorization: `Bearer ${user.key}`, "content-type": "application/json" };
      try {
        const url = `${gateway.origin}/v1/chat/completions`;
        const response = await request(url, { method: "POST", headers, body, dispatcher: agent });
        const text = await response.text();
        if (response.status !== 200) counts.faults.push(`${response.status} ${text}`);
        counts.served += 1;
      } catch (error) {
        const { cause } = error as Error;
        counts.faults.push(`${String(error)} ${String(cause)}`);
      }
    }
  };
  const watch = async (): Promise<void> => {
    while (state.ready) {
      const response = await gateway.ask("/readyz").catch(() => null);
      if (state.terminated) state.ready = response?.status === 200;
      await sleep(50);
    }
  };
  const done = Promise.all([watch(), ...Array.from({ length: LANES }, (_, number) => lane(number))]);
  return {
    counts,
    terminate() {
      state.terminated = true;
      gateway.child.process.kill("SIGTERM");
    },
    async finish() {
      await done;
      await agent.close();
      return counts;
    },
  };
}

test("SIGTERM under load: nothing is refused or reset for who follows readiness, streams finish, charges are exact", async () => {
  const workspace = new Workspace();
  onTestFinished(() => workspace.close());
  const sim = await workspace.sim();
  const config = configuration(sim.origin);
  workspace.write("gateway.yaml", { ...config, server: { ...config.server, drain: { delay: "1s", timeout: "20s" } } });
  const gateway = await workspace.serve();
  const user = await workspace.account();

  const streams = await Promise.all(
    Array.from({ length: STREAMS }, (_, index) =>
      gateway.chat(user.key, ask("x", { stream: true, sim: { chunks: 120, chunk_delay: "25ms" } }), {
        requestId: `stream-${index}`,
      }),
    ),
  );
  const client = follower(gateway, user);
  await poll(() => client.counts.served > 100);
  client.terminate();
  await poll(async () => (await gateway.ask("/readyz")).status === 503);
  // New connections are still taken: balancers have not heard yet.
  const fresh = await gateway.chat(user.key, ask("fresh"), { requestId: "fresh" });
  expect(fresh.status).toBe(200);
  await fresh.text();
  const { served, faults } = await client.finish();
  expect(faults).toEqual([]);
  for (const stream of streams) expect(eventsOf(await stream.text()).at(-1)).toBe("[DONE]");
  expect(await gateway.child.exited).toMatchObject({ code: 0, signal: null });

  const { ledger, drift, running } = await workspace.books(user.id);
  expect({ drift, running }).toEqual({ drift: 0n, running: { requests: 0, streams: 0, held: 0n } });
  expect(ledger).toHaveLength(served + STREAMS + 1);
  expect(ledger.filter(({ outcome }) => outcome !== "served")).toEqual([]);
  console.log(`drained under load: ${served} short requests, ${STREAMS} streams, 0 lost`);
});
