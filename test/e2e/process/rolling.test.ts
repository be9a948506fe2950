import { Agent, fetch as request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Backend, startBalancer } from "../../support/balancer.ts";
import { freePort } from "../../support/ports.ts";
import { SharedWorkspace } from "../support/instances.ts";
import { required } from "../../support/programs.ts";
import { ask, eventsOf } from "../support/configuration.ts";
import { type Account, type GatewayProcess, type SimProcess } from "../support/process.ts";

/** How often each is restarted in an ordinary run; `ROLLS=3` is the long form. */
const ROLLS = Number(process.env["ROLLS"] ?? 1);
const PER_SECOND = Number(process.env["RATE"] ?? 200);
const STREAMS = 6;
/** Several times what the balancer needs to see it: on a machine without time its checks are late as well. */
const DRAIN_DELAY = "5s";
/** Requests under way at most: a slow machine is asked less, not more and more. */
const MOST = 32;

/** Of a machine without the time to answer for a store within its bound. No restart makes it, and it costs nothing. */
const STARVED = "503 Store unavailable";

interface Seen {
  readonly requestId: string;
  readonly fault: string;
}

/** Short requests at a steady rate and streams one after the other, until it is stopped. */
function startClient(origin: string, { key }: Account) {
  const agent = new Agent({ connections: MOST + STREAMS });
  const short: Seen[] = [];
  const streamed: Seen[] = [];
  const running = new Set<Promise<void>>();
  let count = 0;
  const stopping = new AbortController();

  const send = async (kind: Seen[], more: object): Promise<void> => {
    const stream = kind === streamed;
    const requestId = `${stream ? "stream" : "short"}-${++count}`;
    let fault = "";
    try {
      const response = await request(`${origin}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json", "x-request-id": requestId },
        body: JSON.stringify(ask(requestId, more)),
        dispatcher: agent,
      });
      const text = await response.text();
      const events = eventsOf(text);
      if (response.status !== 200) fault = `${response.status} ${text}`;
      else if (stream && events.at(-1) !== "[DONE]") fault = "no ending";
      else if (stream && events.some((event) => event.startsWith('{"error"'))) fault = events.at(-2) ?? "";
    } catch (error) {
      fault = `${String(error)} ${String((error as Error).cause)}`;
    }
    kind.push({ requestId, fault });
  };
  const track = (work: Promise<void>): void => {
    running.add(work);
    void work.then(() => running.delete(work));
  };
  const timer = setInterval(() => {
    if (running.size < MOST) track(send(short, {}));
  }, 1000 / PER_SECOND);
  const lane = async (): Promise<void> => {
    while (!stopping.signal.aborted) await send(streamed, { stream: true, sim: { chunks: 60, chunk_delay: "25ms" } });
  };
  const lanes = Promise.all(Array.from({ length: STREAMS }, lane));
  return {
    async stop() {
      stopping.abort();
      clearInterval(timer);
      await lanes;
      await Promise.all(running);
      await agent.close();
      return { short, streamed };
    },
  };
}

describe.skipIf(!required("haproxy") || !required("redis-server", "valkey-server"))(
  "two gateways behind HAProxy",
  () => {
    let workspace: SharedWorkspace;
    let sim: SimProcess;

    beforeAll(async () => {
      workspace = await SharedWorkspace.open();
      sim = await workspace.sim();
    });

    afterAll(() => workspace.close());

    test("restarted one after the other under load: no request fails, every charge is there once", async () => {
      const backends: readonly Backend[] = [
        { name: "one", port: await freePort(), admin: await freePort() },
        { name: "two", port: await freePort(), admin: await freePort() },
      ];
      const start = ({ name, port, admin }: Backend): Promise<GatewayProcess> => {
        const config = workspace.configuration(sim.origin, { drain: { delay: DRAIN_DELAY, timeout: "20s" } });
        const listen = [{ host: "127.0.0.1", port }];
        const server = { ...config.server, listen, admin: { ...config.server?.admin, port: admin } };
        workspace.write(`${name}.yaml`, { ...config, server });
        return workspace.serve("--config", `${name}.yaml`);
      };
      const balancer = await startBalancer(workspace, backends);
      const gateways = await Promise.all(backends.map(start));
      const user = await workspace.account();
      await Promise.all(backends.map((backend) => balancer.sees(backend, true)));

      const from = performance.now();
      const client = startClient(balancer.origin, user);
      for (let roll = 0; roll < ROLLS; roll++) {
        for (const [index, backend] of backends.entries()) {
          expect(await gateways[index]!.stop(), "a drained gateway").toMatchObject({ code: 0, signal: null });
          await balancer.sees(backend, false);
          gateways[index] = await start(backend);
          await balancer.sees(backend, true);
        }
      }
      const { short, streamed } = await client.stop();
      const seconds = (performance.now() - from) / 1000;
      for (const gateway of gateways) expect(await gateway.stop()).toMatchObject({ code: 0 });

      const all = [...short, ...streamed];
      const starved = all.filter(({ fault }) => fault === STARVED);
      expect(all.filter(({ fault }) => fault !== "" && fault !== STARVED)).toEqual([]);
      expect(starved.length).toBeLessThanOrEqual(all.length / 50);
      const { ledger, drift, running } = await workspace.books(user.id);
      expect({ drift, running }).toEqual({ drift: 0n, running: { requests: 0, streams: 0, held: 0n } });
      const charged = ledger.map(({ requestId }) => requestId).toSorted();
      const served = all.filter(({ fault }) => fault === "");
      expect(charged).toEqual(served.map(({ requestId }) => requestId).toSorted());
      expect(ledger.filter(({ outcome, charge }) => outcome !== "served" || charge <= 0n)).toEqual([]);
      expect(short.length).toBeGreaterThan(100);
      const rate = Math.round(short.length / seconds);
      console.log(
        `${2 * ROLLS} restarts: ${short.length} short requests at ${rate}/s, ${streamed.length} streams, 0 failed, ${starved.length} x 503 of a late store`,
      );
    }, 300_000);
  },
);
