import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import * as fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createKey } from "../../../../src/accounts/api-keys.ts";
import { startGateway } from "../../../../src/gateway/start.ts";
import type { Endpoint, Json } from "../../../../src/kit/index.ts";
import { describeRedis, redisOfSuite } from "../../../support/redis.ts";
import { ALL_ENDPOINTS, FORMAT_NAMES, FORMATS, openFormat } from "../../support/formats.ts";
import { file } from "../../support/form.ts";
import { type Answer, eventually, send, shown } from "../../support/http.ts";
import type { TestGateway, TestUser } from "../../support/in-process.ts";
import { AUDIO, MEDIA } from "../../support/kinds.ts";
import { expectOneCharge, expectReplay, keyed, type Stage, startStage } from "./stage.ts";

const FIRST = { headers: { "x-request-id": "first" } };
const SECOND = { headers: { "x-request-id": "second" } };
const CONFLICT = "IDEMPOTENCY_CONFLICT";
const VERSION = { "anthropic-version": "2023-06-01" };
const unitsOf = (endpoint: Endpoint): number => ((MEDIA as readonly Endpoint[]).includes(endpoint) ? 5 : 1);
/** Another body that is as good. */
const OTHER: Readonly<Record<Endpoint, Json>> = {
  chat: { temperature: 0.5 },
  messages: { temperature: 0.5 },
  responses: { temperature: 0.5 },
  embeddings: { input: "three other words" },
  rerank: { query: "black tea" },
  speech: { input: "Say another thing." },
  transcription: { file: file(AUDIO.subarray(0, -2)) },
  image: { prompt: "a blue boat" },
};

const isRefused = ({ status, headers }: Answer): boolean => status === 503 && headers["x-error-code"] === "OVERLOADED";

let stage: Stage;
/** The first and the last instance; the same where there is one. */
const ends = (): readonly [TestGateway, TestGateway] => [stage.gateways[0], stage.gateways.at(-1)!];

/** Waits until a request has reached the upstream, which holds it back. */
async function heldBack(ask: () => ReturnType<typeof keyed>): Promise<ReturnType<typeof keyed>> {
  stage.gate.shut();
  const { count } = stage.gate;
  const call = ask();
  await eventually(() => stage.gate.count > count, 20_000);
  return call;
}

describe("on SQLite", () => {
  beforeAll(async () => {
    stage = await startStage(1, null);
  });
  afterAll(() => stage.close());
  idempotencySuite();

  test("keys outlive a restart", async () => {
    const own = await startStage(1, null);
    const [gateway] = own.gateways;
    const user = await gateway.user();
    const first = await keyed(gateway, user, "chat", "a", FIRST).whole();
    await gateway.gateway.close();
    const again = await startGateway({ file: gateway.file, env: {}, logLevel: "silent", now: gateway.clock.now });
    const { port } = again.addresses[0]!;
    const { path, body } = FORMATS.chat;
    const headers = { authorization: `Bearer ${user.key}`, "content-type": "application/json", "idempotency-key": "a" };
    const sent = { headers, body: { model: "route/one", ...body } };
    expectReplay(await send(`http://127.0.0.1:${port}${path}`, sent), first);
    expect(own.gate.count).toBe(1);
    await again.close();
    await Promise.all([own.gate.close(), own.simulator.close(), gateway.stop()]);
  });

  test("neither key, prompt nor answer can be read in the file", async () => {
    const [gateway] = stage.gateways;
    const secrets = { key: "key-that-nobody-reads", prompt: "prompt that nobody reads" };
    const changes = { messages: [{ role: "user", content: secrets.prompt }] };
    const first = await keyed(gateway, await gateway.user(), "chat", secrets.key, { changes }).whole();
    expect(first.text).toContain(secrets.prompt);
    const file = join(dirname(gateway.file), "gateway.db");
    const bytes = [file, `${file}-wal`].map((path) => readFileSync(path, "latin1")).join("");
    expect(bytes).toContain("idempotency_keys");
    for (const secret of Object.values(secrets)) expect(bytes).not.toContain(secret);
  });

  test("who waits while the gateway stops is told so", async () => {
    const own = await startStage(1, null);
    const [gateway] = own.gateways;
    const user = await gateway.user();
    own.gate.shut();
    const calls = [keyed(gateway, user, "chat", "a"), keyed(gateway, user, "chat", "a")];
    await eventually(() => own.gate.count === 1 && gateway.gateway.adminView !== null);
    await eventually(async () => (await gateway.books(user)).running.requests === 1);
    await gateway.gateway.close();
    for (const call of calls) {
      expect(shown(await call.whole()).slice(0, 2)).toEqual([503, "SHUTTING_DOWN"]);
    }
    expect(own.gate.count).toBe(1);
    await Promise.all([own.gate.close(), own.simulator.close(), gateway.stop()]);
  });
});

describeRedis("on Redis, by two instances", () => {
  const redis = redisOfSuite(["--appendonly", "yes", "--maxmemory-policy", "noeviction"]);
  beforeAll(async () => {
    stage = await startStage(2, { url: redis.url });
  });
  afterAll(() => stage.close());
  idempotencySuite();

  test("the key of a silent instance is free when its lease ends", async () => {
    const own = await startStage(2, { url: redis.url, prefix: "lease:" });
    const [silent, other] = own.gateways as unknown as readonly [TestGateway, TestGateway];
    const user = await silent.user();
    own.gate.shut();
    const first = keyed(silent, user, "chat", "k", FIRST);
    await eventually(() => own.gate.count === 1, 20_000);
    const second = keyed(other, user, "chat", "k", SECOND);
    other.clock.advance(61_000);
    await eventually(() => own.gate.count === 2, 20_000);
    own.gate.open();
    const answers = [await first.whole(), await second.whole()];
    expect(answers.map(({ status, headers }) => [status, headers["x-request-id"]])).toEqual([
      [200, "first"],
      [200, "second"],
    ]);
    expectReplay(await keyed(other, user, "chat", "k").whole(), answers[1]!);
    silent.clock.advance(61_000);
    await own.close();
  });

  test("an answer that the store cannot take is kept once it is back", async () => {
    const own = await startStage(2, { url: redis.url, prefix: "back:", timeout: "250ms" });
    const [one, two] = own.gateways;
    const user = await one.user();
    own.gate.shut();
    const call = keyed(one, user, "chat", "k", FIRST);
    await eventually(() => own.gate.count === 1, 20_000);
    redis.pause();
    own.gate.open();
    try {
      expect((await call.whole()).status).toBe(200);
    } finally {
      redis.resume();
    }
    const again = async () => (await keyed(two!, user, "chat", "k").whole()).headers["idempotency-replayed"] === "true";
    await eventually(again, 20_000);
    expect(own.gate.count).toBe(1);
    // The connection is being made afresh.
    await eventually(async () => (await one.books(user).catch(() => null))?.ledger.length === 1, 20_000);
    expectOneCharge(await one.books(user), 1);
    await own.close();
  });

  test("while the store is away a request with a key is a 503, though others are served", async () => {
    const own = await startStage(1, { url: redis.url, prefix: "away:", on_failure: "open", timeout: "250ms" });
    const [gateway] = own.gateways;
    const user = await gateway.user();
    const plain = () => openFormat(gateway, user, "chat").whole();
    expect((await plain()).status).toBe(200);
    redis.pause();
    try {
      await eventually(async () => (await plain()).status === 200, 20_000);
      const answer = await keyed(gateway, user, "chat", "k").whole();
      expect(shown(answer).slice(0, 2)).toEqual([503, "STORE_UNAVAILABLE"]);
      expect(answer.headers).toMatchObject({ "retry-after": "1" });
    } finally {
      redis.resume();
    }
    await eventually(async () => (await keyed(gateway, user, "chat", "k").whole()).status === 200, 20_000);
    await own.close();
  });
});

function idempotencySuite(): void {
  let user: TestUser;
  afterEach(() => stage.gate.open());
  const newUser = async () => (user = await stage.gateways[0].user());
  /** Ids of the user's streams, those that wait among them. */
  const streamsOf = async (gateway: TestGateway): Promise<readonly string[]> => {
    const { data } = JSON.parse((await gateway.get("/v1/user/streams", user)).text) as { data: { id: string }[] };
    return data.map(({ id }) => id);
  };

  test.each(ALL_ENDPOINTS)("%s: the same request is served once and answered again", async (endpoint) => {
    await newUser();
    const [one, two] = ends();
    const { count } = stage.gate;
    const first = await keyed(one, user, endpoint, "k", FIRST).whole();
    expect([first.status, first.headers["x-request-id"], first.headers["idempotency-replayed"]]).toEqual([
      200,
      "first",
      undefined,
    ]);
    const books = await one.books(user);
    expectOneCharge(books, unitsOf(endpoint));
    const metrics = await one.metric("gateway_requests_total");
    for (const gateway of [one, two]) expectReplay(await keyed(gateway, user, endpoint, "k", SECOND).whole(), first);
    expect(stage.gate.count).toBe(count + 1);
    expect(await one.books(user)).toEqual(books);
    expect(await one.metric("gateway_requests_total")).toBe(metrics);
    expect(await one.metric("gateway_replayed_requests_total", { endpoint })).toBeGreaterThan(0);
  });

  test.each(ALL_ENDPOINTS)("%s: another body, or another endpoint, is 422", async (endpoint) => {
    await newUser();
    const [one, two] = ends();
    expect((await keyed(one, user, endpoint, "k", FIRST).whole()).status).toBe(200);
    const books = await one.books(user);
    const next = ALL_ENDPOINTS[(ALL_ENDPOINTS.indexOf(endpoint) + 1) % ALL_ENDPOINTS.length]!;
    for (const answer of [
      await keyed(two, user, endpoint, "k", { changes: OTHER[endpoint], ...SECOND }).whole(),
      await keyed(two, user, next, "k", SECOND).whole(),
    ]) {
      expect(shown(answer).slice(0, 2)).toEqual([422, CONFLICT]);
      expect(answer.headers).toMatchObject({ "x-request-id": "second" });
      expect(answer.headers["idempotency-replayed"]).toBeUndefined();
    }
    expect(await one.books(user)).toEqual(books);
  });

  test("one JSON value at two endpoints is two requests", async () => {
    await newUser();
    const [one] = ends();
    const changes = { max_tokens: 1_024 };
    expect((await keyed(one, user, "chat", "k", { changes }).whole()).status).toBe(200);
    expect((await keyed(one, user, "messages", "k", { changes }).whole()).status).toBe(422);
  });

  test("another user's key is another key", async () => {
    await newUser();
    const [one, two] = ends();
    const other = await one.user();
    const { count } = stage.gate;
    for (const gateway of [one, two])
      for (const somebody of [user, other])
        expect((await keyed(gateway, somebody, "chat", "k").whole()).status).toBe(200);
    expect(stage.gate.count).toBe(count + 2);
  });

  test.each(FORMAT_NAMES)("a stream in the format %s is not kept: 409 names it", async (name) => {
    await newUser();
    const [one, two] = ends();
    const changes = { stream: true };
    const first = await keyed(one, user, name, "k", { changes, ...FIRST }).whole();
    expect(first.text).toMatch(FORMATS[name].done);
    const books = await one.books(user);
    const told = "Request first with this Idempotency-Key has ended (served): its answer is not kept";
    for (const gateway of [one, two]) {
      const again = await keyed(gateway, user, name, "k", { changes, ...SECOND }).whole();
      expect(shown(again)).toEqual([409, CONFLICT, "text/plain; charset=utf-8", told]);
      expect(again.headers).toMatchObject({
        "idempotency-replayed": "true",
        "x-request-id": "first",
        "x-should-retry": "false",
      });
    }
    const headers = name === "messages" ? VERSION : { accept: "application/json" };
    const asJson = await keyed(two, user, name, "k", { changes, headers }).whole();
    expect(JSON.parse(asJson.text)).toMatchObject({ error: { type: "invalid_request_error", message: told } });
    expect(await one.books(user)).toEqual(books);
  });

  test("an answer beyond 1 MiB is not kept", async () => {
    await newUser();
    const [one, two] = ends();
    const changes = { input: Array.from({ length: 80 }, () => "a word"), dimensions: 2_000 };
    const first = await keyed(one, user, "embeddings", "k", { changes, ...FIRST }).whole();
    expect(first.bytes.length).toBeGreaterThan(1024 * 1024);
    const again = await keyed(two, user, "embeddings", "k", { changes }).whole();
    expect([again.status, again.text]).toEqual([409, expect.stringContaining("Request first with")]);
  });

  test.each(ALL_ENDPOINTS)("%s: who comes while the first runs waits for it, and takes no slot", async (endpoint) => {
    await newUser();
    const [one, two] = ends();
    const { count } = stage.gate;
    const first = await heldBack(() => keyed(one, user, endpoint, "k", FIRST));
    const waiting = [one, two, one, two].map((gateway) => keyed(gateway, user, endpoint, "k", SECOND));
    expect((await keyed(two, user, endpoint, "k", { changes: OTHER[endpoint] }).whole()).status).toBe(422);
    expect((await one.books(user)).running).toMatchObject({ requests: 1 });
    stage.gate.open();
    const answer = await first.whole();
    for (const call of waiting) expectReplay(await call.whole(), answer);
    expect(stage.gate.count).toBe(count + 1);
    expectOneCharge(await one.books(user), unitsOf(endpoint));
  });

  test("a failed request frees its key: one of those that wait is served", async () => {
    await newUser();
    const [one, two] = ends();
    const changes = { sim: { status: 500, fail_times: 1, name: user.id } };
    const { count } = stage.gate;
    const first = await heldBack(() => keyed(one, user, "chat", "k", { changes }));
    const waiting = [one, two, two].map((gateway) => keyed(gateway, user, "chat", "k", { changes }));
    stage.gate.open();
    expect((await first.whole()).status).toBe(502);
    const answers = await Promise.all(waiting.map((call) => call.whole()));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ headers }) => headers["x-request-id"])).size).toBe(1);
    expect(answers.filter(({ headers }) => headers["idempotency-replayed"] === "true")).toHaveLength(2);
    expect(stage.gate.count).toBe(count + 2);
    expectOneCharge(await one.books(user), 1);
  });

  test.each([
    ["refused", { model: "route/none" }, 400],
    ["the client's fault", { sim: "?status=400" }, 400],
  ] as const)("a request that was %s frees its key, also for another one", async (_, changes, status) => {
    await newUser();
    const [one, two] = ends();
    expect((await keyed(one, user, "chat", "k", { changes }).whole()).status).toBe(status);
    await eventually(async () => (await keyed(two, user, "chat", "k").whole()).status === 200);
  });

  test.each([false, true])("one that its client abandoned frees its key; streamed: %s", async (stream) => {
    await newUser();
    const [one, two] = ends();
    const changes = { stream };
    const first = await heldBack(() => keyed(one, user, "chat", "k", { changes }));
    const { count } = stage.gate;
    const second = keyed(two, user, "chat", "k", { changes });
    first.leave();
    await eventually(() => stage.gate.count > count, 20_000);
    stage.gate.open();
    const answer = await second.whole();
    expect([answer.status, answer.headers["idempotency-replayed"]]).toEqual([200, undefined]);
    const { ledger } = await one.books(user);
    expect(ledger.map(({ outcome }) => outcome).toSorted()).toEqual(["client_gone", "served"]);
  });

  test("a stream that is left frees its key, unless its answer was made", async () => {
    await newUser();
    const [one, two] = ends();
    const changes = { stream: true, sim: { chunks: 2, stall_after: 2 } };
    const half = keyed(one, user, "chat", "half", { changes });
    await half.until('"content":"');
    half.leave();
    const again = keyed(two, user, "chat", "half", { changes });
    await again.until('"content":"');
    again.leave();
    const finished = { stream: true, sim: { chunks: 2, stall_after: 4 } };
    const left = keyed(one, user, "chat", "made", { changes: finished, ...FIRST });
    await left.until('"finish_reason":"stop"');
    left.leave();
    const told = await keyed(two, user, "chat", "made", { changes: finished }).whole();
    expect([told.status, told.text]).toEqual([409, expect.stringContaining("Request first with this Idempotency-Key")]);
    expect(told.text).toContain("(client_gone)");
    expect((await one.books(user)).ledger.map(({ outcome }) => outcome)).toEqual(Array(3).fill("client_gone"));
  });

  test("a stream that breaks off frees its key", async () => {
    await newUser();
    const [one, two] = ends();
    const changes = { stream: true, sim: { chunks: 9, reset_after: 3, fail_times: 1, name: user.id } };
    const first = await keyed(one, user, "chat", "k", { changes }).whole();
    expect(first.text).toMatch(/"error":/);
    expect((await keyed(two, user, "chat", "k", { changes }).whole()).text).not.toContain('"error":');
    expect((await keyed(one, user, "chat", "k", { changes }).whole()).status).toBe(409);
  });

  test("who leaves while it waits, or is killed, takes nothing along", async () => {
    await newUser();
    const [one, two] = ends();
    const changes = { stream: true };
    const first = await heldBack(() => keyed(one, user, "chat", "k", { changes, ...FIRST }));
    const [running] = await streamsOf(one);
    for (const gateway of [one, two]) {
      // Instances may not know each other yet.
      const waiting = async () => (await streamsOf(gateway)).filter((id) => id !== running);
      const gone = keyed(gateway, user, "chat", "k", { changes });
      await eventually(async () => (await waiting()).length === 1);
      gone.leave();
      await eventually(async () => (await waiting()).length === 0);
      const killed = keyed(gateway, user, "chat", "k", { changes });
      await eventually(async () => (await waiting()).length === 1);
      const [id] = await waiting();
      await gateway.send(`/v1/user/streams/${id}`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${user.key}` },
      });
      expect((await killed.whole()).text).toBe("data: [DONE]\n\n");
    }
    stage.gate.open();
    expect((await first.whole()).text).toMatch(FORMATS.chat.done);
    expect((await keyed(two, user, "chat", "k", { changes }).whole()).text).toContain("(served)");
    expectOneCharge(await one.books(user), 1);
  });

  test("who waits longer than the model's deadline is told that the first runs still", async () => {
    await newUser();
    const [one, two] = ends();
    const hurried = { models: { "route/one": { deadline: "300ms" } } };
    const first = await heldBack(() => keyed(one, user, "chat", "k", FIRST));
    for (const gateway of stage.gateways) await gateway.reload(hurried);
    for (const gateway of [one, two]) {
      const late = await keyed(gateway, user, "chat", "k", SECOND).whole();
      expect([late.status, late.text]).toEqual([409, "Request first with this Idempotency-Key has not ended yet"]);
      expect(late.headers).toMatchObject({ "retry-after": "1", "x-request-id": "second" });
    }
    for (const gateway of stage.gateways) await gateway.reload({ models: { "route/one": { deadline: "1h" } } });
    stage.gate.open();
    expectReplay(await keyed(two, user, "chat", "k").whole(), await first.whole());
  });

  test("more than 100 requests of a user do not wait in one process", async () => {
    await newUser();
    const [one] = ends();
    const first = await heldBack(() => keyed(one, user, "chat", "k"));
    const calls = Array.from({ length: 103 }, () => keyed(one, user, "chat", "k").whole());
    await Promise.any(calls.map(async (call) => expect(isRefused(await call)).toBe(true)));
    stage.gate.open();
    await first.whole();
    const answers = await Promise.all(calls);
    expect(answers.filter(isRefused)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
  });

  test("whatever clients do, and however the upstream is, one request of a key is served", async () => {
    const client = fc.record({ instance: fc.nat(1), leavesAfterMs: fc.option(fc.nat(30)) });
    const sim = fc.record({
      first_byte: fc.constantFrom("0ms", "15ms"),
      status: fc.constantFrom(200, 500),
      fail_times: fc.nat(2),
    });
    const property = fc.asyncProperty(
      fc.array(client, { minLength: 2, maxLength: 6 }),
      sim,
      async (clients, script) => {
        await newUser();
        const [one] = ends();
        const changes = { sim: { ...script, name: user.id } };
        const ask = (instance: number) => keyed(ends()[instance]!, user, "chat", "k", { changes });
        const calls = clients.map(async ({ instance, leavesAfterMs }) => {
          const call = ask(instance);
          if (leavesAfterMs !== null) setTimeout(() => call.leave(), leavesAfterMs);
          return call.whole().catch(() => null);
        });
        const answers: (Answer | null)[] = await Promise.all(calls);
        while (answers.at(-1)?.status !== 200) answers.push(await ask(answers.length % 2).whole());
        await eventually(async () => (await one.books(user)).running.requests === 0);
        const served = answers.filter((answer) => answer?.status === 200 && answer.whole);
        expect(new Set(served.map((answer) => answer!.text)).size).toBe(1);
        expect(new Set(served.map((answer) => answer!.headers["x-request-id"])).size).toBe(1);
        const { ledger } = await one.books(user);
        const charged = ledger.filter(({ outcome }) => outcome === "served");
        // Its own client may have left after the answer was made: then that is the one.
        expect(charged.length).toBeLessThanOrEqual(1);
        expect(new Set(ledger.map(({ outcome }) => outcome)).difference(new Set(["served", "client_gone"])).size).toBe(
          0,
        );
      },
    );
    await fc.assert(property, { numRuns: 15 });
  });

  test("a kept answer is for who may call its model with a live key", async () => {
    await newUser();
    const [one, two] = ends();
    const { body: restricted } = await createKey(one.store, {
      userId: user.id,
      name: "other models",
      limits: { models: ["route/embed"] },
    });
    const { body: revoked } = await createKey(one.store, { userId: user.id, name: "revoked" });
    const withKey = (key: string) => keyed(two, { ...user, key }, "chat", "k").whole();
    const first = await keyed(one, user, "chat", "k").whole();
    expectReplay(await withKey(revoked.key), first);
    await one.store.revokeKey(revoked.id);
    expect((await withKey(revoked.key)).status).toBe(401);
    expect((await withKey(restricted.key)).status).toBe(403);
    expectReplay(await withKey(user.key), first);
    await one.store.setDisabled(user.id, true);
    expect((await withKey(user.key)).status).toBe(401);
    await one.store.setDisabled(user.id, false);
  });

  test("a plan that has changed, and limits that are reached, are no matter to what was served", async () => {
    await newUser();
    const [one, two] = ends();
    const { balance } = await one.books(user);
    const first = await keyed(one, user, "chat", "k").whole();
    await one.store.grant(user.id, -balance);
    await one.store.setTier(user.id, "Nothing");
    expectReplay(await keyed(two, user, "chat", "k").whole(), first);
    expect((await keyed(two, user, "chat", "other").whole()).status).toBeGreaterThanOrEqual(400);
    await one.store.setTier(user.id, "Max");
  });

  test("a key is free after 24 hours", async () => {
    await newUser();
    const [one] = ends();
    const { count } = stage.gate;
    await keyed(one, user, "chat", "k").whole();
    one.clock.advance(86_399_000);
    expect((await keyed(one, user, "chat", "k").whole()).headers["idempotency-replayed"]).toBe("true");
    one.clock.advance(2_000);
    const answer = await keyed(one, user, "chat", "k", { changes: OTHER.chat }).whole();
    expect([answer.status, answer.headers["idempotency-replayed"]]).toEqual([200, undefined]);
    expect(stage.gate.count).toBe(count + 2);
    // The instances' clocks go together.
    for (const gateway of stage.gateways.slice(1)) gateway.clock.advance(86_401_000);
  });
}
