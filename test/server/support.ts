import { Agent, type IncomingHttpHeaders, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import {
  GatewayError,
  type InferenceRequest,
  type Log,
  type Principal,
  type RequestPipeline,
  type ServerSettings,
} from "../../src/kit/index.ts";
import { listenOn, type ListenOptions } from "../../src/server/listen.ts";
import {
  createPublicServer,
  type PublicServer,
  type PublicServerOptions,
  type RejectedEarly,
} from "../../src/server/public.ts";

export const GOOD = "rk_good";
export const CHAT = "/v1/chat/completions";
export const BODY = JSON.stringify({ model: "route/x", messages: [{ role: "user", content: "hi" }] });
export const LOOPBACK = "127.0.0.1";

export function settings(changes: Partial<ServerSettings> = {}): ServerSettings {
  return {
    listen: [],
    admin: null,
    workers: 1,
    dashboard: true,
    errorFormat: "auto",
    bodyLimit: 1024 * 1024,
    bodyMemory: 512 * 1024 * 1024,
    uploadSpace: 4 * 1024 * 1024 * 1024,
    countBudget: 64 * 1024 * 1024,
    shed: null,
    trustedProxies: [],
    connections: { total: 10_000, perAddress: null },
    ipLimit: null,
    cors: { origins: ["*"] },
    heartbeat: 15_000,
    drain: { delay: 0, timeout: 0 },
    ...changes,
  };
}

export interface LogLine {
  readonly level: string;
  readonly fields: object;
  readonly message: string;
}

export function memoryLog(lines: LogLine[] = []): Log {
  const write = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
}

/** A pipeline in small: credentials, then, with the body, the body again as the answer. */
export interface PipelineParts {
  readonly identify?: (request: InferenceRequest) => Promise<Principal>;
  /** In place of `identify`: answers before the body is read. */
  readonly early?: (request: InferenceRequest) => Promise<void>;
  readonly run?: (request: InferenceRequest) => Promise<void>;
  readonly refuse?: RequestPipeline["refuse"];
}

class AnsweredEarly extends Error {}

export function testPipeline(parts: PipelineParts, requests: InferenceRequest[] = []): RequestPipeline {
  return {
    enter() {},
    leave() {},
    async identify(request) {
      requests.push(request);
      if (parts.early === undefined) return (parts.identify ?? byKey)(request);
      await parts.early(request);
      throw new AnsweredEarly();
    },
    resolve: (call) => call,
    run: parts.run ?? echo,
    async refuse(request, principal, error) {
      if (error instanceof AnsweredEarly) return;
      if (parts.refuse) return parts.refuse(request, principal, error);
      request.client.refuse(error, {});
    },
  };
}

async function byKey({ head: { credentials } }: InferenceRequest): Promise<Principal> {
  if (credentials.kind === "none") throw new GatewayError("AUTHENTICATION_REQUIRED", "Authentication required");
  if (credentials.value !== GOOD) throw new GatewayError("AUTHENTICATION_ERROR", "Invalid API key");
  return { userId: "u1", tier: "Free", keyId: "k1" };
}

export async function echo({ client, body }: InferenceRequest): Promise<void> {
  client.answer(200, "application/json", JSON.stringify(body!.call.body), { "X-Test": "1" });
}

export interface Started {
  readonly port: number;
  readonly server: PublicServer;
  readonly requests: InferenceRequest[];
  readonly lines: LogLine[];
  readonly refused: RejectedEarly[];
  readonly malformed: number[];
  close(): Promise<void>;
}

export interface StartOptions
  extends PipelineParts, Partial<Omit<PublicServerOptions, "settings" | "onRejectedEarly" | "pipeline">> {
  readonly settings?: Partial<ServerSettings>;
  readonly listen?: ListenOptions;
}

export async function start({ settings: changes, listen, ...options }: StartOptions = {}): Promise<Started> {
  const requests: InferenceRequest[] = [];
  const lines: LogLine[] = [];
  const refused: RejectedEarly[] = [];
  const malformed: number[] = [];
  const inForce = settings(changes);
  const pipeline = testPipeline(options, requests);
  const server = createPublicServer({
    settings: () => inForce,
    validateBody: (_endpoint, body) =>
      "model" in (body as object) ? null : { pointer: "/model", what: "is required" },
    now: Date.now,
    log: memoryLog(lines),
    onRejectedEarly: (entry) => refused.push(entry),
    ...options,
    pipeline: () => pipeline,
  });
  const listening = await listenOn([{ host: LOOPBACK, port: 0 }], server.handler, {
    connections: server.connections,
    onMalformed: (status) => malformed.push(status),
    ...listen,
  });
  const close = (): Promise<void> => {
    listening.closeAll();
    return listening.close();
  };
  onTestFinished(close);
  return { port: listening.addresses[0]!.port, server, requests, lines, refused, malformed, close };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface SendOptions {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly agent?: Agent;
  readonly chunked?: boolean;
}

/** One request; to the chat endpoint with a good key and body unless said otherwise. */
export function send(port: number, options: SendOptions = {}): Promise<Answer> {
  const { method = "POST", path = CHAT, agent } = options;
  const body = options.body ?? (method === "POST" ? BODY : "");
  const headers: Record<string, string> = {
    ...(options.headers ?? { "content-type": "application/json", authorization: `Bearer ${GOOD}` }),
  };
  if (body.length > 0 && !options.chunked) headers["content-length"] = String(Buffer.byteLength(body));
  return new Promise((resolve, reject) => {
    const req = httpRequest({ host: LOOPBACK, port, method, path, headers, agent: agent ?? false }, (res) => {
      const chunks: Buffer[] = [];
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("error", reject);
      res.on("end", () => {
        resolve({ status: res.statusCode ?? 0, headers: res.headers, text: Buffer.concat(chunks).toString() });
      });
    });
    // A server that closes after its answer may break the rest of the upload: the answer counts.
    req.on("error", reject);
    if (options.chunked) for (let at = 0; at < body.length; at += 65_536) req.write(body.slice(at, at + 65_536));
    req.end(options.chunked ? undefined : body);
  });
}

/** One connection that is kept. */
export function keepAliveAgent(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return agent;
}

export interface RawConnection {
  readonly socket: Socket;
  readonly text: () => string;
  /** Waits until what was received satisfies the check. */
  until(check: (text: string) => boolean): Promise<string>;
  /** Waits until the server has closed; the whole of what was received. */
  closed(): Promise<string>;
}

/** A connection for bytes that no HTTP client would send. */
export async function open(port: number): Promise<RawConnection> {
  const socket = connect(port, LOOPBACK);
  onTestFinished(() => void socket.destroy());
  let text = "";
  let isClosed = false;
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
  });
  const connection: RawConnection = {
    socket,
    text: () => text,
    until: async (check) => {
      await waitFor(() => check(text) || isClosed);
      return text;
    },
    closed: async () => {
      await waitFor(() => isClosed);
      return text;
    },
  };
  await waitFor(() => !socket.connecting);
  return connection;
}

export async function waitFor(check: () => boolean, within = 15_000): Promise<void> {
  const deadline = Date.now() + within;
  while (!check()) {
    if (Date.now() > deadline) throw new Error("waited in vain");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
