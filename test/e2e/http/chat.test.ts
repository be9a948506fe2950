import { createServer, type IncomingHttpHeaders } from "node:http";
import { once } from "node:events";
import { text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { dataOf } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

let gateway: TestGateway;
let user: TestUser;

beforeAll(async () => {
  gateway = await TestGateway.start({
    chains: { "route/reason": ["-"] },
    config: {
      upstreams: { "one-1": { display_name: "Number One" } },
      models: { "route/reason": { chain: [{ upstream: "reason-1", model: "reasoner" }] } },
      tiers: { Counted: { access: "all", limits: { day: 500, hour: "none", minute: 100, streams: 5 } } },
    },
  });
  user = await gateway.user();
});
afterAll(() => gateway.close());

const parsed = (text: string): Json => JSON.parse(text) as Json;

function contentOf(events: readonly Json[]): string {
  return events
    .flatMap((event) => event["choices"] as readonly { delta: { content?: string } }[])
    .map((choice) => choice.delta.content ?? "")
    .join("");
}

describe("a complete answer", () => {
  test("is the specification's object: the route as model, latency, provider, usage", async () => {
    const { status, headers, text } = await gateway.chat(user);
    expect([status, headers["content-type"], headers["content-length"]]).toEqual([
      200,
      "application/json",
      String(Buffer.byteLength(text)),
    ]);
    expect(parsed(text)).toEqual({
      id: expect.stringMatching(/^chatcmpl-sim-/) as string,
      object: "chat.completion",
      created: expect.any(Number) as number,
      model: "route/one",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "This is a simulated answer. You said: Hello there", refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: {
        prompt_tokens: 2,
        completion_tokens: 9,
        total_tokens: 11,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
      system_fingerprint: "simulated",
      latency_ms: expect.any(Number) as number,
      provider: "Number One",
    });
  });

  test("latency_ms is the time from the request's arrival to its answer, in whole milliseconds", async () => {
    const latency = parsed((await gateway.chat(user, { sim: "?first_byte=120ms" })).text)["latency_ms"] as number;
    expect(Number.isInteger(latency)).toBe(true);
    expect(latency).toBeGreaterThanOrEqual(115);
  });

  test("an upstream without a display name is shown by its key", async () => {
    expect(parsed((await gateway.chat(user, { model: "route/reason" })).text)["provider"]).toBe("reason-1");
  });

  test("a small max_tokens on a reasoning model can leave the content empty", async () => {
    const { text } = await gateway.chat(user, { model: "route/reason", max_tokens: 3 });
    const [choice] = parsed(text)["choices"] as readonly { message: Json; finish_reason: string }[];
    expect(choice).toMatchObject({ message: { content: "" }, finish_reason: "length" });
    expect(choice?.message["reasoning_content"]).not.toBe("");
    expect(parsed(text)["usage"]).toMatchObject({ completion_tokens: 3 });
  });

  test("without usage from the upstream shows what is charged", async () => {
    const someone = await gateway.user();
    const { text } = await gateway.chat(someone, { sim: "?no_usage" });
    const [entry] = (await gateway.books(someone)).ledger;
    const { prompt, completion } = entry!.usage;
    expect(entry?.estimated).toBe(true);
    expect(parsed(text)["usage"]).toEqual({
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
    });
  });

  test("tool calls come through whole", async () => {
    const tools = [
      { type: "function", function: { name: "look_up", parameters: { type: "object", required: ["q"] } } },
    ];
    const { text } = await gateway.chat(user, { tools, messages: [{ role: "user", content: "please look_up this" }] });
    expect(parsed(text)["choices"]).toMatchObject([
      {
        finish_reason: "tool_calls",
        message: { tool_calls: [{ type: "function", function: { name: "look_up", arguments: '{"q":"simulated"}' } }] },
      },
    ]);
  });
});

describe("a stream", () => {
  test("is events of the route's model, without usage unless asked for, then [DONE]", async () => {
    const { status, headers, text, whole } = await gateway.chat(user, { stream: true });
    expect([status, whole]).toEqual([200, true]);
    expect(headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
    });
    expect(headers).not.toHaveProperty("content-length");
    // Byte for byte: nothing but `data:` lines, each with its empty line.
    expect(text).toMatch(/^(data: \{[^\n]*\}\n\n)+data: \[DONE\]\n\n$/);
    const events = dataOf(text).slice(0, -1).map(parsed);
    for (const event of events) {
      expect(event).toMatchObject({ object: "chat.completion.chunk", model: "route/one" });
      expect(event).not.toHaveProperty("usage");
    }
    expect(contentOf(events)).toBe("This is a simulated answer. You said: Hello there");
    expect(events.at(-1)).toMatchObject({ choices: [{ delta: {}, finish_reason: "stop" }] });
  });

  test("shows usage to a client that asks: null on each event, the count on the last", async () => {
    const { text } = await gateway.chat(user, { stream: true, stream_options: { include_usage: true } });
    const events = dataOf(text).slice(0, -1).map(parsed);
    expect(events.slice(0, -1).map((event) => event["usage"])).toEqual(events.slice(0, -1).map(() => null));
    expect(events.at(-1)).toMatchObject({
      model: "route/one",
      choices: [],
      usage: { prompt_tokens: 2, completion_tokens: 9, total_tokens: 11 },
    });
  });

  test("shows the estimate to a client that asks when the upstream counts nothing", async () => {
    const someone = await gateway.user();
    const body = { stream: true, stream_options: { include_usage: true }, sim: "?no_usage" };
    const events = dataOf((await gateway.chat(someone, body)).text)
      .slice(0, -1)
      .map(parsed);
    const { prompt, completion } = (await gateway.books(someone)).ledger[0]!.usage;
    expect(events.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
    });
    expect(events.filter((event) => event["usage"])).toHaveLength(1);
  });

  test.each([false, null])("with include_usage %s stays hidden, and is metered all the same", async (include_usage) => {
    const someone = await gateway.user();
    const { text } = await gateway.chat(someone, { stream: true, stream_options: { include_usage } });
    expect(text).not.toContain("usage");
    expect((await gateway.books(someone)).ledger).toMatchObject([
      { estimated: false, usage: { prompt: 2, completion: 9 } },
    ]);
  });

  test("reasoning and tool calls come through in their own fields", async () => {
    const { text } = await gateway.chat(user, { model: "route/reason", stream: true });
    expect(text).toContain('"reasoning_content":');
    const tools = [{ type: "function", function: { name: "f", parameters: {} } }];
    const called = await gateway.chat(user, { stream: true, tools, messages: [{ role: "user", content: "use f" }] });
    expect(called.text).toContain('"tool_calls":[{"index":0,"id":"call_');
  });

  test("of 5,000 events arrives whole, in order", async () => {
    const { text } = await gateway.chat(user, { stream: true, sim: "?chunks=5000" });
    const events = dataOf(text);
    // The role, the finish reason and [DONE] besides.
    expect(events).toHaveLength(5_003);
    expect(contentOf(events.slice(0, -1).map(parsed)).match(/ simulated/g)).toHaveLength(5_000 - 8);
  });
});

describe("headers", () => {
  test.each(["x".repeat(128)])("X-Request-Id %s is kept, and sent upstream", async (id) => {
    const { headers } = await gateway.chat(user, {}, { headers: { "x-request-id": id } });
    expect([headers["x-request-id"], gateway.simulator.ledger().at(-1)?.requestId]).toEqual([id, id]);
  });

  test.each(["x".repeat(129), ""])("X-Request-Id %j is replaced", async (id) => {
    const { headers } = await gateway.chat(user, {}, { headers: { "x-request-id": id } });
    expect(headers["x-request-id"]).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    expect(gateway.simulator.ledger().at(-1)?.requestId).toBe(headers["x-request-id"]);
  });

  test("a request id that is used again does not make a request free", async () => {
    const someone = await gateway.user();
    const headers = { "x-request-id": "the-same" };
    await Promise.all([1, 2, 3].map((index) => gateway.chat(someone, { stream: index === 2 }, { headers })));
    const { ledger, granted, balance } = await gateway.books(someone);
    expect(ledger.map(({ requestId, charge }) => [requestId, charge])).toEqual(
      Array.from({ length: 3 }, () => ["the-same", 20_000n]),
    );
    expect(new Set(ledger.map(({ id }) => id)).size).toBe(3);
    expect(granted - balance).toBe(60_000n);
  });
});

/** An upstream that keeps what it was sent. */
async function recorder(): Promise<{
  url: string;
  seen: { headers: IncomingHttpHeaders; path: string; body: Json }[];
}> {
  const seen: { headers: IncomingHttpHeaders; path: string; body: Json }[] = [];
  const server = createServer(async (request, response) => {
    seen.push({ headers: request.headers, path: request.url ?? "", body: parsed(await readText(request)) });
    const message = { role: "assistant", content: "x" };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    response.writeHead(200, { "content-type": "application/json", "set-cookie": "a=b", "x-upstream": "secret" });
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: "stop" }], usage }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/base/v1`, seen };
}

test("what travels upstream: the body with the upstream's model; our key and ids, nothing of the client's", async () => {
  const upstream = await recorder();
  const own = await TestGateway.start({ chains: { "route/own": [upstream.url] } });
  const someone = await own.user();
  const extra = { temperature: 0.5, future: { deep: [1, null] }, messages: [{ role: "user", content: "\ud800 ü" }] };
  const headers = {
    "x-request-id": "r1",
    cookie: "session=1",
    "x-forwarded-for": "9.9.9.9",
    "accept-encoding": "gzip",
  };
  const answer = await own.chat(someone, { model: "route/own", ...extra }, { headers });
  expect(answer.status).toBe(200);
  expect(parsed(answer.text)).toMatchObject({
    object: "chat.completion",
    model: "route/own",
    id: expect.stringMatching(/^chatcmpl-/) as string,
  });
  expect(answer.headers).not.toHaveProperty("set-cookie");
  expect(answer.headers).not.toHaveProperty("x-upstream");
  const [sent] = upstream.seen;
  expect(sent?.path).toBe("/base/v1/chat/completions");
  expect(sent?.body).toEqual({ model: "own-model", ...extra });
  expect(sent?.headers).toMatchObject({
    authorization: "Bearer upstream-key",
    "x-request-id": "r1",
    "accept-encoding": "identity",
  });
  for (const name of ["cookie", "x-forwarded-for", "x-api-key"]) expect(sent?.headers).not.toHaveProperty(name);
  expect(JSON.stringify(sent?.headers)).not.toContain(someone.key);
  await own.close();
});
