import { createServer as createTcpServer } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { dataOf } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

/** Faults of an upstream before its first event, and the class that the metrics name. */
const FAULTS: readonly (readonly [string, string])[] = [
  ["?status=500", "status"],
  ["?status=502", "status"],
  ["?status=503&retry_after=1", "status"],
  ["?status=529", "status"],
  ["?status=408", "status"],
  ["?status=429", "rate_limited"],
  ["?status=429&retry_after=30", "rate_limited"],
  ["?status=401", "credentials"],
  ["?status=402", "credentials"],
  ["?status=403", "credentials"],
  ["?status=404", "declined"],
  ["?status=407", "declined"],
  ["?status=410", "declined"],
  ["?status=302", "protocol"],
  ["?status=204", "protocol"],
  ["?first_byte=1h", "timeout"],
  ["?stall_after=0", "timeout"],
  ["?reset_after=0", "reset"],
  ["?close_after=0", "reset"],
  ["?html", "protocol"],
  ["?malformed_after=0", "protocol"],
  ["?error_first", "status"],
];
const STREAM_FAULTS: readonly (readonly [string, string])[] = [["?end_after=0", "protocol"]];
const ANSWER_FAULTS: readonly (readonly [string, string])[] = [
  ["?stall_after=1", "timeout"],
  ["?reset_after=1", "reset"],
  ["?close_after=1", "reset"],
  ["?wrong_length", "reset"],
];
/** The client's fault: no other upstream is asked. */
const CLIENT_FAULTS = [400, 405, 406, 409, 411, 413, 414, 415, 422, 431, 451];

const LOST = ["connection refused", "no such host"] as const;

let gateway: TestGateway;
let user: TestUser;
const id = (script: string): string => `route/f${script.replace(/[^a-z0-9]+/g, "-")}x`;
/** The first upstream of its chain, which fails. */
const upstreamOf = (script: string): string => `${id(script).replace("route/", "")}-1`;

beforeAll(async () => {
  const every = [...FAULTS, ...STREAM_FAULTS, ...ANSWER_FAULTS].map(([script]) => script);
  const statuses = CLIENT_FAULTS.map((status) => `?status=${status}&message=you%20did%20it`);
  gateway = await TestGateway.start({
    chains: {
      ...Object.fromEntries([...every, ...statuses].map((script) => [id(script), [script, "-"]])),
      "route/connection-refused": [`http://127.0.0.1:${await closedPort()}/v1`, "-"],
      "route/no-such-host": ["http://no-such-host.invalid/v1", "-"],
      "route/third": ["?status=500", "?reset_after=0", "-"],
      "route/none": ["?status=500", "?status=401", "?html"],
      "route/nowhere": [`http://127.0.0.1:${await closedPort()}/v1`],
      "route/secret": ["?status=500&message=key%20sk-abcdef0123456789abcdef%20at%20https%3A%2F%2Finternal%2F"],
    },
    // Only where a time-out is meant: on a busy machine the others would time out, too.
    config: {
      upstreams: Object.fromEntries(
        [...FAULTS, ...ANSWER_FAULTS]
          .filter(([, failure]) => failure === "timeout")
          .map(([script]) => [upstreamOf(script), { timeouts: { first_byte: "150ms", idle: "150ms", total: "1s" } }]),
      ),
    },
  });
  user = await gateway.user();
});
afterAll(() => gateway.close());

async function closedPort(): Promise<number> {
  const server = createTcpServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

/** What its client sees of a stream is whole, and of an answer who gave it; the ledger names who served. */
async function expectServed(model: string, stream: boolean, by: string): Promise<void> {
  const { status, text } = await gateway.chat(user, { model, stream });
  const end = stream ? dataOf(text).at(-1) : (JSON.parse(text) as Json)["provider"];
  expect([status, text.includes('"error":'), end]).toEqual([200, false, stream ? "[DONE]" : by]);
  const entry = (await gateway.store.ledger(user.id)).findLast((found) => found.model === model);
  expect(entry).toMatchObject({ upstream: by, outcome: "served", charge: 20_000n });
}

describe.each([false, true])("streamed: %s", (stream) => {
  test.each([...FAULTS, ...(stream ? STREAM_FAULTS : ANSWER_FAULTS)])(
    "fails over on %s, a failure of class %s",
    async (script, failure) => {
      const upstream = upstreamOf(script);
      // The key of an upstream that asked for half a minute still rests when the second test comes to it.
      const result = stream && script.includes("retry_after=30") ? "resting" : failure;
      const failed = () => gateway.metric("gateway_upstream_attempts_total", { upstream, result });
      const before = await failed();
      await expectServed(id(script), stream, upstream.replace(/1$/, "2"));
      expect((await failed()) - before).toBe(1);
    },
  );

  test.each(LOST)("fails over on %s", async (fault) => {
    expect.hasAssertions();
    const name = fault.replaceAll(" ", "-");
    await expectServed(`route/${name}`, stream, `${name}-2`);
  });

  test("goes on to the third upstream, in order, asking each once", async () => {
    const before = gateway.simulator.ledger().length;
    await expectServed("route/third", stream, "third-3");
    const asked = gateway.simulator.ledger().slice(before);
    expect(asked.map(({ path }) => decodeURIComponent(path))).toEqual(
      ["status=500", "reset_after=0", "-"].map((script) => `/sim/${script}/v1/chat/completions`),
    );
    expect(new Set(asked.map(({ requestId }) => requestId)).size).toBe(1);
  });

  test.each(CLIENT_FAULTS)("does not fail over on %i: a 400 in the upstream's words", async (status) => {
    const before = gateway.simulator.ledger().length;
    const answer = await gateway.chat(user, { model: id(`?status=${status}&message=you%20did%20it`), stream });
    expect([answer.status, answer.headers["x-error-code"], answer.text]).toEqual([
      400,
      "INVALID_REQUEST",
      "Invalid request: you did it",
    ]);
    expect(gateway.simulator.ledger()).toHaveLength(before + 1);
  });

  test("names every cause once, never an upstream's address, key, own words or markup", async () => {
    const none = await gateway.chat(user, { model: "route/none", stream });
    const type = stream ? "text/event-stream" : "application/json";
    expect(none.text).toBe(
      "Every upstream failed: upstream answered 500; upstream refused the gateway's credentials (401); " +
        `upstream answered with something other than ${type}`,
    );
    const nowhere = await gateway.chat(user, { model: "route/nowhere", stream });
    expect([nowhere.status, nowhere.text]).toEqual([502, "Every upstream failed: upstream could not be reached"]);
    const secret = await gateway.chat(user, { model: "route/secret", stream });
    expect(secret.text).toBe("Every upstream failed: upstream answered 500");
    for (const { headers, text } of [none, nowhere, secret])
      expect(JSON.stringify(headers) + text).not.toMatch(/127\.0\.0\.1|sk-|internal/);
  });
});

test("retries.attempts counts tries: a fault that passes is not seen by anybody", async () => {
  const patient = await TestGateway.start({
    chains: { "route/twice": ["?status=500&fail_times=2"] },
    config: { upstreams: { "twice-1": { retries: { attempts: 3, min_delay: "1ms", max_delay: "5ms" } } } },
  });
  const someone = await patient.user();
  expect((await patient.chat(someone, { model: "route/twice" })).status).toBe(200);
  expect(patient.simulator.ledger().map(({ status }) => status)).toEqual([500, 500, 200]);
  expect((await patient.books(someone)).ledger).toHaveLength(1);
  await patient.close();
});

describe("the breaker", () => {
  test("opens after `consecutive` failures, skips the upstream, and closes on a probe that serves", async () => {
    const breaker = { consecutive: 3, open_for: "10s", max_open_for: "10s" };
    const guarded = await TestGateway.start({
      chains: { "route/sick": ["?status=500&fail_times=3", "-"] },
      config: { upstreams: { "sick-1": { breaker } } },
    });
    const someone = await guarded.user();
    const providers = async (count: number): Promise<readonly unknown[]> => {
      const seen: unknown[] = [];
      for (let index = 0; index < count; index += 1) {
        const { text } = await guarded.chat(someone, { model: "route/sick" });
        seen.push((JSON.parse(text) as Json)["provider"]);
      }
      return seen;
    };
    const state = async (): Promise<unknown> => {
      const { text } = await guarded.admin("/admin/upstreams");
      return (JSON.parse(text) as Record<string, Json>)["sick-1"];
    };
    expect(await providers(3)).toEqual(["sick-2", "sick-2", "sick-2"]);
    expect(await state()).toMatchObject({ breaker: "open" });
    expect(await guarded.metric("gateway_breaker_state", { upstream: "sick-1" })).toBe(2);
    const asked = guarded.simulator.ledger().length;
    expect(await providers(2)).toEqual(["sick-2", "sick-2"]);
    expect(guarded.simulator.ledger()).toHaveLength(asked + 2);
    guarded.clock.advance(12_001);
    expect(await state()).toMatchObject({ breaker: "half_open" });
    expect(await providers(2)).toEqual(["sick-1", "sick-1"]);
    expect(await state()).toMatchObject({ breaker: "closed" });
    await guarded.close();
  });

  test("is not marked by what clients do wrong, nor by those who go away", async () => {
    const guarded = await TestGateway.start({ config: { upstreams: { "one-1": { breaker: { consecutive: 1 } } } } });
    const someone = await guarded.user();
    for (const script of ["?status=400", "?status=422"])
      expect((await guarded.chat(someone, { sim: script })).status).toBe(400);
    for (const stream of [true, false]) {
      const call = guarded.open(someone, { stream, sim: "?first_byte=1h" });
      await expect.poll(() => guarded.simulator.ledger().at(-1)?.closedAt).toBe(null);
      call.leave();
      await guarded.audit();
    }
    expect(await guarded.metric("gateway_breaker_state", { upstream: "one-1" })).toBe(0);
    expect((await guarded.chat(someone)).status).toBe(200);
    await guarded.close();
  });
});

const target = (upstream: string, weight: number): Json => ({ upstream, model: "m", weight });
const step = (...targets: readonly Json[]): readonly Json[] => [{ balance: "weighted", targets }];

describe("a step that balances", () => {
  test("weighted: serves in proportion, and fails over to the others", async () => {
    const balanced = await TestGateway.start({
      chains: { "route/a": ["-"], "route/b": ["-"], "route/bad": ["?status=500"] },
      config: {
        models: {
          "route/a": { chain: step(target("a-1", 3), target("b-1", 1)) },
          "route/b": { chain: step(target("bad-1", 1_000), target("b-1", 1)) },
          "route/bad": { chain: step(target("a-1", 1), target("bad-1", 0)) },
        },
      },
    });
    const someone = await balanced.user();
    const providers = async (model: string, count: number): Promise<readonly unknown[]> =>
      Promise.all(
        Array.from({ length: count }, async () => {
          const { text } = await balanced.chat(someone, { model });
          return (JSON.parse(text) as Json)["provider"];
        }),
      );
    const first = (await providers("route/a", 400)).filter((provider) => provider === "a-1").length;
    // Five standard deviations around 300.
    expect(Math.abs(first - 300)).toBeLessThan(44);
    expect(new Set(await providers("route/b", 20))).toEqual(new Set(["b-1"]));
    expect(new Set(await providers("route/bad", 20))).toEqual(new Set(["a-1"]));
    await balanced.close();
  });

  test("sticky: a user stays with one upstream", async () => {
    const targets = [1, 2, 3, 4].map((index) => ({ upstream: `all-${index}`, model: "m" }));
    const balanced = await TestGateway.start({
      chains: { "route/all": ["-", "-", "-", "-"] },
      config: { models: { "route/all": { chain: [{ balance: "sticky", targets }] } } },
    });
    const seen = new Set<unknown>();
    for (let index = 0; index < 16; index += 1) {
      const someone = await balanced.user();
      const mine = new Set<unknown>();
      for (let count = 0; count < 4; count += 1)
        mine.add((JSON.parse((await balanced.chat(someone, { model: "route/all" })).text) as Json)["provider"]);
      expect(mine.size).toBe(1);
      seen.add([...mine][0]);
    }
    expect(seen.size).toBeGreaterThan(1);
    await balanced.close();
  });
});
