import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Upload, Upstream } from "../../../src/kit/index.ts";
import { call, exchange, lease, type Leased, leaseWith, target, until, upstream } from "../support/build.ts";
import { bytewise, transcribe } from "../support/codecs.ts";
import { mute } from "../support/mute.ts";
import { answer, RawUpstream, type RawRequest, response } from "../support/raw-upstream.ts";
import { UploadServer } from "../support/upload-server.ts";
import { closedAfterEach } from "../support/serve.ts";
import { RUNS } from "../../properties/runs.ts";

const open = closedAfterEach();

async function leased(origin: string, changes: Partial<Upstream> = {}): Promise<Leased> {
  const one = await lease(upstream(`${origin}/v1`, changes));
  open.push({ close: () => one.end() });
  return one;
}

async function serve(script: (request: RawRequest) => void): Promise<RawUpstream> {
  const server = await RawUpstream.start(script);
  open.push(server);
  return server;
}

interface Running {
  /** Whether it was told to be on its way. */
  readonly sent: () => boolean;
  readonly leave: () => void;
  readonly over: Promise<unknown>;
}

function start({ set }: Leased, what = call(), requestId = "req-1"): Running {
  const client = new AbortController();
  let sent = false;
  const over = set
    .send(target(), what, { ...exchange({ signal: client.signal }), requestId }, () => {
      sent = true;
    })
    .catch((error: unknown) => error);
  return { sent: () => sent, leave: () => client.abort("client_gone"), over };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("a request is not sent", () => {
  it("to an address where nobody listens", async () => {
    const server = await RawUpstream.start(() => undefined);
    const { origin } = server;
    await server.close();
    const one = start(await leased(origin));
    expect(await one.over).toMatchObject({ failure: "connect" });
    expect(one.sent()).toBe(false);
  });

  it("while a connection is being made", async () => {
    const silence = await mute();
    open.push(silence);
    const one = start(await leased(silence.origin));
    await pause(50);
    one.leave();
    expect(await one.over).toMatchObject({ failure: "aborted" });
    expect(one.sent()).toBe(false);
  });

  it("while every connection is in use, nor when one is free at last", async () => {
    const server = await serve(() => undefined);
    const upstreams = await leased(server.origin, { connections: 1 });
    const first = start(upstreams);
    await until(first.sent, "the first is sent");
    const second = start(upstreams);
    await pause(20);
    second.leave();
    await second.over;
    await until(() => server.requests.length === 1, "the first arrives");
    server.requests[0]!.socket.write(answer("well"));
    await first.over;
    const third = start(upstreams);
    await until(() => server.requests.length === 2, "the third arrives");
    expect([first, second, third].map(({ sent }) => sent())).toEqual([true, false, true]);
    third.leave();
    await third.over;
  });

  it("before the first piece of an upload is there: the head goes out with it", async () => {
    const server = await UploadServer.start(() => undefined);
    const one = await leaseWith(bytewise, upstream(`${server.origin}/v1`));
    open.push({ close: () => one.end() }, server);
    const { promise: piece, resolve: give } = Promise.withResolvers<void>();
    const upload: Upload = {
      name: "a.wav",
      contentType: "audio/wav",
      size: 8,
      async *read() {
        await piece;
        yield Buffer.alloc(4);
        await new Promise(() => undefined);
      },
    };
    const early = start(one, transcribe(upload));
    await pause(50);
    expect([early.sent(), server.requests.length]).toEqual([false, 0]);
    give();
    await until(() => server.requests.length === 1, "the head arrives");
    expect(early.sent()).toBe(true);
    early.leave();
    await early.over;
  });
});

describe("a request is sent", () => {
  it.each([
    ["on a new connection", 0],
    ["on one that has served before", 1],
  ])("%s, whether or not it is answered", async (_, before) => {
    const server = await serve(({ socket, index }) => void (index < before && socket.write(answer("well"))));
    const upstreams = await leased(server.origin, { connections: 1 });
    for (let served = 0; served < before; served += 1) await start(upstreams).over;
    const one = start(upstreams);
    await until(() => server.requests.length === before + 1, "it arrives");
    expect(one.sent()).toBe(true);
    expect(server.connections).toBe(1);
    one.leave();
    await one.over;
  });

  it("when it was refused, also during the pause before another try", async () => {
    const server = await serve(({ socket }) => socket.write(response(503, {}, "")));
    const upstreams = await leased(server.origin, { retries: { attempts: 3, minDelay: 20_000, maxDelay: 30_000 } });
    const one = start(upstreams);
    await until(() => server.requests.length === 1, "it arrives");
    await pause(20);
    one.leave();
    expect(await one.over).toMatchObject({ failure: "aborted" });
    expect([one.sent(), server.requests.length]).toEqual([true, 1]);
  });
});

it("wherever its client leaves, no upstream has a request that was not called sent", async () => {
  const server = await serve(() => undefined);
  const upstreams = await leased(server.origin, { connections: 2 });
  const sent = new Set<string>();
  let count = 0;
  // Turns of the event loop until each of some requests at once is left.
  const turns = fc.array(fc.nat(12), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(turns, async (patience) => {
      await Promise.all(
        patience.map(async (left) => {
          const id = `request-${(count += 1)}`;
          const one = start(upstreams, call(), id);
          for (let turn = 0; turn < left; turn += 1) await new Promise((resolve) => setImmediate(resolve));
          one.leave();
          await one.over;
          if (one.sent()) sent.add(id);
        }),
      );
    }),
    { numRuns: Math.ceil(RUNS / 3) },
  );
  await pause(100);
  const arrived = server.requests.map(({ head }) => /x-request-id: (\S+)/.exec(head)![1]!);
  expect(arrived.filter((id) => !sent.has(id))).toEqual([]);
  // It says something of both.
  expect(arrived.length).toBeGreaterThan(0);
  expect(sent.size).toBeLessThan(count);
});
