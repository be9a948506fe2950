import OpenAI, { APIError, APIUserAbortError, AuthenticationError, BadRequestError, InternalServerError } from "openai";
import type { FunctionTool, ResponseInputItem, ResponseOutputItem } from "openai/resources/responses/responses";
import { describe, expect, test } from "vitest";
import { poll } from "../support/child.ts";
import { CHAT_DIALECTS, describeMatrix, type SdkClient, type SdkStage, WEATHER } from "../support/sdk-matrix.ts";

const TOOLS: FunctionTool[] = [{ type: "function", strict: true, ...WEATHER }];

/** The official client, unmodified, against a gateway process in front of a simulator process. */
const stage = describeMatrix((at) => ({ "openai, Responses": () => adapt(client(at)) }));

function client(at: SdkStage, apiKey = at.user.key, more: { maxRetries?: number } = {}): OpenAI {
  return new OpenAI({ baseURL: `${at.url}/v1`, apiKey, maxRetries: 0, ...more });
}

function adapt(openai: OpenAI): SdkClient {
  return {
    async chat(model, input) {
      return (await openai.responses.create({ model, input })).output_text;
    },
    async stream(model, input) {
      const pieces: string[] = [];
      const stream = openai.responses.stream({ model, input });
      for await (const event of stream) if (event.type === "response.output_text.delta") pieces.push(event.delta);
      expect((await stream.finalResponse()).output_text).toBe(pieces.join(""));
      return pieces;
    },
    async tools(model, content, streamed) {
      const input: ResponseInputItem[] = [{ role: "user", content }];
      const calls: unknown[] = [];
      for (;;) {
        const body = { model, input, tools: TOOLS };
        const said = streamed
          ? await openai.responses.stream(body).finalResponse()
          : await openai.responses.create(body);
        const made = (said.output as ResponseOutputItem[]).filter((item) => item.type === "function_call");
        if (made.length === 0) return { calls, text: said.output_text };
        calls.push(...made.map((call) => JSON.parse(call.arguments) as unknown));
        input.push(
          ...(said.output as ResponseInputItem[]),
          ...made.map(({ call_id }) => ({ type: "function_call_output" as const, call_id, output: "sunny" })),
        );
      }
    },
    async image(model, text, png) {
      const image_url = `data:image/png;base64,${png.toString("base64")}`;
      const content = [
        { type: "input_image" as const, image_url, detail: "auto" as const },
        { type: "input_text" as const, text },
      ];
      return (await openai.responses.create({ model, input: [{ role: "user", content }] })).output_text;
    },
  };
}

describe.each(CHAT_DIALECTS)("over %s", (dialect) => {
  const model = `route/${dialect}`;

  test("the response is whole: model, status and the count that is charged", async () => {
    for (const streamed of [false, true]) {
      const requestId = crypto.randomUUID();
      const options = { headers: { "x-request-id": requestId } };
      const body = { model, input: "count me" };
      const response = streamed
        ? await client(stage).responses.stream(body, options).finalResponse()
        : await client(stage).responses.create(body, options);
      expect(response).toMatchObject({ object: "response", model, status: "completed", error: null });
      expect(response.id).toMatch(/^resp_./);
      const { usage, charge } = await stage.workspace.charged(stage.user.id, requestId);
      expect([response.usage?.input_tokens, response.usage?.output_tokens]).toEqual([usage.prompt, usage.completion]);
      expect(charge).toBe(1_000_000n * BigInt(usage.prompt) + 2_000_000n * BigInt(usage.completion));
    }
  });

  test("what ends by its limit is incomplete and says why", async () => {
    const input = "word ".repeat(30);
    for (const streamed of [false, true]) {
      const body = { model, input, max_output_tokens: 16 };
      const response = streamed
        ? await client(stage).responses.stream(body).finalResponse()
        : await client(stage).responses.create(body);
      expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
    }
  });

  test("instructions and earlier turns are read", async () => {
    const response = await client(stage).responses.create({
      model,
      instructions: "Be brief.",
      input: [
        { role: "user", content: "first" },
        { role: "assistant", content: "answered" },
        { role: "user", content: [{ type: "input_text", text: "second" }] },
      ],
    });
    expect(response.output_text).toBe("This is a simulated answer. You said: second");
    expect(response.usage?.input_tokens).toBe(5);
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

const ask = { model: "route/openai", input: "x" };

describe("errors", () => {
  test.each([
    [
      "an unknown key",
      AuthenticationError,
      401,
      "AUTHENTICATION_ERROR",
      "Invalid API key",
      `rk_${"0".repeat(64)}`,
      ask,
    ],
    [
      "an unknown model",
      BadRequestError,
      400,
      "INVALID_MODEL",
      "Invalid model: 'route/none'",
      "",
      { ...ask, model: "route/none" },
    ],
    [
      "stored responses",
      BadRequestError,
      400,
      "INVALID_REQUEST",
      "/previous_response_id",
      "",
      { ...ask, previous_response_id: "resp_1" },
    ],
  ] as const)("%s is a %o", async (_, kind, status, code, message, key, body) => {
    for (const call of [
      () => client(stage, key === "" ? undefined : key).responses.create(body),
      () =>
        client(stage, key === "" ? undefined : key)
          .responses.stream(body)
          .finalResponse(),
    ]) {
      const error = await failure(call());
      expect(error).toBeInstanceOf(kind);
      expect(error.status).toBe(status);
      expect(error.headers?.get("x-error-code")).toBe(code);
      expect(error.message).toContain(message);
    }
  });

  test("a chain that failed for a reason that passes is tried again by the client", async () => {
    const headers = { "x-request-id": crypto.randomUUID() };
    const eager = client(stage, undefined, { maxRetries: 1 });
    const error = await failure(eager.responses.create({ ...ask, model: "route/openai-down" }, { headers }));
    expect(error).toBeInstanceOf(InternalServerError);
    const seen = (await stage.sim.ledger()).filter(({ requestId }) => requestId === headers["x-request-id"]);
    expect(seen).toHaveLength(2);
  });

  test("an upstream that breaks off surfaces in a raw stream too", async () => {
    const stream = await client(stage).responses.create({ ...ask, model: "route/openai-cut", stream: true });
    let events = 0;
    const read = (async () => {
      for await (const _ of stream) events++;
    })();
    expect(await failure(read)).toMatchObject({ code: "server_error" });
    expect(events).toBeGreaterThan(0);
  });
});

test("an aborted stream closes its upstream and costs what was delivered", async () => {
  const headers = { "x-request-id": crypto.randomUUID() };
  const stream = await client(stage).responses.create(
    { ...ask, model: "route/openai-long", stream: true },
    { headers },
  );
  let events = 0;
  const read = (async () => {
    for await (const _ of stream) if (++events === 8) stream.controller.abort();
  })();
  // A stream that its reader ends is over, or throws that it was.
  const ending: unknown = await read.catch((error: unknown) => error);
  expect(ending === undefined || ending instanceof APIUserAbortError).toBe(true);
  const entry = await poll(async () => {
    const found = await stage.sim.entry(headers["x-request-id"]);
    return found?.closedAt ? found : null;
  });
  expect(entry.aborted).toBe(true);
  const charged = await stage.workspace.charged(stage.user.id, headers["x-request-id"]);
  expect(charged).toMatchObject({ outcome: "client_gone", estimated: true });
});

test("a killed stream ends in a response that is incomplete", async () => {
  const stream = client(stage).responses.stream({ ...ask, model: "route/openai-long" });
  const types: string[] = [];
  for await (const event of stream) {
    types.push(event.type);
    if (types.filter((type) => type === "response.output_text.delta").length !== 3) continue;
    const headers = { authorization: `Bearer ${stage.user.key}` };
    await fetch(`${stage.url}/v1/user/streams/kill`, { method: "POST", headers });
  }
  expect(types.at(-1)).toBe("response.incomplete");
});
