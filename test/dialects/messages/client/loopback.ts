import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { messagesRefusal } from "../../../../src/dialects/messages/client/errors.ts";
import { messagesFormat, readCountTokens, readMessages } from "../../../../src/dialects/messages/client/format.ts";
import { type Call, type GatewayError, type Json, type StreamEvent, streamBroken } from "../../../../src/kit/index.ts";
import { answer, bill, extras } from "./support.ts";

/** What the upstream is to say. */
export interface Script {
  readonly events?: readonly StreamEvent[];
  /** Left out: `done`. */
  readonly ending?: "done" | "failure" | "killed";
  readonly body?: Json;
  readonly refusal?: GatewayError;
}

/** A server that answers as its script says, and keeps what it was asked. */
export class Loopback {
  script: Script = {};
  calls: Call[] = [];
  readonly #server = createServer((req, res) => {
    this.#serve(req, res).catch((error: unknown) => res.destroy(error as Error));
  });

  /** @returns its address. */
  async start(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = JSON.parse(await readText(req)) as Json;
    if (req.url?.split("?")[0] === "/v1/messages/count_tokens") {
      res.setHeader("content-type", "application/json");
      res.end(JSON.stringify({ input_tokens: readCountTokens(body).text.length }));
      return;
    }
    const call = readMessages(body, req.headers);
    this.calls.push(call);
    const { refusal, body: said = answer({ content: "hi" }) } = this.script;
    const format = messagesFormat(call);
    if (refusal !== undefined) {
      const { contentType, body } = messagesRefusal(refusal, "r-1");
      res.writeHead(refusal.status, { "content-type": contentType, "request-id": "r-1" });
      res.end(body);
      return;
    }
    res.writeHead(200, { "content-type": call.stream ? "text/event-stream" : format.contentType });
    if (call.stream) this.#stream(res, call);
    else res.end(format.answer(said, extras));
  }

  #stream(res: ServerResponse, call: Call): void {
    const { stream } = messagesFormat(call);
    res.write(stream.heartbeat);
    for (const event of this.script.events ?? []) res.write(stream.event(event));
    switch (this.script.ending) {
      case "killed":
        return void res.end(stream.killed(bill));
      case "failure":
        return void res.end(stream.failure(streamBroken("upstream failed")));
      default:
        res.end(stream.done(bill));
    }
  }
}
