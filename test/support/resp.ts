import { once } from "node:events";
import { type AddressInfo, type Socket, createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** What a server does with one command in place of an answer. */
export type Fault =
  /** An error reply, such as `LOADING Redis is loading the dataset in memory`. */
  | { readonly error: string }
  /** These bytes, whatever they are. */
  | { readonly bytes: string }
  /** The right answer up to the middle, and nothing more on this connection. */
  | "half"
  /** The right answer, a byte at a time. */
  | "drip"
  /** Nothing, from now on, on this connection. */
  | "silence"
  /** The connection ends without an answer. */
  | "close"
  | "reset";

type Answer = (command: readonly string[]) => string;

export interface RespServer {
  readonly port: number;
  readonly url: string;
  /** All that came but for the handshake, as words. */
  readonly commands: (readonly string[])[];
  /** Connections so far. */
  readonly connections: () => number;
  /** Faults for the next commands of this name (upper case), in turn; after them all is well. */
  fail(name: string, ...faults: readonly Fault[]): void;
  /** Ends every connection there is. */
  cut(): void;
  close(): Promise<void>;
}

export interface RespOptions {
  /** 2 for a server that knows no HELLO. */
  readonly protocol?: 2 | 3;
  /** By name in upper case; what is given here comes before the built-in ones. Raw RESP. */
  readonly answers?: Readonly<Record<string, Answer>>;
}

const HANDSHAKE = new Set(["HELLO", "AUTH", "SELECT", "CLIENT", "INFO", "READONLY", "CLUSTER", "SCRIPT"]);

const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
const array = (items: readonly string[]): string => `*${items.length}\r\n${items.join("")}`;

const INFO =
  "redis_version:7.0.15\r\nloading:0\r\naof_enabled:1\r\nmaxmemory_policy:noeviction\r\ncluster_enabled:0\r\n";

/** A server of the Redis protocol on loopback that does as it is told; it stores nothing. */
export async function startResp({ protocol = 3, answers = {} }: RespOptions = {}): Promise<RespServer> {
  const commands: (readonly string[])[] = [];
  const faults = new Map<string, Fault[]>();
  const sockets = new Set<Socket>();
  let connections = 0;
  let port = 0;

  const known: Readonly<Record<string, Answer>> = {
    HELLO: () => (protocol === 2 ? "-ERR unknown command 'HELLO'\r\n" : `%1\r\n${bulk("proto")}:3\r\n`),
    INFO: () => bulk(INFO),
    PING: () => "+PONG\r\n",
    TIME: () => array([bulk("1800000000"), bulk("0")]),
    GET: () => bulk("kept"),
    EVAL: () => bulk("ran"),
    EVALSHA: () => bulk("ran"),
    CLUSTER: () => array([array([":0\r\n", ":16383\r\n", array([bulk("127.0.0.1"), `:${port}\r\n`, bulk("node")])])]),
    ...answers,
  };

  const mute = new Set<Socket>();

  async function answer(socket: Socket, command: readonly string[]): Promise<void> {
    const name = command[0]?.toUpperCase() ?? "";
    if (!HANDSHAKE.has(name)) commands.push(command);
    const right = known[name]?.(command) ?? "+OK\r\n";
    const fault = faults.get(name)?.shift();
    if (fault === "close") socket.end();
    else if (fault === "reset") socket.resetAndDestroy();
    else if (mute.has(socket)) return;
    else if (fault === undefined) socket.write(right);
    else if (fault === "half") socket.write(right.slice(0, right.length / 2));
    else if (fault === "drip") {
      for (const byte of right) {
        socket.write(byte);
        await delay(1);
      }
    } else if (fault !== "silence") socket.write("error" in fault ? `-${fault.error}\r\n` : fault.bytes);
    if (fault === "half" || fault === "silence") mute.add(socket);
  }

  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("error", () => {});
    socket.on("close", () => [sockets, mute].forEach((set) => set.delete(socket)));
    let received: Buffer = Buffer.alloc(0);
    // One after the other: an answer that drips is not mixed with the next one.
    let turn = Promise.resolve();
    socket.on("data", (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      for (let read = readCommand(received); read !== null; read = readCommand(received)) {
        received = received.subarray(read.length);
        const { words } = read;
        turn = turn.then(() => answer(socket, words));
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);

  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    commands,
    connections: () => connections,
    fail: (name, ...next) => void faults.set(name, [...next]),
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** The first command in `bytes`, an array of bulk strings, and how many bytes it takes; null when it is not all there. */
function readCommand(bytes: Buffer): { readonly words: readonly string[]; readonly length: number } | null {
  let at = 0;
  const line = (): string | null => {
    const end = bytes.indexOf("\r\n", at);
    if (end < 0) return null;
    const text = bytes.toString("latin1", at, end);
    at = end + 2;
    return text;
  };
  const head = line();
  if (head === null) return null;
  const words: string[] = [];
  for (let left = Number(head.slice(1)); left > 0; left--) {
    const size = line();
    if (size === null) return null;
    const end = at + Number(size.slice(1));
    if (bytes.length < end + 2) return null;
    words.push(bytes.toString("utf8", at, end));
    at = end + 2;
  }
  return { words, length: at };
}
