import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isJson, type Json } from "../../../src/kit/index.ts";
import { checkSigned } from "../../../src/simulator/dialects/bedrock.ts";
import { errorReply, play, type Reply, readBody } from "../../../src/simulator/endpoint.ts";
import { parseBody, SimError } from "../../../src/simulator/fields.ts";
import { Ledger, type LedgerEntry } from "../../../src/simulator/ledger.ts";
import { checkKey } from "../../../src/simulator/provider.ts";
import { parseScript, type Script } from "../../../src/simulator/script.ts";
import { checkVendor } from "../../../src/simulator/strict/vendors.ts";
import { nextDeed, noncesOf } from "./errand.ts";
import { offersTools, type Situation, SITUATIONS } from "./situations.ts";
import { type Asked, type Deed, performed, type SpeakerName, SPEAKERS } from "./speakers.ts";

/** One request that reached the upstream. */
export interface Visit {
  readonly entry: LedgerEntry;
  /** Whose run it belongs to, by its path. */
  readonly run: string;
  readonly dialect: SpeakerName | null;
  readonly body: string;
  /** null when it was refused. */
  deed: Deed | null;
  /** Results of tools in its conversation. */
  results: number;
  /** Files whose content stands in its conversation. */
  found: number;
  /** A refusal that no situation asks for. */
  refusal: string | null;
  /** Whether the situation made it fail. */
  faulted: boolean;
}

/** `/run/RUN/SITUATION/` before everything else: whose run it is, and what it meets. */
const RUN = /^\/run\/([^/]+)\/([^/]+)\//;

/** The end of the name of a run without the gateway. */
export const DIRECT = ".direct";

/** The beginning of the paths of one run; `-` for a run that meets nothing. */
export function runPath(run: string, situation: string): string {
  return `/run/${run}/${situation}`;
}

/** A provider in several dialects at once that runs errands with the tools it is offered. */
export class ErrandUpstream {
  readonly visits: Visit[] = [];
  readonly #ledger = new Ledger();
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  #origin = "";

  get origin(): string {
    return this.#origin;
  }

  /** @returns its origin, on a free port of loopback. */
  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.#origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this.#origin;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const path = decodeURIComponent(pathname);
    if (request.method !== "POST") return besidesInference(request, response);
    const entry = this.#ledger.begin(String(request.headers["x-request-id"] ?? ""), path);
    response.once("close", () => this.#ledger.close(entry, response.writableFinished));
    const [, run = "", met = ""] = RUN.exec(path) ?? [];
    const dialect = Object.entries(SPEAKERS).find(([, speaker]) => speaker.path.test(path))?.[0] as SpeakerName;
    const bytes = await readBody(request);
    const body = bytes.toString();
    const visit: Visit = {
      entry,
      run,
      dialect: dialect ?? null,
      body,
      deed: null,
      results: 0,
      found: 0,
      refusal: null,
      faulted: false,
    };
    this.visits.push(visit);
    const failing = dialect === "responses" ? "openai" : dialect;
    try {
      if (dialect === undefined) throw new SimError(404, `${request.method} ${path} is no path of a known dialect.`);
      if (dialect === "bedrock") checkSigned(request.headers, bytes);
      else checkKey(dialect === "responses" ? "openai" : dialect, request.headers);
      const parsed = run.endsWith(DIRECT) ? withoutOwnFields(parseBody(body)) : parseBody(body);
      // `/sim/vendor=…/` before the path: as strict as that vendor. What an agent sends to its own provider is taken.
      const [, script] = /\/sim\/([^/]+)\//.exec(path) ?? [];
      if (!run.endsWith(DIRECT)) checkVendor(parseScript(script), path, parsed, request.headers);
      const asked = { path, version: request.headers["anthropic-version"]?.toString(), body: parsed };
      const situation = SITUATIONS.find(({ name }) => name === met);
      const { reply, script: cut } = this.#answer(visit, asked, dialect, situation);
      await play(response, reply, cut, entry);
    } catch (error) {
      visit.refusal = String(error);
      const refused = error instanceof SimError ? error : new SimError(500, String(error));
      await play(response, errorReply(refused, failing), {}, entry);
    }
  }

  #answer(
    visit: Visit,
    asked: Asked,
    speaker: SpeakerName,
    situation: Situation | undefined,
  ): { readonly reply: Reply; readonly script: Script } {
    const { body } = asked;
    const reply = SPEAKERS[speaker].reply(asked, (question, scene) => {
      visit.deed = nextDeed(scene);
      visit.results = scene.results.length;
      visit.found = noncesOf(scene.results).length;
      return performed(question, visit.deed, visit.body);
    });
    if (situation === undefined || !offersTools(body)) return { reply, script: {} };
    const ofRun = this.visits.filter((one) => one.run === visit.run && offersTools(parseBody(one.body)));
    const faults = ofRun.filter(({ faulted }) => faulted).length;
    const fault = situation.fault({ speaker, body, count: ofRun.length, found: visit.found, faults });
    if (fault === null) return { reply, script: {} };
    visit.faulted = true;
    if ("script" in fault) return { reply, script: fault.script };
    return { reply: refusalReply(fault.refuse, speaker), script: {} };
  }
}

/** Codex adds to requests of its own provider what OpenAI's reference does not name. */
function withoutOwnFields({ client_metadata: _metadata, ...body }: Json): Json {
  if (!Array.isArray(body["input"])) return body;
  const input = body["input"].map((item: unknown) => {
    if (!isJson(item)) return item;
    const { internal_chat_message_metadata_passthrough: _passthrough, ...rest } = item;
    return rest;
  });
  return { ...body, input };
}

function refusalReply(error: SimError, speaker: SpeakerName): Reply {
  const reply = errorReply(error, speaker === "responses" ? "openai" : speaker);
  if (error.retryAfter === null) return reply;
  return { ...reply, headers: { ...reply.headers, "retry-after": error.retryAfter } };
}

/** What agents ask beside inference: an upgrade to a WebSocket is declined at once, and there is nothing else here. */
function besidesInference(request: IncomingMessage, response: ServerResponse): void {
  const upgrades = request.headers.upgrade !== undefined;
  const headers = { "content-type": "application/json", ...(upgrades && { upgrade: "websocket" }) };
  response.writeHead(upgrades ? 426 : 404, headers).end('{"error":{"message":"Not found"}}');
}
