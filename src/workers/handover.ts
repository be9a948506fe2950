import type { Worker } from "node:cluster";

/** What Node's cluster says to a worker with a connection, and what the worker answers when it has taken it. */
interface InternalMessage {
  readonly cmd?: string;
  readonly act?: string;
  readonly seq?: number;
  readonly ack?: number;
}

interface Closable {
  close(): void;
}

type Send = (message: InternalMessage, handle?: Closable, ...more: unknown[]) => boolean;

/** The events by which Node's cluster learns that a worker has ended, in the order in which it can bear them. */
const ENDINGS = ["disconnect", "exit"] as const;

/**
 * What becomes of connections when a worker dies. There is no public way to them: the messages of `node:cluster` are
 * listened to, and its own listeners for the end of a worker are called by this class.
 *
 * - Node keeps its own copy of each connection until the worker has said that it took it; of a dead one nobody ever says
 *   so, and the client would wait for ever on a connection that nobody has. They are closed.
 * - Node takes a worker off its list when its channel has closed. That can be later than its end, and never when a
 *   connection was on the way to it: "disconnect" waits for the worker to say that it came. Until then Node listens for
 *   the dead one and gives it connections. So the end of the process counts for both.
 * - Node stops listening when the last worker of an address has ended: new clients would be refused until another one
 *   listens. The last one is kept in Node's list instead, and what is given to it meanwhile goes to the next.
 */
export class Handover {
  /** Whether the worker has ended, or is about to. */
  left = false;
  readonly #child: Worker["process"];
  readonly #isLast: () => boolean;
  /** Node's own, until they are called. */
  readonly #listeners = new Map<(typeof ENDINGS)[number], readonly unknown[]>();
  /** Given to the worker, which has not said that it took them. */
  readonly #untaken = new Map<number, Closable>();
  /** Given to it after its end; by the number of the message. */
  readonly #kept: number[] = [];
  /** What Node would do at the worker's end; null while its addresses are not held. */
  #postponed: (() => void)[] | null = null;

  /**
   * @param worker just forked.
   * @param isLast asked when it has ended: whether to hold its addresses until `release`.
   */
  constructor({ process: child }: Pick<Worker, "process">, isLast: () => boolean = () => false) {
    this.#child = child;
    this.#isLast = isLast;
    const send = child.send.bind(child) as Send;
    Object.assign(child, { send: ((...args) => this.#send(send, args)) satisfies Send });
    child.on("internalMessage", ({ cmd, ack }: InternalMessage) => {
      if (cmd === "NODE_CLUSTER" && ack !== undefined) this.#untaken.delete(ack);
    });
    for (const ending of ENDINGS) {
      this.#listeners.set(ending, child.listeners(ending));
      child.removeAllListeners(ending);
    }
    child.once("disconnect", () => this.#end("disconnect"));
    child.once("exit", (...how) => {
      this.#end("disconnect");
      this.#end("exit", ...how);
      for (const connection of this.#untaken.values()) connection.close();
    });
  }

  /** Others listen now, or nobody is to: what came meanwhile is given to them. */
  release(): void {
    if (this.#postponed === null) return;
    const postponed = this.#postponed;
    this.#postponed = null;
    Object.defineProperty(this.#child, "connected", { value: false, writable: true });
    for (const end of postponed) end();
    for (const ack of this.#kept) this.#child.emit("internalMessage", { cmd: "NODE_CLUSTER", ack, accepted: false });
  }

  #end(ending: (typeof ENDINGS)[number], ...how: unknown[]): void {
    const listeners = this.#listeners.get(ending) ?? [];
    this.#listeners.delete(ending);
    const end = (): void => {
      for (const listener of listeners) Reflect.apply(listener as () => void, this.#child, how);
    };
    if (!this.left && this.#isLast()) {
      this.#postponed = [];
      // To a worker that is not connected Node would not even try to give the connection: it would be lost.
      Object.defineProperty(this.#child, "connected", { get: () => true, set: () => {}, configurable: true });
    }
    this.left = true;
    if (this.#postponed === null) end();
    else this.#postponed.push(end);
  }

  #send(send: Send, args: Parameters<Send>): boolean {
    const [{ cmd, act, seq }, handle] = args;
    const isConnection = cmd === "NODE_CLUSTER" && act === "newconn" && seq !== undefined && handle !== undefined;
    if (this.#postponed !== null) {
      if (isConnection) this.#kept.push(seq);
      return true;
    }
    if (isConnection) this.#untaken.set(seq, handle);
    return send(...args);
  }
}
