import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Call, StreamEvent } from "../../../src/kit/index.ts";
import {
  bytesOf,
  call,
  exchange,
  failure,
  lease,
  type Leased,
  read,
  readBytes,
  streamOf,
  target,
  upstream,
} from "../support/build.ts";
import { DONE, event } from "../support/raw-upstream.ts";
import { closedAfterEach } from "../support/serve.ts";
import { PATIENCE, RUNS } from "../../properties/runs.ts";

const CODINGS: readonly (readonly [name: string, coding: string, pack: (text: Buffer | string) => Buffer])[] = [
  ["gzip", "gzip", (text) => gzipSync(text)],
  ["gzip in capitals", "GZIP", (text) => gzipSync(text)],
  ["gzip by its old name", "x-gzip", (text) => gzipSync(text)],
  ["deflate", "deflate", (text) => deflateSync(text)],
  ["deflate without its header", "deflate", (text) => deflateRawSync(text)],
  ["br", "br", (text) => brotliCompressSync(text)],
];
const MIB = 1024 * 1024;

const open = closedAfterEach();

/** An upstream whose every answer is written by `act`; its head is sent with the first write. */
async function serve(act: (res: ServerResponse, index: number) => void): Promise<Leased> {
  let index = 0;
  const server = createServer((req, res) => {
    req.resume().on("end", () => act(res, index++));
    res.on("error", () => undefined);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const leased = await lease(upstream(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`));
  open.push(
    { close: () => leased.end() },
    {
      async close() {
        server.closeAllConnections();
        server.close();
        await once(server, "close");
      },
    },
  );
  return leased;
}

function head(res: ServerResponse, coding: string, type = "application/json", status = 200): ServerResponse {
  return res.writeHead(status, { "content-type": type, "content-encoding": coding });
}

const EVENTS = "text/event-stream";
const STREAM = call({ stream: true });
const SPEECH = call({ kind: "speech", body: { model: "route/m", input: "x", voice: "v" } });
const ANSWER = JSON.stringify({
  choices: [{ index: 0, message: { role: "assistant", content: "grüße ".repeat(9_999) }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});

describe.each(CODINGS)("%s", (_name, coding, pack) => {
  it("a whole answer is read", async () => {
    const leased = await serve((res) => head(res, coding).end(pack(ANSWER)));
    for (let round = 0; round < 2; round += 1) {
      const reply = await leased.set.send(target(), call(), exchange());
      expect(reply).toMatchObject({ type: "answer", usage: { prompt: 3, completion: 2 } });
      expect(JSON.stringify(reply)).toContain("grüße grüße");
    }
  });

  it("a stream is read", async () => {
    const text = Array.from({ length: 500 }, (_, at) => event(`${at} `)).join("") + event("", "stop") + DONE;
    const leased = await serve((res) => head(res, coding, EVENTS).end(pack(text)));
    const { text: said, ending } = await read(streamOf(await leased.set.send(target(), STREAM, exchange())));
    expect(said).toBe(Array.from({ length: 500 }, (_, at) => `${at} `).join(""));
    expect(ending).toEqual({ complete: true });
  });

  it("a body of bytes is read", async () => {
    const audio = Buffer.alloc(300_000, "ID3x");
    const leased = await serve((res) => head(res, coding, "audio/mpeg").end(pack(audio)));
    const { body, ending } = await readBytes(bytesOf(await leased.set.send(target(), SPEECH, exchange())).source);
    expect(body.equals(audio)).toBe(true);
    expect(ending).toEqual({ complete: true });
  });

  it("a refusal is told", async () => {
    const body = pack('{"error":{"message":"max_tokens is too large"}}');
    const leased = await serve((res) => head(res, coding, "application/json", 400).end(body));
    const error = await failure(leased.set.send(target(), call(), exchange()));
    expect(error).toMatchObject({ failure: "client_fault", status: 400, message: "max_tokens is too large" });
  });

  it("a body that is cut, or is something else, fails over", async () => {
    const cut = pack(ANSWER).subarray(0, -30);
    const leased = await serve((res, index) => head(res, coding).end([cut, ANSWER, ""][index]));
    for (let round = 0; round < 3; round += 1) {
      const error = await failure(leased.set.send(target(), call(), exchange()));
      expect(error).toMatchObject({ failure: "protocol" });
    }
  });
});

it.each(["zstd", "gzip, gzip", "identity, br", "constructor"])("%s is not read", async (coding) => {
  const leased = await serve((res, index) =>
    head(res, coding, undefined, index === 0 ? 200 : 400).end(gzipSync(ANSWER)),
  );
  const sent = (): Promise<Error> => failure(leased.set.send(target(), call(), exchange()));
  expect(await sent()).toMatchObject({ failure: "protocol" });
  expect(await sent()).toMatchObject({ failure: "client_fault", message: "upstream refused the request (400)" });
});

it("events come as they are sent, each with its flush", async () => {
  const packer = createGzip();
  const leased = await serve((res) => {
    packer.pipe(head(res, "gzip", EVENTS));
    packer.write(event("one"));
    packer.flush();
  });
  const source = streamOf(await leased.set.send(target(), STREAM, exchange()));
  const heard: string[] = [];
  const ended = Promise.withResolvers<unknown>();
  source.open({ next: (events) => void heard.push(...events.map(({ text }) => text)), end: ended.resolve });
  expect(heard).toEqual(["one"]);
  packer.end(event("two", "stop") + DONE);
  expect(await ended.promise).toEqual({ complete: true });
  expect(heard.join()).toBe("one,two");
});

it("a stream that is reset in the middle is cut", async () => {
  const packer = createGzip();
  const leased = await serve((res) => {
    packer.pipe(head(res, "gzip", EVENTS));
    packer.write(event("one"));
    packer.flush(() => setTimeout(() => res.socket?.resetAndDestroy(), 50));
  });
  const { text, ending } = await read(streamOf(await leased.set.send(target(), STREAM, exchange())));
  expect(text).toBe("one");
  expect(ending).toMatchObject({ complete: false });
});

describe("a few bytes that unpack to a great many", () => {
  /** 200 MiB in 200 KiB. */
  const BOMB = gzipSync(Buffer.alloc(200 * MIB, " "));

  it.each<[string, string, Call, number]>([
    ["a whole answer", "application/json", call(), 200],
    ["an event of a stream", EVENTS, STREAM, 200],
    ["a refusal", "application/json", call(), 400],
  ])("%s is stopped at the limit that it would have had unpacked", async (_name, type, asked, status) => {
    const leased = await serve((res) => head(res, "gzip", type, status).end(BOMB));
    const before = process.memoryUsage().rss;
    const started = process.cpuUsage();
    const error = await failure(leased.set.send(target(), asked, exchange()));
    expect(error.failure).toBe(status === 400 ? "client_fault" : "protocol");
    expect(process.cpuUsage(started).user).toBeLessThan(5_000_000);
    // What is kept of the answer at most is 32 MiB, in pieces.
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MIB);
  });

  it("waits, packed, while nobody takes what was unpacked", async () => {
    const filler = `: ${"x".repeat(1_000)}\n`;
    const text = event("one") + event("x".repeat(1_000)).repeat(200_000) + filler + event("", "stop") + DONE;
    const packed = gzipSync(text);
    expect(packed.length).toBeLessThan(2 * MIB);
    const leased = await serve((res) => head(res, "gzip", EVENTS).end(packed));
    const source = streamOf(await leased.set.send(target(), STREAM, exchange()));
    await sleep(300);
    let batch = 0;
    const heard = { characters: 0, largest: 0 };
    const ended = Promise.withResolvers<unknown>();
    source.open({
      next(events: readonly StreamEvent[]) {
        const characters = events.reduce((sum, one) => sum + one.text.length, 0);
        heard.characters += characters;
        heard.largest = Math.max(heard.largest, characters);
        if (++batch % 50 !== 0) return;
        source.pause();
        setImmediate(() => source.resume());
      },
      end: ended.resolve,
    });
    expect(await ended.promise).toEqual({ complete: true });
    expect(heard.characters).toBe(3 + 200_000 * 1_000);
    // 64 KiB wait for a slow reader, and one piece more.
    expect(heard.largest).toBeLessThan(128 * 1024);
  });

  it("is let go of with its reader", async () => {
    const leased = await serve((res) =>
      head(res, "gzip", EVENTS).end(gzipSync(event("x".repeat(1_000)).repeat(100_000))),
    );
    const source = streamOf(await leased.set.send(target(), STREAM, exchange()));
    let heard = 0;
    source.open({
      next() {
        heard += 1;
        if (heard === 3) source.cancel();
      },
      end: () => expect.fail("a source that was cancelled has ended"),
    });
    await sleep(200);
    expect(heard).toBe(3);
  });
});

it(
  "however the bytes are split, what is read is what was packed",
  async () => {
    let reply: { readonly pieces: readonly Buffer[]; readonly coding: string } = { pieces: [], coding: "" };
    const leased = await serve(async (res) => {
      head(res, reply.coding, EVENTS);
      for (const piece of reply.pieces) {
        res.write(piece);
        await sleep(0);
      }
      res.end();
    });
    const texts = fc.array(fc.string({ unit: "grapheme", maxLength: 200 }), { minLength: 1, maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(
        texts,
        fc.constantFrom(...CODINGS),
        fc.array(fc.nat(400), { maxLength: 5 }),
        async (texts, [, coding, pack], cuts) => {
          const packed = pack(texts.map((text) => event(text)).join("") + event("", "stop") + DONE);
          const ends = [...cuts.toSorted((a, b) => a - b), packed.length];
          reply = { coding, pieces: ends.map((end, at) => packed.subarray(at === 0 ? 0 : ends[at - 1], end)) };
          const { text, ending } = await read(streamOf(await leased.set.send(target(), STREAM, exchange())));
          expect(text).toBe(texts.join(""));
          expect(ending).toEqual({ complete: true });
        },
      ),
      { numRuns: Math.ceil(RUNS / 5) },
    );
  },
  PATIENCE,
);
