/**
 * The client and the upstream, in a thread of their own, where their work is not counted. The upstream sends an event of a
 * stream when the client has the one before it, so that each is read by itself on any machine.
 */
import { Agent, createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort } from "node:worker_threads";
import { answerBody, CONTENT_MARKS, events, requestBody } from "../../bench/load/wire.ts";

/** What the main thread asks for. */
export interface RequestBatch {
  readonly port: number;
  readonly key: string;
  /** Events of content; null: not streamed. */
  readonly events: number | null;
  readonly requests: number;
}

/** What follows an answer, as a log line or a settlement, belongs to its request. */
const PAUSE_MS = 10;

const main = parentPort!;
const { first, content, last } = events();
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
/** The stream that is open. */
let open: ServerResponse | null = null;
let sent = 0;

const upstream = createServer((incoming, response) => {
  const read: Buffer[] = [];
  incoming.on("data", (bytes: Buffer) => read.push(bytes));
  incoming.on("end", () => {
    if (Buffer.concat(read).includes('"stream":true')) {
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
      response.write(first + content);
      open = response;
      sent = 1;
    } else {
      const body = answerBody();
      response.writeHead(200, { "content-type": "application/json", "content-length": body.length }).end(body);
    }
  });
});

function ask({ port, key, events: wanted }: RequestBatch): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "application/json" };
    const outgoing = request({ host: "127.0.0.1", port, path: "/v1/chat/completions", method: "POST", headers, agent });
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => {
      let text = "";
      incoming.setEncoding("latin1");
      incoming.on("data", (piece: string) => {
        text += piece;
        if (wanted === null || open === null || text.split(CONTENT_MARKS.openai).length - 1 < sent) return;
        if (sent < wanted) open.write(content);
        else open.end(last);
        sent++;
      });
      incoming.on("end", () => {
        const whole = wanted === null ? text.includes('"usage"') : text.endsWith("[DONE]\n\n");
        if (incoming.statusCode === 200 && whole) resolve();
        else reject(new Error(`${incoming.statusCode}: ${text}`));
      });
    });
    outgoing.end(requestBody(wanted));
  });
}

main.on("message", async (batch: RequestBatch) => {
  for (let left = batch.requests; left > 0; left--) {
    await ask(batch);
    await sleep(PAUSE_MS);
    main.postMessage("answered", []);
  }
});

upstream.listen(0, "127.0.0.1", () => main.postMessage((upstream.address() as AddressInfo).port, []));
