import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { poll } from "../support/child.ts";
import { ask, configuration, eventsOf } from "../support/configuration.ts";
import { Workspace } from "../support/process.ts";

/** Longer than a serving process waits for the file. */
const HELD = 1_200;

test("another process holds the file while requests end: they are charged, once, and nothing stays held", async () => {
  const workspace = new Workspace();
  onTestFinished(() => workspace.close());
  const sim = await workspace.sim();
  const config = configuration(sim.origin);
  const limits = { day: "none", hour: "none", minute: "none", streams: 2 } as const;
  workspace.write("gateway.yaml", { ...config, tiers: { ...config.tiers, Free: { access: ["Free"], limits } } });
  const gateway = await workspace.serve();
  const user = await workspace.account();
  const stream = (requestId: string) =>
    gateway.chat(user.key, ask("x", { stream: true, sim: { chunks: 10, chunk_delay: "30ms" } }), { requestId });
  const running = await Promise.all([stream("one"), stream("two")]);

  const other = new DatabaseSync(workspace.path("data/gateway.db"));
  other.exec("BEGIN IMMEDIATE");
  await sleep(HELD);
  const refused = await stream("three");
  expect([refused.status, refused.headers.get("x-error-code")]).toEqual([503, "STORE_UNAVAILABLE"]);
  other.exec("ROLLBACK");
  other.close();

  for (const response of running) expect(eventsOf(await response.text()).at(-1)).toBe("[DONE]");
  const { ledger, outcomes, drift, running: left } = await workspace.books(user.id);
  expect(ledger).toHaveLength(2);
  expect(outcomes).toEqual({ one: "served", two: "served" });
  expect(drift).toBe(0n);
  expect(ledger.every(({ charge }) => charge > 0n)).toBe(true);
  expect(left).toEqual({ requests: 0, streams: 0, held: 0n });
  await poll(async () => (await stream("four")).status === 200);
});
