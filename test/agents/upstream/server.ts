import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { checkSigned } from "../../../src/simulator/dialects/bedrock.ts";
import { errorReply, play, readBody } from "../../../src/simulator/endpoint.ts";
import { parseBody, SimError } from "../../../src/simulator/fields.ts";
import { Ledger, type LedgerEntry } from "../../../src/simulator/ledger.ts";
import { checkKey } from "../../../src/simulator/provider.ts";
import { parseScript } from "../../../src/simulator/script.ts";
import { checkVendor } from "../../../src/simulator/strict/vendors.ts";
import { nextDeed } from "./errand.ts";
import { type Deed, performed, type SpeakerName, SPEAKERS } from "./speakers.ts";

/** One request that reached the upstream. */
export interface Visit {
  readonly entry: LedgerEntry;
  readonly dialect: SpeakerName | null;
  readonly body: string;
  /** null when it was refused. */
  deed: Deed | null;
  /** Results of tools in its conversation. */
  results: number;
  refusal: string | null;
}

/** A provider in several dialects at once that runs errands with the tools it is offered. */
export class ErrandUpstream {
  readonly visits: Visit[] = [];
  readonly #ledger = new Ledger();
  readonly #server = createServer((request, response) => void this.#handle(request, response));

  /** @returns its origin, on a free port of loopback. */
  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const path = decodeURIComponent(pathname);
    const entry = this.#ledger.begin(String(request.headers["x-request-id"] ?? ""), path);
    response.once("close", () => this.#ledger.close(entry, response.writableFinished));
    const dialect = Object.entries(SPEAKERS).find(([, speaker]) => speaker.path.test(path))?.[0] as SpeakerName;
    const bytes = await readBody(request);
    const body = bytes.toString();
    const visit: Visit = { entry, dialect: dialect ?? null, body, deed: null, results: 0, refusal: null };
    this.visits.push(visit);
    const failing = dialect === "responses" ? "openai" : dialect;
    try {
      if (dialect === undefined) throw new SimError(404, `${request.method} ${path} is no path of a known dialect.`);
      if (dialect === "bedrock") checkSigned(request.headers, bytes);
      else checkKey(dialect === "responses" ? "openai" : dialect, request.headers);
      // `/sim/vendor=…/` before the path: as strict as that vendor.
      const [, script] = /^\/sim\/([^/]+)\//.exec(path) ?? [];
      checkVendor(parseScript(script), path, parseBody(body));
      const asked = { path, version: request.headers["anthropic-version"]?.toString(), body: parseBody(body) };
      const reply = SPEAKERS[dialect].reply(asked, (question, scene) => {
        visit.deed = nextDeed(scene);
        visit.results = scene.results.length;
        return performed(question, visit.deed, body);
      });
      await play(response, reply, {}, entry);
    } catch (error) {
      visit.refusal = String(error);
      const refused = error instanceof SimError ? error : new SimError(500, String(error));
      await play(response, errorReply(refused, failing), {}, entry);
    }
  }
}
