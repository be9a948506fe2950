import { once } from "node:events";
import { createServer } from "node:http";
import type { LedgerEntry } from "./ledger.ts";
import { Routes } from "./routes.ts";

export type { LedgerEntry } from "./ledger.ts";
export { scriptedOrigin, scriptedUrl } from "./url.ts";

export interface Simulator {
  /** `http://127.0.0.1:PORT`; any provider's path answers healthily, `/sim/<script>/…` before it as the script says. */
  readonly origin: string;
  /** What was served, oldest first; the newest 20,000 at least. Also `GET /sim/ledger`, emptied by `DELETE`. */
  ledger(): readonly LedgerEntry[];
  /** Streams, of events or audio, that are open now. Also `GET /sim/open`. */
  open(): number;
  /** Cuts what is open and frees the port. */
  close(): Promise<void>;
}

/**
 * Starts a provider that is none: an HTTP server, by default on a free port of loopback, that speaks every
 * dialect the gateway knows, and fails on demand. Its answers say that they are simulated.
 * @throws the listening error, such as EADDRINUSE.
 */
export async function startSimulator(options: { host?: string; port?: number } = {}): Promise<Simulator> {
  const { host = "127.0.0.1", port = 0 } = options;
  const routes = new Routes();
  const server = createServer((request, response) => {
    routes.handle(request, response).catch((error: Error) => response.destroy(error));
  });
  // Longer than a client's pool keeps a connection: closing first would race with its next request.
  server.keepAliveTimeout = 75_000;
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return {
    origin: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    ledger: () => routes.ledger.entries,
    open: () => routes.ledger.open,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
