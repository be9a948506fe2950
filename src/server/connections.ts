import type { Socket } from "node:net";
import type { ServerSettings } from "../kit/index.ts";
import { isFrom, type TrustedProxies } from "./client-address.ts";
import { limitKey, parseAddress } from "./ip-address.ts";

/** What is in force for the next connection. */
export interface ConnectionSettings {
  readonly bounds: ServerSettings["connections"];
  readonly isProxy: TrustedProxies;
}

/**
 * The open connections of one process, in all and by client: each costs memory and a descriptor before a byte has come that
 * could be refused. One counter an IPv4 address or IPv6 /64, as many as there are connections.
 */
export class Connections {
  readonly #settings: () => ConnectionSettings;
  readonly #byClient = new Map<string, number>();
  #open = 0;

  constructor(settings: () => ConnectionSettings) {
    this.#settings = settings;
  }

  get open(): number {
    return this.#open;
  }

  /** Counts a connection until it closes. @returns false for one too many: it is not counted. */
  take(socket: Socket): boolean {
    const { bounds, isProxy } = this.#settings();
    const address = socket.remoteAddress ?? "";
    const client = limitKey(parseAddress(address) ?? address);
    const held = this.#byClient.get(client) ?? 0;
    if (this.#open >= bounds.total) return false;
    // A proxy's connections are everybody's.
    if (bounds.perAddress !== null && held >= bounds.perAddress && !isFrom(address, isProxy)) return false;
    this.#open += 1;
    this.#byClient.set(client, held + 1);
    socket.once("close", () => this.#release(client));
    return true;
  }

  #release(client: string): void {
    this.#open -= 1;
    const left = (this.#byClient.get(client) ?? 0) - 1;
    if (left > 0) this.#byClient.set(client, left);
    else this.#byClient.delete(client);
  }
}
