import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";

/** Looks per period: a client is cut at most one of them late. */
const LOOKS = 30;
/** Looks between two questions to the kernel, which lists all connections of the machine. */
const LOOKS_PER_QUESTION = 5;

/** A connection on which bytes wait for its client. */
interface Stall {
  taken: number;
  /** Looks in a row that found nothing taken. */
  looks: number;
  /** What the client had not acknowledged when the kernel was asked last; null: it has not been. */
  unacknowledged: string | null;
}

/**
 * Cuts clients that take nothing of what waits for them. Their unread answers would be held for ever, in this process and
 * in the kernel. The rule is one for all answers of a listener: streams, whole answers, audio, pages.
 *
 * Any progress within the period counts, however little. The kernel takes an answer in parts of up to 1.5 MB, so Linux is
 * asked whether a slow client has acknowledged anything.
 *
 * Node's `socket.setTimeout` cannot do this: after a write that the kernel took in part, it mistakes its first expiry for
 * progress (`_onTimeout` in https://github.com/nodejs/node/blob/main/lib/net.js) and fires after two periods.
 */
export class StalledReaders {
  /** The TCP connection of each: itself, or the one below a TLS connection. */
  readonly #open = new Map<Socket, Socket>();
  readonly #stalls = new Map<Socket, Stall>();
  readonly #timer: NodeJS.Timeout;
  #asking = false;

  /** @param afterMs without progress, after which a client is cut. */
  constructor(afterMs: number) {
    const look = (): void => {
      this.look().catch(() => {});
    };
    this.#timer = setInterval(look, afterMs / LOOKS).unref();
  }

  /** Watches a connection until it closes. @param below the TCP connection of a TLS connection, which alone can be reset. */
  watch(socket: Socket, below: Socket = socket): void {
    this.#open.set(socket, below);
    socket.on("close", () => {
      this.#open.delete(socket);
      this.#stalls.delete(socket);
    });
  }

  /** Called by the timer. Looks are counted instead of time: while the event loop stands still, no client can take anything. */
  async look(): Promise<void> {
    const asked: Socket[] = [];
    for (const socket of this.#open.keys()) {
      if (socket.writableLength === 0) this.#stalls.delete(socket);
      else if (this.#isAsked(socket)) asked.push(socket);
    }
    if (asked.length === 0 || this.#asking) return;
    this.#asking = true;
    const unacknowledged = await unacknowledgedBytes();
    this.#asking = false;
    for (const socket of asked) this.#decide(socket, unacknowledged.get(portsOf(socket)) ?? "");
  }

  /** @returns whether the kernel is to be asked. */
  #isAsked(socket: Socket): boolean {
    const taken = takenFrom(socket);
    const stall = this.#stalls.get(socket);
    if (stall?.taken !== taken) {
      this.#stalls.set(socket, { taken, looks: 0, unacknowledged: null });
      return false;
    }
    stall.looks += 1;
    return stall.unacknowledged === null || stall.looks % LOOKS_PER_QUESTION === 0;
  }

  #decide(socket: Socket, unacknowledged: string): void {
    const stall = this.#stalls.get(socket);
    // Meanwhile it has closed, or taken something.
    if (stall === undefined || stall.looks === 0) return;
    const isProgress = stall.unacknowledged !== null && stall.unacknowledged !== unacknowledged;
    stall.unacknowledged = unacknowledged;
    if (isProgress) stall.looks = 0;
    // A mere close would leave megabytes in the kernel for minutes, until it gives up sending them.
    else if (stall.looks >= LOOKS) this.#open.get(socket)?.resetAndDestroy();
  }

  /** Looks no more. */
  close(): void {
    clearInterval(this.#timer);
  }
}

/** A figure that changes when the kernel takes bytes, also those of a part of one write. */
function takenFrom(socket: Socket): number {
  // Node counts a write as written when it begins. How much of it is left is told by the handle alone.
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null };
  return socket.bytesWritten - socket.writableLength - (handle?.writeQueueSize ?? 0);
}

/** Connections by their ports, with `tx_queue`: https://docs.kernel.org/networking/proc_net_tcp.html */
const LINE = /^ *\d+: [\dA-F]+:([\dA-F]{4}) [\dA-F]+:([\dA-F]{4}) [\dA-F]{2} ([\dA-F]{8}):/gm;

/**
 * Bytes of each connection that the other side has not acknowledged, by `portsOf`. Several connections may have the same
 * ports and different addresses: theirs stand together. Empty where there is no Linux.
 */
async function unacknowledgedBytes(): Promise<ReadonlyMap<string, string>> {
  const files = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
  const texts = await Promise.all(files.map((file) => readFile(file, "latin1").catch(() => "")));
  const found = new Map<string, string>();
  for (const [, local, remote, bytes] of texts.flatMap((text) => [...text.matchAll(LINE)])) {
    const ports = `${local}:${remote}`;
    found.set(ports, `${found.get(ports) ?? ""}${bytes}`);
  }
  return found;
}

/** Both ports as the kernel writes them. */
function portsOf({ localPort = 0, remotePort = 0 }: Socket): string {
  return [localPort, remotePort].map((port) => port.toString(16).toUpperCase().padStart(4, "0")).join(":");
}
