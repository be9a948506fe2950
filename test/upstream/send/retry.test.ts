import { describe, expect, it } from "vitest";
import type { RetrySettings } from "../../../src/kit/index.ts";
import { call, exchange, failure, lease, read, streamOf, target, TIMEOUTS, upstream } from "../support/build.ts";
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
} from "../support/raw-upstream.ts";
import { closedAfterEach, serveRaw } from "../support/serve.ts";

const open = closedAfterEach();

interface Options {
  readonly retries?: Partial<RetrySettings>;
  readonly keys?: readonly string[];
}

async function serve(script: (request: RawRequest) => void, { retries, keys = ["key-1"] }: Options = {}) {
  const at: number[] = [];
  const timed = (request: RawRequest): void => {
    at.push(Date.now());
    script(request);
  };
  const settings = { attempts: 3, minDelay: 20, maxDelay: 2_000, ...retries };
  return { ...(await serveRaw(open, timed, undefined, { retries: settings, keys })), at };
}

const status =
  (code: number, headers: Record<string, string> = {}) =>
  (request: RawRequest): void => {
    request.socket.write(response(code, headers, ""));
  };

describe("tries", () => {
  it.each<[string, (request: RawRequest) => void, number]>([
    ["503", status(503), 3],
    ["408", status(408), 3],
    ["429", status(429, { "retry-after-ms": "60" }), 3],
    ["a reset", ({ socket }) => socket.resetAndDestroy(), 3],
    ["silence", () => undefined, 3],
    ["400", status(400), 1],
    ["401", status(401), 1],
    ["404", status(404), 1],
    ["a redirect", status(302), 1],
    ["HTML", ({ socket }) => socket.write(response(200, { "content-type": "text/html" }, "<p>")), 1],
  ])("%s: %i", async (_name, act, tries) => {
    const { server, leased } = await serve(act);
    const timeouts = { ...TIMEOUTS, total: 60 };
    await failure(leased.set.send(target({ timeouts }), call(), exchange()));
    expect(server.requests.length).toBe(tries);
  });

  it("refused connections are tried again", async () => {
    const gone = await RawUpstream.start(() => undefined);
    const { origin } = gone;
    await gone.close();
    const leased = await lease(upstream(origin, { retries: { attempts: 3, minDelay: 60, maxDelay: 100 } }));
    open.push({ close: () => leased.end() });
    const startedAt = Date.now();
    expect(await failure(leased.set.send(target(), call(), exchange()))).toMatchObject({ failure: "connect" });
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(120);
  });

  it("attempts: 1 is one try", async () => {
    const { server, leased } = await serve(status(503), { retries: { attempts: 1 } });
    await failure(leased.set.send(target(), call(), exchange()));
    expect(server.requests.length).toBe(1);
  });

  it("a later success serves, streamed too", async () => {
    const { server, leased } = await serve(({ socket, index }) => {
      if (index === 0) return void socket.write(response(503, {}, ""));
      if (index === 1)
        return void socket.write(
          Buffer.concat([Buffer.from(STREAM_HEAD), chunk('data: {"error":{"message":"no"}}\n\n')]),
        );
      socket.write(
        Buffer.concat([Buffer.from(STREAM_HEAD), chunk(event("ok", "stop")), chunk(DONE), Buffer.from(LAST_CHUNK)]),
      );
    });
    const reply = await leased.set.send(target(), call({ stream: true }), exchange());
    expect(await read(streamOf(reply))).toMatchObject({ text: "ok", ending: { complete: true } });
    expect(server.requests.length).toBe(3);
  });

  it("wait as long as the upstream asks", async () => {
    const { leased, at } = await serve(({ socket, index }) =>
      socket.write(index === 0 ? response(429, { "retry-after-ms": "400" }, "") : answer("well")),
    );
    await leased.set.send(target(), call(), exchange());
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(395);
  });

  it("end when the upstream asks for more than max_delay", async () => {
    const { server, leased } = await serve(status(503, { "retry-after": "3" }));
    expect(await failure(leased.set.send(target(), call(), exchange()))).toMatchObject({
      failure: "status",
      retryAfter: 3_000,
    });
    expect(server.requests.length).toBe(1);
  });

  it("do not begin after the deadline", async () => {
    const { server, leased } = await serve(status(503), { retries: { minDelay: 1_500, maxDelay: 2_000 } });
    const startedAt = Date.now();
    await failure(leased.set.send(target(), call(), exchange({ deadline: 1_000 })));
    expect(server.requests.length).toBe(1);
    expect(Date.now() - startedAt).toBeLessThan(1_500);
  });
});

const seen = (server: RawUpstream): readonly string[] => server.requests.map(({ key }) => key);

describe("keys", () => {
  const once = { retries: { attempts: 1 }, keys: ["a", "b", "c"] };

  it("take turns", async () => {
    const { server, leased } = await serve(({ socket }) => socket.write(answer("well")), once);
    for (let round = 0; round < 6; round += 1) await leased.set.send(target(), call(), exchange());
    expect(seen(server)).toEqual(["a", "b", "c", "a", "b", "c"]);
  });

  it.each([401, 402, 403])("a %i goes on with the next one and rests", async (code) => {
    const { server, leased } = await serve(
      ({ socket, key }) => socket.write(key === "a" ? response(code, {}, "") : answer("well")),
      once,
    );
    for (let round = 0; round < 4; round += 1) await leased.set.send(target(), call(), exchange());
    expect(seen(server)).toEqual(["a", "b", "c", "b", "c"]);
  });

  it("a 429 goes on with the next one and rests until Retry-After", async () => {
    const { server, leased } = await serve(
      ({ socket, index }) =>
        socket.write(index === 0 ? response(429, { "retry-after-ms": "500" }, "") : answer("well")),
      { ...once, keys: ["a", "b"] },
    );
    await leased.set.send(target(), call(), exchange());
    await leased.set.send(target(), call(), exchange());
    expect(seen(server)).toEqual(["a", "b", "b"]);
    await new Promise((resolve) => setTimeout(resolve, 520));
    await leased.set.send(target(), call(), exchange());
    expect(seen(server).at(-1)).toBe("a");
  });

  it("are each tried once in an attempt; the mildest failure is reported", async () => {
    const { server, leased } = await serve(({ socket, key }) => {
      const limited = { a: "9", b: "5" }[key];
      socket.write(limited ? response(429, { "retry-after": limited }, "") : response(401, {}, ""));
    }, once);
    const error = await failure(leased.set.send(target(), call(), exchange()));
    expect(error).toMatchObject({ failure: "rate_limited", status: 429, retryAfter: 5_000 });
    expect(seen(server)).toEqual(["a", "b", "c"]);
    // The refused one is asked until a second user has met the same.
    const second = await failure(leased.set.send(target(), call(), exchange({ userId: "u2" })));
    expect(second).toMatchObject({ failure: "credentials", status: 401 });
    // All of them rest for longer than max_delay: nothing is sent.
    const next = await failure(leased.set.send(target(), call(), exchange()));
    expect(next).toMatchObject({ failure: "resting", status: 0 });
    expect(next.retryAfter).toBeGreaterThan(3_000);
    expect(next.retryAfter).toBeLessThanOrEqual(5_000);
    expect(seen(server)).toEqual(["a", "b", "c", "c"]);
  });

  it("that all rest for a short while: the soonest is used", async () => {
    const { server, leased } = await serve(
      ({ socket, index, key }) => {
        const wait = key === "a" ? "1500" : "900";
        socket.write(index < 2 ? response(429, { "retry-after-ms": wait }, "") : answer("well"));
      },
      { ...once, keys: ["a", "b"] },
    );
    await failure(leased.set.send(target(), call(), exchange()));
    await leased.set.send(target(), call(), exchange());
    expect(seen(server)).toEqual(["a", "b", "b"]);
  });

  it("a 404 and a 503 are not a key's fault", async () => {
    const { server, leased } = await serve(
      ({ socket, index }) => socket.write(response(index === 0 ? 404 : 503, {}, "")),
      once,
    );
    await failure(leased.set.send(target(), call(), exchange()));
    await failure(leased.set.send(target(), call(), exchange()));
    expect(seen(server)).toEqual(["a", "b"]);
  });

  it("a lone key that one request was refused with does not rest", async () => {
    const { server, leased } = await serve(
      ({ socket, index }) => socket.write(index === 0 ? response(401, {}, "") : answer("well")),
      {
        ...once,
        keys: ["a"],
      },
    );
    expect(await failure(leased.set.send(target(), call(), exchange()))).toMatchObject({
      failure: "credentials",
      status: 401,
    });
    await leased.set.send(target(), call(), exchange());
    expect(server.requests.length).toBe(2);
  });

  it("an upstream without keys is called without one", async () => {
    const { server, leased } = await serve(({ socket }) => socket.write(answer("well")), { ...once, keys: [] });
    await leased.set.send(target(), call(), exchange());
    expect(server.requests[0]?.key).toBe("");
  });
});
