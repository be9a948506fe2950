import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { openai } from "../../../src/dialects/chat/index.ts";
import type { Upstream } from "../../../src/kit/index.ts";
import type { UpstreamHealth } from "../../../src/upstream/state/health.ts";
import { createUpstreams, type Upstreams, type UpstreamSet } from "../../../src/upstream/upstreams.ts";
import { call, exchange, failure, silent, snapshot, streamOf, target, until, upstream } from "../support/build.ts";
import { answer, chunk, event, RawUpstream, type RawRequest, response, STREAM_HEAD } from "../support/raw-upstream.ts";
import { closedAfterEach } from "../support/serve.ts";

const open = closedAfterEach();

type Script = (request: RawRequest) => void;

const isProbe = ({ head }: RawRequest): boolean => head.startsWith("GET ");

async function serve(probes: Script, calls: Script = ({ socket }) => socket.write(answer("well"))) {
  const server = await RawUpstream.start((request) => (isProbe(request) ? probes : calls)(request));
  open.push(server);
  return server;
}

/** Probes come at once: chance is 0. */
function create(): Upstreams {
  const upstreams = createUpstreams({ dialects: { openai }, now: Date.now, random: () => 0, log: silent });
  open.push(upstreams);
  return upstreams;
}

const ONCE = { every: 3_600_000, timeout: 1_000 };
const OFTEN = { every: 10, timeout: 1_000 };

const probed = (origin: string, changes: Partial<Upstream> & { keys?: readonly string[] } = {}): Upstream =>
  upstream(`${origin}/v1`, { probe: ONCE, ...changes });

async function setOf(...upstreams: readonly Upstream[]): Promise<UpstreamSet> {
  return create().lease(snapshot(...upstreams));
}

/** What is known of alpha once anything is. */
async function news(set: UpstreamSet): Promise<UpstreamHealth> {
  await until(() => set.health("alpha").state !== "unknown", "news of alpha");
  return set.health("alpha");
}

const probes = (server: RawUpstream): readonly RawRequest[] => server.requests.filter(isProbe);

const say =
  (status: number): Script =>
  ({ socket }) =>
    socket.write(response(status, {}, ""));

describe("a probe", () => {
  it("asks for the list of models, with a key and the configured headers", async () => {
    const server = await serve(say(200));
    const set = await setOf(probed(server.origin, { headers: { "X-Team": "7" } }));
    expect(await news(set)).toMatchObject({ state: "healthy", canServe: true });
    expect(set.health("alpha").latencyMs).toBeGreaterThanOrEqual(1);
    const [{ head, key, body }] = probes(server) as [RawRequest];
    expect(head).toMatch(/^GET \/v1\/models HTTP/);
    expect(head).toContain("x-team: 7");
    expect(head).toContain("accept-encoding: identity");
    expect(head).toMatch(/x-request-id: \S+/);
    expect({ key, body }).toEqual({ key: "key-1", body: "" });
  });

  it.each([
    [200, true],
    [204, true],
    [302, true],
    [400, true],
    [404, true],
    [405, true],
    [429, true],
    [500, false],
    [503, false],
  ])("answered with %i: reachable %s", async (status, reachable) => {
    const server = await serve(say(status));
    const set = await setOf(probed(server.origin));
    expect(await news(set)).toMatchObject({ state: reachable ? "healthy" : "degraded", canServe: reachable });
    expect(probes(server)).toHaveLength(1);
  });

  it.each([401, 403])("answered with %i says nothing of the health: it is no outage", async (status) => {
    const server = await serve(say(status));
    const set = await setOf(probed(server.origin, { probe: OFTEN }));
    await until(() => probes(server).length > 2, "three probes");
    expect(set.health("alpha")).toEqual({ state: "unknown", latencyMs: 0, canServe: true });
    await set.send(target(), call(), exchange());
    expect(set.health("alpha")).toMatchObject({ state: "healthy", canServe: true });
  });

  it.each<[string, Script]>([
    ["silence", () => undefined],
    ["a reset", ({ socket }) => socket.resetAndDestroy()],
    ["no HTTP", ({ socket }) => socket.write("SSH-2.0-OpenSSH_9.2\r\n")],
  ])("met by %s failed", async (_name, act) => {
    const server = await serve(act);
    const set = await setOf(probed(server.origin, { probe: { ...ONCE, timeout: 100 } }));
    expect(await news(set)).toEqual({ state: "degraded", latencyMs: 0, canServe: false });
    await expect.poll(() => server.sockets.size).toBe(0);
  });

  it("of nobody failed", async () => {
    const gone = await RawUpstream.start(() => undefined);
    const { origin } = gone;
    await gone.close();
    expect(await news(await setOf(probed(origin)))).toMatchObject({ state: "degraded", canServe: false });
  });

  it("with a body without end costs little", async () => {
    const server = await serve(({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${1 << 30}\r\n\r\n`);
      const more = (): void => {
        while (!socket.destroyed && socket.write(Buffer.alloc(64 * 1024)));
      };
      socket.on("drain", more);
      more();
    });
    expect(await news(await setOf(probed(server.origin)))).toMatchObject({ state: "healthy" });
    await expect.poll(() => server.sockets.size).toBe(0);
  });

  it("that is slow makes its upstream degraded, which serves all the same", async () => {
    const server = await serve(({ socket }) => setTimeout(() => socket.write(response(200, {}, "")), 300));
    const set = await setOf(probed(server.origin, { probe: { ...ONCE, timeout: 500 } }));
    expect(await news(set)).toMatchObject({ state: "degraded", canServe: true });
    expect(set.health("alpha").latencyMs).toBeGreaterThanOrEqual(290);
  });
});

describe("keys and breaker", () => {
  it("a refused key is followed by the next; whose turn it is does not change", async () => {
    const server = await serve(({ socket, key }) => socket.write(response(key === "b" ? 200 : 401, {}, "")));
    const set = await setOf(probed(server.origin, { keys: ["a", "b", "c"] }));
    expect(await news(set)).toMatchObject({ state: "healthy" });
    expect(probes(server).map(({ key }) => key)).toEqual(["a", "b"]);
    for (let round = 0; round < 3; round += 1) await set.send(target(), call(), exchange());
    expect(server.requests.filter((one) => !isProbe(one)).map(({ key }) => key)).toEqual(["a", "b", "c"]);
  });

  it("no key that is good: each is tried, and nothing is known", async () => {
    const server = await serve(say(401));
    const set = await setOf(probed(server.origin, { keys: ["a", "b"] }));
    await until(() => probes(server).length === 2, "both keys");
    expect(probes(server).map(({ key }) => key)).toEqual(["a", "b"]);
    expect(set.health("alpha")).toMatchObject({ state: "unknown", canServe: true });
  });

  it("a key that rests is asked with last", async () => {
    const server = await serve(say(200), ({ socket, key }) =>
      socket.write(key === "a" ? response(401, {}, "") : answer("well")),
    );
    const upstreams = create();
    const keys = ["a", "b"];
    const first = await upstreams.lease(snapshot(probed(server.origin, { keys, probe: null })));
    await first.send(target(), call(), exchange());
    await upstreams.lease(snapshot(probed(server.origin, { keys })));
    await until(() => probes(server).length === 1, "a probe");
    expect(probes(server)[0]!.key).toBe("b");
  });

  it("failed probes open no breaker", async () => {
    const server = await serve(say(500));
    const { breaker } = upstream("");
    const set = await setOf(probed(server.origin, { probe: OFTEN, breaker: { ...breaker, consecutive: 1 } }));
    await until(() => probes(server).length >= 5, "five probes");
    expect(set.breaker("alpha").state).toBe("closed");
    expect(await set.send(target(), call(), exchange())).toMatchObject({ type: "answer" });
  });
});

describe("probes and live traffic", () => {
  it("what is tried without probes makes health, too; a cut stream is a failure", async () => {
    const server = await serve(say(200), ({ socket, index }) => {
      if (index === 0) socket.write(answer("well"));
      else socket.end(Buffer.concat([Buffer.from(STREAM_HEAD), chunk(event("a"))]));
    });
    const set = await setOf(probed(server.origin, { probe: null }));
    expect(set.health("alpha")).toEqual({ state: "unknown", latencyMs: 0, canServe: true });
    await set.send(target(), call(), exchange());
    expect(set.health("alpha")).toMatchObject({ state: "healthy", latencyMs: expect.any(Number) });
    const source = streamOf(await set.send(target(), call({ stream: true }), exchange()));
    const ended = Promise.withResolvers<unknown>();
    source.open({ next: () => undefined, end: ended.resolve });
    expect(await ended.promise).toMatchObject({ complete: false });
    expect(set.health("alpha")).toMatchObject({ state: "degraded", canServe: true });
    expect(probes(server)).toEqual([]);
  });

  it("a client that leaves a stream is no failure", async () => {
    const server = await serve(say(200), ({ socket }) =>
      socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), chunk(event("a"))])),
    );
    const set = await setOf(probed(server.origin, { probe: null }));
    streamOf(await set.send(target(), call({ stream: true }), exchange())).cancel();
    await expect.poll(() => server.sockets.size).toBe(0);
    expect(set.health("alpha").state).toBe("healthy");
  });

  it("a probe that waits in vain for one of our own connections has learnt nothing", async () => {
    const server = await serve(say(200), ({ socket }) =>
      socket.write(Buffer.concat([Buffer.from(STREAM_HEAD), chunk(event("a"))])),
    );
    const upstreams = create();
    const changes = { connections: 1, probe: null };
    const before = await upstreams.lease(snapshot(probed(server.origin, changes)));
    await before.send(target(), call({ stream: true }), exchange());
    const set = await upstreams.lease(
      snapshot(probed(server.origin, { ...changes, probe: { every: 60, timeout: 60 } })),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(probes(server)).toEqual([]);
    expect(set.health("alpha")).toMatchObject({ state: "healthy", canServe: true });
  });

  it("an open breaker is degraded and cannot serve", async () => {
    const server = await serve(say(200), say(500));
    const set = await setOf(probed(server.origin));
    await news(set);
    for (let time = 0; time < 3; time += 1) {
      const permit = set.breaker("alpha").acquire();
      permit?.end({ ok: false, error: await failure(set.send(target(), call(), exchange())) });
    }
    expect(set.health("alpha")).toMatchObject({ state: "degraded", canServe: false });
  });
});

describe("as configurations come and go", () => {
  it("an unchanged upstream keeps its rhythm, a changed one is probed at once", async () => {
    const server = await serve(say(200));
    const upstreams = create();
    const first = await upstreams.lease(snapshot(probed(server.origin)));
    await news(first);
    const second = await upstreams.lease(snapshot(probed(server.origin)));
    await first.release();
    await upstreams.lease(snapshot(probed(server.origin, { keys: ["other"] })));
    await until(() => probes(server).length >= 2, "a second probe");
    await second.release();
    expect(probes(server).map(({ key }) => key)).toEqual(["key-1", "other"]);
  });

  it("follow the newest address, and the former one when the newest is let go", async () => {
    const [old, moved] = [await serve(say(200)), await serve(say(200))];
    const upstreams = create();
    await upstreams.lease(snapshot(probed(old.origin, { probe: OFTEN })));
    await until(() => probes(old).length > 2, "probes of the first address");
    const newest = await upstreams.lease(snapshot(probed(moved.origin, { probe: OFTEN })));
    const before = probes(old).length;
    await until(() => probes(moved).length > 2, "probes of the second");
    // One may have been on its way.
    expect(probes(old).length).toBeLessThanOrEqual(before + 1);
    await newest.release();
    const after = probes(old).length;
    await until(() => probes(old).length > after + 2, "probes of the first again");
  });

  it("stop when no configuration names the upstream, or asks for them", async () => {
    const server = await serve(say(200));
    const other = await serve(say(200));
    const upstreams = create();
    const first = await upstreams.lease(snapshot(probed(server.origin, { probe: OFTEN })));
    await until(() => probes(server).length > 2, "probes");
    await upstreams.lease(snapshot(probed(other.origin, { name: "beta", probe: OFTEN })));
    const both = probes(server).length;
    await until(() => probes(server).length > both + 2, "probes while a former configuration is in use");
    await first.release();
    await expect.poll(() => server.sockets.size).toBe(0);
    const last = probes(server).length;
    const { length } = probes(other);
    await until(() => probes(other).length > length + 5, "probes of the one that stayed");
    expect(probes(server)).toHaveLength(last);

    const quiet = await upstreams.lease(snapshot(upstream(other.origin, { name: "beta", probe: null })));
    const stopped = probes(other).length;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(probes(other).length).toBeLessThanOrEqual(stopped + 1);
    expect(quiet.health("beta")).toMatchObject({ state: "unknown" });
  });

  it("one at a time, also when each takes longer than the pause between them", async () => {
    let running = 0;
    let most = 0;
    const server = await serve(({ socket }) => {
      running += 1;
      most = Math.max(most, running);
      setTimeout(() => {
        running -= 1;
        socket.write(response(200, {}, ""));
      }, 30);
    });
    await setOf(probed(server.origin, { probe: { every: 5, timeout: 1_000 } }));
    await until(() => probes(server).length > 5, "probes");
    expect(most).toBe(1);
  });

  it("end with close, the one on its way included", async () => {
    const server = await serve(() => undefined);
    const upstreams = create();
    const set = await upstreams.lease(snapshot(probed(server.origin, { probe: { every: 10, timeout: 10_000 } })));
    await until(() => probes(server).length === 1, "a probe");
    await upstreams.close();
    await expect.poll(() => server.sockets.size).toBe(0);
    await set.release();
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect(server.connections).toBe(1);
    expect(set.health("alpha")).toMatchObject({ state: "unknown", canServe: true });
  });

  it("health of an upstream that nobody configured is a mistake", async () => {
    const set = await setOf(
      upstream("http://127.0.0.1:9"),
      upstream("http://127.0.0.1:9", { name: "b", dialect: "bedrock" }),
    );
    expect(() => set.health("gamma")).toThrow('no upstream is named "gamma"');
    // Its dialect is not spoken.
    expect(set.health("b")).toEqual({ state: "unknown", latencyMs: 0, canServe: false });
  });
});

it("does not keep the process alive", async () => {
  const server = await serve(say(200));
  const build = new URL("../support/build.ts", import.meta.url).href;
  const program = `
    const { lease, upstream } = await import(${JSON.stringify(build)});
    const { set } = await lease(upstream(${JSON.stringify(server.origin)}, { probe: { every: 500, timeout: 5_000 } }));
    const wait = setInterval(() => {
      if (set.health("alpha").state === "unknown") return;
      console.log(set.health("alpha").state);
      clearInterval(wait);
    }, 5);`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
    timeout: 10_000,
  });
  expect(stdout).toBe("healthy\n");
});
