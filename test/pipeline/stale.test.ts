import { describe, expect, test } from "vitest";
import { type Admission, type Principal, storeUnavailable } from "../../src/kit/index.ts";
import { Bench, type BenchParts, KEY } from "../support/bench.ts";
import { plugin, reserving } from "../support/spy.ts";
import { answers } from "../support/upstream.ts";

const BUILT_IN = ["auth", "plan-check", "quota", "breaker", "stream-relay", "meter"];

/** A request of a model that the plan Free may not call. */
const MAX = { model: "route/max", messages: [{ role: "user", content: "hi" }] };

const unanswered = () => Promise.reject(storeUnavailable(new Error("away")));

/** A cache that is behind, and a store that refuses what it gives until it has caught up with `now`. */
function cachedPrincipal(...principals: readonly (Principal | null)[]) {
  const left = [...principals];
  const state = { asked: 0, forgotten: 0, confirmed: 0, admitted: [] as (number | undefined)[] };
  const current = principals.at(-1)?.version;
  const parts: BenchParts = {
    identities: {
      presume: (secret) => {
        state.asked += 1;
        const principal = left[0] ?? null;
        return secret === KEY ? principal : null;
      },
      forget: () => {
        state.forgotten += 1;
        if (left.length > 1) left.shift();
      },
      confirm: (principal) => {
        state.confirmed += 1;
        return principal.version === current;
      },
    },
    override: (store) => ({
      admit: async (admission: Admission) => {
        state.admitted.push(admission.version);
        if (admission.version === current) return store.admit(admission);
        return { ok: false, refusal: "principal", windows: await store.windows(admission.userId, admission.limits) };
      },
    }),
  };
  return { state, parts };
}

const ann = (version: number, tier = "Free"): Principal => ({ userId: "ann", tier, keyId: "key_ann", version });

describe("a principal whose version is no longer the store's", () => {
  test("is identified afresh and served, admitted once", async () => {
    const { state, parts } = cachedPrincipal(ann(1), ann(2));
    const bench = await Bench.create(parts);
    bench.upstream.play(answers());
    const client = await bench.serve();
    expect(client.answered?.status).toBe(200);
    expect(state).toMatchObject({ asked: 2, forgotten: 1, confirmed: 0, admitted: [1, 2] });
    expect(bench.observer.finishes).toHaveLength(1);
    await bench.audit();
  });

  test("is refused when its key was revoked: 401, nothing counted", async () => {
    const { parts } = cachedPrincipal(ann(1), null);
    const bench = await Bench.create(parts);
    const client = await bench.serve();
    expect(client.refused?.error).toMatchObject({ code: "AUTHENTICATION_ERROR" });
    expect((await bench.store.windows("ann", { day: 9, hour: 9, minute: 9, streams: 9 })).day.used).toBe(0);
    await bench.audit();
  });

  test("gives back what other plugins reserved, without a price, before it begins afresh", async () => {
    const journal: string[] = [];
    const { parts } = cachedPrincipal(ann(1), ann(2));
    const pipeline = BUILT_IN.toSpliced(2, 0, "keeper");
    const bench = await Bench.create({ ...parts, plugins: [reserving("keeper", journal)], pipeline });
    bench.upstream.play(answers());
    await bench.serve();
    expect(journal).toEqual(["keeper admits", "keeper settles", "keeper admits", "keeper settles"]);
    await bench.audit();
  });

  test.each([
    ["models", { models: ["route/other"] }, "MODEL_NOT_ALLOWED"],
    ["scopes", { scopes: ["usage"] }, "KEY_RESTRICTED"],
    ["addresses", { addresses: ["192.0.2.0/24"] }, "KEY_RESTRICTED"],
  ] as const)(
    "is confirmed before the %s of its key refuse: a key that was changed meanwhile serves",
    async (_, keyLimits, code) => {
      const stale = cachedPrincipal({ ...ann(1), keyLimits }, ann(2));
      const bench = await Bench.create(stale.parts);
      bench.upstream.play(answers());
      expect((await bench.serve()).answered?.status).toBe(200);
      expect(stale.state).toMatchObject({ asked: 2, forgotten: 1, confirmed: 1, admitted: [2] });
      await bench.audit();
      const current = cachedPrincipal({ ...ann(2), keyLimits });
      const refusing = await Bench.create(current.parts);
      expect((await refusing.serve()).refused?.error).toMatchObject({ code });
      expect(current.state).toMatchObject({ asked: 1, confirmed: 1, admitted: [] });
      await refusing.audit();
    },
  );

  test("is confirmed before its plan refuses: a user who has bought a better one is served", async () => {
    const { state, parts } = cachedPrincipal(ann(1, "Free"), ann(2, "Max"));
    const bench = await Bench.create(parts);
    bench.upstream.play(answers());
    const client = await bench.serve({ body: MAX });
    expect(client.answered?.status).toBe(200);
    expect(state).toMatchObject({ asked: 2, forgotten: 1, confirmed: 1, admitted: [2] });
    await bench.audit();
  });

  test("is refused by its plan as it is when nothing has changed, or the store cannot say", async () => {
    const { state, parts } = cachedPrincipal(ann(2, "Free"));
    const bench = await Bench.create(parts);
    const client = await bench.serve({ body: MAX });
    expect(client.refused?.error).toMatchObject({ code: "MODEL_NOT_ALLOWED" });
    expect(state).toMatchObject({ asked: 1, confirmed: 1, admitted: [] });
    const away = cachedPrincipal(ann(2, "Free"));
    const alone = await Bench.create({ ...away.parts, identities: { ...away.parts.identities, confirm: unanswered } });
    const other = await alone.serve({ body: MAX });
    expect(other.refused?.error).toMatchObject({ code: "MODEL_NOT_ALLOWED" });
  });

  test("that keeps changing is 503, not a loop", async () => {
    const { state, parts } = cachedPrincipal(ann(1), ann(1), ann(1), ann(1), ann(1), ann(1), ann(1), ann(2));
    const bench = await Bench.create(parts);
    const client = await bench.serve();
    expect(client.refused?.error).toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(state.admitted).toHaveLength(6);
    await bench.audit();
  });
});

describe("without a plugin that compares versions", () => {
  const open = plugin("open", "admit", { admit: () => ({}) });
  const pipeline = BUILT_IN.toSpliced(2, 1, "open");

  test("the version is confirmed before anything is sent", async () => {
    const { state, parts } = cachedPrincipal(ann(1), ann(2));
    const bench = await Bench.create({ ...parts, plugins: [open], pipeline });
    bench.upstream.play(answers());
    const client = await bench.serve();
    expect(client.answered?.status).toBe(200);
    expect(state).toMatchObject({ asked: 2, confirmed: 2, admitted: [] });
  });
});
