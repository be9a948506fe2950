import { type AddressInfo, createServer, Server } from "node:net";
import type { RequestListener } from "node:http";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Listening, listenOn } from "../../src/server/listen.ts";
import { LOOPBACK, keepAliveAgent, open, send, waitFor } from "./support.ts";

const hello: RequestListener = (_req, res) => {
  res.end("hello");
};

async function listening(...args: Parameters<typeof listenOn>): Promise<Listening> {
  const result = await listenOn(...args);
  onTestFinished(async () => {
    result.closeAll();
    await result.close();
  });
  return result;
}

async function occupied(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve));
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

test("every address is served, port 0 by a port of its own", async () => {
  const { addresses } = await listening(
    [
      { host: LOOPBACK, port: 0 },
      { host: "localhost", port: 0 },
    ],
    hello,
  );
  expect(new Set(addresses.map(({ port }) => port)).size).toBe(2);
  for (const { port } of addresses) {
    expect(port).toBeGreaterThan(1024);
    expect(await send(port)).toMatchObject({ status: 200, text: "hello" });
  }
});

test("a busy port is an error that names it", async () => {
  const busy = await occupied();
  const addresses = [
    { host: LOOPBACK, port: 0 },
    { host: LOOPBACK, port: busy },
  ];
  await expect(listenOn(addresses, hello)).rejects.toThrow(
    `cannot listen on 127.0.0.1:${busy}: the port is in use; stop what listens there or choose another`,
  );
});

test("after a failure the addresses before it are free again", async () => {
  const first = await listening([{ host: LOOPBACK, port: 0 }], hello);
  const { port } = first.addresses[0]!;
  await first.close();
  const busy = await occupied();
  await expect(
    listenOn(
      [
        { host: LOOPBACK, port },
        { host: LOOPBACK, port: busy },
      ],
      hello,
    ),
  ).rejects.toThrow(String(busy));
  const again = await listening([{ host: LOOPBACK, port }], hello);
  expect(again.addresses).toEqual([{ host: LOOPBACK, port }]);
});

test.each([
  [{ host: "203.0.113.77", port: 8080 }, "cannot listen on 203.0.113.77:8080: this machine has no such address"],
  [{ host: LOOPBACK, port: 6000 }, "cannot listen on 127.0.0.1:6000: browsers block this port; choose another"],
])("%j cannot be had", async (address, message) => {
  await expect(listenOn([address], hello)).rejects.toThrow(message);
});

test("close stops accepting, closes idle connections and lets the running answer finish", async () => {
  const { promise: mayFinish, resolve: finish } = Promise.withResolvers<void>();
  const { addresses, close } = await listenOn([{ host: LOOPBACK, port: 0 }], (req, res) => {
    if (req.url === "/quick") return void res.end("quick");
    res.write("first ");
    void mayFinish.then(() => res.end("last"));
  });
  const { port } = addresses[0]!;
  const agent = keepAliveAgent();
  await send(port, { agent, method: "GET", path: "/quick" });
  const idle = await open(port);
  const running = send(port, { method: "GET", path: "/slow" });
  idle.socket.write("GET /quick HTTP/1.1\r\nHost: x\r\n\r\n");
  await idle.until((text) => text.endsWith("quick"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const closing = close();
  await idle.closed();
  await expect(send(port)).rejects.toThrow("ECONNREFUSED");
  expect(await Promise.race([closing, Promise.resolve("still open")])).toBe("still open");
  finish();
  expect(await running).toMatchObject({ status: 200, text: "first last" });
  await closing;
});

test("closeAll cuts what runs", async () => {
  let gone = false;
  const { addresses, close, closeAll } = await listenOn([{ host: LOOPBACK, port: 0 }], (_req, res) => {
    res.write("first");
    res.on("close", () => {
      gone = true;
    });
  });
  const connection = await open(addresses[0]!.port);
  connection.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await connection.until((text) => text.includes("first"));
  const closing = close();
  closeAll();
  await Promise.all([closing, waitFor(() => gone)]);
  expect(await connection.closed()).not.toContain("0\r\n\r\n");
});

/** Somebody else binds what the next server on this process gives back, before anybody else can. */
function stealNextPort(): { stolen: () => number | undefined } {
  let stolen: number | undefined;
  const thief = createServer();
  onTestFinished(() => void thief.close());
  const close = vi.spyOn(Server.prototype, "close").mockImplementationOnce(function (this: Server, done) {
    const { port } = this.address() as AddressInfo;
    close.mockRestore();
    return this.close(() =>
      thief.listen(port, LOOPBACK, () => {
        stolen = port;
        done?.();
      }),
    );
  });
  return { stolen: () => stolen };
}

test("port 0 is another port when the one found is taken before it is bound", async () => {
  const { stolen } = stealNextPort();
  const { addresses } = await listening([{ host: LOOPBACK, port: 0 }], hello);
  expect(stolen()).toBeGreaterThan(0);
  expect(addresses[0]!.port).not.toBe(stolen());
  expect(await send(addresses[0]!.port)).toMatchObject({ status: 200, text: "hello" });
});

test("a chosen port that is taken between the look and the binding is a busy port", async () => {
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, LOOPBACK, resolve));
  const { port: chosen } = free.address() as AddressInfo;
  await new Promise<void>((resolve) => free.close(() => resolve()));
  const { stolen } = stealNextPort();
  await expect(listenOn([{ host: LOOPBACK, port: chosen }], hello, { setting: "server.listen" })).rejects.toThrow(
    `cannot listen on 127.0.0.1:${chosen}: the port is in use; stop what listens there or choose another in server.listen`,
  );
  expect(stolen()).toBe(chosen);
});

/** Opens connections in a thread and counts those that are there. */
const CONNECT = `
  const { workerData } = require("node:worker_threads");
  const { connect } = require("node:net");
  const done = new Int32Array(workerData.done);
  for (let count = 0; count < workerData.connections; count += 1) {
    connect(workerData.port, "127.0.0.1")
      .on("connect", () => { Atomics.add(done, 0, 1); Atomics.notify(done, 0); })
      .on("error", () => {});
  }
`;

test("while the event loop stands still, more than 511 connections wait and none is lost", async () => {
  const { addresses } = await listening([{ host: LOOPBACK, port: 0 }], hello);
  const [connections, done] = [800, new Int32Array(new SharedArrayBuffer(4))];
  const workerData = { port: addresses[0]!.port, connections, done: done.buffer };
  const worker = new Worker(CONNECT, { eval: true, workerData });
  onTestFinished(async () => void (await worker.terminate()));
  // Nothing is accepted meanwhile. A connection beyond the backlog would be tried again after a second.
  const until = performance.now() + 10_000;
  for (let open = 0; open < connections && performance.now() < until; open = Atomics.load(done, 0)) {
    Atomics.wait(done, 0, open, 100);
  }
  expect(Atomics.load(done, 0)).toBe(connections);
});
