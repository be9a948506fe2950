import { connect, type Socket } from "node:net";
import * as fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { openai } from "../../../src/dialects/chat/index.ts";
import type { AnswerCodec } from "../../../src/dialects/dialect.ts";
import type { Reply, StreamEvent } from "../../../src/kit/index.ts";
import { createUpstreams } from "../../../src/upstream/upstreams.ts";
import {
  call,
  exchange,
  failure,
  lease,
  read,
  silent,
  snapshot,
  streamOf,
  target,
  TIMEOUTS,
  until,
  upstream,
} from "../support/build.ts";
import { answer, chunk, DONE, event, LAST_CHUNK, RawUpstream, STREAM_HEAD } from "../support/raw-upstream.ts";
import { closedAfterEach, serveRaw } from "../support/serve.ts";
import { PATIENCE, RUNS } from "../../properties/runs.ts";

const open = closedAfterEach();

const serve = (script: (socket: Socket, index: number) => void) =>
  serveRaw(open, ({ socket, index }) => script(socket, index));

const STREAM = call({ stream: true });
const WHOLE = Buffer.concat([chunk(event("Hel")), chunk(event("lo", "stop")), chunk(DONE)]);
const begin = (socket: Socket, ...rest: readonly (string | Buffer)[]): void => {
  socket.write(Buffer.concat([STREAM_HEAD, ...rest].map((part) => Buffer.from(part))));
};
const CUT = { complete: false };

describe("the ending of a stream", () => {
  it.each<[string, (socket: Socket) => void, string, object]>([
    ["[DONE] is complete", (socket) => begin(socket, WHOLE, LAST_CHUNK), "Hello", { complete: true }],
    [
      "a finish reason without [DONE] is complete",
      (socket) => begin(socket, chunk(event("a", "stop")), LAST_CHUNK),
      "a",
      { complete: true },
    ],
    ["no finish reason is cut", (socket) => begin(socket, chunk(event("a")), LAST_CHUNK), "a", CUT],
    [
      "a FIN after a finish reason, in the middle of the body, is complete",
      (socket) => (begin(socket, chunk(event("a", "stop"))), socket.end()),
      "a",
      { complete: true },
    ],
    [
      "a reset after a finish reason is complete",
      (socket) => (begin(socket, chunk(event("a", "stop"))), setTimeout(() => socket.resetAndDestroy(), 30)),
      "a",
      { complete: true },
    ],
    ["a FIN without any ending is cut", (socket) => (begin(socket, chunk(event("a"))), socket.end()), "a", CUT],
    [
      "an event without its empty line before a clean end counts",
      (socket) => begin(socket, chunk(event("a")), chunk(event("b", "stop").trimEnd()), LAST_CHUNK),
      "ab",
      { complete: true },
    ],
    [
      "a later error event is a cut with its words",
      (socket) => begin(socket, chunk(event("a")), chunk('data: {"error":{"message":"overloaded"}}\n\n')),
      "a",
      { complete: false, message: "upstream reported an error: overloaded" },
    ],
    [
      "a later event that is not JSON is a cut",
      (socket) => begin(socket, chunk(event("a")), chunk("data: {oops\n\n"), chunk(event("b"))),
      "a",
      CUT,
    ],
    [
      "bytes after [DONE] are not read",
      (socket) => begin(socket, WHOLE, chunk(event("x")), chunk("data: oops\n\n"), LAST_CHUNK),
      "Hello",
      { complete: true },
    ],
    [
      "a body delimited by the connection is read to its end",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n");
        socket.end(event("a") + event("b", "stop") + DONE);
      },
      "ab",
      { complete: true },
    ],
  ])("%s", async (_name, act, text, ending) => {
    const { leased } = await serve(act);
    const seen = await read(streamOf(await leased.set.send(target(), STREAM, exchange())));
    expect(seen).toMatchObject({ text, ending });
  });

  it("a reset in the middle of a character is cut, and half a character is no event", async () => {
    const { leased } = await serve((socket) => {
      const euro = Buffer.from(event("€"));
      begin(socket, chunk(event("a")), chunk(euro.subarray(0, euro.indexOf(0xe2) + 1)));
      setTimeout(() => socket.resetAndDestroy(), 30);
    });
    const seen = await read(streamOf(await leased.set.send(target(), STREAM, exchange())));
    expect(seen).toMatchObject({
      text: "a",
      ending: { complete: false, message: "upstream connection lost (connection reset)" },
    });
  });

  it("a stall is cut by the idle timeout", async () => {
    const { server, leased } = await serve((socket) => begin(socket, chunk(event("a"))));
    const timeouts = { ...TIMEOUTS, idle: 120 };
    const seen = await read(streamOf(await leased.set.send(target({ timeouts }), STREAM, exchange())));
    expect(seen).toMatchObject({
      text: "a",
      ending: { complete: false, message: "upstream stream timed out in the middle of its answer" },
    });
    await expect.poll(() => server.sockets.size).toBe(0);
  });

  it("bytes keep the idle timeout away, the total timeout ends them", async () => {
    const { leased } = await serve((socket) => {
      begin(socket, chunk(event("a")));
      const drip = setInterval(() => socket.write(chunk(": still here\n\n")), 20);
      socket.on("close", () => clearInterval(drip));
    });
    const timeouts = { ...TIMEOUTS, idle: 400, total: 900 };
    const startedAt = Date.now();
    const seen = await read(streamOf(await leased.set.send(target({ timeouts }), STREAM, exchange())));
    expect(seen.ending).toMatchObject({
      complete: false,
      message: "upstream timed out before the end of its answer",
      error: { failure: "timeout" },
    });
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(890);
  });
});

it("a stream beyond 256 MiB is cut and its connection closed: what it is turned into is kept to its end", async () => {
  const blocks = 320;
  const { server, leased } = await serve((socket) => {
    begin(socket, chunk(event("a")));
    const block = chunk(`: ${" ".repeat((1 << 20) - 4)}\n\n`);
    let sent = 0;
    const more = (): void => {
      while (!socket.destroyed && sent < blocks) {
        sent += 1;
        if (!socket.write(block)) return;
      }
      if (!socket.destroyed)
        socket.end(Buffer.concat([chunk(event("b", "stop")), chunk(DONE), Buffer.from(LAST_CHUNK)]));
    };
    socket.on("drain", more);
    more();
  });
  const seen = await read(streamOf(await leased.set.send(target(), STREAM, exchange())));
  expect(seen).toMatchObject({
    text: "a",
    ending: { complete: false, message: "upstream sent too large an answer" },
  });
  await expect.poll(() => server.sockets.size).toBe(0);
});

describe("after [DONE]", () => {
  it("the connection serves the next request once the body has ended", async () => {
    const { server, leased } = await serve((socket, index) => {
      if (index > 0) return void socket.write(answer("well"));
      begin(socket, WHOLE);
      setTimeout(() => socket.write(LAST_CHUNK), 50);
    });
    await read(streamOf(await leased.set.send(target(), STREAM, exchange())));
    await new Promise((resolve) => setTimeout(resolve, 120));
    await leased.set.send(target(), call(), exchange());
    expect(server.connections).toBe(1);
  });

  it("a body that does not end is given up", async () => {
    const { server, leased } = await serve((socket) => begin(socket, WHOLE));
    await read(streamOf(await leased.set.send(target(), STREAM, exchange())));
    await expect.poll(() => server.sockets.size, { timeout: 5_000 }).toBe(0);
  });

  it("a body that goes on and on is given up before it costs much", async () => {
    let written = 0;
    const { server, leased } = await serve((socket) => {
      begin(socket, WHOLE);
      const block = chunk("x".repeat(32 * 1024));
      const more = (): void => {
        while (!socket.destroyed && socket.write(block));
      };
      socket.on("drain", more);
      socket.on("close", () => (written = socket.bytesWritten));
      setTimeout(more, 20);
    });
    await read(streamOf(await leased.set.send(target(), STREAM, exchange())));
    await expect.poll(() => server.sockets.size, { timeout: 5_000 }).toBe(0);
    expect(written).toBeLessThan(16 * 1024 * 1024);
  });
});

/** What has left the upstream's process, once nothing more does. */
const accepted = async ({ sockets }: RawUpstream): Promise<number> => {
  for (let before = -1; ;) {
    const now = [...sockets].reduce((sum, { bytesWritten, writableLength }) => sum + bytesWritten - writableLength, 0);
    if (now > 0 && now === before) return now;
    before = now;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
};

describe("a source", () => {
  it("holds what came before it was opened and hands it on as one batch", async () => {
    const { leased } = await serve((socket) => {
      begin(socket, chunk(event("a")));
      setTimeout(() => socket.write(chunk(event("b"))), 20);
      setTimeout(
        () => socket.write(Buffer.concat([chunk(event("c", "stop")), chunk(DONE), Buffer.from(LAST_CHUNK)])),
        40,
      );
    });
    const source = streamOf(await leased.set.send(target(), STREAM, exchange()));
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(await read(source)).toEqual({ text: "abc", batches: [3], ending: { complete: true } });
  });

  it("hands on each read of the upstream as one batch", async () => {
    const { leased } = await serve((socket) => {
      begin(socket, chunk(event("a")));
      setTimeout(() => socket.write(chunk(event("b") + event("c") + event("d", "stop") + DONE)), 60);
    });
    const seen = await read(streamOf(await leased.set.send(target(), STREAM, exchange())));
    expect(seen).toEqual({ text: "abcd", batches: [1, 3], ending: { complete: true } });
  });

  it("says nothing while it is paused, and everything in order afterwards", async () => {
    const { leased } = await serve((socket) => {
      begin(socket, chunk(event("a")));
      let sent = 0;
      const more = setInterval(() => {
        sent += 1;
        socket.write(chunk(event(`${sent % 10}`)));
        if (sent < 50) return;
        clearInterval(more);
        socket.write(Buffer.concat([chunk(event("z", "stop")), chunk(DONE), Buffer.from(LAST_CHUNK)]));
      }, 2);
    });
    const source = streamOf(await leased.set.send(target(), STREAM, exchange()));
    let text = "";
    let paused = false;
    const ended = Promise.withResolvers<void>();
    source.open({
      next(batch) {
        expect(paused).toBe(false);
        for (const one of batch) text += one.text;
        paused = true;
        source.pause();
        setTimeout(() => {
          paused = false;
          source.resume();
        }, 5);
      },
      end(ending) {
        expect(paused).toBe(false);
        expect(ending).toEqual({ complete: true });
        ended.resolve();
      },
    });
    await ended.promise;
    expect(text).toBe(`a${"1234567890".repeat(5)}z`);
  });

  it("may be resumed from within another stream's batch", async () => {
    const { leased } = await serve((socket, index) => {
      begin(socket, chunk(event("a")));
      if (index === 0) {
        for (let sent = 0; sent < 300; sent += 1) socket.write(chunk(event("b".repeat(1_000))));
        socket.write(Buffer.concat([chunk(event("", "stop")), chunk(DONE), Buffer.from(LAST_CHUNK)]));
      } else
        setTimeout(
          () => socket.write(Buffer.concat([chunk(event("c", "stop")), chunk(DONE), Buffer.from(LAST_CHUNK)])),
          100,
        );
    });
    const held = streamOf(await leased.set.send(target(), STREAM, exchange()));
    const other = streamOf(await leased.set.send(target(), STREAM, exchange()));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const first = Promise.withResolvers<unknown>();
    const second = Promise.withResolvers<unknown>();
    let length = 0;
    held.pause();
    held.open({ next: (batch) => batch.forEach(({ text }) => (length += text.length)), end: first.resolve });
    other.open({ next: (batch) => batch.some(({ text }) => text === "c") && held.resume(), end: second.resolve });
    expect(await Promise.all([first.promise, second.promise])).toEqual([{ complete: true }, { complete: true }]);
    expect(length).toBe(300_001);
  });

  it("hears nothing more once it has cancelled, from within a batch too", async () => {
    const { server, leased } = await serve((socket) =>
      begin(socket, chunk(event("a") + event("b")), chunk(event("c")), chunk(DONE)),
    );
    const source = streamOf(await leased.set.send(target(), STREAM, exchange()));
    let calls = 0;
    source.open({
      next() {
        calls += 1;
        source.cancel();
        source.resume();
      },
      end() {
        calls += 100;
      },
    });
    await expect.poll(() => server.sockets.size).toBe(0);
    expect(calls).toBe(1);
  });

  it("whose sink throws ends the upstream request and nothing else", async () => {
    const { server, leased } = await serve((socket, index) => {
      if (index > 0) return void socket.write(answer("well"));
      begin(socket, chunk(event("a")));
      const more = setInterval(() => socket.write(chunk(event("b"))), 5);
      socket.on("close", () => clearInterval(more));
    });
    const source = streamOf(await leased.set.send(target(), STREAM, exchange()));
    let calls = 0;
    source.open({
      next() {
        calls += 1;
        if (calls > 1) throw new Error("a fault of the sink");
      },
      end() {
        calls += 100;
      },
    });
    await expect.poll(() => server.sockets.size).toBe(0);
    expect(calls).toBe(2);
    expect(await leased.set.send(target(), call(), exchange())).toMatchObject({ type: "answer" });
  });

  it("keeps a fast upstream waiting while its sink is slow, and holds less than 2 MiB", async () => {
    const big = chunk(event("x".repeat(16 * 1024)));
    const flood = (socket: Socket): void => {
      begin(socket, chunk(event("a")));
      const more = (): void => {
        while (!socket.destroyed && socket.write(big));
      };
      socket.on("drain", more);
      more();
    };
    const { server, leased } = await serve(flood);
    const bare = await RawUpstream.start(({ socket }) => flood(socket));
    open.push(bare);
    // A client that reads nothing shows what the kernel alone takes.
    const deaf = connect(Number(new URL(bare.origin).port), "127.0.0.1").pause();
    deaf.write("POST / HTTP/1.1\r\n\r\n");
    const kernel = await accepted(bare);
    deaf.destroy();

    const timeouts = { ...TIMEOUTS, idle: 250 };
    const source = streamOf(await leased.set.send(target({ timeouts }), STREAM, exchange()));
    expect((await accepted(server)) - kernel).toBeLessThan(2 * 1024 * 1024);

    let received = 0;
    let first = 0;
    source.open({
      next(batch: readonly StreamEvent[]) {
        const size = batch.reduce((sum, { text }) => sum + text.length, 0);
        first ||= size;
        received += size;
        if (received > 8 * 1024 * 1024) source.pause();
      },
      end(ending) {
        throw new Error(`ended: ${JSON.stringify(ending)}`);
      },
    });
    await until(() => received > 8 * 1024 * 1024, "8 MiB received");
    await accepted(server);
    // The pause lasts longer than the idle timeout: it must not be taken for the upstream's silence.
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect(server.sockets.size).toBe(1);
    const before = received;
    first = 0;
    source.resume();
    await until(() => received > before, "more after the pause");
    // The first batch is what was held meanwhile.
    expect(first).toBeLessThan(256 * 1024);
    source.cancel();
    await expect.poll(() => server.sockets.size).toBe(0);
  });
});

describe("any split of a stream into reads", () => {
  let parts: readonly Buffer[] = [];
  const body = Buffer.from(`\uFEFF: hi\r\n\r\n${event("Grüße ")}${event("an 🌍 und €")}${event("", "stop")}${DONE}`);
  const shared = RawUpstream.start(({ socket }) => {
    void (async () => {
      socket.write(STREAM_HEAD);
      for (const part of parts) {
        socket.write(chunk(part));
        await new Promise((resolve) => setImmediate(resolve));
      }
      socket.write(LAST_CHUNK);
    })();
  });
  const leased = shared.then((server) => lease(upstream(`${server.origin}/v1`)));
  afterAll(async () => {
    await (await leased).end();
    await (await shared).close();
  });

  it(
    "gives the same events",
    async () => {
      const { set } = await leased;
      const cuts = fc.uniqueArray(fc.integer({ min: 1, max: body.length - 1 }), { maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(cuts, async (at) => {
          const edges = [0, ...at.toSorted((a, b) => a - b), body.length];
          parts = edges.slice(1).map((edge, index) => body.subarray(edges[index], edge));
          const seen = await read(streamOf(await set.send(target(), STREAM, exchange())));
          expect(seen).toMatchObject({ text: "Grüße an 🌍 und €", ending: { complete: true } });
        }),
        { numRuns: Math.ceil(RUNS / 3) },
      );
    },
    PATIENCE,
  );
});

async function sendWith(feeds: number): Promise<Reply> {
  const server = await RawUpstream.start(({ socket }) => begin(socket, chunk(event("a")), chunk(event("b"))));
  let calls = 0;
  const feed = (): readonly StreamEvent[] => {
    calls += 1;
    if (calls > feeds) throw new Error("a fault of the dialect");
    return [{ data: {}, text: "a" }];
  };
  const decoder = () => ({ feed, finish: () => [], fault: null, done: false, complete: false });
  const chat = { ...(openai.codecs.chat as AnswerCodec), decoder };
  const dialect = { ...openai, codecs: { chat } };
  const upstreams = createUpstreams({ dialects: { openai: dialect }, now: Date.now, log: silent });
  open.push(upstreams, server);
  const set = await upstreams.lease(snapshot(upstream(server.origin)));
  return set.send(target(), STREAM, exchange());
}

describe("a decoder that throws", () => {
  it("before the first event is a protocol failure", async () => {
    expect(await failure(sendWith(0))).toMatchObject({ failure: "protocol" });
  });

  it("after it is a cut", async () => {
    expect(await read(streamOf(await sendWith(1)))).toMatchObject({ text: "a", ending: CUT });
  });
});
