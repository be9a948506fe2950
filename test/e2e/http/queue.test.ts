import { createServer, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { eventually, type Exchange } from "../support/http.ts";
import { TestGateway, type TestGatewayOptions } from "../support/in-process.ts";

/** A small server that answers when the test says so, and counts what it has at a time. */
class SmallServer {
  readonly held: ServerResponse[] = [];
  open = 0;
  most = 0;
  asked = 0;
  /** Whether it answers at once. */
  eager = false;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.asked += 1;
      this.most = Math.max(this.most, ++this.open);
      response.on("close", () => (this.open -= 1));
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => void parts.push(part));
      request.on("end", () => {
        const { stream } = JSON.parse(String(Buffer.concat(parts))) as { stream?: boolean };
        if (stream === true) response.writeHead(200, { "content-type": "text/event-stream" }).write(event("Hel"));
        this.held.push(response);
        if (this.eager) this.answer();
      });
    });
  }

  static async start(): Promise<SmallServer> {
    const small = new SmallServer();
    small.#server.listen(0, "127.0.0.1");
    await once(small.#server, "listening");
    return small;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Answers the oldest request that is held, to its end. */
  answer(): void {
    const response = this.held.shift()!;
    if (response.headersSent) return void response.end(`${event("lo", "stop")}data: [DONE]\n\n`);
    const choice = { index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" };
    const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ id: "c", choices: [choice], usage }));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

function event(content: string, finish: string | null = null): string {
  return `data: ${JSON.stringify({ id: "c", choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;
}

const running: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).toReversed()) await one.close();
});

interface Setup {
  readonly small: SmallServer;
  readonly gateway: TestGateway;
  /** Requests in flight and waiting at it, as operators see it. */
  readonly load: () => Promise<readonly [number, number]>;
}

async function setUp(upstream: Json, more: Partial<TestGatewayOptions> = {}, model: Json = {}): Promise<Setup> {
  const small = await SmallServer.start();
  running.push(small);
  const gateway = await TestGateway.start({
    chains: {
      "route/small": { scripts: [small.url], ...model },
      "route/both": { scripts: ["-", "-"], chain: [step("small-1"), step("both-2")] },
    },
    ...more,
    config: { upstreams: { "small-1": upstream } },
  });
  running.push(gateway);
  const load = async (): Promise<readonly [number, number]> => {
    const { text } = await gateway.admin("/admin/upstreams");
    const { in_flight, waiting } = (JSON.parse(text) as Record<string, { in_flight: number; waiting: number }>)[
      "small-1"
    ]!;
    return [in_flight, waiting];
  };
  return { small, gateway, load };
}

const step = (upstream: string): Json => ({ upstream, model: "m" });
const SMALL = { model: "route/small" };

/** As many requests as given, each in the queue or in flight before the next one comes. */
async function fill({ gateway, load }: Setup, count: number, user: { key: string; id: string; tier: string }) {
  const calls: Exchange[] = [];
  for (let index = 0; index < count; index += 1) {
    const [inFlight, waiting] = await load();
    calls.push(gateway.open(user, SMALL));
    await eventually(async () => {
      const now = await load();
      return now[0] + now[1] > inFlight + waiting;
    });
  }
  return calls;
}

describe.each([false, true])("streamed: %s", (stream) => {
  test("what is beyond the bound waits, is served, and its answer says how long", async () => {
    const setup = await setUp({ concurrency: { requests: 1 } });
    const { small, gateway, load } = setup;
    const user = await gateway.user();
    const first = gateway.open(user, { ...SMALL, stream });
    await eventually(() => small.held.length === 1);
    const second = gateway.open(user, { ...SMALL, stream });
    await eventually(async () => (await load())[1] === 1);
    expect(small.asked).toBe(1);
    small.answer();
    const one = await first.whole();
    await eventually(() => small.held.length === 1);
    small.answer();
    const two = await second.whole();
    expect([one.status, one.headers["x-gateway-queued-ms"]]).toEqual([200, undefined]);
    expect([two.status, two.headers["x-gateway-queued-ms"]]).toEqual([200, expect.stringMatching(/^\d+$/)]);
    expect(small.most).toBe(1);
    expect(await load()).toEqual([0, 0]);
  });

  test("a full queue sends the request on to the next step, and is 503 without one", async () => {
    const setup = await setUp({ concurrency: { requests: 1, queue: 1 } });
    const { small, gateway } = setup;
    const user = await gateway.user();
    const held = await fill(setup, 2, user);
    const passed = await gateway.chat(user, { model: "route/both", stream });
    expect([passed.status, passed.text.includes("error")]).toEqual([200, false]);
    const refused = await gateway.chat(user, { ...SMALL, stream });
    expect([refused.status, refused.headers["x-error-code"], refused.headers["retry-after"], refused.text]).toEqual([
      503,
      "OVERLOADED",
      "1",
      "Every upstream is busy",
    ]);
    // It is given back, and neither the breaker nor the health of the upstream knows of it.
    const { ledger } = await gateway.books(user);
    expect(ledger.map(({ outcome }) => outcome)).toEqual(["served"]);
    expect(await gateway.metric("gateway_upstream_attempts_total", { upstream: "small-1", result: "saturated" })).toBe(
      2,
    );
    small.eager = true;
    small.answer();
    expect((await Promise.all(held.map((one) => one.whole()))).map(({ status }) => status)).toEqual([200, 200]);
    expect(small.asked).toBe(2);
  });

  test.each(["leaves", "is killed"])(
    "a client that %s in the queue is out of it at once and pays nothing",
    async (how) => {
      const setup = await setUp({ concurrency: { requests: 1 } });
      const { small, gateway, load } = setup;
      const [busy, user] = [await gateway.user(), await gateway.user()];
      const [held] = await fill(setup, 1, busy);
      const call = gateway.open(user, { ...SMALL, stream });
      await eventually(async () => (await load())[1] === 1);
      if (how === "leaves") call.leave();
      else await gateway.send("/v1/user/streams/kill", { headers: { "x-api-key": user.key } });
      if (how === "leaves" || stream) await eventually(async () => (await load())[1] === 0);
      else call.leave();
      await eventually(async () => (await load())[1] === 0);
      small.answer();
      expect((await held!.whole()).status).toBe(200);
      await gateway.audit();
      expect(await gateway.books(user)).toMatchObject({ ledger: [], used: { day: 0, hour: 0, minute: 0 } });
      expect([small.asked, await load()]).toEqual([1, [0, 0]]);
    },
  );
});

test.each([
  ["max_wait", { max_wait: "150ms" }, {}],
  ["the deadline of the model", { max_wait: "1h" }, { deadline: "150ms" }],
])("who has waited longer than %s is told to come back", async (_, bounds, model) => {
  const setup = await setUp({ concurrency: { requests: 1, ...bounds } }, {}, model);
  const { small, gateway, load } = setup;
  const user = await gateway.user();
  const stream = gateway.open(user, { ...SMALL, stream: true });
  await stream.until("Hel");
  const refused = await gateway.chat(user, SMALL);
  expect([refused.status, refused.headers["x-error-code"]]).toEqual([503, "OVERLOADED"]);
  expect(Number(refused.headers["x-gateway-queued-ms"])).toBeGreaterThanOrEqual(100);
  expect(await load()).toEqual([1, 0]);
  // The place that it did not get is there for the next one.
  small.answer();
  await stream.whole();
  small.eager = true;
  expect((await gateway.chat(user, SMALL)).status).toBe(200);
});

test("a stream keeps its place until it ends, and gives it up when its client goes", async () => {
  const setup = await setUp({ concurrency: { requests: 1 } });
  const { small, gateway, load } = setup;
  const user = await gateway.user();
  const stream = gateway.open(user, { ...SMALL, stream: true });
  await stream.until("Hel");
  const next = gateway.open(user, SMALL);
  await eventually(async () => (await load())[1] === 1);
  expect(small.asked).toBe(1);
  small.held.length = 0;
  stream.leave();
  await eventually(() => small.asked === 2);
  small.answer();
  expect((await next.whole()).status).toBe(200);
});

test("a reload that changes the bounds holds for what waits already", async () => {
  const setup = await setUp({ concurrency: { requests: 1 } });
  const { small, gateway, load } = setup;
  const user = await gateway.user();
  const calls = await fill(setup, 4, user);
  expect(await load()).toEqual([1, 3]);
  await gateway.reload({ upstreams: { "small-1": { concurrency: { requests: 3 } } } });
  await eventually(() => small.held.length === 3);
  expect(await load()).toEqual([3, 1]);
  await gateway.reload({ upstreams: { "small-1": { concurrency: null } } });
  await eventually(() => small.held.length === 4);
  small.eager = true;
  while (small.held.length > 0) small.answer();
  expect((await Promise.all(calls.map((call) => call.whole()))).map(({ status }) => status)).toEqual([
    200, 200, 200, 200,
  ]);
  expect(await load()).toEqual([0, 0]);
});

test("one user's flood does not keep another user waiting behind all of it", async () => {
  const setup = await setUp({ concurrency: { requests: 1, queue: 6 } });
  const { small, gateway, load } = setup;
  const [flood, other] = [await gateway.user(), await gateway.user()];
  const all = await fill(setup, 7, flood);
  const order: string[] = [];
  for (const call of all) void call.whole().then(({ status }) => order.push(`flood ${status}`));
  const call = gateway.open(other, SMALL);
  void call.whole().then(({ status }) => order.push(`other ${status}`));
  // The queue is full: the flood's newest request gives up its place.
  await eventually(() => order.length === 1);
  expect(order).toEqual(["flood 503"]);
  expect(await load()).toEqual([1, 6]);
  for (let served = 0; served < 3; served += 1) {
    await eventually(() => small.held.length === 1);
    small.answer();
    await eventually(() => order.length === served + 2);
  }
  expect(order).toEqual(["flood 503", "flood 200", "flood 200", "other 200"]);
  small.eager = true;
  await eventually(() => small.held.length === 1);
  small.answer();
  await Promise.all(all.map((one) => one.whole()));
});

test("under a crowd that comes, goes and leaves, the server never has more than the bound, and no place is lost", async () => {
  const setup = await setUp({ concurrency: { requests: 2, queue: 50 }, connections: 8 });
  const { small, gateway, load } = setup;
  const users = await Promise.all(Array.from({ length: 4 }, () => gateway.user()));
  small.eager = true;
  const calls = Array.from({ length: 40 }, (_, index) => {
    const call = gateway.open(users[index % users.length]!, { ...SMALL, stream: index % 3 === 0 });
    // Some go while they wait, and some while they are served.
    if (index % 5 === 0)
      void call
        .head()
        .then(() => call.leave())
        .catch(() => undefined);
    if (index % 7 === 0) setTimeout(() => call.leave(), index);
    return call.whole().then(
      ({ status }) => status,
      () => 0,
    );
  });
  const statuses = await Promise.all(calls);
  expect(statuses.filter((status) => status !== 200 && status !== 0)).toEqual([]);
  // A request whose client has gone is closed at the gateway before the server hears of it.
  expect(small.most).toBeLessThanOrEqual(2 + Math.ceil(40 / 5) + Math.ceil(40 / 7));
  await gateway.audit();
  await eventually(async () => String(await load()) === "0,0");
});

test("keys that the first key's refusal leads to take a place of their own each", async () => {
  const setup = await setUp({ concurrency: { requests: 1, queue: 0 }, api_keys: ["a", "b"] });
  const { small, gateway, load } = setup;
  const call = gateway.open(await gateway.user(), SMALL);
  await eventually(() => small.held.length === 1);
  small.held
    .shift()!
    .writeHead(401, { "content-type": "application/json" })
    .end('{"error":{"code":"invalid_api_key"}}');
  await eventually(() => small.held.length === 1);
  small.answer();
  expect((await call.whole()).status).toBe(200);
  expect([small.most, await load()]).toEqual([1, [0, 0]]);
});
