import { describe, expect, it } from "vitest";
import { openai } from "../../src/dialects/chat/index.ts";
import type { Upstream } from "../../src/kit/index.ts";
import { createUpstreams, type Upstreams, type UpstreamsOptions } from "../../src/upstream/upstreams.ts";
import {
  call,
  exchange,
  failure,
  read,
  silent,
  snapshot,
  step,
  streamOf,
  target,
  until,
  upstream,
} from "./support/build.ts";
import {
  answer,
  chunk,
  DONE,
  event,
  LAST_CHUNK,
  RawUpstream,
  type RawRequest,
  response,
  STREAM_HEAD,
} from "./support/raw-upstream.ts";
import { closedAfterEach } from "./support/serve.ts";

const open = closedAfterEach();

function create(changes: Partial<UpstreamsOptions> = {}): Upstreams {
  const upstreams = createUpstreams({ dialects: { openai }, now: Date.now, log: silent, ...changes });
  open.push(upstreams);
  return upstreams;
}

async function serve(
  script: (request: RawRequest) => void = ({ socket }) => socket.write(answer("well")),
): Promise<RawUpstream> {
  const server = await RawUpstream.start(script);
  open.push(server);
  return server;
}

// A connection is free again one turn of the loop after its answer.
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 10));

describe("connections", () => {
  it("are shared by leases with the same settings and close when the last lets go", async () => {
    const server = await serve();
    const upstreams = create();
    const config = snapshot(upstream(server.origin));
    const first = await upstreams.lease(config);
    await first.send(target(), call(), exchange());
    await turn();
    const second = await upstreams.lease(snapshot(upstream(server.origin, { displayName: "Renamed", keys: ["new"] })));
    await second.send(target(), call(), exchange());
    expect(server.connections).toBe(1);
    await turn();
    await first.release();
    await first.release();
    await second.send(target(), call(), exchange());
    expect(server.connections).toBe(1);
    expect(server.requests.map(({ key }) => key)).toEqual(["key-1", "new", "new"]);
    await second.release();
    await expect.poll(() => server.sockets.size).toBe(0);
  });

  it.each<[string, Partial<Upstream>]>([
    ["connections", { connections: 3 }],
    ["http2", { http2: true }],
    ["the connect timeout", { timeouts: { connect: 1, firstByte: 1_000, idle: 1_000, total: 1_000 } }],
    ["the name", { name: "beta" }],
  ])("are apart when %s differ", async (_name, changes) => {
    const server = await serve();
    const upstreams = create();
    const first = await upstreams.lease(snapshot(upstream(server.origin)));
    const second = await upstreams.lease(snapshot(upstream(server.origin, changes)));
    await first.send(target(), call(), exchange());
    await second.send(target({ upstream: changes.name ?? "alpha" }), call(), exchange());
    expect(server.connections).toBe(2);
  });

  it("of a released lease finish what they carry", async () => {
    const server = await serve(({ socket }) => {
      socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), chunk(event("a"))]));
      setTimeout(
        () => socket.write(Buffer.concat([chunk(event("b", "stop")), chunk(DONE), Buffer.from(LAST_CHUNK)])),
        200,
      );
    });
    const set = await create().lease(snapshot(upstream(server.origin)));
    const reading = read(streamOf(await set.send(target(), call({ stream: true }), exchange())));
    const released = set.release();
    expect(await reading).toMatchObject({ text: "ab", ending: { complete: true } });
    await released;
    await expect.poll(() => server.sockets.size).toBe(0);
    expect(await failure(set.send(target(), call(), exchange()))).toMatchObject({ failure: "connect" });
  });

  it("end with close, and what they carry fails", async () => {
    const server = await serve(() => undefined);
    const upstreams = create();
    const set = await upstreams.lease(snapshot(upstream(server.origin)));
    const sent = failure(set.send(target(), call(), exchange()));
    await until(() => server.requests.length === 1, "the request arrives");
    await upstreams.close();
    expect(await sent).toMatchObject({ failure: "reset" });
    await expect.poll(() => server.sockets.size).toBe(0);
  });

  it("are never more than configured", async () => {
    const server = await serve(({ socket }) => setTimeout(() => socket.write(answer("well")), 10));
    const set = await create().lease(
      snapshot(upstream(server.origin, { connections: 2, concurrency: { requests: 2, queue: 10, maxWait: 10_000 } })),
    );
    await Promise.all(Array.from({ length: 12 }, () => set.send(target(), call(), exchange())));
    expect(server.connections).toBe(2);
    expect(server.requests.length).toBe(12);
  });
});

describe("state outlives a configuration", () => {
  const broken = { ok: false, error: { failure: "status" } } as never;

  it("breakers stay open, and take changed settings from then on", async () => {
    const upstreams = create();
    const first = await upstreams.lease(
      snapshot(upstream("http://127.0.0.1:9"), upstream("http://127.0.0.1:9", { name: "beta" })),
    );
    for (let time = 0; time < 3; time += 1) first.breaker("alpha").acquire()?.end(broken);
    const { breaker } = upstream("");
    const second = await upstreams.lease(
      snapshot(
        upstream("http://127.0.0.1:9", { breaker: { ...breaker, consecutive: 1 } }),
        upstream("http://127.0.0.1:9", { name: "beta" }),
      ),
    );
    await first.release();
    expect(second.breaker("alpha").state).toBe("open");
    expect(second.breaker("beta").state).toBe("closed");
    second.breaker("beta").acquire()?.end(broken);
    expect(second.breaker("beta").state).toBe("closed");
    const third = await upstreams.lease(
      snapshot(upstream("http://127.0.0.1:9", { name: "beta", breaker: { ...breaker, consecutive: 2 } })),
    );
    await second.release();
    third.breaker("beta").acquire()?.end(broken);
    expect(third.breaker("beta").state).toBe("open");
    expect(() => third.breaker("alpha")).toThrow('no upstream is named "alpha"');
  });

  it("a lease that is let go before it was used puts the former settings back in force", async () => {
    const upstreams = create();
    const { breaker } = upstream("");
    const first = await upstreams.lease(snapshot(upstream("http://127.0.0.1:9")));
    const strict = await upstreams.lease(
      snapshot(upstream("http://127.0.0.1:9", { breaker: { ...breaker, consecutive: 1 } })),
    );
    await strict.release();
    first.breaker("alpha").acquire()?.end(broken);
    expect(first.breaker("alpha").state).toBe("closed");
  });

  it("keys keep their rest", async () => {
    const server = await serve(({ socket, key }) =>
      socket.write(key === "bad" ? response(401, {}, "") : answer("well")),
    );
    const upstreams = create();
    const first = await upstreams.lease(snapshot(upstream(server.origin, { keys: ["bad", "good"] })));
    await first.send(target(), call(), exchange());
    const second = await upstreams.lease(snapshot(upstream(server.origin, { keys: ["bad", "good", "other"] })));
    for (let round = 0; round < 3; round += 1) await second.send(target(), call(), exchange());
    expect(server.requests.map(({ key }) => key).filter((key) => key === "bad")).toHaveLength(1);
  });

  it("a lease on probation has a memory of its own, which later leases find once it is adopted", async () => {
    const server = await serve(({ socket, key }) =>
      socket.write(key === "bad" ? response(503, {}, "") : answer("well")),
    );
    const upstreams = create();
    const config = (...keys: string[]) => snapshot(upstream(server.origin, { keys }));
    const first = await upstreams.lease(config("good"));
    const candidate = await upstreams.lease(config("bad"), { probation: true });
    const error = await failure(candidate.send(target(), call(), exchange()));
    for (let count = 0; count < 100; count += 1) candidate.breaker("alpha").acquire()?.end({ ok: false, error });
    expect([first.breaker("alpha").state, candidate.breaker("alpha").state]).toEqual(["closed", "open"]);
    await first.send(target(), call(), exchange());
    expect(server.requests.at(-1)?.key, "not the other's keys").toBe("good");

    const dropped = await upstreams.lease(config("other"), { probation: true });
    await dropped.release();
    expect((await upstreams.lease(config("good"))).breaker("alpha").state, "what is in force").toBe("closed");
    candidate.adopt();
    await first.release();
    expect((await upstreams.lease(config("good"))).breaker("alpha").state, "what was adopted").toBe("open");
  });

  it("a timeout counts as latency, unless it is the request's own deadline", async () => {
    const server = await serve(() => undefined);
    const upstreams = create({ random: () => 0.99 });
    const set = await upstreams.lease(snapshot(upstream(server.origin), upstream(server.origin, { name: "beta" })));
    const timeouts = { connect: 5_000, firstByte: 1_000, idle: 5_000, total: 1_000 };
    const targets = [target({ timeouts }), target({ timeouts, upstream: "beta" })];
    const first = (): string | undefined => set.order(step("latency", ...targets), exchange())[0]?.upstream;
    await failure(set.send(target({ timeouts }), call(), exchange({ deadline: 20 })));
    expect(first()).toBe("alpha");
    await failure(set.send(target({ timeouts }), call(), exchange()));
    expect(first()).toBe("beta");
  });

  it("an upstream that was away starts afresh", async () => {
    const server = await serve();
    const alpha = upstream(server.origin);
    const beta = upstream(server.origin, { name: "beta" });
    const upstreams = create({ random: () => 0.99 });
    const both = await upstreams.lease(snapshot(alpha, beta));
    await both.send(target(), call(), exchange());
    const first = (): string | undefined =>
      both.order(step("latency", target(), target({ upstream: "beta" })), exchange())[0]?.upstream;
    // Something measured, however quick, comes after the unknown.
    await both.send(target(), call(), exchange());
    expect(first()).toBe("beta");
    const without = await upstreams.lease(snapshot(beta));
    await both.release();
    await upstreams.lease(snapshot(alpha, beta));
    await without.release();
    expect(first()).toBe("alpha");
  });

  it("send records latency, which orders a latency step", async () => {
    const slow = await serve(({ socket }) => setTimeout(() => socket.write(answer("slow")), 150));
    const fast = await serve();
    const set = await create({ random: () => 0.99 }).lease(
      snapshot(upstream(slow.origin), upstream(fast.origin, { name: "beta" })),
    );
    const targets = [target(), target({ upstream: "beta" })];
    const first = (): string | undefined => set.order(step("latency", ...targets), exchange())[0]?.upstream;
    expect(first()).toBe("alpha");
    for (const one of targets) await set.send(one, call(), exchange());
    expect(first()).toBe("beta");
  });
});

describe("a configuration that cannot be built", () => {
  it.each<[string, Upstream, string]>([
    ["an address that is none", upstream("127.0.0.1:9"), "upstreams.alpha.base_url: not an http or https URL"],
    [
      "an address that is not HTTP",
      upstream("file:///etc/passwd"),
      "upstreams.alpha.base_url: not an http or https URL",
    ],
    ["a simulator that is not there", upstream("sim:"), 'base_url "sim:" needs the simulator'],
  ])("%s", async (_name, bad, message) => {
    const upstreams = create();
    await expect(upstreams.lease(snapshot(upstream("http://127.0.0.1:9", { name: "beta" }), bad))).rejects.toThrow(
      message,
    );
    // Nothing of it is left: a good one is served as if it had never been.
    const server = await serve();
    const set = await upstreams.lease(snapshot(upstream(server.origin)));
    expect(await set.send(target(), call(), exchange())).toMatchObject({ type: "answer" });
  });

  it("fails an attempt at a dialect that is not there, and serves the others", async () => {
    const server = await serve();
    const set = await create().lease(
      snapshot(upstream("http://127.0.0.1:9", { name: "beta", dialect: "bedrock" }), upstream(server.origin)),
    );
    const error = await set.send(target({ upstream: "beta" }), call(), exchange()).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ failure: "protocol", message: expect.stringContaining('"bedrock"') });
    expect(await set.send(target(), call(), exchange())).toMatchObject({ type: "answer" });
  });

  it("names an upstream nobody configured", async () => {
    const set = await create().lease(snapshot(upstream("http://127.0.0.1:9")));
    expect(() => set.send(target({ upstream: "gamma" }), call(), exchange())).toThrow('no upstream is named "gamma"');
    expect(() => set.breaker("gamma")).toThrow('no upstream is named "gamma"');
  });
});

it("asks for the address of a simulated provider by its script and dialect, and for no other", async () => {
  const server = await serve();
  const asked: string[] = [];
  const upstreams = create({
    simulated: (script, dialect) => {
      asked.push(`${dialect} ${script}`);
      return Promise.resolve(`${server.origin}/simulated`);
    },
  });
  await upstreams.lease(snapshot(upstream(server.origin)));
  const set = await upstreams.lease(snapshot(upstream("sim:?first_byte=300ms&name=a/b")));
  await set.send(target(), call(), exchange());
  expect(asked).toEqual(["openai ?first_byte=300ms&name=a/b"]);
  expect(server.requests.map(({ head }) => head.split(" ")[1])).toEqual(["/simulated/chat/completions"]);
});

it("logs never show keys, addresses or bodies", async () => {
  const lines: string[] = [];
  const note = (fields: object, message: string): void => void lines.push(JSON.stringify(fields) + message);
  const log = { debug: note, info: note, warn: note, error: note };
  const server = await serve(({ socket, index }) =>
    socket.write(
      [
        response(401, {}, "planted-body"),
        response(200, { "content-type": "text/html" }, "planted-body"),
        "planted-body\r\n",
      ][index] ?? "",
    ),
  );
  const set = await create({ log }).lease(
    snapshot(upstream(`${server.origin}/planted-path`, { keys: ["planted-key"] })),
  );
  for (let round = 0; round < 3; round += 1) await failure(set.send(target(), call(), exchange()));
  const breaker = set.breaker("alpha");
  for (let time = 0; time < 3; time += 1)
    breaker.acquire()?.end({
      ok: false,
      error: await failure(
        set.send(target({ timeouts: { connect: 1, firstByte: 1, idle: 1, total: 1 } }), call(), exchange()),
      ),
    });
  expect(lines.length).toBeGreaterThan(4);
  expect(lines.join("\n")).toContain("breaker open");
  expect(lines.join("\n")).not.toMatch(/planted|127\.0\.0\.1/);
});
