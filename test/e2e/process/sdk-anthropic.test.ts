import Anthropic, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  PermissionDeniedError,
  RateLimitError,
} from "@anthropic-ai/sdk";
import type { MessageParam, Tool } from "@anthropic-ai/sdk/resources/messages";
import { describe, expect, test } from "vitest";
import { poll } from "../support/child.ts";
import { CHAT_DIALECTS, describeMatrix, type SdkClient, type SdkStage, WEATHER } from "../support/sdk-matrix.ts";

const MAX = { max_tokens: 1_024 };
const TOOLS: Tool[] = [
  { name: WEATHER.name, description: WEATHER.description, input_schema: { ...WEATHER.parameters, required: ["city"] } },
];

/** The official client, unmodified, against a gateway process in front of a simulator process. */
const stage = describeMatrix((at) => ({ "@anthropic-ai/sdk": () => adapt(client(at)) }));

function client(at: SdkStage, apiKey = at.user.key, more: { maxRetries?: number } = {}): Anthropic {
  return new Anthropic({ baseURL: at.url, apiKey, maxRetries: 0, ...more });
}

function textOf({ content }: Anthropic.Message): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

function adapt(anthropic: Anthropic): SdkClient {
  return {
    async chat(model, content) {
      return textOf(await anthropic.messages.create({ model, ...MAX, messages: [{ role: "user", content }] }));
    },
    async stream(model, content) {
      const pieces: string[] = [];
      const stream = anthropic.messages.stream({ model, ...MAX, messages: [{ role: "user", content }] });
      stream.on("text", (piece) => pieces.push(piece));
      expect(await stream.finalText()).toBe(pieces.join(""));
      return pieces;
    },
    async tools(model, content, streamed) {
      const messages: MessageParam[] = [{ role: "user", content }];
      const calls: unknown[] = [];
      for (;;) {
        const body = { model, ...MAX, messages, tools: TOOLS };
        const said = streamed
          ? await anthropic.messages.stream(body).finalMessage()
          : await anthropic.messages.create(body);
        if (said.stop_reason !== "tool_use") return { calls, text: textOf(said) };
        const uses = said.content.filter((block) => block.type === "tool_use");
        calls.push(...uses.map(({ input }) => input));
        messages.push(
          { role: "assistant", content: said.content },
          { role: "user", content: uses.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "sunny" })) },
        );
      }
    },
    async image(model, text, png) {
      const data = png.toString("base64");
      const image = { type: "image", source: { type: "base64", media_type: "image/png", data } } as const;
      const messages: MessageParam[] = [{ role: "user", content: [image, { type: "text", text }] }];
      return textOf(await anthropic.messages.create({ model, ...MAX, messages }));
    },
  };
}

const ask = (content = "x", model = "route/openai") => ({
  model,
  ...MAX,
  messages: [{ role: "user" as const, content }],
});

describe.each(CHAT_DIALECTS)("over %s", (dialect) => {
  test("the message is whole: model, ids, stop reason and the count that is charged", async () => {
    for (const streamed of [false, true]) {
      const requestId = crypto.randomUUID();
      const options = { headers: { "x-request-id": requestId } };
      const body = ask("count me", `route/${dialect}`);
      const message = streamed
        ? await client(stage).messages.stream(body, options).finalMessage()
        : await client(stage).messages.create(body, options);
      expect(message).toMatchObject({
        type: "message",
        role: "assistant",
        model: `route/${dialect}`,
        stop_reason: "end_turn",
      });
      expect(message.id).toMatch(/^msg_./);
      expect(message).toMatchObject(streamed ? {} : { _request_id: requestId });
      const { usage, charge } = await stage.workspace.charged(stage.user.id, requestId);
      expect([message.usage.input_tokens, message.usage.output_tokens]).toEqual([usage.prompt, usage.completion]);
      expect(charge).toBe(1_000_000n * BigInt(usage.prompt) + 2_000_000n * BigInt(usage.completion));
    }
  });

  test("what ends by its limit or a stop sequence says so", async () => {
    const short = await client(stage).messages.create({ ...ask("a", `route/${dialect}`), max_tokens: 3 });
    expect([short.stop_reason, textOf(short)]).toEqual(["max_tokens", "This is a"]);
    const stopped = await client(stage).messages.create({
      ...ask("a", `route/${dialect}`),
      stop_sequences: ["answer"],
    });
    expect(textOf(stopped)).toBe("This is a simulated");
  });

  test("beta messages, with their query and header, are served", async () => {
    const message = await client(stage).beta.messages.create({
      ...ask("beta", `route/${dialect}`),
      betas: ["some-beta-2026-01-01"],
    });
    expect(message.content).toMatchObject([{ type: "text", text: "This is a simulated answer. You said: beta" }]);
  });

  test("tokens are counted", async () => {
    const { messages, model } = ask("Hello there", `route/${dialect}`);
    expect(await client(stage).messages.countTokens({ model, messages })).toEqual({ input_tokens: 4 });
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

describe("errors", () => {
  test.each([
    [
      "an unknown key",
      AuthenticationError,
      401,
      "authentication_error",
      "Invalid API key",
      `rk_${"0".repeat(64)}`,
      ask(),
    ],
    ["no key of ours", AuthenticationError, 401, "authentication_error", "Invalid or expired token", "sk-ant-1", ask()],
    [
      "a model beyond the plan",
      PermissionDeniedError,
      403,
      "permission_error",
      "Model 'route/max' is not",
      "",
      ask("x", "route/max"),
    ],
    [
      "an unknown model",
      BadRequestError,
      400,
      "invalid_request_error",
      "Invalid model: 'route/none'",
      "",
      ask("x", "route/none"),
    ],
    ["a bad body", BadRequestError, 400, "invalid_request_error", "/messages", "", { ...ask(), messages: [] }],
  ] as const)("%s is a %o", async (_, kind, status, type, message, key, { model, messages: said }) => {
    const body = { model, ...MAX, messages: [...said] };
    for (const call of [
      () => client(stage, key === "" ? undefined : key).messages.create(body),
      () =>
        client(stage, key === "" ? undefined : key)
          .messages.stream(body)
          .finalMessage(),
      () => client(stage, key === "" ? undefined : key).messages.countTokens({ model, messages: [...said] }),
    ]) {
      const error = await failure(call());
      expect(error).toBeInstanceOf(kind);
      expect(error).toMatchObject({ status, type });
      expect(error.message).toContain(message);
      expect(error.requestID).toMatch(/^[\w-]{36}$/);
    }
  });

  test("no credits: 402", async () => {
    const poor = await stage.workspace.account("Free", 0n);
    expect(await failure(client(stage, poor.key).messages.create(ask()))).toMatchObject({
      status: 402,
      type: "billing_error",
    });
  });

  test("the plan's limit is a RateLimitError that says when to come back", async () => {
    const small = await stage.workspace.account("Tiny");
    await client(stage, small.key).messages.create(ask());
    const error = await failure(client(stage, small.key).messages.create(ask()));
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error.headers?.get("x-error-code")).toBe("DAILY_REQUEST_LIMIT_EXCEEDED");
    expect(Number(error.headers?.get("retry-after"))).toBeGreaterThanOrEqual(1);
  });

  test("a chain that failed for a reason that passes is tried again by the client", async () => {
    const requestId = crypto.randomUUID();
    const error = await failure(
      client(stage, undefined, { maxRetries: 1 }).messages.create(ask("x", "route/openai-down"), {
        headers: { "x-request-id": requestId },
      }),
    );
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({ status: 502, type: "api_error" });
    expect((await stage.sim.ledger()).filter((entry) => entry.requestId === requestId)).toHaveLength(2);
  });

  test("an upstream that breaks off surfaces in a raw stream too", async () => {
    const stream = await client(stage).messages.create({ ...ask("x", "route/openai-cut"), stream: true });
    let events = 0;
    const read = (async () => {
      for await (const _ of stream) events++;
    })();
    expect(await failure(read)).toMatchObject({ type: "api_error" });
    expect(events).toBeGreaterThan(0);
  });
});

test("an aborted stream closes its upstream and costs what was delivered", async () => {
  const requestId = crypto.randomUUID();
  const stream = client(stage).messages.stream(ask("x", "route/openai-long"), {
    headers: { "x-request-id": requestId },
  });
  let heard = 0;
  stream.on("text", () => {
    if (++heard === 5) stream.abort();
  });
  await expect(stream.finalMessage()).rejects.toBeInstanceOf(APIUserAbortError);
  const entry = await poll(async () => {
    const found = await stage.sim.entry(requestId);
    return found?.closedAt ? found : null;
  });
  expect(entry.aborted).toBe(true);
  expect(await stage.workspace.charged(stage.user.id, requestId)).toMatchObject({
    outcome: "client_gone",
    estimated: true,
  });
});

test("a killed stream is a whole message for the client", async () => {
  const stream = client(stage).messages.stream(ask("x", "route/openai-long"));
  const heard = Promise.withResolvers<void>();
  stream.on("text", () => heard.resolve());
  await heard.promise;
  const headers = { authorization: `Bearer ${stage.user.key}` };
  await fetch(`${stage.url}/v1/user/streams/kill`, { method: "POST", headers });
  expect(await stream.finalMessage()).toMatchObject({ stop_reason: "end_turn" });
});
