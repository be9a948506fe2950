import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isJson, type Json } from "../../src/kit/index.ts";
import { SHAPES, type Size } from "./shapes.ts";

/*
 * What stands outside of the measured process: the client that sends, and upstreams that read and answer briefly. Started
 * by `run.ts`, as a process of its own, so that nothing of it is measured.
 */

export interface Job {
  readonly shape: string;
  readonly model: string;
  readonly size: Size;
  readonly url: string;
  readonly key: string;
}

export interface Done {
  readonly status: number;
  readonly answer: string;
  readonly bytes: number;
  readonly ms: number;
  /** Of what came to the upstream; null when nothing did. */
  readonly sentOn: number | null;
}

let sentOn: number | null = null;

const count = (list: unknown): number => (Array.isArray(list) ? list.length : 1);

function answerTo(path: string, body: Json): Json | string {
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, input_tokens: 1, output_tokens: 1 };
  const text = { type: "text", text: "ok" };
  if (body["stream"] === true) {
    const choice = { index: 0, delta: { role: "assistant", content: "ok" }, finish_reason: "stop" };
    return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [choice], usage })}\n\ndata: [DONE]\n\n`;
  }
  if (path.endsWith("/chat/completions")) {
    const choices = [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }];
    return { id: "c", object: "chat.completion", created: 1, model: "m", choices, usage };
  }
  if (path.endsWith("/responses")) {
    const content = [{ type: "output_text", text: "ok", annotations: [] }];
    const output = [{ type: "message", id: "i", role: "assistant", status: "completed", content }];
    return { id: "r", object: "response", created_at: 1, status: "completed", model: "m", output, usage };
  }
  if (path.endsWith("/v1/messages")) {
    return { id: "m", type: "message", role: "assistant", model: "m", content: [text], stop_reason: "end_turn", usage };
  }
  if (path.includes(":generateContent")) {
    const candidates = [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP" }];
    return { candidates, usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } };
  }
  if (path.endsWith("/converse")) {
    const message = { role: "assistant", content: [{ text: "ok" }] };
    return { output: { message }, stopReason: "end_turn", usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } };
  }
  if (path.endsWith("/v2/chat")) {
    const message = { role: "assistant", content: [text] };
    return { id: "c", finish_reason: "COMPLETE", message, usage: { tokens: usage, billed_units: usage } };
  }
  if (path.includes("batchEmbedContents") || path.includes("EmbedContents")) {
    return { embeddings: Array.from({ length: count(body["requests"]) }, () => ({ values: [0.5] })) };
  }
  if (path.endsWith("/v2/embed")) {
    const length = count(body["texts"] ?? body["inputs"]);
    return { id: "e", embeddings: { float: Array.from({ length }, () => [0.5]) }, meta: { billed_units: usage } };
  }
  if (path.endsWith("/embeddings")) {
    const { input } = body;
    const length = Array.isArray(input) && typeof input[0] !== "number" ? input.length : 1;
    const data = Array.from({ length }, (_, index) => ({ object: "embedding", index, embedding: [0.5] }));
    return { object: "list", data, model: "m", usage };
  }
  return { id: "r", results: [{ index: 0, relevance_score: 0.5 }], meta: { billed_units: { search_units: 1 } } };
}

async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks);
  sentOn = text.length;
  const body: unknown = JSON.parse(text.toString());
  const answer = answerTo((req.url ?? "").split("?")[0]!, isJson(body) ? body : {});
  const isStream = typeof answer === "string";
  res.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
  res.end(isStream ? answer : JSON.stringify(answer));
}

function send({ shape, model, size, url, key }: Job): Promise<Done> {
  const { path, body } = SHAPES[shape]!;
  const bytes = Buffer.from(body(`route/${model}`, size));
  sentOn = null;
  process.send!({ type: "made", bytes: bytes.length });
  return new Promise((resolve, reject) => {
    const at = performance.now();
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "content-length": bytes.length,
    };
    const req = request(url + path, { method: "POST", headers }, (res) => {
      let answer = "";
      res.setEncoding("utf8");
      res.on("data", (chunk: string) => (answer += chunk));
      res.on("end", () => {
        const ms = performance.now() - at;
        resolve({ status: res.statusCode ?? 0, answer: answer.slice(0, 300), bytes: bytes.length, ms, sentOn });
      });
    });
    req.on("error", reject);
    // What goes through a quiet loop between the making and the sending is not of the request.
    setTimeout(() => req.end(bytes), 50);
  });
}

const server = createServer((req, res) => {
  serve(req, res).catch((error: unknown) => {
    res.writeHead(400, { "content-type": "application/json" });
    res.end(JSON.stringify({ error: { message: String(error) } }));
  });
});
server.listen(0, "127.0.0.1", () => {
  process.send!({ type: "ready", port: (server.address() as AddressInfo).port });
});
process.on("message", (job: Job) => {
  send(job).then(
    (done) => process.send!({ type: "done", done }),
    (error: unknown) =>
      process.send!({ type: "done", done: { status: 0, answer: String(error), bytes: 0, ms: 0, sentOn: null } }),
  );
});
process.on("disconnect", () => process.exit(0));
