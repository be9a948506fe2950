import { describe, expect, test } from "vitest";
import { builtins } from "../../plugins/index.ts";
import { pluginHost as hostOf } from "../../src/kit/builtin.ts";
import {
  definePlugin,
  type Hooks,
  isJson,
  type Plugin,
  type PluginHost,
  Secret,
  type Stage,
  type Store,
  STAGES,
} from "../../src/kit/index.ts";
import { publicSnapshot } from "../../src/kit/public-snapshot.ts";
import { Bench, KEY } from "../support/bench.ts";
import { testSnapshot, testUpstream } from "../support/snapshot.ts";
import { FakeSource, chunk } from "../support/source.ts";
import { answers, USAGE } from "../support/upstream.ts";
import { pluginHost } from "./harness.ts";

/*
 * What a local plugin reaches: from its host, and from what its hooks are given. Everything that can be read is walked:
 * members, inherited ones, symbols, getters, and what functions carry.
 */

interface Reached {
  readonly path: string;
  readonly value: unknown;
}

/** What every object of the language has. */
const NATIVE = new Set<unknown>([
  Object.prototype,
  Function.prototype,
  Array.prototype,
  Object.getPrototypeOf(async () => {}),
]);

/** Everything that is reachable by reading, each object once. */
function reachedFrom(root: unknown): readonly Reached[] {
  const found: Reached[] = [{ path: "", value: root }];
  const seen = new Set<unknown>(NATIVE);
  for (const { path, value } of found) {
    if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) continue;
    seen.add(value);
    for (let owner: object | null = value; owner !== null && !NATIVE.has(owner);) {
      for (const name of Reflect.ownKeys(owner)) {
        if (typeof value === "function" && (name === "prototype" || name === "caller" || name === "arguments"))
          continue;
        // What is gone of a begun request throws.
        const inner = read(value, name);
        found.push({ path: `${path}.${String(name)}`, value: inner });
      }
      owner = Object.getPrototypeOf(owner) as object | null;
    }
  }
  return found;
}

function read(object: object, name: PropertyKey): unknown {
  try {
    return Reflect.get(object, name);
  } catch {
    return undefined;
  }
}

const SECRETS = ["upstream-key", "header-secret", "127.0.0.1:1", "option-secret", "memory:", KEY];

function secretsIn(root: unknown): readonly string[] {
  return reachedFrom(root).flatMap(({ path, value }) => {
    if (value instanceof Secret) return [`${path} is a Secret`];
    return typeof value === "string"
      ? SECRETS.filter((one) => value.includes(one)).map((one) => `${path}: ${one}`)
      : [];
  });
}

const snapshot = testSnapshot({
  upstreams: [
    testUpstream("alpha", { headers: { "X-Own": "header-secret" } }),
    testUpstream("beta", { headers: { "X-Own": "header-secret" } }),
  ],
  pipeline: ["auth", { use: "transform", options: { set: { "/a": "option-secret" } } }, "stream-relay", "meter"],
});

function local(stage: Stage, hooks: Hooks = {}): Plugin {
  return definePlugin({ name: "local", stage, schema: new URL("file:///none.schema.json"), setup: () => hooks });
}

const curated = ["countTokens", "log", "now", "schedule", "snapshot", "storage"];

async function hostFor(plugin: Plugin): Promise<PluginHost> {
  return hostOf(plugin, await pluginHost({ snapshot }), () => publicSnapshot(snapshot));
}

describe("the host of a local plugin", () => {
  test.each(STAGES)("of stage %s has the curated members, and no more", async (stage) => {
    expect(Object.keys(await hostFor(local(stage))).toSorted()).toEqual(curated);
  });

  test("leads to no secret, no store and nothing that can be changed", async () => {
    const host = await pluginHost({ snapshot });
    const own = hostOf(local("transform"), host, () => publicSnapshot(snapshot));
    expect(secretsIn(own)).toEqual([]);
    const reached = reachedFrom(own);
    const open = reached.filter(({ value }) => typeof value === "object" && value !== null && !Object.isFrozen(value));
    expect(open.map(({ path }) => path)).toEqual([]);
    const insides = new Set<unknown>([
      host,
      host.store,
      host.identities,
      host.log,
      host.snapshot,
      host.snapshot.server,
    ]);
    expect(reached.filter(({ value }) => insides.has(value)).map(({ path }) => path)).toEqual([]);
    const methods = new Set(Object.values(host.store));
    expect(reached.filter(({ value }) => typeof value === "function" && methods.has(value as never))).toEqual([]);
    for (const name of ["grant", "addUser", "setTier", "admit", "settle", "addKey", "revokeKey", "close", "presume"]) {
      expect(reached.filter(({ path }) => path.endsWith(`.${name}`)).map(({ path }) => path)).toEqual([]);
    }
  });

  test("has a snapshot of plans, models, prices and the names of upstreams", async () => {
    const { snapshot: known } = await hostFor(local("admit"));
    expect(Object.keys(known).toSorted()).toEqual(["billing", "hash", "models", "store", "tiers", "upstreams"]);
    expect(known.models["route/free"]).toBe(snapshot.models["route/free"]);
    expect(Object.keys(known.upstreams["alpha"]!).toSorted()).toEqual([
      "addressDigest",
      "dialect",
      "displayName",
      "name",
    ]);
    expect(known.store).toEqual({ onFailure: "closed" });
  });
});

/** As the review of November 2026 did it. */
function granting(host: PluginHost): Hooks {
  return {
    async transform(call, { principal }) {
      const { store } = host as unknown as { readonly store: Store };
      await store.grant(principal.userId, 1_000_000_000_000n);
      return call;
    },
  };
}

test("a plugin that would grant its caller credits fails, and grants nothing", async () => {
  for (const fail of ["closed", "open"] as const) {
    const bench = await Bench.create({
      pipeline: ["auth", "plan-check", "quota", "breaker", { use: "local", fail }, "stream-relay", "meter"],
      plugins: [{ ...local("transform"), setup: (_options: never, host) => granting(host) }],
    });
    bench.upstream.play(answers());
    const before = (await bench.store.findUser("ann"))!.granted;
    const client = await bench.serve();
    await bench.audit();
    expect([fail, client.refused === null]).toEqual([fail, fail === "open"]);
    expect(bench.observer.pluginFailures).toMatchObject([{ name: "local", error: expect.any(TypeError) as unknown }]);
    expect((await bench.store.findUser("ann"))!.granted).toBe(before);
  }
});

describe("built-in plugins", () => {
  const powers = Object.values(builtins).map(async (plugin) => {
    const more = Object.keys(await hostFor(plugin)).filter((name) => !curated.includes(name));
    return [plugin.name, more.toSorted()] as const;
  });

  test("have the powers of their stage where they need them, and the others none", async () => {
    const having = (await Promise.all(powers)).filter(([, more]) => more.length > 0);
    expect(Object.fromEntries(having)).toEqual({
      auth: ["identities"],
      quota: ["store"],
      breaker: ["breaker"],
      "stream-relay": ["breaker", "order"],
    });
  });

  test("quota has four methods of the store, auth two of the identities", async () => {
    const quota = (await hostFor(builtins["quota"]!)) as unknown as { readonly store: object };
    expect(Object.keys(quota.store).toSorted()).toEqual(["admit", "release", "settle", "windows"]);
    const auth = (await hostFor(builtins["auth"]!)) as unknown as { readonly identities: object };
    expect(Object.keys(auth.identities).toSorted()).toEqual(["byToken", "presume"]);
  });

  test("lose their powers to nobody who has their name or their file's name", async () => {
    const impostor = { ...local("admit"), name: "quota" };
    expect(Object.keys(await hostFor(impostor)).toSorted()).toEqual(curated);
  });
});

/** What each hook of a plugin is given; the plugin takes part in all that a request is. */
function noting(given: [hook: string, values: readonly unknown[]][], change: (value: unknown) => void): Plugin[] {
  const seen = (hook: string, ...values: unknown[]): void => {
    given.push([hook, values]);
    for (const value of values) change(value);
  };
  const hooks: Hooks = {
    admit(exchange) {
      seen("admit", exchange);
      return { settle: (outcome) => seen("admit.settle", outcome) };
    },
    attempt(target, exchange) {
      seen("attempt", target, exchange);
      return { answered() {}, settle: (result) => seen("attempt.settle", result) };
    },
    transform(call, exchange) {
      seen("transform", call, exchange);
      return call;
    },
    answer(call, exchange) {
      seen("answer", call, exchange);
      return { type: "keep", maxBytes: 100_000, keep: (answer) => seen("answer.keep", answer) };
    },
    event(event, exchange) {
      seen("event", event, exchange);
      return event;
    },
    stream(exchange) {
      seen("stream", exchange);
      return {
        event: (event) => {
          seen("stream.event", event);
          return [event];
        },
      };
    },
    response(body, exchange) {
      seen("response", body, exchange);
      return body;
    },
  };
  const also = ["guard", "admit"] as const;
  return [{ ...local("transform", hooks), name: "noting", also: [...also] }];
}

async function served(change: (value: unknown) => void = () => {}) {
  const given: [hook: string, values: readonly unknown[]][] = [];
  const bench = await Bench.create({
    upstreams: Object.values(snapshot.upstreams),
    pipeline: ["auth", "plan-check", "quota", "breaker", "noting", "stream-relay", "meter"],
    plugins: noting(given, change),
  });
  bench.upstream.play(answers());
  await bench.serve();
  bench.upstream.play((target) => {
    const source = new FakeSource().emit(chunk({ content: "hello" }));
    return { type: "events", target, source: source.emit(chunk({}, { finish: "stop", usage: USAGE })).finish() };
  });
  await bench.stream({ headers: { authorization: `Bearer ${KEY}`, "x-api-key": KEY, cookie: KEY } }).done;
  await bench.audit();
  return { given, bench };
}

describe("what hooks are given", () => {
  test("leads to no key, address or header of an upstream, and to no credential of the caller", async () => {
    const { given } = await served();
    expect(new Set(given.map(([hook]) => hook))).toEqual(
      new Set(
        "admit admit.settle attempt attempt.settle transform answer answer.keep event stream stream.event response".split(
          " ",
        ),
      ),
    );
    for (const [hook, values] of given) expect([hook, values.flatMap(secretsIn)]).toEqual([hook, []]);
    const [, [exchange]] = given.findLast(([hook]) => hook === "admit")!;
    const { header } = exchange as { header: (name: string) => string | null };
    for (const name of ["Authorization", "X-API-Key", "Cookie", "api-key"]) expect(header(name)).toBeNull();
  });

  test("leads to nothing that acts on the request or its attempts, but what the contract names", async () => {
    const { given } = await served();
    const acting = given.flatMap(([hook, values]) =>
      values
        .flatMap(reachedFrom)
        .filter(({ path, value }) => typeof value === "function" && !/^\.signal\b|constructor/.test(path))
        .map(({ path }) => `${hook}${path}`),
    );
    const named = ["admit", "attempt", "transform", "answer", "event", "stream", "response"].map(
      (hook) => `${hook}.header`,
    );
    expect(new Set(acting)).toEqual(new Set([...named, "admit.settle.estimate"]));
  });

  test("changes nothing of what is charged, whatever a plugin does to it", async () => {
    const plain = await served();
    const robbed = await served((value) => rob(value));
    const ledgerOf = async ({ bench }: typeof plain) =>
      (await bench.store.ledger("ann")).map(({ charge, usage, outcome }) => ({ charge, usage, outcome }));
    const ledger = await ledgerOf(plain);
    expect(ledger).toHaveLength(2);
    expect(ledger.every(({ charge }) => charge > 0n)).toBe(true);
    expect(await ledgerOf(robbed)).toEqual(ledger);
    expect(await robbed.bench.balance()).toBe(await plain.bench.balance());
    // What is shared by requests is as it was: another plan, or a bill of nothing, would be everybody's.
    expect(await ledgerOf(await served())).toEqual(ledger);
  });

  test("a principal stays as it was found, for the requests after it", async () => {
    const { given } = await served((value) => rob(value));
    const principals = given.flatMap(([, values]) =>
      values.flatMap((value) => (isJson(value) ? [value["principal"]] : [])),
    );
    expect(principals.length).toBeGreaterThan(0);
    for (const principal of principals.filter((one) => one !== undefined)) {
      expect(principal).toMatchObject({ userId: "ann", tier: "Free" });
      expect(Object.isFrozen(principal)).toBe(true);
    }
  });
});

const PLAIN = new Set([Object.prototype, null]);

/** Sets every amount, count and plan to what a thief would like, wherever that can be set. */
function rob(root: unknown): void {
  const robbed: Readonly<Record<string, unknown>> = {
    charge: 0n,
    prompt: 0,
    completion: 0,
    cached: 0,
    reasoning: 0,
    giveBack: true,
    kind: "gateway_error",
    tier: "Max",
    userId: "eve",
    images: 0,
    usage: { prompt: 0, completion: 0, cached: 0, reasoning: 0 },
  };
  for (const { value } of reachedFrom(root)) {
    if (typeof value !== "object" || value === null) continue;
    // The text of an answer is the plugin's to change.
    if (!PLAIN.has(Object.getPrototypeOf(value) as object | null) && !("principal" in value)) continue;
    for (const [name, wished] of Object.entries(robbed)) if (name in value) Reflect.set(value, name, wished);
  }
}
