import cluster from "node:cluster";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { Server as HttpsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { promisify } from "node:util";
import type { Listener } from "listhen";
import type { Address } from "../kit/index.ts";
import { type Connections, limitPipelining } from "./connections.ts";
import {
  answerClientError,
  type EarlyRefusal,
  type OnMalformed,
  malformedGuard,
  refuseConnection,
  refuseStatus,
} from "./malformed.ts";
import { type FailedHandshake, renew, SecureConnections, secureServer, type TlsMaterial } from "./secure.ts";
import { StalledReaders } from "./stalled-readers.ts";

/** An address to listen on, by HTTPS where it has `tls`. */
export interface ListenAddress extends Address {
  readonly tls?: TlsMaterial | null;
}

export interface Listening {
  /** As bound: a port 0 has become a real one. */
  readonly addresses: readonly Address[];
  /** Gives an address that speaks TLS other files, for connections from now on. @throws Error for what OpenSSL refuses */
  readonly renew: (index: number, tls: TlsMaterial) => void;
  /** Stops accepting; resolves when the last connection has closed. Idle connections are closed at once. */
  readonly close: () => Promise<void>;
  /** Cuts every connection. */
  readonly closeAll: () => void;
}

/** Milliseconds. */
export interface ServerTimeouts {
  readonly headers: number;
  /** For receiving a request; an answer may take longer. */
  readonly request: number;
  readonly keepAlive: number;
  readonly check: number;
  /** After which a client is cut that takes nothing of what waits for it. */
  readonly stall: number;
}

const TIMEOUTS: ServerTimeouts = {
  headers: 10_000,
  request: 60_000,
  keepAlive: 65_000,
  check: 1000,
  stall: 30_000,
};

/**
 * Connections that the kernel holds until the process takes them; it allows fewer where `net.core.somaxconn` says so. With
 * Node's 511 a late event loop loses connections: those of paying users as well, before anybody knows whose they are.
 */
const MAX_WAITING_CONNECTIONS = 4_096;

export interface ListenOptions {
  /** What configures the addresses, for errors that say where to choose another. */
  readonly setting?: string;
  readonly timeouts?: Partial<ServerTimeouts>;
  readonly onMalformed?: OnMalformed;
  /** The form of errors in the current configuration; `text` by default. */
  readonly errorFormat?: EarlyRefusal["errorFormat"];
  /** What counts the connections; left out: as many as come. */
  readonly connections?: Pick<Connections, "take">;
  /** Called for a TLS connection that ends before its handshake does. */
  readonly onFailedHandshake?: (failed: FailedHandshake) => void;
}

/** A server that listens, or is about to. */
interface Configured {
  readonly server: Server;
  /** null for plain HTTP. */
  readonly secure: SecureConnections | null;
}

/** Listens on every address or on none. @throws Error naming the address that cannot be had. */
export async function listenOn(
  addresses: readonly ListenAddress[],
  handler: RequestListener,
  options: ListenOptions = {},
): Promise<Listening> {
  const open: Configured[] = [];
  const stalled = new StalledReaders(options.timeouts?.stall ?? TIMEOUTS.stall);
  const closeAll = (): void => {
    for (const { server, secure } of open) {
      secure?.endHandshakes();
      server.closeAllConnections();
    }
  };
  const close = async (): Promise<void> => {
    // Not listhen's own close: it destroys a socket as soon as its answer is written, unread bytes or not.
    const closing = open.map(({ server, secure }) => {
      const closed = promisify(server.close.bind(server))();
      secure?.endHandshakes();
      return closed;
    });
    await Promise.allSettled(closing);
    stalled.close();
  };
  try {
    for (const address of addresses) {
      const configured = await listenOne(address, handler, options);
      const { server, secure } = configured;
      if (secure === null) server.on("connection", (socket: Socket) => stalled.watch(socket));
      else server.on("secureConnection", (socket: Socket) => stalled.watch(socket, secure.below(socket)));
      open.push(configured);
    }
  } catch (error) {
    closeAll();
    await close();
    throw error;
  }
  return {
    addresses: addresses.map(({ host, tls }, index) => ({
      host,
      port: (open[index]!.server.address() as AddressInfo).port,
      ...(tls && { secure: true as const }),
    })),
    renew(index, tls) {
      const server = open[index]?.server;
      if (server instanceof HttpsServer) renew(server, tls);
    },
    close,
    closeAll,
  };
}

/** Ends listening and every connection at once. */
export async function cut(listening: Listening): Promise<void> {
  const closed = listening.close();
  listening.closeAll();
  await closed;
}

/** A server for streams that are handed to it as connections: `server.emit("connection", stream)`. */
export function serverOfStreams(handler: RequestListener, options: ListenOptions = {}): Server {
  const { guarded, configure } = guard(handler, options);
  return configure(createServer(guarded)).server;
}

async function listenOne(
  { host, port, tls }: ListenAddress,
  handler: RequestListener,
  options: ListenOptions,
): Promise<Configured> {
  const { guarded, configure } = guard(handler, options);
  const make = (): Server =>
    tls ? secureServer(guarded, tls, options.timeouts?.headers ?? TIMEOUTS.headers) : createServer(guarded);
  if (cluster.isWorker) return configure(await listenDirectly({ host, port }, make()));
  const listen = tls
    ? (address: Address) => listenDirectly(address, make())
    : (address: Address, place: string) => listenWithListhen(address, guarded, place);
  return configure(await listenOwn({ host, port }, listen, options));
}

/** What stands before every handler, and the settings of every server. */
function guard(
  handler: RequestListener,
  options: ListenOptions,
): { readonly guarded: RequestListener; readonly configure: (server: Server) => Configured } {
  const onMalformed = options.onMalformed ?? (() => {});
  const refused = new WeakSet<Socket>();
  const early = { onMalformed, errorFormat: options.errorFormat ?? (() => "text") };
  const refuseMalformed = malformedGuard(early);
  const guarded = limitPipelining((req, res) => {
    // Its answer has been written already.
    if (refused.has(req.socket)) res.destroy();
    else if (!refuseMalformed(req, res)) handler(req, res);
  });
  const configure = (server: Server): Configured => {
    const secure = server instanceof HttpsServer ? new SecureConnections(server) : null;
    const timeouts = { ...TIMEOUTS, ...options.timeouts };
    Object.assign(server, {
      headersTimeout: timeouts.headers,
      requestTimeout: timeouts.request,
      keepAliveTimeout: timeouts.keepAlive,
      connectionsCheckingInterval: timeouts.check,
      maxHeaderSize: 16 * 1024,
      // Fields beyond Node's own limit would vanish from `headers` and still frame the message: they are counted here.
      maxHeadersCount: 0,
      // Node's refusal would go without a request id.
      requireHostHeader: false,
    });
    // Node reads the checking interval in its own "listening" listener only.
    server.emit("listening");
    server.on("connection", (socket: Socket) => {
      if (options.connections?.take(socket) !== false) return;
      refused.add(socket);
      refuseConnection(socket, onMalformed, secure === null);
    });
    server.on("checkContinue", guarded);
    server.on("checkExpectation", (req, res) => refuseStatus(req, res, 417, early));
    server.on("clientError", (error, socket) => {
      const failed = secure?.endFailed(error, socket) ?? null;
      if (failed === null) answerClientError(error, socket, onMalformed);
      else options.onFailedHandshake?.(failed);
    });
    return { server, secure };
  };
  return { guarded, configure };
}

/** What was free a moment ago, and is somebody else's now. */
const OTHER_PORT_ATTEMPTS = 20;

async function listenOwn(
  address: Address,
  listen: (address: Address, place: string) => Promise<Server>,
  { setting }: ListenOptions,
): Promise<Server> {
  const place = setting === undefined ? "" : ` in ${setting}`;
  for (let attempt = 1; ; attempt++) {
    const free = await freePort(address, place);
    try {
      return await listen({ host: address.host, port: free }, place);
    } catch (error) {
      // listhen takes no port 0: between the probe and this another process may have got the port.
      if (!isTaken(error)) throw error;
      if (address.port === 0 && attempt < OTHER_PORT_ATTEMPTS) continue;
      throw new Error(`cannot listen on ${address.host}:${address.port}: ${REMEDIES.EADDRINUSE}${place}`, {
        cause: error,
      });
    }
  }
}

function isTaken(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === "GetPortError" || ("code" in error && error.code === "EADDRINUSE");
}

async function listenWithListhen({ host, port }: Address, handler: RequestListener, place: string): Promise<Server> {
  // A worker, which shares its supervisor's ports, starts without it.
  const { listen } = await import("listhen");
  const listener: Listener = await listen(handler, {
    port,
    hostname: host,
    // Without isProd a busy port silently becomes another one; autoClose would end the process on SIGTERM.
    isProd: true,
    autoClose: false,
    showURL: false,
    qr: false,
    clipboard: false,
  });
  const server = listener.server as Server;
  // Those of its own shutdown, which nobody calls: one of them listens to every answer.
  for (const other of server.listeners("request")) {
    if (other !== handler) server.off("request", other);
  }
  if (listener.address.port !== port) {
    server.close();
    throw new Error(`cannot listen on ${host}:${port}: browsers block this port; choose another${place}`);
  }
  deepen(server);
  return server;
}

/** listhen takes no backlog: the kernel is told a second time. */
function deepen(server: Server): void {
  const { _handle: handle } = server as Server & { readonly _handle?: { listen(backlog: number): number } | null };
  handle?.listen(MAX_WAITING_CONNECTIONS);
}

/**
 * By Node itself: for HTTPS, and in a worker, whose supervisor has the port. There nothing is tried out first, because a
 * worker that listens is given connections, also by what only wants to know whether the port is free.
 */
async function listenDirectly({ host, port }: Address, server: Server): Promise<Server> {
  server.listen({ host, port, backlog: MAX_WAITING_CONNECTIONS });
  await once(server, "listening");
  return server;
}

const REMEDIES = {
  EADDRINUSE: "the port is in use; stop what listens there or choose another",
  EACCES: "this port needs privileges; choose one above 1023",
  EADDRNOTAVAIL: "this machine has no such address; choose another",
  ENOTFOUND: "this host name is unknown; choose another",
} as const satisfies Readonly<Record<string, string>>;

/**
 * The port, or with 0 one that is free; listhen would turn a 0 into 3000 and hide why an address cannot be had.
 * @throws Error naming the address and the remedy.
 */
function freePort({ host, port }: Address, place: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createTcpServer();
    probe.once("error", (error: NodeJS.ErrnoException) => {
      const remedy = (REMEDIES as Readonly<Record<string, string>>)[error.code ?? ""];
      const why = remedy === undefined ? error.message : remedy + place;
      reject(new Error(`cannot listen on ${host}:${port}: ${why}`, { cause: error }));
    });
    probe.listen({ host, port }, () => {
      const { port: bound } = probe.address() as AddressInfo;
      probe.close(() => resolve(bound));
    });
  });
}
