import { afterEach, beforeEach, expect, test } from "vitest";
import { isInShare } from "../../../src/gateway/guard.ts";
import type { ConfigStatus } from "../../../src/gateway/reloader.ts";
import type { Json } from "../../../src/kit/index.ts";
import { scriptedUrl, type Simulator, startSimulator } from "../../../src/simulator/server.ts";
import { describeRedis, redisOfSuite } from "../../support/redis.ts";
import { baseConfig, chainConfig, merge } from "../support/gateway-config.ts";
import { eventually } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

const SHARE = 0.25;
/** Longer than any test takes: its end comes with the clocks of the instances. */
const FOR_MS = 60_000;
const USERS = 24;
/** So many that neither instance alone has them: only the sum of both is evidence. */
const MIN_REQUESTS = 20;
/** Beyond what the clocks of two instances differ by. */
const PATIENCE_MS = 20_000;

type Shown = ConfigStatus & { readonly agree: boolean | null };

async function statusOf(instance: TestGateway): Promise<Shown> {
  return JSON.parse((await instance.admin("/admin/config")).text) as Shown;
}

describeRedis("a guard over two instances", () => {
  const redis = redisOfSuite();
  let simulator: Simulator;
  let instances: readonly [TestGateway, TestGateway];
  let users: TestUser[];
  let tests = 0;

  beforeEach(async () => {
    simulator = await startSimulator();
    const store = { url: redis.url, prefix: `guard${(tests += 1)}:` };
    const guard = { share: "25%", for: `${FOR_MS}ms`, min_requests: MIN_REQUESTS };
    const base = merge(merge(baseConfig("/nowhere"), chainConfig(simulator.origin, {})), { store, reload: { guard } });
    instances = [await TestGateway.start({ base }), await TestGateway.start({ base })];
    users = [];
    for (let count = 0; count < USERS; count += 1) users.push(await instances[0].user());
  });
  afterEach(async () => {
    for (const instance of instances) await instance.close();
    await simulator.close();
  });

  const both = () => Promise.all(instances.map(statusOf));
  const script = (query: string): Json => ({
    upstreams: { "one-1": { base_url: scriptedUrl(simulator.origin, query) } },
  });
  const statesAre = async (state: string): Promise<boolean> =>
    (await both()).every(({ guard }) => guard?.state === state);
  const chosen = (hash: string): TestUser[] => users.filter(({ id }) => isInShare(id, hash, SHARE));

  async function guarded(patch: Json): Promise<string> {
    const results = await Promise.all(instances.map((instance) => instance.reload(patch)));
    const hashes = results.map((result) => (result.ok ? result.hash : ""));
    expect(new Set(hashes).size).toBe(1);
    expect(await statesAre("running")).toBe(true);
    const [hash = ""] = hashes;
    while (chosen(hash).length < 2) users.push(await instances[0].user());
    return hash;
  }

  test("what fails on both together is rolled back on both, and meets the same users on both", async () => {
    const [one, two] = instances;
    const { hash } = await statusOf(one);
    const candidate = await guarded(script("status=500"));
    // Their windows never end.
    for (const { clock } of instances) clock.stop();
    const share = chosen(candidate);
    const failed = new Set<string>();
    for (const instance of instances) {
      for (const user of users) if ((await instance.chat(user)).status !== 200) failed.add(user.id);
    }
    expect(failed).toEqual(new Set(share.map(({ id }) => id)));
    const counted = new Map<TestGateway, number>();
    for (const instance of instances) counted.set(instance, share.length);
    // Alone each of them stays below what is evidence.
    const each = MIN_REQUESTS / 2 + 1;
    for (const instance of instances) {
      for (let count = counted.get(instance)!; count < each; count += 1)
        await instance.chat(share[count % share.length]!);
    }
    expect(Math.max(share.length, each)).toBeLessThan(MIN_REQUESTS);
    await eventually(() => statesAre("rolled_back"), PATIENCE_MS);
    for (const { clock } of instances) clock.start();
    const [first, second] = await both();
    expect(first).toMatchObject({ hash, generation: 1, passed_over: { hash: candidate } });
    expect(second).toMatchObject({ hash, generation: 1, passed_over: { hash: candidate } });
    expect(second!.guard!.reason, "one decision").toBe(first!.guard!.reason);
    expect(second!.guard!.decided_at).toBe(first!.guard!.decided_at);
    for (const user of share)
      expect([(await one.chat(user)).status, (await two.chat(user)).status]).toEqual([200, 200]);
  });

  test("a good one is promoted on both", async () => {
    const candidate = await guarded({ billing: { cost_multiplier: 2 } });
    const statuses = [];
    for (const instance of instances) for (const user of users) statuses.push((await instance.chat(user)).status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const all = 2 * chosen(candidate).length;
    await eventually(async () => (await statusOf(instances[0])).guard!.requests.candidate === all, PATIENCE_MS);
    for (const { clock } of instances) clock.advance(FOR_MS);
    await eventually(() => statesAre("promoted"), PATIENCE_MS);
    await eventually(
      async () => (await both()).every((status) => status.hash === candidate && status.agree === true),
      PATIENCE_MS,
    );
    const [first, second] = await both();
    expect(second!.guard!.reason).toBe(first!.guard!.reason);
  });

  test("one that reads the file later does as the other has decided", async () => {
    const [one, two] = instances;
    const patch = script("status=500");
    await one.reload(patch);
    await one.admin("/admin/rollback", { method: "POST", body: { to: 0 } });
    const { hash, guard } = await statusOf(one);
    expect(guard).toMatchObject({ state: "rolled_back" });
    await two.reload(patch);
    await eventually(async () => (await statusOf(two)).guard?.state === "rolled_back", PATIENCE_MS);
    expect(await statusOf(two)).toMatchObject({ hash, passed_over: { hash: guard!.candidate, reason: "asked for" } });
    for (const user of users) expect((await two.chat(user)).status).toBe(200);
  });

  test.each(["rolled_back", "replaced"])(
    "a text that was %s is tried afresh when the file has been another meanwhile, however short ago that was",
    async (state) => {
      const patch = { billing: { cost_multiplier: 2 } };
      const former = { billing: null };
      await guarded(patch);
      if (state === "rolled_back") await instances[1].admin("/admin/rollback", { method: "POST", body: { to: 0 } });
      else await instances[1].reload(former);
      await eventually(() => statesAre(state), PATIENCE_MS);
      for (const instance of instances) await instance.reload(former);
      // Its end is that of the second try, not of the first.
      for (const { clock } of instances) clock.advance(FOR_MS / 2);
      const again = await guarded(patch);
      for (const { clock } of instances) clock.advance(FOR_MS / 2);
      expect((await both()).map(({ guard }) => [guard?.state, guard?.candidate])).toEqual([
        ["running", again],
        ["running", again],
      ]);
      for (const { clock } of instances) clock.advance(FOR_MS / 2);
      await eventually(() => statesAre("promoted"), PATIENCE_MS);
      expect((await both()).map(({ hash }) => hash)).toEqual([again, again]);
    },
  );

  test("a newer file on one of them ends the trial on the other", async () => {
    const [one, two] = instances;
    await guarded({ billing: { cost_multiplier: 2 } });
    await one.reload({ billing: { cost_multiplier: 3 } });
    await eventually(async () => (await statusOf(two)).guard?.state === "replaced", PATIENCE_MS);
    await two.reload({ billing: { cost_multiplier: 3 } });
    for (const { clock } of instances) clock.advance(FOR_MS);
    await eventually(() => statesAre("promoted"), PATIENCE_MS);
    const [first, second] = await both();
    expect(second!.hash).toBe(first!.hash);
  });
});
