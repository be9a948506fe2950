import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { call, exchange, failure, lease, target, TIMEOUTS, until, upstream } from "../support/build.ts";
import { closedAfterEach } from "../support/serve.ts";

const open = closedAfterEach();

/** More than the kernel takes for a server that does not read. */
const LONG = call({ body: { model: "route/m", messages: [{ role: "user", content: "x".repeat(24 << 20) }] } });

/** A server that does what is told with each connection. */
async function serve(act: (socket: Socket) => void): Promise<{ origin: string; sockets: ReadonlySet<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    act(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  open.push({
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

const deaf = (socket: Socket): void => void socket.pause();

describe("a long body, half of it sent", () => {
  it("goes no further when its client has gone, and its connection is closed", async () => {
    const { origin, sockets } = await serve(deaf);
    const leased = await lease(upstream(origin));
    open.push({ close: () => leased.end() });
    const client = new AbortController();
    let sent = 0;
    const attempt = failure(
      leased.set.send(target(), LONG, exchange({ signal: client.signal }), () => void (sent += 1)),
    );
    await until(() => sent > 1, "a part is sent");
    client.abort("client_gone");
    expect(await attempt).toMatchObject({ failure: "aborted" });
    for (const socket of sockets) socket.resume();
    await expect.poll(() => sockets.size, { timeout: 5_000 }).toBe(0);
  });

  it("waits no longer for an upstream that reads nothing than for its first byte", async () => {
    const { origin } = await serve(deaf);
    const leased = await lease(upstream(origin));
    open.push({ close: () => leased.end() });
    const timeouts = { ...TIMEOUTS, firstByte: 300 };
    expect(await failure(leased.set.send(target({ timeouts }), LONG, exchange()))).toMatchObject({
      failure: "timeout",
      message: "upstream timed out while the request was sent",
    });
  });

  it("that its upstream breaks off is no request that was never sent", async () => {
    const { origin } = await serve((socket) => socket.once("data", () => socket.resetAndDestroy()));
    const leased = await lease(upstream(origin));
    open.push({ close: () => leased.end() });
    expect(await failure(leased.set.send(target(), LONG, exchange()))).toMatchObject({ failure: "reset" });
  });

  it("that its upstream answers already is given up, and the next goes on another connection", async () => {
    let connections = 0;
    const { origin } = await serve((socket) => {
      connections += 1;
      socket.once("data", () => {
        socket.write("HTTP/1.1 413 X\r\ncontent-length: 2\r\n\r\n{}");
        socket.resume();
      });
    });
    const leased = await lease(upstream(origin));
    open.push({ close: () => leased.end() });
    for (let round = 1; round <= 2; round += 1) {
      expect(await failure(leased.set.send(target(), LONG, exchange()))).toMatchObject({ status: 413 });
      expect(connections).toBe(round);
    }
  });
});
