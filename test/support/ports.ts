import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that the system gives to outgoing connections and to listeners on port 0: nobody is given one by chance. */
const LOWEST = 10_000;
const HIGHEST = 32_767;

/** A port on which nobody listens on loopback. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    const server = createServer();
    const isFree = await Promise.race([
      once(server.listen(port, "127.0.0.1"), "listening").then(() => true),
      once(server, "error").then(() => false),
    ]).catch(() => false);
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
