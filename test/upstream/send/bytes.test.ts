import { createHash, randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import type { AttemptError, ByteReply, SinkEnding } from "../../../src/kit/index.ts";
import {
  bytesOf,
  exchange,
  failure,
  type Leased,
  leaseWith,
  readBytes,
  target,
  TIMEOUTS,
  upstream,
} from "../support/build.ts";
import { bytewise, SPEECH } from "../support/codecs.ts";
import { chunk, LAST_CHUNK, RawUpstream, response } from "../support/raw-upstream.ts";
import { closedAfterEach, serveRaw } from "../support/serve.ts";
import { PATIENCE, RUNS } from "../../properties/runs.ts";

const open = closedAfterEach();

const serve = (script: (socket: Socket, index: number) => void) =>
  serveRaw(open, ({ socket, index }) => script(socket, index), bytewise);

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: audio/mpeg\r\n";
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`;
const BRIEF = target({ timeouts: { ...TIMEOUTS, firstByte: 80, idle: 80 } });

async function speak({ set }: Leased, to = target(), by = exchange()): Promise<ByteReply> {
  return bytesOf(await set.send(to, SPEECH, by));
}

describe("a body of bytes", () => {
  it("comes as it was sent, with its type and what the call itself counts", async () => {
    const body = randomBytes(300_000);
    const { server, leased } = await serve((socket) => {
      socket.write(`${HEAD}content-length: ${body.length}\r\n\r\n`);
      socket.write(body);
    });
    const { source, ...reply } = await speak(leased);
    expect(reply).toEqual({
      type: "bytes",
      target: target(),
      contentType: "audio/mpeg",
      usage: { prompt: 0, completion: 0, cached: 0, reasoning: 0, characters: 5 },
    });
    const seen = await readBytes(source);
    expect(seen.ending).toEqual({ complete: true });
    expect(seen.body.equals(body)).toBe(true);
    expect(server.requests[0]).toMatchObject({
      key: "key-1",
      head: expect.stringMatching(/^POST \/v1\/audio\/speech /),
    });
  });

  it.each([
    ["audio/pcm; rate=16000", "audio/pcm; rate=16000"],
    ["application/octet-stream", "audio/mpeg"],
  ])("of %s is of the type that the codec names", async (sent, shown) => {
    const { leased } = await serve((socket) => socket.write(response(200, { "content-type": sent }, "RIFF")));
    expect(await speak(leased)).toMatchObject({ contentType: shown });
  });
});

describe("before the first byte everything fails over", () => {
  it.each<[string, (socket: Socket) => void, string]>([
    ["an empty body", (socket) => socket.write(`${HEAD}content-length: 0\r\n\r\n`), "protocol"],
    ["no chunk but the last", (socket) => socket.write(CHUNKED + LAST_CHUNK), "protocol"],
    [
      "a body that ends with the connection, empty",
      (socket) => socket.end(`${HEAD}connection: close\r\n\r\n`),
      "protocol",
    ],
    [
      "JSON in place of audio",
      (socket) => socket.write(response(200, { "content-type": "application/json" }, '{"error":"x"}')),
      "protocol",
    ],
    ["HTML", (socket) => socket.write(response(200, { "content-type": "text/html" }, "<p>")), "protocol"],
    [
      "a body compressed in an unknown way",
      (socket) => {
        const body = gzipSync("ID3");
        socket.write(`${HEAD}content-encoding: zstd\r\ncontent-length: ${body.length}\r\n\r\n`);
        socket.write(body);
      },
      "protocol",
    ],
    ["a head, then silence", (socket) => socket.write(CHUNKED), "timeout"],
    ["silence", () => undefined, "timeout"],
  ])("%s", async (_name, act, expected) => {
    const { leased } = await serve((socket, index) =>
      index % 2 === 0 ? act(socket) : socket.write(response(200, { "content-type": "audio/mpeg" }, "well")),
    );
    for (let round = 0; round < 2; round += 1) {
      expect(await failure(leased.set.send(BRIEF, SPEECH, exchange()))).toMatchObject({ failure: expected });
      const { body } = await readBytes((await speak(leased)).source);
      expect(body.toString()).toBe("well");
    }
  });
});

const CUT = "upstream connection lost (connection reset)";

describe("cut at every place", () => {
  const body = "0123456789abcdef";
  const answers: readonly [string, string][] = [
    ["with a length", response(200, { "content-type": "audio/mpeg" }, body)],
    ["in chunks", `${CHUNKED}${chunk(body.slice(0, 7))}${chunk(body.slice(7))}${LAST_CHUNK}`],
  ];
  let sent = "";
  let reset = false;
  const shared = RawUpstream.start(({ socket }) => {
    socket.write(sent, () => (reset ? socket.resetAndDestroy() : socket.end()));
  });
  const leased = shared.then((server) => leaseWith(bytewise, upstream(server.origin)));
  afterAll(async () => {
    await (await leased).end();
    await (await shared).close();
  });

  it.each(answers.flatMap(([name, answer]) => [false, true].map((hard) => [name, hard, answer] as const)))(
    "%s, by reset %s",
    async (_name, hard, answer) => {
      reset = hard;
      const failures: unknown[] = [];
      const endings: SinkEnding[] = [];
      const parts: string[] = [];
      for (let at = 0; at < answer.length; at += 1) {
        sent = answer.slice(0, at);
        try {
          const seen = await readBytes((await speak(await leased)).source);
          endings.push(seen.ending);
          parts.push(seen.body.toString());
        } catch (error) {
          failures.push((error as AttemptError).failure);
        }
      }
      expect(new Set(failures)).toEqual(new Set(["reset"]));
      expect(endings.filter((ending) => ending.complete || ending.message !== CUT)).toEqual([]);
      expect(parts.filter((part) => part === "" || !body.startsWith(part))).toEqual([]);
      // A reset may overtake what was sent before it; an orderly end does not.
      expect(parts.length).toBeGreaterThanOrEqual(hard ? 0 : body.length - 1);
      sent = answer;
      reset = false;
      const whole = await readBytes((await speak(await leased)).source);
      expect(whole).toEqual({ body: Buffer.from(body), ending: { complete: true } });
    },
  );

  it("a body without a length ends with its connection", async () => {
    sent = `${HEAD}connection: close\r\n\r\n${body}`;
    reset = false;
    const whole = await readBytes((await speak(await leased)).source);
    expect(whole).toEqual({ body: Buffer.from(body), ending: { complete: true } });
  });
});

describe("back-pressure", () => {
  it("50 MB reach a slow client whole, and no more than a read of it is ever held", async () => {
    const block = randomBytes(1 << 20);
    const blocks = 50;
    const digest = createHash("sha256");
    for (let sent = 0; sent < blocks; sent += 1) digest.update(block);
    const { server, leased } = await serve((socket) => {
      socket.write(`${HEAD}content-length: ${block.length * blocks}\r\n\r\n`);
      let sent = 0;
      const more = (): void => {
        while (sent < blocks) {
          sent += 1;
          if (!socket.write(block)) break;
        }
      };
      socket.on("drain", more);
      more();
    });
    const { source } = await speak(leased);
    // Unopened, it is not read: all but what the kernel and one read hold stays with the upstream.
    await expect.poll(() => stalled(server)).toBe(true);
    const [socket] = server.sockets;
    expect(socket!.writableLength).toBeGreaterThan(0);

    const received = createHash("sha256");
    let size = 0;
    let largest = 0;
    let paused = false;
    const ended = Promise.withResolvers<unknown>();
    source.open({
      next(bytes) {
        expect(paused).toBe(false);
        received.update(bytes);
        size += bytes.length;
        largest = Math.max(largest, bytes.length);
        paused = true;
        source.pause();
        setImmediate(() => {
          paused = false;
          source.resume();
        });
      },
      end(ending) {
        expect(paused).toBe(false);
        ended.resolve(ending);
      },
    });
    expect(await ended.promise).toEqual({ complete: true });
    expect(size).toBe(block.length * blocks);
    expect(received.digest("hex")).toBe(digest.digest("hex"));
    // One read of undici: what Node's socket had ready.
    expect(largest).toBeLessThanOrEqual(256 * 1024);
  });

  it("ten thousand chunks of one byte arrive in order, held back or not", async () => {
    const body = Buffer.from(Array.from({ length: 10_000 }, (_, index) => index % 251));
    const { leased } = await serve((socket) => {
      socket.write(CHUNKED);
      socket.write(Buffer.concat([...body].map((byte) => chunk(Buffer.of(byte)))));
      socket.write(LAST_CHUNK);
    });
    const { source } = await speak(leased);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const sizes: number[] = [];
    const whole = Promise.withResolvers<Buffer>();
    const chunks: Uint8Array[] = [];
    source.open({
      next(bytes) {
        sizes.push(bytes.length);
        chunks.push(bytes);
      },
      end: () => whole.resolve(Buffer.concat(chunks)),
    });
    expect((await whole.promise).equals(body)).toBe(true);
    expect(sizes[0]).toBe(1);
  });
});

describe("any split of a body into writes", () => {
  const body = randomBytes(2_000);
  let cuts: readonly number[] = [];
  const shared = RawUpstream.start(({ socket }) => {
    void (async () => {
      socket.write(CHUNKED);
      const edges = [0, ...cuts, body.length];
      for (const [index, edge] of edges.slice(1).entries()) {
        socket.write(chunk(body.subarray(edges[index], edge)));
        await new Promise((resolve) => setImmediate(resolve));
      }
      socket.write(LAST_CHUNK);
    })();
  });
  const leased = shared.then((server) => leaseWith(bytewise, upstream(server.origin)));
  afterAll(async () => {
    await (await leased).end();
    await (await shared).close();
  });

  it(
    "gives the same bytes, whenever the sink pauses",
    async () => {
      const { set } = await leased;
      const places = fc.uniqueArray(fc.integer({ min: 1, max: body.length - 1 }), { maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(places, fc.array(fc.boolean(), { maxLength: 12 }), async (at, pauses) => {
          cuts = at.toSorted((a, b) => a - b);
          const { source } = bytesOf(await set.send(target(), SPEECH, exchange()));
          const left = [...pauses];
          const chunks: Uint8Array[] = [];
          const ended = Promise.withResolvers<unknown>();
          source.open({
            next(bytes) {
              chunks.push(bytes);
              if (left.shift() !== true) return;
              source.pause();
              setImmediate(() => source.resume());
            },
            end: ended.resolve,
          });
          expect(await ended.promise).toEqual({ complete: true });
          expect(Buffer.concat(chunks).equals(body)).toBe(true);
        }),
        { numRuns: Math.ceil(RUNS / 3) },
      );
    },
    PATIENCE,
  );
});

/** Whether the upstream has written what it could. */
async function stalled({ sockets }: RawUpstream): Promise<boolean> {
  const [socket] = sockets;
  const before = socket?.bytesWritten;
  await new Promise((resolve) => setTimeout(resolve, 50));
  return before !== undefined && before > 0 && before === socket?.bytesWritten;
}
