import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { Client, InferenceRequest } from "../../src/kit/index.ts";
import { listenOn, type ListenOptions } from "../../src/server/listen.ts";
import { textResponse } from "../../src/server/router.ts";
import { StalledReaders } from "../../src/server/stalled-readers.ts";
import { CHAT, LOOPBACK, start, type StartOptions, waitFor } from "./support.ts";

const LOOKS = 30;
/** More than the kernel takes of one connection. */
const MUCH = 24 * 1024 * 1024;

/** A client that reads nothing until it is told to, and the server's end of its connection. */
async function connected(): Promise<{ readonly client: Socket; readonly socket: Socket }> {
  const server = createServer().listen(0, LOOPBACK);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const accepted = once(server, "connection");
  const client = silent((server.address() as { port: number }).port);
  const [socket] = (await accepted) as [Socket];
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  return { client, socket };
}

function silent(port: number): Socket {
  const client = connect(port, LOOPBACK);
  client.pause();
  onTestFinished(() => void client.destroy());
  client.on("error", () => {});
  return client;
}

function left(socket: Socket): number {
  return (socket as Socket & { readonly _handle: { readonly writeQueueSize: number } })._handle.writeQueueSize;
}

/** Waits until the kernels of both ends have taken what they can. */
async function untilFull(socket: Socket): Promise<void> {
  let before = -1;
  while (left(socket) !== before) {
    before = left(socket);
    await settled();
  }
}

/** Between two ends of loopback nothing is on its way for longer. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 100));
}

function watching(): StalledReaders {
  const readers = new StalledReaders(3_600_000);
  onTestFinished(() => readers.close());
  return readers;
}

test("a write that the kernel took in part is no progress: the client is cut after one period, by a reset", async () => {
  const { client, socket } = await connected();
  const readers = watching();
  readers.watch(socket);
  socket.write(Buffer.alloc(MUCH));
  await untilFull(socket);
  expect(left(socket)).toBeLessThan(MUCH);
  for (let look = 0; look < LOOKS; look += 1) await readers.look();
  expect(socket.destroyed).toBe(false);
  await readers.look();
  expect(socket.destroyed).toBe(true);
  const failed = once(client, "error");
  client.resume();
  expect(await failed).toMatchObject([{ code: "ECONNRESET" }]);
});

test("comments that are written meanwhile are no progress", async () => {
  const { socket } = await connected();
  const readers = watching();
  readers.watch(socket);
  socket.write(Buffer.alloc(MUCH));
  await untilFull(socket);
  for (let look = 0; look <= LOOKS; look += 1) {
    expect(socket.destroyed).toBe(false);
    await readers.look();
    if (!socket.destroyed) socket.write(": heartbeat\n\n");
  }
  expect(socket.destroyed).toBe(true);
});

test("a client that takes a part of one long write now and then is not cut", async () => {
  const { client, socket } = await connected();
  const readers = watching();
  readers.watch(socket);
  socket.write(Buffer.alloc(MUCH));
  await untilFull(socket);
  for (let part = 0; part < 3; part += 1) {
    for (let look = 0; look < LOOKS; look += 1) await readers.look();
    const before = left(socket);
    client.resume();
    await waitFor(() => left(socket) < before);
    client.pause();
  }
  expect(socket.destroyed).toBe(false);
  client.resume();
  await waitFor(() => socket.writableLength === 0);
  for (let look = 0; look <= 2 * LOOKS; look += 1) await readers.look();
  expect(socket.destroyed).toBe(false);
});

test.runIf(process.platform === "linux")("a client that takes less than this process can see is not cut", async () => {
  const { client, socket } = await connected();
  const readers = watching();
  readers.watch(socket);
  socket.write(Buffer.alloc(MUCH));
  await untilFull(socket);
  for (let look = 0; look < LOOKS; look += 1) await readers.look();
  // What waits in its own kernel, and little more.
  client.on("data", () => client.pause());
  client.resume();
  await waitFor(() => client.bytesRead > 0 && client.isPaused());
  await settled();
  await readers.look();
  expect(socket.destroyed).toBe(false);
  for (let look = 0; look < LOOKS; look += 1) await readers.look();
  expect(socket.destroyed).toBe(true);
});

const EVENTS = "text/event-stream; charset=utf-8";
const TEXT = "x".repeat(MUCH);
const POST = `POST ${CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`;

/** An inference answer of the kind; the run ends when the client has left. */
function inference(answer: (client: Client) => void): StartOptions {
  return {
    early: async ({ client }: InferenceRequest) => {
      answer(client);
      await once(client.signal, "abort");
    },
  };
}

/** As the admin listener is. */
const RAW = "a listener with a handler of its own";

const ANSWERS: readonly (readonly [kind: string, request: string, options: StartOptions])[] = [
  [
    "a stream of events",
    POST,
    inference((client) => {
      client.startStream(EVENTS, {});
      for (let at = 0; at < MUCH; at += 65_536) client.write(`data: ${TEXT.slice(0, 65_536)}\n\n`);
    }),
  ],
  [
    "a stream that goes on with comments",
    POST,
    inference((client) => {
      client.startStream(EVENTS, {});
      client.write(TEXT);
      const beats = setInterval(() => client.write(": heartbeat\n\n"), 10);
      client.signal.addEventListener("abort", () => clearInterval(beats));
    }),
  ],
  [
    "a stream that has ended",
    POST,
    inference((client) => {
      client.startStream(EVENTS, {});
      client.end(TEXT);
    }),
  ],
  ["a whole answer", POST, inference((client) => client.answer(200, "application/json", TEXT, {}))],
  [
    "a stream of audio",
    POST,
    inference((client) => {
      client.startStream("audio/mpeg", {});
      client.write(Buffer.alloc(MUCH));
    }),
  ],
  [
    "a stream of audio that is broken off",
    POST,
    inference((client) => {
      client.startStream("audio/mpeg", {});
      client.write(Buffer.alloc(MUCH));
      client.cut();
    }),
  ],
  [
    "a route's answer",
    "GET /v1/long HTTP/1.1\r\nHost: x\r\n\r\n",
    { routes: [{ method: "GET", path: "/v1/long", handle: () => textResponse(200, "text/plain", TEXT) }] },
  ],
  [
    "a page",
    "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    {
      pages({ res }) {
        res.end(TEXT);
        return "/";
      },
    },
  ],
  [RAW, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", {}],
];

test.each(ANSWERS)("a client that takes nothing of %s is reset", async (kind, request, options) => {
  const accepted = Promise.withResolvers<Socket>();
  const take = (socket: Socket): boolean => {
    accepted.resolve(socket);
    return true;
  };
  const listen = { timeouts: { stall: 150 }, connections: { take } };
  const { port } = kind === RAW ? await raw(listen) : await start({ ...options, listen });
  const client = silent(port);
  client.write(request);
  const socket = await accepted.promise;
  await waitFor(() => socket.destroyed);
  // What the client's own kernel has is left to read, then the reset is met.
  const failed = once(client, "error");
  let got = 0;
  client.on("data", (bytes) => (got += bytes.length));
  client.resume();
  expect(await failed).toMatchObject([{ code: "ECONNRESET" }]);
  expect(got).toBeLessThan(MUCH);
});

async function raw(options: ListenOptions): Promise<{ readonly port: number }> {
  const listening = await listenOn([{ host: LOOPBACK, port: 0 }], (_req, res) => void res.end(TEXT), options);
  onTestFinished(() => {
    listening.closeAll();
    return listening.close();
  });
  return { port: listening.addresses[0]!.port };
}
