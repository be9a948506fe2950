import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { azure } from "../../../src/dialects/azure/index.ts";
import { bedrock } from "../../../src/dialects/bedrock/index.ts";
import { cohere } from "../../../src/dialects/cohere.ts";
import type { DialectName, EventSource, Json, Reply, StreamEvent } from "../../../src/kit/index.ts";
import { SimulatorOnDemand } from "../../../src/simulator/server.ts";
import { createUpstreams, type Upstreams } from "../../../src/upstream/upstreams.ts";
import { exchange, failure, silent, snapshot, streamOf, target, upstream } from "../../upstream/support/build.ts";
import { assemble } from "../assemble.ts";
import { chatCall } from "./support.ts";

const simulator = new SimulatorOnDemand();
let upstreams: Upstreams;
let count = 0;
beforeAll(() => {
  upstreams = createUpstreams({
    dialects: { azure, bedrock, cohere },
    now: Date.now,
    log: silent,
    simulated: (script, dialect) => simulator.baseUrl(script, dialect),
  });
});
afterAll(async () => {
  await upstreams.close();
  await simulator.close();
});

async function send(dialect: DialectName, script: string, body: Json, stream: boolean): Promise<Reply> {
  count += 1;
  const name = `u${count}`;
  const set = await upstreams.lease(snapshot(upstream(`sim:${script}`, { name, dialect })));
  const to = target({ upstream: name, model: "us.anthropic.claude-reasoning-v1:0" });
  return set.send(to, chatCall({ ...body, stream }, { stream }), exchange());
}

interface Heard {
  readonly events: readonly StreamEvent[];
  readonly complete: boolean;
}

function hear(source: EventSource): Promise<Heard> {
  const { promise, resolve } = Promise.withResolvers<Heard>();
  const events: StreamEvent[] = [];
  source.open({
    next: (batch) => void events.push(...batch),
    end: ({ complete }) => resolve({ events, complete }),
  });
  return promise;
}

function messageOf(reply: Reply): Json {
  if (reply.type !== "answer") throw new Error("not an answer");
  return (reply.body["choices"] as readonly { readonly message: Json }[])[0]!.message;
}

const TOOL: Json = {
  type: "function",
  function: { name: "find", parameters: { type: "object", properties: { q: { type: "string" } } } },
};
const ASKED: Json = { role: "user", content: "find it" };
const LOOP: Json = { messages: [ASKED], tools: [TOOL], tool_choice: "required" };

describe.each(["azure", "bedrock", "cohere"] as const)("%s, as the simulator speaks it", (dialect) => {
  test("an answer and a stream", async () => {
    const reply = await send(dialect, "", {}, false);
    expect(reply).toMatchObject({
      type: "answer",
      usage: { prompt: expect.any(Number), completion: expect.any(Number) },
    });
    expect(messageOf(reply)).toMatchObject({ role: "assistant", content: expect.stringContaining("hi") });
    const { events, complete } = await hear(streamOf(await send(dialect, "", {}, true)));
    expect(complete).toBe(true);
    expect(assemble(events.map(({ data }) => data))).toMatchObject({
      message: { content: expect.stringContaining("hi") },
      finish_reason: "stop",
    });
    expect(events.at(-1)!.usage).toMatchObject({ prompt: expect.any(Number) });
  });

  test.each([true, false])("a loop with a tool, streamed: %s", async (stream) => {
    const first = await send(dialect, "", LOOP, stream);
    const message = stream
      ? (assemble((await hear(streamOf(first))).events.map(({ data }) => data))["message"] as Json)
      : messageOf(first);
    const [call] = message["tool_calls"] as readonly Record<string, Json>[];
    expect(call).toMatchObject({ type: "function", function: { name: "find" } });
    expect(() => JSON.parse(call!["function"]!["arguments"] as string) as unknown).not.toThrow();
    // What the model thought comes back as the simulator signed it, or it would refuse.
    const result = { role: "tool", tool_call_id: call!["id"], content: "found" };
    const second = await send(dialect, "", { messages: [ASKED, message, result], tools: [TOOL] }, false);
    expect(messageOf(second)).toMatchObject({ content: expect.any(String) });
    // Azure's messages have no place for it.
    expect(second.dropped ?? []).toEqual(dialect === "azure" ? ["/messages/1/reasoning_content"] : []);
  });

  test("a refusal says what is wrong in the provider's words", async () => {
    const error = await failure(send(dialect, "status=400&message=not%20so", {}, false));
    expect(error).toMatchObject({ failure: "client_fault", message: "not so" });
  });

  test("an error as the first event is a failure; a later one is a cut", async () => {
    const first = await failure(send(dialect, "error_first=true", {}, true));
    expect(first.failure).toMatch(/^(status|rate_limited)$/);
    const { events, complete } = await hear(streamOf(await send(dialect, "error_after=4", {}, true)));
    expect(complete).toBe(false);
    expect(events.length).toBeGreaterThan(0);
  });

  test.each(["end_after=3", "close_after=4", "malformed_after=4"])("%s is a cut", async (script) => {
    const { complete } = await hear(streamOf(await send(dialect, script, {}, true)));
    expect(complete).toBe(false);
  });
});

test("Bedrock's count may come before the ending", async () => {
  const { events, complete } = await hear(streamOf(await send("bedrock", "metadata=before&usage.cached=2", {}, true)));
  expect(complete).toBe(true);
  expect(events.at(-1)!.usage).toMatchObject({ cached: 2 });
});
