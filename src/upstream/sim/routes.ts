import type { IncomingMessage, ServerResponse } from "node:http";
import { readBody } from "./body.ts";
import { Chat } from "./chat.ts";
import type { Encoded } from "./chat.ts";
import { readCohereEmbed, readEmbeddings } from "./endpoints/embedding.ts";
import { shapeOfPath } from "./endpoints/endpoint.ts";
import type { Asked, Endpoint } from "./endpoints/endpoint.ts";
import { badParameter, SimError } from "./error.ts";
import { imageAt, readImage } from "./endpoints/image.ts";
import { Ledger } from "./ledger.ts";
import type { LedgerEntry } from "./ledger.ts";
import { modelList } from "./models.ts";
import { Occurrences } from "./occurrences.ts";
import { checkKey } from "./openai-request.ts";
import { play } from "./play.ts";
import { disturb, errorReply, jsonReply } from "./reply.ts";
import { readRerank } from "./endpoints/rerank.ts";
import { parseScript, shapeOf } from "./script.ts";
import type { Script } from "./script.ts";
import { readSpeech } from "./endpoints/speech.ts";
import { readTranscription } from "./endpoints/transcription.ts";

/** By the end of the path; chat completions, which are remembered, have a way of their own. */
const ENDPOINTS: readonly (readonly [string, Endpoint])[] = [
  ["/embeddings", readEmbeddings],
  ["/embed", readCohereEmbed],
  ["/rerank", readRerank],
  ["/audio/speech", readSpeech],
  ["/audio/transcriptions", readTranscription],
  ["/images/generations", readImage],
];

/** A request on its way through here. */
interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly entry: LedgerEntry;
  /** From outside the body. */
  readonly scripts: readonly (string | undefined)[];
}

/** Finds the route of a request and answers it. */
export class Routes {
  readonly ledger = new Ledger();
  readonly #chat = new Chat();
  readonly #occurrences = new Occurrences();

  /** Never rejects: what goes wrong is answered. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
    if (this.#control(request, response, path)) return;
    const requestId = request.headers["x-request-id"];
    response.setHeader("x-simulated", "true");
    if (typeof requestId === "string") response.setHeader("x-request-id", requestId);
    const entry = this.ledger.begin(String(requestId ?? ""), path);
    response.once("close", () => this.ledger.close(entry, response.writableFinished));
    try {
      const scripts = [prefixOf(path), request.headers["x-sim"]?.toString()];
      await this.#serve({ request, response, path, entry, scripts });
    } catch (error) {
      if (response.headersSent) response.destroy();
      else
        await play(
          response,
          errorReply(error instanceof SimError ? error : new SimError(500, String(error))),
          {},
          entry,
        );
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

  async #serve(visit: Visit): Promise<void> {
    const { request, path } = visit;
    if (path.endsWith("/chat/completions")) {
      allow(request, path, "POST");
      return this.#complete(visit);
    }
    if (path.endsWith("/models")) {
      allow(request, path, "GET");
      return this.#list(visit);
    }
    const [, endpoint] = ENDPOINTS.find(([end]) => path.endsWith(end)) ?? [];
    if (!endpoint) {
      throw new SimError(404, `Unknown request URL: ${request.method} ${path}.`, { code: "unknown_url" });
    }
    allow(request, path, "POST");
    return this.#answer(visit, endpoint);
  }

  /** Gateways probe here: a probe meets the faults, but uses none of them up. */
  async #list({ request, response, entry, scripts }: Visit): Promise<void> {
    checkKey(request.headers.authorization);
    const script = parseScript(...scripts);
    const hit = this.#occurrences.hits(script, false) ? script : {};
    const list = jsonReply(200, { data: modelList(script.shape) });
    await play(response, disturb(list, hit, script.shape), hit, entry);
  }

  async #complete({ request, response, entry, scripts }: Visit): Promise<void> {
    const body = await readBody(request);
    entry.requestBytes = body.length;
    const text = body.toString();
    checkKey(request.headers.authorization);
    const known = scripts.every((script) => !script || script === "-") ? this.#chat.recall(text) : undefined;
    if (known) return sendWhole(response, known, entry);
    const { request: chat, script } = this.#chat.read(text, ...scripts);
    const { model } = chat.question;
    const hit: Script = this.#occurrences.hits(script, true) ? script : shapeOf(script);
    const reply = this.#chat.reply(text, chat, hit);
    if (Object.keys(script).length === 0) return sendWhole(response, this.#chat.encode(text, model, reply), entry);
    Object.assign(entry, { model, stream: chat.stream });
    await play(response, disturb(reply, hit), hit, entry);
  }

  async #answer({ request, response, path, entry, scripts }: Visit, endpoint: Endpoint): Promise<void> {
    const body = await readBody(request);
    entry.requestBytes = body.length;
    const { authorization, host = "localhost", "content-type": contentType = "" } = request.headers;
    const fallback = parseScript(...scripts).shape ?? shapeOfPath(path);
    let asked: Asked;
    let script: Script;
    try {
      checkKey(authorization);
      asked = await endpoint({ path, origin: `http://${host}`, contentType, body });
      script = parseScript(...scripts, asked.sim);
    } catch (error) {
      if (!(error instanceof SimError)) throw error;
      return play(response, errorReply(error, fallback), {}, entry);
    }
    const shape = script.shape ?? asked.shape ?? fallback;
    const hit: Script = this.#occurrences.hits(script, true) ? script : shapeOf(script);
    const reply = asked.reply(hit, shape);
    Object.assign(entry, { model: asked.model, stream: reply.type !== "answer", upload: asked.upload ?? null });
    await play(response, disturb(reply, hit, shape), hit, entry);
  }
}

/** The cheap way out: one write for everything. */
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
