import { describe, expect, test } from "vitest";
import type { Exchange, KeyLimits, Tag } from "../../src/kit/index.ts";
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
