import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { isInShare } from "../../../src/gateway/guard.ts";
import type { ConfigStatus } from "../../../src/gateway/reloader.ts";
import { describeRedis } from "../../support/redis.ts";
import { poll } from "../support/child.ts";
import { ask } from "../support/configuration.ts";
import { instancesOf, pidOf, SharedWorkspace } from "../support/instances.ts";
import { type Account, type GatewayProcess, type SimProcess, Workspace } from "../support/process.ts";

const hosts = new Workspace();
let sim: SimProcess;
let workspace: SharedWorkspace;

beforeAll(async () => {
  sim = await hosts.sim();
});
afterAll(() => hosts.close());

const GUARD = { share: "50%", for: "10m", min_requests: 5 };

async function status(gateway: GatewayProcess): Promise<ConfigStatus> {
  return (await (await gateway.ask("/admin/config")).json()) as ConfigStatus;
}

async function rollback(gateway: GatewayProcess, to: string | number): Promise<unknown> {
  return (await gateway.ask("/admin/rollback", "POST", { to })).json();
}

function write(multiplier: number, upstream = sim.origin): void {
  const config = workspace.configuration(upstream, { workers: 2 });
  workspace.write("gateway.yaml", { ...config, reload: { guard: GUARD }, billing: { cost_multiplier: multiplier } });
}

const hashes = async (gateway: GatewayProcess): Promise<readonly string[]> =>
  (await instancesOf(gateway)).instances.map(({ hash }) => hash);

/** Until another process has taken its place. */
async function killOne(gateway: GatewayProcess): Promise<void> {
  const victim = pidOf((await instancesOf(gateway)).instances[0]!);
  process.kill(victim, "SIGKILL");
  await poll(async () => {
    const { instances } = await instancesOf(gateway);
    return instances.length === 2 && !instances.some((one) => pidOf(one) === victim);
  });
}

/** Starts of processes on a busy machine. */
const PATIENCE_MS = 150_000;

describeRedis("several workers", () => {
  beforeEach(async () => {
    workspace = await SharedWorkspace.open();
  });
  afterEach(() => workspace.close());

  test(
    "compare together, decide once, and a worker that is replaced meanwhile does as the others",
    async () => {
      write(1);
      const gateway = await workspace.serve();
      const users: Account[] = [];
      for (let count = 0; count < 12; count += 1) users.push(await workspace.account());
      const { hash } = await status(gateway);
      write(2);
      expect(await gateway.reload()).toMatchObject({ ok: true, guarded: true });
      const candidate = (await status(gateway)).guard!.candidate;

      await killOne(gateway);
      expect(await hashes(gateway), "not the file, which is on trial").toEqual([hash, hash]);
      for (const user of users) expect((await gateway.chat(user.key, ask("x"))).status).toBe(200);
      await poll(async () => {
        const { requests } = (await status(gateway)).guard!;
        return requests.base + requests.candidate === users.length;
      });

      expect(await rollback(gateway, 0)).toEqual({ ok: true, hash });
      await killOne(gateway);
      expect(await hashes(gateway), "not the file, which was rolled back").toEqual([hash, hash]);
      expect(await status(gateway)).toMatchObject({ hash, passed_over: { hash: candidate, reason: "asked for" } });

      // What is rolled back by its guard is so on every worker.
      write(3, `${sim.origin}/sim/status=500`);
      expect(await gateway.reload()).toMatchObject({ ok: true, guarded: true });
      const next = (await status(gateway)).guard!.candidate;
      while (!users.some(({ id }) => isInShare(id, next, 0.5))) users.push(await workspace.account());
      const failed = new Set<Account>();
      await poll(async () => {
        for (const user of users) if ((await gateway.chat(user.key, ask("x"))).status !== 200) failed.add(user);
        return (await status(gateway)).guard!.state === "rolled_back";
      });
      expect(failed.size).toBeGreaterThan(0);
      expect([...failed].filter(({ id }) => !isInShare(id, next, 0.5))).toEqual([]);
      await poll(async () => {
        for (const user of users) if ((await gateway.chat(user.key, ask("x"))).status !== 200) return false;
        return true;
      });
      expect(await hashes(gateway)).toEqual([hash, hash]);
    },
    PATIENCE_MS,
  );
});
