import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** An https address that accepts connections and never says a word: the TLS handshake hangs. */
export async function mute(): Promise<{ readonly origin: string; close(): Promise<void> }> {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => sockets.add(socket.on("error", () => undefined)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
