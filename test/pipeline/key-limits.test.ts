import { describe, expect, test } from "vitest";
import {
  budgetResetsAt,
  type Exchange,
  type KeyBudget,
  type KeyLimits,
  NANOS_PER_UNIT,
  type Tag,
} from "../../src/kit/index.ts";
import { Bench } from "../support/bench.ts";
import { plugin } from "../support/spy.ts";

/** A pipeline whose caller has a key with these limits; what plugins see of each request. */
async function withKey(keyLimits: KeyLimits, tags: readonly Tag[] = []) {
  const seen: Exchange[] = [];
  const mark = plugin("mark", "admit", { admit: (exchange) => (seen.push(exchange), { tags }) });
  const ann = { userId: "ann", tier: "Free", keyId: "key_ann", keyLimits };
  const bench = await Bench.create({
    plugins: [mark],
    pipeline: ["auth", "mark", "quota", "breaker", "stream-relay", "meter"],
    identities: { byKey: () => ann, presume: () => ann },
  });
  return { bench, seen };
}

/** The same with a key that the store knows. */
async function withKeyOfStore(budget: KeyBudget) {
  const limits = { budget };
  const { bench } = await withKey(limits);
  const key = { id: "key_ann", userId: "ann", name: "n", prefix: "rk_", digest: new Uint8Array(32), limits };
  await bench.store.addKey(key, 1);
  return { bench, limits };
}

describe("the models of a key", () => {
  test("are served; any other is refused, though the plan has it, and costs nothing", async () => {
    const { bench } = await withKey({ models: ["route/f*e"] });
    const served = bench.stream();
    await served.done;
    expect(served.client.ended).toBe(true);
    expect(await bench.store.ledger("ann")).toHaveLength(1);
    const { bench: refusing, seen } = await withKey({ models: ["route/x*", "free"] });
    const refused = refusing.request();
    await refused.done;
    expect(refused.client.refused?.error).toMatchObject({
      code: "MODEL_NOT_ALLOWED",
      message: "Model 'route/free' is not among the models of this API key",
    });
    expect([seen.length, refusing.upstream.attempts.length]).toEqual([0, 0]);
    expect(await refusing.store.ledger("ann")).toEqual([]);
    await refusing.audit();
  });
});

describe("the budget of a key", () => {
  test.each([
    ["month", "0.00001 per month"],
    ["day", "0.00001 per day"],
    ["total", "0.00001 in all"],
  ] as const)("per %s is named by the refusal, which costs nothing", async (per, text) => {
    const { bench } = await withKey({ budget: { amount: 10_000n, per } });
    const resetsAt = budgetResetsAt(per, bench.clock.now());
    const end = resetsAt === null ? "" : `; it resets at ${new Date(resetsAt).toISOString()}`;
    const refused = bench.request();
    await refused.done;
    expect(refused.client.refused?.error).toMatchObject({
      code: "INSUFFICIENT_CREDITS",
      message: `This API key's budget of ${text} has not enough left for this request${end}`,
    });
    expect(await bench.store.ledger("ann")).toEqual([]);
    await bench.audit();
  });

  test("is spent by what is charged, also by a stream that breaks off", async () => {
    const { bench, limits } = await withKeyOfStore({ amount: 10n * NANOS_PER_UNIT, per: "total" });
    const running = bench.stream();
    await running.done;
    const gone = bench.stream();
    gone.client.abort("client_gone");
    await gone.done;
    const charged = (await bench.store.ledger("ann")).reduce((sum, { charge }) => sum + charge, 0n);
    expect(charged).toBeGreaterThan(0n);
    expect((await bench.store.listKeys("ann"))[0]).toMatchObject({ limits, budget: { spent: charged, held: 0n } });
    await bench.audit();
  });
});

describe("the tags of a key", () => {
  test("are in the ledger, and win over a client's of the same name", async () => {
    const { bench, seen } = await withKey({ tags: { team: "search", app: "web" } }, [
      { name: "team", value: "other", measured: true },
      { name: "user", value: "x" },
    ]);
    await bench.stream().done;
    expect(seen[0]?.tags).toEqual([
      { name: "team", value: "search", measured: true },
      { name: "app", value: "web", measured: false },
      { name: "user", value: "x", measured: false },
    ]);
    expect(await bench.store.ledger("ann")).toMatchObject([{ tags: { team: "search", app: "web", user: "x" } }]);
    await bench.audit();
  });

  test("take no room from those of plugins", async () => {
    const tags = Array.from({ length: 20 }, (_, index) => ({ name: `t${index}`, value: "x" }));
    const { bench, seen } = await withKey({ tags: { a: "1", b: "2" } }, tags);
    await bench.stream().done;
    expect(seen[0]?.tags).toHaveLength(18);
  });
});
