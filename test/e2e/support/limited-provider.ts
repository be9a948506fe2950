import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a provider answers in place of a completion. */
export interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The error's text; a general one by default. */
  readonly body?: unknown;
}

export interface LimitedProvider {
  /** What `base_url` takes. */
  readonly url: string;
  /** `key model` of every request, in order. */
  readonly asked: string[];
  /** By `key model`, `key`, or `model`; the first that is there decides. */
  readonly refusals: Map<string, Refusal>;
  close(): Promise<void>;
}

/** An OpenAI-compatible server on loopback that refuses by key and model, as it is told. */
export async function limitedProvider(): Promise<LimitedProvider> {
  const asked: string[] = [];
  const refusals = new Map<string, Refusal>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await read(request);
    const { model, stream } = JSON.parse(text) as { model: string; stream?: boolean };
    const key = (request.headers.authorization ?? "").replace("Bearer ", "");
    asked.push(`${key} ${model}`);
    const refusal = refusals.get(`${key} ${model}`) ?? refusals.get(key) ?? refusals.get(model);
    if (refusal !== undefined) {
      const { status, headers = {}, body = { error: { message: "Rate limited", type: "rate_limit" } } } = refusal;
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
      return;
    }
    const choice = { index: 0, finish_reason: "stop" };
    const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 };
    const common = { id: "c1", created: 1, model, usage };
    if (stream === true) {
      const chunk = {
        ...common,
        object: "chat.completion.chunk",
        choices: [{ ...choice, delta: { content: "Hi" } }],
      };
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
      return;
    }
    const message = { role: "assistant", content: "Hi" };
    const whole = { ...common, object: "chat.completion", choices: [{ ...choice, message }] };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked,
    refusals,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
