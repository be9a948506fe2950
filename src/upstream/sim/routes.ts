import type { IncomingMessage, ServerResponse } from "node:http";
import { Chat } from "./chat.ts";
import type { Encoded } from "./chat.ts";
import { badParameter, SimError } from "./error.ts";
import { Ledger } from "./ledger.ts";
import type { LedgerEntry } from "./ledger.ts";
import { Occurrences } from "./occurrences.ts";
import { modelList } from "./openai-answer.ts";
import { checkKey } from "./openai-request.ts";
import { play } from "./play.ts";
import { disturb, errorReply, jsonReply } from "./reply.ts";
import { parseScript, shapeOf } from "./script.ts";
import type { Script } from "./script.ts";

const MAXIMUM_BODY = 64 * 1024 * 1024;

type Scripts = readonly (string | undefined)[];

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
      await this.#serve(request, response, path, entry);
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
    } else return false;
    return true;
  }

  async #serve(request: IncomingMessage, response: ServerResponse, path: string, entry: LedgerEntry): Promise<void> {
    const scripts = [prefixOf(path), request.headers["x-sim"]?.toString()];
    if (path.endsWith("/chat/completions")) {
      allow(request, path, "POST");
      await this.#complete(request, response, scripts, entry);
    } else if (path.endsWith("/models")) {
      allow(request, path, "GET");
      checkKey(request.headers.authorization);
      const script = parseScript(...scripts);
      // Gateways probe here: a probe meets the faults, but uses none of them up.
      const hit = this.#occurrences.hits(script, false) ? script : {};
      await play(response, disturb(jsonReply(200, { text: modelList(), tokens: 0 }), hit), hit, entry);
    } else {
      throw new SimError(404, `Unknown request URL: ${request.method} ${path}.`, { code: "unknown_url" });
    }
  }

  async #complete(
    request: IncomingMessage,
    response: ServerResponse,
    scripts: Scripts,
    entry: LedgerEntry,
  ): Promise<void> {
    const text = await readBody(request);
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
}

/** The cheap way out: one write for everything. */
function sendWhole(response: ServerResponse, { reply, payload, facts }: Encoded, entry: LedgerEntry): void {
  if (response.destroyed) return;
  Object.assign(entry, facts, { ending: "end" });
  if (!reply.stream) {
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

function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      // Read to the end and thrown away: an answer before that would be lost in a reset.
      if (size <= MAXIMUM_BODY) chunks.push(chunk);
    });
    request.once("error", reject);
    request.once("end", () => {
      if (size <= MAXIMUM_BODY) resolve(Buffer.concat(chunks, size).toString());
      else reject(new SimError(413, `The body is larger than ${MAXIMUM_BODY} bytes.`));
    });
  });
}
