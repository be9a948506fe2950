import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { readCountTokens, readMessages, readRawPredict } from "./dialects/anthropic.ts";
import { azure, readAzureChat } from "./dialects/azure.ts";
import { checkSigned, readConverse } from "./dialects/bedrock.ts";
import { Chat, type Encoded } from "./dialects/chat.ts";
import { readCohereChat } from "./dialects/cohere.ts";
import { readGemini } from "./dialects/gemini.ts";
import { readResponses } from "./dialects/responses.ts";
import {
  type Endpoint,
  errorReply,
  jsonReply,
  type ParsedRequest,
  type Pause,
  play,
  readBody,
  withContentFaults,
} from "./endpoint.ts";
import { readCohereEmbed, readEmbeddings } from "./endpoints/embeddings.ts";
import { imageAt, readImage } from "./endpoints/images.ts";
import { readRerank } from "./endpoints/rerank.ts";
import { readSpeak, readSpeech, readTextToSpeech } from "./endpoints/speech.ts";
import { readListen, readSpeechToText, readTranscription } from "./endpoints/transcription.ts";
import { badParameter, SimError } from "./fields.ts";
import { Ledger, type LedgerEntry } from "./ledger.ts";
import { checkKey, type Dialect, dialectOfList, isList, modelList } from "./provider.ts";
import { Occurrences, parseScript, type Script, shapeOf } from "./script.ts";
import { checkVendor, formOf } from "./strict/vendors.ts";

export { scriptedOrigin, scriptedUrl } from "./on-demand.ts";
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
  const { handler, ...seen } = createSimulator();
  const server = createServer(handler);
  // Longer than a client's pool keeps a connection: closing first would race with its next request.
  server.keepAliveTimeout = 75_000;
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return {
    origin: `http://${host.includes(":") ? `[${host}]` : host}:${bound}`,
    ...seen,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

export interface SimulatorOptions {
  /** In place of the system's timers. */
  readonly pause?: Pause;
  /** A script that a request meets besides those that it names itself. */
  readonly scriptFor?: (request: IncomingMessage) => string | undefined;
}

/** The simulator without a server of its own. */
export function createSimulator(
  options: SimulatorOptions = {},
): Pick<Simulator, "ledger" | "open"> & { readonly handler: RequestListener } {
  const routes = new Routes(options);
  return {
    handler(request, response) {
      routes.handle(request, response).catch((error: Error) => response.destroy(error));
    },
    ledger: () => routes.ledger.entries,
    open: () => routes.ledger.open,
  };
}

const NO_BODY = new Uint8Array();

/** A request on its way through here. */
interface Context {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly query: string | undefined;
  readonly entry: LedgerEntry;
  /** From outside the body. */
  readonly scripts: readonly (string | undefined)[];
}

/** Finds the route of a request and answers it. */
class Routes {
  readonly ledger = new Ledger();
  readonly #chat = new Chat();
  readonly #occurrences = new Occurrences();
  readonly #options: SimulatorOptions;

  constructor(options: SimulatorOptions) {
    this.#options = options;
  }

  /** Never rejects: what goes wrong is answered. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = "/", query] = (request.url ?? "/").split("?", 2);
    if (this.#control(request, response, path)) return;
    const requestId = request.headers["x-request-id"];
    response.setHeader("x-simulated", "true");
    if (typeof requestId === "string") response.setHeader("x-request-id", requestId);
    const entry = this.ledger.begin(String(requestId ?? ""), path);
    response.once("close", () => this.ledger.close(entry, response.writableFinished));
    try {
      const scripts = [prefixOf(path), request.headers["x-sim"]?.toString(), this.#options.scriptFor?.(request)];
      await this.#serve({ request, response, path, query, entry, scripts });
    } catch (error) {
      if (response.headersSent) response.destroy();
      else
        await refuse(response, error instanceof SimError ? error : new SimError(500, String(error)), "openai", entry);
    }
  }

  #control(request: IncomingMessage, response: ServerResponse, path: string): boolean {
    const answer = (body: string) => response.writeHead(200, { "content-type": "application/json" }).end(body);
    const { method } = request;
    if (path === "/sim/open" && method === "GET") answer(String(this.ledger.open));
    else if (path === "/sim/ledger" && method === "GET") answer(JSON.stringify(this.ledger.entries));
    else if (path === "/sim/ledger" && method === "DELETE") {
      this.ledger.clear();
      response.writeHead(204).end();
    } else {
      const image = method === "GET" ? imageAt(path) : null;
      if (!image) return false;
      response.writeHead(200, { "content-type": "image/png", "x-simulated": "true" }).end(image);
    }
    return true;
  }

  async #serve(visit: Context): Promise<void> {
    const { request, path } = visit;
    if (isChat(path)) {
      allow(request, path, "POST");
      return this.#complete(visit);
    }
    if (isList(path)) {
      allow(request, path, "GET");
      return this.#list(visit);
    }
    const route = routeOf(path);
    if (!route) {
      throw new SimError(404, `Unknown request URL: ${request.method} ${path}.`, { code: "unknown_url" });
    }
    allow(request, path, "POST");
    return this.#answer(visit, route);
  }

  /** Gateways probe here: a probe meets the faults, but uses none of them up. */
  async #list({ request, response, path, query, entry, scripts }: Context): Promise<void> {
    const { headers } = request;
    const params = new URLSearchParams(query);
    const listed = dialectOfList(headers, path, params);
    let script: Script;
    try {
      checkKey(listed, headers, params);
      if (listed === "bedrock") checkSigned(headers, NO_BODY);
      script = parseScript(...scripts);
    } catch (error) {
      return refuse(response, error, listed, entry);
    }
    const dialect = script.shape ?? listed;
    const applied = this.#occurrences.applies(script, false) ? script : {};
    const list = jsonReply(200, { data: modelList(dialect, path) });
    await play(response, withContentFaults(list, applied, dialect), applied, entry, this.#options.pause);
  }

  async #complete({ request, response, entry, scripts }: Context): Promise<void> {
    const body = await readBody(request);
    entry.requestBytes = body.length;
    const text = body.toString();
    checkKey("openai", request.headers);
    if (parseScript(...scripts).record) entry.body = text;
    const known = scripts.every((script) => !script || script === "-") ? this.#chat.recall(text) : undefined;
    if (known) return sendWhole(response, known, entry);
    const { request: chat, script } = this.#chat.read(text, ...scripts);
    const { model } = chat.question;
    const applied: Script = this.#occurrences.applies(script, true) ? script : shapeOf(script);
    const reply = this.#chat.reply(text, chat, applied);
    if (Object.keys(script).length === 0) return sendWhole(response, this.#chat.encode(text, model, reply), entry);
    Object.assign(entry, { model, stream: chat.stream });
    await play(response, withContentFaults(reply, applied), applied, entry, this.#options.pause);
  }

  async #answer({ request, response, path, query, entry, scripts }: Context, route: Route): Promise<void> {
    const body = await readBody(request);
    entry.requestBytes = body.length;
    const { headers } = request;
    const params = new URLSearchParams(query);
    const scriptBefore = parseScript(...scripts);
    const fallback = scriptBefore.shape ?? route.dialect;
    if (scriptBefore.record) entry.body = body.toString();
    let parsed: ParsedRequest;
    let script: Script;
    try {
      checkKey(route.dialect, headers, params);
      if (scriptBefore.vendor) checkVendor(scriptBefore, path, jsonIn(body), headers);
      parsed = await route.endpoint({
        path,
        origin: `http://${headers.host ?? "localhost"}`,
        headers,
        query: params,
        body,
        ...(scriptBefore.vendor && { vendor: scriptBefore.vendor }),
      });
      script = parseScript(...scripts, parsed.sim);
      if (parsed.upload) checkVendor(script, path, formOf(parsed.upload), headers);
      else if (!scriptBefore.vendor && script.vendor) checkVendor(script, path, jsonIn(body), headers);
    } catch (error) {
      return refuse(response, error, fallback, entry);
    }
    const dialect = script.shape ?? parsed.shape ?? fallback;
    const applied: Script = this.#occurrences.applies(script, true) ? script : shapeOf(script);
    const reply = parsed.reply(applied);
    Object.assign(entry, { model: parsed.model, stream: reply.type !== "answer", upload: parsed.upload ?? null });
    await play(response, withContentFaults(reply, applied, dialect), applied, entry, this.#options.pause);
  }
}

function refuse(response: ServerResponse, error: unknown, dialect: Dialect, entry: LedgerEntry): Promise<void> {
  if (!(error instanceof SimError)) throw error;
  entry.refusal = error.message;
  return play(response, errorReply(error, dialect), {}, entry);
}

/** undefined for what is no JSON, which is for the endpoint to say. */
function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch {
    return undefined;
  }
}

/** One write for the whole answer, which is cheaper than its events one by one. */
function sendWhole(response: ServerResponse, { reply, payload, facts }: Encoded, entry: LedgerEntry): void {
  if (response.destroyed) return;
  Object.assign(entry, facts, { ending: "end" });
  if (reply.type === "answer") {
    response.writeHead(reply.status, { ...reply.headers, "content-length": payload.length }).end(payload);
    return;
  }
  // Without a length, which would tell that the events were not produced one by one.
  response.writeHead(reply.status, reply.headers).write(payload);
  response.end();
}

/** The script in `/sim/<script>/…`, percent-encoded there. */
function prefixOf(path: string): string {
  const [, encoded = ""] = /^\/sim\/([^/]+)\//.exec(path) ?? [];
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw badParameter("sim", `The simulator script in '${path}' is not percent-encoded.`);
  }
}

function allow(request: IncomingMessage, path: string, method: string): void {
  if (request.method === method) return;
  throw new SimError(
    405,
    `Not allowed to ${request.method} on ${path}. (HINT: Perhaps you meant to use a different HTTP method?)`,
  );
}

interface Route {
  readonly path: RegExp;
  readonly dialect: Dialect;
  readonly endpoint: Endpoint;
}

/** Below `/openai/` is Azure, but for addresses such as `/v1beta/openai` of Google and `/v1/openai` of DeepInfra. */
function isChat(path: string): boolean {
  if (!path.endsWith("/chat/completions")) return false;
  return !path.includes("/openai/") || /\/v\d+(?:alpha|beta)?\/openai\/chat\/completions$/.test(path);
}

/** Azure's own form of what OpenAI has, at a deployment or under `/openai/v1`. */
const AZURE: readonly (readonly [string, Endpoint])[] = [
  ["chat/completions", readAzureChat],
  ["embeddings", readEmbeddings],
  ["audio/speech", readSpeech],
  ["audio/transcriptions", readTranscription],
  ["images/generations", readImage],
  ["responses", readResponses],
];

/** The first that fits decides. Chat completions of OpenAI, which are remembered, have a way of their own. */
const ROUTES: readonly Route[] = [
  ...AZURE.map(([end, endpoint]): Route => ({
    path: new RegExp(String.raw`/openai/(?:deployments/[^/]+|v1)/${end}$`),
    dialect: "azure",
    endpoint: azure(endpoint),
  })),
  {
    path: /\/publishers\/anthropic\/models\/[^/]+:(?:r|streamR)awPredict$/,
    dialect: "vertex",
    endpoint: readRawPredict,
  },
  { path: /\/models\/[^/]+:[a-zA-Z]+$/, dialect: "gemini", endpoint: readGemini },
  { path: /\/model\/[^/]+\/converse(?:-stream)?$/, dialect: "bedrock", endpoint: readConverse },
  { path: /\/openai\/responses$/, dialect: "azure", endpoint: readResponses },
  { path: /\/responses$/, dialect: "openai", endpoint: readResponses },
  { path: /\/messages$/, dialect: "anthropic", endpoint: readMessages },
  { path: /\/messages\/count_tokens$/, dialect: "anthropic", endpoint: readCountTokens },
  { path: /\/chat$/, dialect: "cohere", endpoint: readCohereChat },
  { path: /\/embed$/, dialect: "cohere", endpoint: readCohereEmbed },
  { path: /\/v2\/rerank$/, dialect: "cohere", endpoint: readRerank },
  { path: /\/text-to-speech\/[^/]+(?:\/stream)?$/, dialect: "elevenlabs", endpoint: readTextToSpeech },
  { path: /\/speech-to-text$/, dialect: "elevenlabs", endpoint: readSpeechToText },
  { path: /\/listen$/, dialect: "deepgram", endpoint: readListen },
  { path: /\/speak$/, dialect: "deepgram", endpoint: readSpeak },
  { path: /\/embeddings$/, dialect: "openai", endpoint: readEmbeddings },
  { path: /\/rerank$/, dialect: "openai", endpoint: readRerank },
  { path: /\/audio\/speech$/, dialect: "openai", endpoint: readSpeech },
  { path: /\/audio\/transcriptions$/, dialect: "openai", endpoint: readTranscription },
  { path: /\/images\/generations$/, dialect: "openai", endpoint: readImage },
];

function routeOf(path: string): Route | undefined {
  return ROUTES.find((route) => route.path.test(path));
}
