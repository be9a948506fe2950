import { once } from "node:events";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

export interface SlowProxy {
  readonly port: number;
  /**
   * `delay` in milliseconds; may be changed at any time. A connection of which an answer was swallowed stays silent: a
   * later answer would be taken for the lost one.
   */
  readonly state: { delay: number; swallows: boolean; swallowedBytes: number };
  /** Ends every connection there is. */
  readonly cut: () => void;
  readonly close: () => void;
}

/** In front of a server on loopback: its answers go on later by `delay`, in their order, or never once it swallows them. */
export async function startSlowProxy(target: number, delay = 0): Promise<SlowProxy> {
  const state = { delay, swallows: false, swallowedBytes: 0 };
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(target, "127.0.0.1");
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
    }
    client.pipe(server);
    let turn = Promise.resolve();
    let isSilent = false;
    server.on("data", (bytes) => {
      const due = performance.now() + state.delay;
      isSilent ||= state.swallows;
      if (isSilent) return void (state.swallowedBytes += bytes.length);
      const pass = async (): Promise<void> => {
        const wait = due - performance.now();
        if (wait > 0) await pause(wait);
        client.write(bytes);
      };
      turn = turn.then(pass);
    });
    client.on("close", () => server.destroy());
    server.on("close", () => client.destroy());
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const close = () => {
    cut();
    proxy.close();
  };
  return { port: (proxy.address() as AddressInfo).port, state, cut, close };
}
