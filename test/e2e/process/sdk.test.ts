import OpenAI, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  OpenAIError,
  PermissionDeniedError,
  RateLimitError,
} from "openai";
import type {
  ChatCompletionChunk,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from "openai/resources/chat/completions";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { poll } from "../support/child.ts";
import { configuration } from "../support/configuration.ts";
import { type Account, type GatewayProcess, type SimProcess, Workspace } from "../support/process.ts";

/** The official client, unmodified, against a gateway process in front of a simulator process. */
let workspace: Workspace;
let sim: SimProcess;
let gateway: GatewayProcess;
let user: Account;

beforeAll(async () => {
  workspace = new Workspace();
  sim = await workspace.sim();
  const config = configuration(sim.origin);
  // The tests break the upstream on purpose: its breaker must not answer in its place.
  const alpha = { ...config.upstreams["alpha"]!, breaker: { consecutive: 1000, minimum: 1000 } };
  const limits = { day: 1, hour: "none", minute: "none", streams: "none" } as const;
  workspace.write("gateway.yaml", {
    ...config,
    upstreams: { alpha },
    tiers: { ...config.tiers, Tiny: { access: ["Free"], limits } },
  });
  gateway = await workspace.serve();
  user = await workspace.account();
});

afterAll(() => workspace.close());

function client(apiKey = user.key, more: { maxRetries?: number } = {}): OpenAI {
  return new OpenAI({ baseURL: `${gateway.origin}/v1`, apiKey, maxRetries: 0, ...more });
}

const user1 = (content: string): ChatCompletionMessageParam[] => [{ role: "user", content }];
/** Travels through the gateway to the simulator, as any unknown field does. */
const script = (sim: object): object => ({ sim });

describe("answers", () => {
  test("a chat completion", async () => {
    const answer = await client().chat.completions.create({ model: "route/one", messages: user1("Hello there") });
    expect(answer).toMatchObject({ object: "chat.completion", model: "route/one" });
    expect(answer.choices[0]?.message.content).toContain("You said: Hello there");
    expect(answer.choices[0]?.finish_reason).toBe("stop");
    expect(answer.usage?.total_tokens).toBe(answer.usage!.prompt_tokens + answer.usage!.completion_tokens);
  });

  test("a stream, chunk by chunk", async () => {
    const stream = await client().chat.completions.create({
      model: "route/one",
      messages: user1("one two"),
      stream: true,
    });
    let text = "";
    const models = new Set<string>();
    let finish: string | null = null;
    for await (const chunk of stream) {
      models.add(chunk.model);
      expect(chunk.usage ?? null, "usage is shown to those who asked").toBeNull();
      text += chunk.choices[0]?.delta.content ?? "";
      finish = chunk.choices[0]?.finish_reason ?? finish;
    }
    expect(text).toContain("You said: one two");
    expect([...models]).toEqual(["route/one"]);
    expect(finish).toBe("stop");
  });

  test("include_usage: one last chunk with the count, the one that is charged", async () => {
    const { data: stream, request_id } = await client()
      .chat.completions.create({
        model: "route/one",
        messages: user1("count me"),
        stream: true,
        stream_options: { include_usage: true },
      })
      .withResponse();
    const chunks: ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    const counts = chunks.flatMap(({ usage }) => (usage ? [usage] : []));
    expect(counts).toHaveLength(1);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: counts[0] });
    const entry = await workspace.charged(user.id, request_id ?? "");
    expect(entry.usage).toMatchObject({ prompt: counts[0]!.prompt_tokens, completion: counts[0]!.completion_tokens });
    expect(entry.charge).toBe(
      1_000_000n * BigInt(counts[0]!.prompt_tokens) + 2_000_000n * BigInt(counts[0]!.completion_tokens),
    );
  });

  test("the stream helper ends with the whole completion", async () => {
    const heard: string[] = [];
    const runner = client()
      .chat.completions.stream({ model: "route/one", messages: user1("helper") })
      .on("content", (delta) => heard.push(delta));
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]?.message.content).toBe(heard.join(""));
    expect(final.choices[0]?.message.content).toContain("You said: helper");
    expect(final.choices[0]?.finish_reason).toBe("stop");
  });
});

const TOOLS: ChatCompletionTool[] = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "Weather in a city",
      parameters: {
        type: "object",
        properties: { city: { type: "string", enum: ["Oslo"] } },
        required: ["city"],
        additionalProperties: false,
      },
    },
  },
];

describe("tools", () => {
  test("call, answer of the tool, final answer", async () => {
    const messages = user1("Use get_weather");
    const first = await client().chat.completions.create({ model: "route/one", messages, tools: TOOLS });
    const { message, finish_reason } = first.choices[0]!;
    expect(finish_reason).toBe("tool_calls");
    const call = message.tool_calls![0]!;
    if (call.type !== "function") throw new Error("a function call");
    expect({ name: call.function.name, arguments: JSON.parse(call.function.arguments) as unknown }).toEqual({
      name: "get_weather",
      arguments: { city: "Oslo" },
    });
    const second = await client().chat.completions.create({
      model: "route/one",
      messages: [...messages, message, { role: "tool", tool_call_id: call.id, content: "sunny" }],
      tools: TOOLS,
    });
    expect(second.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: expect.any(String) } });
  });

  test("streamed: the helper runs the tool and goes on", async () => {
    const asked: unknown[] = [];
    const runner = client().chat.completions.runTools({
      model: "route/one",
      messages: user1("Use get_weather"),
      stream: true,
      tools: [
        {
          type: "function",
          function: {
            name: "get_weather",
            description: "Weather in a city",
            parameters: {
              type: "object",
              properties: { city: { type: "string", enum: ["Oslo"] } },
              required: ["city"],
            },
            parse: JSON.parse as (input: string) => object,
            function: (args: object) => {
              asked.push(args);
              return "sunny";
            },
          },
        },
      ],
    });
    const content = await runner.finalContent();
    expect(asked).toEqual([{ city: "Oslo" }]);
    expect(content).toContain("You said: Use get_weather");
    expect(runner.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
  });
});

/** What the client throws. */
async function failure(attempt: Promise<unknown>): Promise<APIError> {
  const error: unknown = await attempt.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(APIError);
  return error as APIError;
}

function create(using: OpenAI, model = "route/one", more: object = {}) {
  return using.chat.completions.create({ model, messages: user1("x"), ...more });
}

describe("errors", () => {
  test("an unknown key is an AuthenticationError", async () => {
    const error = await failure(create(client(`rk_${"0".repeat(64)}`)));
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error.headers?.get("x-error-code")).toBe("AUTHENTICATION_ERROR");
    expect(error.message).toContain("Invalid API key");
  });

  test("a model beyond the plan is a PermissionDeniedError", async () => {
    const error = await failure(create(client(), "route/max"));
    expect(error).toBeInstanceOf(PermissionDeniedError);
    expect(error.message).toContain("Model 'route/max' is not available on your plan");
  });

  test.each([
    ["an unknown model", { model: "route/none" }, "INVALID_MODEL", "Invalid model: 'route/none'"],
    ["a bad body", { messages: [] }, "INVALID_REQUEST", "/messages"],
    ["what the upstream refuses", { sim: { status: 400, message: "too hot" } }, "INVALID_REQUEST", "too hot"],
  ])("%s is a BadRequestError", async (_name, more, code, text) => {
    const error = await failure(create(client(), "route/one", more));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error.headers?.get("x-error-code")).toBe(code);
    expect(error.message).toContain(text);
  });

  test("no credits: 402", async () => {
    const poor = await workspace.account("Free", 0n);
    const error = await failure(create(client(poor.key)));
    expect(error).toMatchObject({ status: 402 });
    expect(error.headers?.get("x-error-code")).toBe("INSUFFICIENT_CREDITS");
  });

  test("the plan's limit is a RateLimitError that says when to come back", async () => {
    const small = await workspace.account("Tiny");
    await create(client(small.key));
    const error = await failure(create(client(small.key)));
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error.headers?.get("x-error-code")).toBe("DAILY_REQUEST_LIMIT_EXCEEDED");
    expect(Number(error.headers?.get("retry-after"))).toBeGreaterThanOrEqual(1);
  });

  test("a chain that has refused for good is not tried again by the client, whatever its maxRetries", async () => {
    const requestId = crypto.randomUUID();
    const attempt = client(user.key, { maxRetries: 5 }).chat.completions.create(
      { model: "route/one", messages: user1("x"), ...script({ status: 404 }) },
      { headers: { "x-request-id": requestId } },
    );
    const error = await failure(attempt);
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({ status: 502 });
    expect(error.headers?.get("x-should-retry")).toBe("false");
    const seen = (await sim.ledger()).filter((entry) => entry.requestId === requestId);
    expect(seen).toHaveLength(1);
  });

  test("an upstream that cuts a stream surfaces as an error, never as a clean end", async () => {
    const stream = await client().chat.completions.create({
      model: "route/one",
      messages: user1("x"),
      stream: true,
      ...script({ chunks: 20, reset_after: 3 }),
    });
    let chunks = 0;
    const read = (async () => {
      for await (const _chunk of stream) chunks++;
    })();
    const error = await failure(read);
    expect(error.type).toBe("api_error");
    expect(chunks).toBeGreaterThan(0);
  });

  test("the stream helper rejects when the upstream sends an error half-way", async () => {
    const runner = client().chat.completions.stream({
      model: "route/one",
      messages: user1("x"),
      ...script({ chunks: 20, error_after: 4 }),
    });
    await expect(runner.finalChatCompletion()).rejects.toBeInstanceOf(OpenAIError);
  });
});

describe("abort", () => {
  test("a stream: the upstream is closed within a second and what was delivered is charged", async () => {
    const requestId = crypto.randomUUID();
    const controller = new AbortController();
    const stream = await client().chat.completions.create(
      { model: "route/one", messages: user1("x"), stream: true, ...script({ chunks: 10_000, chunk_delay: "20ms" }) },
      { signal: controller.signal, headers: { "x-request-id": requestId } },
    );
    let abortedAt = 0;
    let chunks = 0;
    for await (const _chunk of stream) {
      if (++chunks !== 5) continue;
      abortedAt = Date.now();
      controller.abort();
    }
    const entry = await poll(async () => {
      const found = await sim.entry(requestId);
      return found?.closedAt ? found : null;
    });
    expect(entry.aborted).toBe(true);
    expect(entry.closedAt! - abortedAt).toBeLessThan(1_000);
    const charged = await workspace.charged(user.id, requestId);
    expect(charged).toMatchObject({ outcome: "client_gone", estimated: true });
    expect(charged.charge).toBeGreaterThan(0n);
  });

  test("a request without an answer yet: closed upstream, counted, its prompt is charged", async () => {
    const requestId = crypto.randomUUID();
    const controller = new AbortController();
    const attempt = client().chat.completions.create(
      { model: "route/one", messages: user1("x"), ...script({ first_byte: "60s" }) },
      { signal: controller.signal, headers: { "x-request-id": requestId } },
    );
    const refused = failure(attempt);
    await poll(() => sim.entry(requestId));
    const abortedAt = Date.now();
    controller.abort();
    expect(await refused).toBeInstanceOf(APIUserAbortError);
    const entry = await poll(async () => {
      const found = await sim.entry(requestId);
      return found?.closedAt ? found : null;
    });
    expect(entry.closedAt! - abortedAt).toBeLessThan(1_000);
    await poll(() => workspace.onStore(async (store) => (await store.running(user.id)).requests === 0));
    const charged = await workspace.charged(user.id, requestId);
    expect(charged).toMatchObject({ outcome: "client_gone", estimated: true, usage: { completion: 0 } });
    expect(charged.charge).toBeGreaterThan(0n);
  });
});

test("afterwards the books balance and nothing is held", async () => {
  const { drift, running } = await workspace.books(user.id);
  expect(running).toEqual({ requests: 0, streams: 0, held: 0n });
  expect(drift).toBe(0n);
});
