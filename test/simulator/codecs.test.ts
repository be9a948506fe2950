import { hash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { anthropic } from "../../src/dialects/messages/index.ts";
import { azure } from "../../src/dialects/azure/index.ts";
import { bedrock } from "../../src/dialects/bedrock/index.ts";
import { cohere } from "../../src/dialects/cohere/index.ts";
import { deepgram } from "../../src/dialects/speech/deepgram.ts";
import { elevenlabs } from "../../src/dialects/speech/elevenlabs.ts";
import { gemini } from "../../src/dialects/gemini/index.ts";
import { openai } from "../../src/dialects/chat/index.ts";
import {
  type Call,
  type DialectName,
  type EventSink,
  isJson,
  type Json,
  type Reply,
  type StreamEvent,
} from "../../src/kit/index.ts";
import { scriptedOrigin, scriptedUrl, type Simulator, startSimulator } from "../../src/simulator/server.ts";
import { createUpstreams, type Upstreams } from "../../src/upstream/upstreams.ts";
import {
  bytesOf,
  call,
  exchange,
  failure,
  readBytes,
  silent,
  snapshot,
  streamOf,
  target,
  TIMEOUTS,
  upstream,
} from "../upstream/support/build.ts";
import { assemble } from "../dialects/assemble.ts";
import { call as answerOf } from "./support.ts";

const CHAT = { openai, anthropic, gemini, bedrock, azure, cohere };
const NAMES = Object.keys(CHAT) as (keyof typeof CHAT)[];
const DIALECTS = { ...CHAT, elevenlabs, deepgram };

let simulator: Simulator;
let upstreams: Upstreams;
let count = 0;
beforeAll(async () => {
  simulator = await startSimulator();
  upstreams = createUpstreams({ dialects: DIALECTS, now: Date.now, log: silent });
});
afterAll(async () => {
  await upstreams.close();
  await simulator.close();
});

const BRIEF = { ...TIMEOUTS, firstByte: 600, idle: 600 };

/** Sends to an upstream of its own: a resting key outlives a lease. */
async function send(dialect: DialectName, script: string, asked: Call, model = "m1"): Promise<Reply> {
  count += 1;
  const name = `u${count}`;
  const base = (dialect === "openai" ? scriptedUrl : scriptedOrigin)(simulator.origin, script);
  const set = await upstreams.lease(snapshot(upstream(base, { name, dialect })));
  return set.send(target({ upstream: name, model, timeouts: BRIEF }), asked, exchange());
}

const asking = (body: Json, stream = false) => call({ stream, body: { model: "route/m", stream, ...body } });
const messages = [{ role: "user", content: "hi" }];
const tools = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "Weather",
      parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    },
  },
];

async function answered(dialect: DialectName, script: string, body: Json, model?: string) {
  const reply = await send(dialect, script, asking(body), model);
  if (reply.type !== "answer") throw new Error(`a reply of type ${reply.type}`);
  const choices: unknown = reply.body["choices"];
  const choice: unknown = Array.isArray(choices) ? choices[0] : null;
  if (!isJson(choice) || !isJson(choice["message"])) throw new Error("an answer without a choice");
  return { message: choice["message"], finish: choice["finish_reason"], usage: reply.usage };
}

interface StreamedChoice {
  readonly finish_reason: string | null;
  readonly delta: { readonly tool_calls?: readonly { readonly function: { readonly name?: string } }[] };
}

/** A stream to its end; of counts the last ones. */
async function streamed(dialect: DialectName, script: string, body: Json, model?: string) {
  const source = streamOf(await send(dialect, script, asking(body, true), model));
  const { promise, resolve } = Promise.withResolvers<Parameters<EventSink["end"]>[0]>();
  const events: StreamEvent[] = [];
  source.open({ next: (batch) => void events.push(...batch), end: resolve });
  const ending = await promise;
  const choice = assemble(events.map(({ data }) => data));
  return {
    ending,
    message: choice["message"] as Json,
    finish: choice["finish_reason"],
    text: events.map((event) => event.text).join(""),
    choices: events.flatMap(({ data }) => (data["choices"] ?? []) as readonly StreamedChoice[]),
    usage: events.findLast((event) => event.usage !== undefined)?.usage,
  };
}

const claimed = () => {
  const { prompt, completion, cached, cacheWrite } = simulator.ledger().at(-1)?.claimed ?? {};
  return { prompt, completion, cached, cacheWrite };
};

describe.each(NAMES)("%s reads what is simulated:", (dialect) => {
  test.each(["-", "usage.cached=5", "usage.prompt=90&usage.cached=5&usage.completion=40"])(
    "text and counts of %s",
    async (script) => {
      for (const model of ["m1", "reason"]) {
        const { message, finish, usage } = await answered(dialect, script, { messages }, model);
        expect(message).toMatchObject({ content: "This is a simulated answer. You said: hi" });
        expect(finish).toBe("stop");
        const { prompt, completion, cached } = claimed();
        expect(usage).toMatchObject({ prompt, completion, cached });
      }
    },
  );

  test("the same in a stream", async () => {
    for (const model of ["m1", "reason"]) {
      const { text, ending, usage } = await streamed(dialect, "usage.cached=5", { messages }, model);
      expect(text).toContain("This is a simulated answer. You said: hi");
      expect(ending).toEqual({ complete: true });
      const { prompt, completion, cached } = claimed();
      expect(usage).toMatchObject({ prompt, completion, cached });
    }
  });

  test.each([
    ["a whole answer", answered],
    ["a stream", streamed],
  ])("a tool loop with reasoning, whose signatures come back: %s", async (_, ask) => {
    const asked = { tools, messages: [{ role: "user", content: "get_weather" }] };
    const first = await ask(dialect, "-", asked, "reason");
    expect(first.finish).toBe("tool_calls");
    const calls: unknown = first.message["tool_calls"];
    const [made] = Array.isArray(calls)
      ? (calls as { id: string; function: { name: string; arguments: string } }[])
      : [];
    expect(made?.function).toEqual({ name: "get_weather", arguments: '{"city":"simulated"}' });
    const result = { role: "tool", tool_call_id: made?.id, content: "sunny" };
    const second = await answered(
      dialect,
      "-",
      { ...asked, messages: [...asked.messages, first.message, result] },
      "reason",
    );
    expect(second.finish).toBe("stop");
  });

  test.each<[string, Json, string]>([
    ["max_tokens", { max_tokens: 2 }, "length"],
    ["stop", { stop: ["simulated"] }, "stop"],
    [
      "what not every dialect has",
      { temperature: 0.5, top_p: 0.9, seed: 1, user: "u", parallel_tool_calls: false, tools },
      "stop",
    ],
    [
      "several system messages",
      {
        messages: [
          { role: "system", content: "a" },
          { role: "developer", content: "b" },
          ...messages,
          { role: "system", content: "c" },
        ],
      },
      "stop",
    ],
    ["the same role twice", { messages: [...messages, ...messages] }, "stop"],
    ["a tool that is demanded", { tools, tool_choice: "required" }, "tool_calls"],
    [
      "one tool that is demanded",
      { tools, tool_choice: { type: "function", function: { name: "get_weather" } } },
      "tool_calls",
    ],
  ])("%s", async (_, more, finish) => {
    // Not every model on Bedrock can be made to call a tool.
    const model = dialect === "bedrock" ? "amazon.nova-pro-v1:0" : undefined;
    expect(await answered(dialect, "-", { messages, ...more }, model)).toMatchObject({ finish });
  });

  test.each([
    ["status=503", "status"],
    ["status=429&retry_after=3", "rate_limited"],
    ["status=401", "credentials"],
    ["status=422", "client_fault"],
    ["html", "protocol"],
    ["error_first", "status"],
    ["stall_after=0", "timeout"],
    ["reset_after=0", "reset"],
    ["malformed_after=0", "protocol"],
  ])("%s fails before anything has come: %s", async (script, expected) => {
    const error = await failure(send(dialect, script, asking({ messages }, true)));
    expect(error.failure).toBe(expected);
  });

  test("the provider's words for what the client did wrong", async () => {
    const error = await failure(send(dialect, "status=400&message=not%20so", asking({ messages })));
    expect(error).toMatchObject({ failure: "client_fault", message: "not so" });
  });

  test("the time that a 429 asks for", async () => {
    const error = await failure(send(dialect, "status=429&retry_after=3", asking({ messages })));
    expect(error.retryAfter).toBe(3_000);
  });

  test.each(["end_after=4", "reset_after=4", "close_after=4", "stall_after=4", "malformed_after=4", "error_after=4"])(
    "%s is cut",
    async (script) => {
      expect((await streamed(dialect, script, { messages })).ending).toMatchObject({ complete: false });
    },
  );
});

describe.each(["anthropic", "bedrock"] as const)("%s", (dialect) => {
  test("counts what it writes to a cache", async () => {
    const { usage } = await answered(dialect, "usage.cached=5&usage.cache_write=3", { messages });
    expect(usage).toEqual({ ...claimed(), prompt: 9, cached: 5, cacheWrite: 3, reasoning: 0 });
  });
});

const FILE = Buffer.alloc(48_000, "sound");
const HEARD: Call = call({
  kind: "transcription",
  body: { response_format: "verbose_json" },
  upload: {
    name: "said.mp3",
    contentType: "audio/mpeg",
    size: FILE.length,
    async *read() {
      yield FILE;
    },
  },
});

/** How files of each format begin, as Latin-1; PCM begins with the sound. */
const BEGINNINGS = { mp3: "\u00ff\u00f3", opus: "OggS", aac: "\u00ff\u00f1", flac: "fLaC", wav: "RIFF" };

function formatOf(audio: Uint8Array): string {
  const text = Buffer.from(audio).toString("latin1");
  return Object.entries(BEGINNINGS).find(([, beginning]) => text.startsWith(beginning))?.[0] ?? "pcm";
}

/** Texts without white space. */
const letters = (list: unknown, field: string): string =>
  (list as readonly Json[])
    .map((one) => String(one[field]))
    .join("")
    .replaceAll(/\s+/g, "");

describe.each([
  ["elevenlabs", ["mp3", "opus", "wav", "pcm"]],
  ["deepgram", ["mp3", "opus", "aac", "flac", "wav", "pcm"]],
] as const)("%s", (dialect, formats) => {
  test("hears a file byte for byte", async () => {
    const reply = await send(dialect, "-", HEARD);
    expect(reply).toMatchObject({
      body: { text: expect.stringMatching(/^This is a simulated transcript of .*, 48000 bytes\.$/) as string },
      usage: { milliseconds: 3_000 },
    });
    expect(simulator.ledger().at(-1)?.upload).toMatchObject({ size: 48_000, sha256: hash("sha256", FILE) });
    const { text, segments, words } = (reply as { readonly body: Json }).body;
    expect(letters(segments, "text")).toBe(letters([{ text }], "text"));
    expect(letters(words, "word")).toBe(letters([{ text }], "text"));
  });

  test.each(formats)("speaks %s", async (response_format) => {
    const body = { input: "Hello there.", voice: "thalia", response_format };
    const asked = call({ kind: "speech", body, units: { characters: 12 } });
    const { contentType, source } = bytesOf(await send(dialect, "-", asked, "aura-2"));
    expect(contentType).toMatch(/^audio\//);
    const seen = await readBytes(source);
    expect(seen.ending).toEqual({ complete: true });
    expect(formatOf(seen.body)).toBe(response_format);
    expect(simulator.ledger().at(-1)).toMatchObject({ bytes: seen.body.length, units: { characters: 12 } });
  });

  test.each([
    ["status=503", "status"],
    ["status=429&retry_after=3", "rate_limited"],
    ["error_first", "protocol"],
    ["html", "protocol"],
  ])("%s: %s", async (script, expected) => {
    expect((await failure(send(dialect, script, HEARD))).failure).toBe(expected);
  });
});

describe.each(Object.entries(DIALECTS))("%s", (name, dialect) => {
  test("probes what is there", async () => {
    const { path, headers } = dialect.probe("any");
    const base = (name === "openai" ? scriptedUrl : scriptedOrigin)(simulator.origin, "-");
    const seen = await answerOf(`${base}${path}`, { method: "GET", headers: { authorization: "", ...headers } });
    expect(seen.status).toBe(200);
  });
});
