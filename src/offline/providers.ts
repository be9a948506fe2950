import type { RequestListener, Server } from "node:http";
import { createServer } from "node:http";
import type { Duplex } from "node:stream";
import { parseScript } from "../simulator/script.ts";
import { createSimulator, type LedgerEntry } from "../simulator/server.ts";
import type { VirtualClock } from "./clock.ts";
import { StreamEnd } from "./streams.ts";

/** What an upstream does: `down` refuses connections, `unreachable` never answers one; else a script of the simulator. */
export type Fault = string;

/** Refuses connections, and is no script. */
const DOWN = "down";
/** Never answers a connection, and is no script. */
const UNREACHABLE = "unreachable";

/** One request as an upstream got it. */
export interface ProviderRequest extends LedgerEntry {
  readonly upstream: string;
}

/** Every upstream at once: connections to them end in the simulator, unless they are down. */
export class Providers {
  /** Not the address of anything. */
  static readonly origin = "http://simulator.invalid";
  /** A fault with counts of tokens that its answers report besides. @throws SimError for what is no script */
  static claiming(fault: Fault, counts: Readonly<Record<string, number>>): Fault {
    if (fault === DOWN || fault === UNREACHABLE) return fault;
    parseScript(fault);
    if (fault.startsWith("{")) return JSON.stringify({ ...counts, ...(JSON.parse(fault) as object) });
    // Of a key that stands twice the last decides.
    const claims = Object.entries(counts).map(([name, count]) => `${name}=${count}`);
    return [...claims, ...(fault === "-" ? [] : [fault.replace(/^\?/, "")])].filter((part) => part !== "").join("&");
  }

  readonly #clock: VirtualClock;
  readonly #faults: Map<string, Fault>;
  readonly #connections = new Map<string, Set<StreamEnd>>();
  /** Upstreams by request id. */
  readonly #asked = new Map<string, readonly string[]>();
  readonly #server: Server;
  readonly #ledger: () => readonly LedgerEntry[];

  constructor(clock: VirtualClock, faults: Readonly<Record<string, Fault>>) {
    this.#clock = clock;
    this.#faults = new Map(Object.entries(faults));
    const { handler, ledger } = createSimulator({
      pause: clock.pause,
      // Called once a request, in the order of the ledger.
      scriptFor: ({ socket, headers }) => {
        const { upstream } = socket as unknown as StreamEnd;
        const requestId = String(headers["x-request-id"]);
        this.#asked.set(requestId, [...(this.#asked.get(requestId) ?? []), upstream]);
        return this.#faults.get(upstream);
      },
    });
    this.#server = createServer(handler satisfies RequestListener);
    this.#ledger = ledger;
  }

  /** What they were sent by one request of a client. */
  sentBy(requestId: string): readonly ProviderRequest[] {
    const asked = this.#asked.get(requestId) ?? [];
    const entries = this.#ledger().filter((entry) => entry.requestId === requestId);
    return entries.map((entry, index) => ({ ...entry, upstream: asked[index] ?? "" }));
  }

  /** From now on; null: healthy. Connections that were open before end, as those to a provider that fails do. */
  fault(upstream: string, fault: Fault | null): void {
    if (fault === null) this.#faults.delete(upstream);
    else this.#faults.set(upstream, fault);
    if (fault !== DOWN && fault !== UNREACHABLE) return;
    for (const connection of this.#connections.get(upstream) ?? []) connection.resetAndDestroy();
  }

  /** As undici's connections are made. @throws Error ECONNREFUSED of one that is down */
  readonly connect = (upstream: string): Promise<Duplex> => {
    const fault = this.#faults.get(upstream);
    this.#clock.touch();
    if (fault === UNREACHABLE) return new Promise(() => undefined);
    if (fault === DOWN) {
      return Promise.reject(Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }));
    }
    const [client, server] = StreamEnd.pair("127.0.0.1", upstream, this.#clock.touch);
    const open = this.#connections.get(upstream) ?? new Set();
    this.#connections.set(upstream, open.add(server));
    server.once("close", () => open.delete(server));
    this.#server.emit("connection", server);
    return Promise.resolve(client);
  };

  close(): void {
    for (const open of this.#connections.values()) for (const connection of open) connection.destroy();
    this.#server.close();
  }
}
