import { describe, expect, it } from "vitest";
import streamRelay from "../../../plugins/stream-relay.ts";
import { AttemptError, type Exchange, type Host, type Target, type Upstream } from "../../../src/kit/index.ts";
import type { BuiltinHost } from "../../../src/kit/builtin.ts";
import type { RequestPool } from "../../../src/upstream/send/pools.ts";
import { RequestHandler } from "../../../src/upstream/send/request-handler.ts";
import type { UpstreamSet } from "../../../src/upstream/upstreams.ts";
import { DeadlineSweeper } from "../../../src/upstream/send/deadlines.ts";
import { call, exchange, failure, lease, step, streamOf, target, upstream } from "../support/build.ts";
import { mute } from "../support/mute.ts";
import { answer, chunk, event, RawUpstream, type RawRequest, STREAM_HEAD } from "../support/raw-upstream.ts";
import { closedAfterEach } from "../support/serve.ts";

const open = closedAfterEach();

async function serve(script: (request: RawRequest) => void): Promise<RawUpstream> {
  const server = await RawUpstream.start(script);
  open.push(server);
  return server;
}

async function silence(): Promise<{ readonly origin: string }> {
  const server = await mute();
  open.push(server);
  return server;
}

async function setOf(...upstreams: readonly Upstream[]): Promise<UpstreamSet> {
  const leased = await lease(...upstreams);
  open.push({ close: () => leased.end() });
  return leased.set;
}

/** Begins a stream and never ends it. */
const endless = ({ socket }: RawRequest): void => {
  socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), chunk(event("a"))]));
};

const TIMEOUTS = { connect: 300, firstByte: 10_000, idle: 10_000, total: 20_000 };
const ALPHA = target({ timeouts: TIMEOUTS });
const BETA = target({ timeouts: TIMEOUTS, upstream: "beta" });
const STREAM = call({ stream: true });
const SATURATED = { failure: "saturated", message: "every connection to the upstream is in use" };

/** As the breaker plugin does it: a stream that has begun keeps its permit. */
async function guarded(set: UpstreamSet, to: Target, by: Exchange) {
  const permit = set.breaker(to.upstream).acquire();
  if (permit === null) throw new AttemptError("skipped", "skipped");
  try {
    const reply = await set.send(to, STREAM, by);
    permit.answered();
    return reply;
  } catch (error) {
    permit.end({ ok: false, error: error as AttemptError });
    throw error;
  }
}

/** Walks a chain with the relay that the gateway ships. */
async function relayed(set: UpstreamSet, ...chain: readonly Target[]) {
  const host: Pick<Host, "breaker" | "order" | "now"> = {
    breaker: (name) => set.breaker(name),
    order: (one, by) => set.order(one, by),
    now: Date.now,
  };
  const hooks = await streamRelay.setup({}, host as BuiltinHost<"relay">);
  const by = exchange();
  const routed = { ...by, model: { ...by.model, chain: chain.map((to) => step("single", to)) } };
  return hooks.relay!(routed, (to) => guarded(set, to, routed));
}

describe("when every connection of ours is in use", () => {
  it("the next step serves at once what found no connection, and the breaker stays closed", async () => {
    const [busy, idle] = [await serve(endless), await serve(endless)];
    const set = await setOf(
      upstream(busy.origin, { connections: 4 }),
      upstream(idle.origin, { name: "beta", connections: 16 }),
    );
    const replies = await Promise.all(Array.from({ length: 12 }, () => relayed(set, ALPHA, BETA)));
    expect(replies.filter((reply) => reply.target === ALPHA)).toHaveLength(4);
    expect(replies.filter((reply) => reply.target === BETA)).toHaveLength(8);
    expect(busy.requests).toHaveLength(4);
    expect(set.breaker("alpha").state).toBe("closed");
  });

  it.each([
    ["alone", []],
    ["before a step that fails", [BETA]],
  ])("%s the answer is 503 OVERLOADED with a time to come back", async (_, rest) => {
    const server = await serve(endless);
    const failing = await serve(({ socket }) => void socket.end("HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n"));
    const set = await setOf(
      upstream(server.origin, { connections: 1 }),
      upstream(failing.origin, { name: "beta", connections: 16 }),
    );
    await relayed(set, ALPHA);
    await expect(relayed(set, ALPHA, ...rest)).rejects.toMatchObject({
      code: "OVERLOADED",
      message: "Every upstream is busy",
      details: { retryAfter: 1 },
    });
    expect(set.breaker("alpha").state).toBe("closed");
  });

  it("neither tries again nor rests a key", async () => {
    const server = await serve(endless);
    const retries = { attempts: 5, minDelay: 10, maxDelay: 20 };
    const set = await setOf(upstream(server.origin, { connections: 1, retries, keys: ["a", "b"] }));
    const first = streamOf(await set.send(ALPHA, STREAM, exchange()));
    const started = Date.now();
    expect(await failure(set.send(ALPHA, STREAM, exchange()))).toMatchObject(SATURATED);
    expect(Date.now() - started).toBeLessThan(TIMEOUTS.connect);
    first.cancel();
    await set.send(ALPHA, STREAM, exchange());
    // The one in between took no key.
    expect(server.requests.map(({ key }) => key)).toEqual(["a", "b"]);
  });

  it("does not wait for a free connection without a queue", async () => {
    const server = await serve(({ socket }) => setTimeout(() => socket.write(answer("well")), 30));
    const set = await setOf(upstream(server.origin, { connections: 2 }));
    const sent = Array.from({ length: 6 }, () => set.send(ALPHA, call(), exchange()));
    const settled = await Promise.allSettled(sent);
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    expect(await failure(sent[2]!)).toMatchObject(SATURATED);
    // A connection is free again as soon as its answer has come.
    for (let time = 0; time < 5; time += 1) await set.send(ALPHA, call(), exchange());
    expect(server.connections).toBeLessThanOrEqual(2 + 5);
  });
});

describe("when no connection comes about", () => {
  it("everything that waited timed out, and the breaker opens", async () => {
    const set = await setOf(upstream((await silence()).origin, { connections: 6 }));
    const attempts = Array.from({ length: 6 }, () => guarded(set, ALPHA, exchange()));
    const failures = await Promise.all(attempts.map((attempt) => failure(attempt)));
    const timedOut = { failure: "timeout", message: "upstream timed out while connecting", notUpstreamFault: false };
    for (const error of failures) expect(error).toMatchObject(timedOut);
    expect(set.breaker("alpha").state).toBe("open");
  });
});

const soon = (): Exchange => exchange({ deadline: 60 });

/** A pool that takes a request and never starts it. */
function pool(hasRoom: boolean, counts: { readonly queued: number; readonly running: number }): RequestPool {
  return { dispatch: () => hasRoom, stats: { connected: 4, free: 0, pending: 0, size: 0, ...counts } };
}

it.each([
  ["in the queue of a pool that carries others", pool(false, { queued: 1, running: 4 }), "saturated"],
  ["in the queue of a pool that is still connecting", pool(false, { queued: 1, running: 0 }), "timeout"],
  ["on the last connection, which does not come about", pool(false, { queued: 0, running: 3 }), "timeout"],
  ["on a connection that does not come about", pool(true, { queued: 0, running: 3 }), "timeout"],
])("%s it ends as told", async (_, full, expected) => {
  const { signal } = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<never>();
  const sweeper = new DeadlineSweeper(Date.now);
  const timeouts = { ...TIMEOUTS, connect: 1 };
  const settled = { read: () => null, resolve, reject };
  const options = { ...settled, signal, sweeper, timeouts, now: Date.now, deadline: Infinity, stream: false };
  const attempt = new RequestHandler(options, Date.now());
  const dispatched: { body?: unknown }[] = [];
  const watched: RequestPool = {
    stats: full.stats,
    dispatch: (request, handler) => (dispatched.push(request), full.dispatch(request, handler)),
  };
  const request = { path: "/", method: "POST" as const, headers: {}, body: "{}" };
  attempt.run(watched, request);
  await expect(promise).rejects.toMatchObject({ failure: expected });
  // The pool keeps what is in its queue until a connection is free.
  expect(dispatched).toMatchObject([{ body: full.stats.queued > 0 ? null : "{}" }]);
});

describe("the request's own deadline", () => {
  const CUT = { failure: "timeout", message: "the request's deadline passed before the answer" };

  it.each([
    ["before the connection", async () => (await silence()).origin],
    ["before the first byte", async () => (await serve(() => undefined)).origin],
    ["behind a head that came in time", async () => (await serve(({ socket }) => socket.write(STREAM_HEAD))).origin],
  ])("%s is a timeout that says nothing about the upstream", async (_, origin) => {
    const set = await setOf(upstream(await origin()));
    for (let time = 0; time < 4; time += 1) {
      expect(await failure(guarded(set, target(), soon()))).toMatchObject({ ...CUT, notUpstreamFault: true });
    }
    expect(set.breaker("alpha").state).toBe("closed");
  });

  it("does not wait for a connection of ours", async () => {
    const server = await serve(endless);
    const set = await setOf(upstream(server.origin, { connections: 1 }));
    await guarded(set, ALPHA, exchange());
    expect(await failure(guarded(set, target(), soon()))).toMatchObject(SATURATED);
  });

  it("counts once the upstream has had its own time to begin", async () => {
    const server = await serve(({ socket }) => {
      socket.write(STREAM_HEAD);
      const comments = setInterval(() => socket.write(chunk(": wait\n\n")), 20);
      socket.on("close", () => clearInterval(comments));
    });
    const set = await setOf(upstream(server.origin));
    const to = target({ timeouts: { ...ALPHA.timeouts, firstByte: 100 } });
    for (let time = 0; time < 3; time += 1) {
      expect(await failure(guarded(set, to, exchange({ deadline: 300 })))).toMatchObject({
        ...CUT,
        notUpstreamFault: false,
      });
    }
    expect(set.breaker("alpha").state).toBe("open");
  });

  it("stays neutral when a key is taken out of its message", async () => {
    const server = await serve(() => undefined);
    const set = await setOf(upstream(server.origin, { keys: ["deadline"] }));
    expect(await failure(set.send(target(), STREAM, soon()))).toMatchObject({
      failure: "timeout",
      notUpstreamFault: true,
    });
  });
});
