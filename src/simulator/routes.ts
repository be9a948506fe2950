import type { IncomingMessage, ServerResponse } from "node:http";
import { readBody } from "./body.ts";
import { checkSigned } from "./bedrock/credentials.ts";
import { Chat } from "./chat.ts";
import type { Encoded } from "./chat.ts";
import { checkKey, type Dialect, dialectOfList } from "./dialect.ts";
import type { Asked } from "./endpoints/endpoint.ts";
import { imageAt } from "./endpoints/image.ts";
import { badParameter, SimError } from "./error.ts";
import { Ledger } from "./ledger.ts";
import type { LedgerEntry } from "./ledger.ts";
import { isList, modelList } from "./models.ts";
import { Occurrences } from "./occurrences.ts";
import { play } from "./play.ts";
import { disturb, errorReply, jsonReply } from "./reply.ts";
import { parseScript, shapeOf } from "./script.ts";
import type { Script } from "./script.ts";
import { checkVendor } from "./strict/vendors.ts";
import { type Row, rowOf } from "./table.ts";

const NO_BODY = new Uint8Array();

/** A request on its way through here. */
interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly query: string | undefined;
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
    const [path = "/", query] = (request.url ?? "/").split("?", 2);
    if (this.#control(request, response, path)) return;
    const requestId = request.headers["x-request-id"];
    response.setHeader("x-simulated", "true");
    if (typeof requestId === "string") response.setHeader("x-request-id", requestId);
    const entry = this.ledger.begin(String(requestId ?? ""), path);
    response.once("close", () => this.ledger.close(entry, response.writableFinished));
    try {
      const scripts = [prefixOf(path), request.headers["x-sim"]?.toString()];
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

  async #serve(visit: Visit): Promise<void> {
    const { request, path } = visit;
    if (path.endsWith("/chat/completions") && !path.includes("/openai/")) {
      allow(request, path, "POST");
      return this.#complete(visit);
    }
    if (isList(path)) {
      allow(request, path, "GET");
      return this.#list(visit);
    }
    const row = rowOf(path);
    if (!row) {
      throw new SimError(404, `Unknown request URL: ${request.method} ${path}.`, { code: "unknown_url" });
    }
    allow(request, path, "POST");
    return this.#answer(visit, row);
  }

  /** Gateways probe here: a probe meets the faults, but uses none of them up. */
  async #list({ request, response, path, query, entry, scripts }: Visit): Promise<void> {
    const { headers } = request;
    const asked = dialectOfList(headers, path);
    let script: Script;
    try {
      checkKey(asked, headers, new URLSearchParams(query));
      if (asked === "bedrock") checkSigned(headers, NO_BODY);
      script = parseScript(...scripts);
    } catch (error) {
      return refuse(response, error, asked, entry);
    }
    const dialect = script.shape ?? asked;
    const hit = this.#occurrences.hits(script, false) ? script : {};
    const list = jsonReply(200, { data: modelList(dialect, path) });
    await play(response, disturb(list, hit, dialect), hit, entry);
  }

  async #complete({ request, response, entry, scripts }: Visit): Promise<void> {
    const body = await readBody(request);
    entry.requestBytes = body.length;
    const text = body.toString();
    checkKey("openai", request.headers);
    if (parseScript(...scripts).record) entry.body = text;
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

  async #answer({ request, response, path, query, entry, scripts }: Visit, row: Row): Promise<void> {
    const body = await readBody(request);
    entry.requestBytes = body.length;
    const { headers } = request;
    const params = new URLSearchParams(query);
    const told = parseScript(...scripts);
    const fallback = told.shape ?? row.dialect;
    if (told.record) entry.body = body.toString();
    let asked: Asked;
    let script: Script;
    try {
      checkKey(row.dialect, headers, params);
      if (told.vendor) checkVendor(told, path, jsonIn(body));
      asked = await row.endpoint({
        path,
        origin: `http://${headers.host ?? "localhost"}`,
        headers,
        query: params,
        body,
      });
      script = parseScript(...scripts, asked.sim);
      if (!told.vendor && script.vendor) checkVendor(script, path, jsonIn(body));
    } catch (error) {
      return refuse(response, error, fallback, entry);
    }
    const dialect = script.shape ?? asked.shape ?? fallback;
    const hit: Script = this.#occurrences.hits(script, true) ? script : shapeOf(script);
    const reply = asked.reply(hit);
    Object.assign(entry, { model: asked.model, stream: reply.type !== "answer", upload: asked.upload ?? null });
    await play(response, disturb(reply, hit, dialect), hit, entry);
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
