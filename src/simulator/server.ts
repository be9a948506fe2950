import { once } from "node:events";
import { createServer } from "node:http";
import type { DialectName } from "../kit/index.ts";
import type { LedgerEntry } from "./ledger.ts";
import { Routes } from "./routes.ts";
export type { LedgerEntry } from "./ledger.ts";

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

/** A simulator that starts when the first address of it is asked for. */
export class SimulatorOnDemand {
  readonly #start: () => Promise<Simulator>;
  #simulator: Promise<Simulator> | null = null;

  constructor(start: () => Promise<Simulator> = startSimulator) {
    this.#start = start;
  }

  /**
   * The base URL at which the official SDK of a dialect meets `script`: OpenAI's has the version in it, the others' do not.
   * @throws the listening error; the next call tries again.
   */
  async baseUrl(script: string, dialect: DialectName): Promise<string> {
    try {
      const { origin } = await (this.#simulator ??= this.#start());
      return dialect === "openai" ? scriptedUrl(origin, script) : scriptedOrigin(origin, script);
    } catch (error) {
      this.#simulator = null;
      throw error;
    }
  }

  /** Ends the simulator, if it has started. */
  async close(): Promise<void> {
    await (await this.#simulator)?.close();
  }
}

/** The address at which every request meets `script`: a query such as `?first_byte=300ms`, or `-`. */
export function scriptedOrigin(origin: string, script: string): string {
  return `${origin}/sim/${encodeURIComponent(script.replace(/^\?/, "") || "-")}`;
}

/** The same as a base URL in OpenAI's style. */
export function scriptedUrl(origin: string, script: string): string {
  return `${scriptedOrigin(origin, script)}/v1`;
}
