import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { parseAddress, type ServerSettings } from "../kit/index.ts";
import { limitKey, type TrustedProxies } from "./client-address.ts";

/** What is in force for the next connection. */
interface ConnectionSettings {
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
    const { remoteAddress = "" } = socket;
    const address = parseAddress(remoteAddress) ?? remoteAddress;
    const client = limitKey(address);
    const held = this.#byClient.get(client) ?? 0;
    if (this.#open >= bounds.total) return false;
    // A proxy's connections are everybody's.
    if (bounds.perAddress !== null && held >= bounds.perAddress && !isProxy(address)) return false;
    this.#open += 1;
    this.#byClient.set(client, held + 1);
    socket.on("close", () => this.#release(client));
    return true;
  }

  #release(client: string): void {
    this.#open -= 1;
    const left = (this.#byClient.get(client) ?? 0) - 1;
    if (left > 0) this.#byClient.set(client, left);
    else this.#byClient.delete(client);
  }
}

/** Requests of one connection that are served at once; Node would hand on as many as a client sends. */
const MAX_SERVED_REQUESTS = 8;
/**
 * Requests of one connection that wait for those before them: more than one read of the socket can bring, which is parsed
 * to its end before reading stops.
 */
const MAX_WAITING_REQUESTS = 4096;

interface PipelinedRequests {
  serving: number;
  readonly waiting: { readonly req: IncomingMessage; readonly res: ServerResponse }[];
}

/**
 * Serves no more of one connection's pipelined requests at once than `MAX_SERVED_REQUESTS`, and reads no more of it while
 * others wait. Answers go out in order whatever is done here.
 */
export function limitPipelining(serve: RequestListener): RequestListener {
  const queues = new WeakMap<Socket, PipelinedRequests>();
  const begin = (queue: PipelinedRequests, req: IncomingMessage, res: ServerResponse): void => {
    queue.serving += 1;
    // Of a connection that has closed nothing is begun any more: its queue goes with it.
    res.on("close", () => {
      queue.serving -= 1;
      if (!req.socket.destroyed) serveNext(queue, req.socket);
    });
    serve(req, res);
  };
  const serveNext = (queue: PipelinedRequests, socket: Socket): void => {
    while (queue.serving < MAX_SERVED_REQUESTS) {
      const next = queue.waiting.shift();
      if (next === undefined) return;
      // What comes behind the last one, its own body included, is only read now.
      if (queue.waiting.length === 0) socket.resume();
      begin(queue, next.req, next.res);
    }
  };
  return (req, res) => {
    const { socket } = req;
    let queue = queues.get(socket);
    if (queue === undefined) queues.set(socket, (queue = { serving: 0, waiting: [] }));
    if (queue.serving < MAX_SERVED_REQUESTS && queue.waiting.length === 0) return begin(queue, req, res);
    if (queue.waiting.length >= MAX_WAITING_REQUESTS) {
      socket.destroy();
      return;
    }
    queue.waiting.push({ req, res });
    pauseBehind(queue, socket);
  };
}

/**
 * Behind every message Node starts reading again, one tick later: what pauses before that pauses nothing. Two ticks later is
 * still before the next read.
 */
function pauseBehind(queue: PipelinedRequests, socket: Socket): void {
  const pause = (): void => {
    if (queue.waiting.length > 0) socket.pause();
  };
  process.nextTick(() => process.nextTick(pause));
}
