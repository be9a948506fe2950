import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { stream as frames } from "../../dialects/bedrock/support.ts";
import { askFormat, FORMAT_NAMES, FORMATS, streamedText } from "../support/formats.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";
import { askKind } from "../support/kinds.ts";

/** How a provider's content filter refuses, whole and streamed. */
interface Refusal {
  readonly name: string;
  /** The upstream's dialect, vendor and the like. */
  readonly upstream: Json;
  readonly status: number;
  readonly body: Json;
  /** Events of a stream; by default the same as `body`. */
  readonly events?: readonly Json[];
  /** What a client is told without `fail_over_on`, when the provider's words are fit for it. */
  readonly words?: string;
}

const OPENAI = { dialect: "openai" };
const FILTERED = "The response was filtered due to the prompt triggering our policy.";

function refused(name: string, upstream: Json, status: number, error: Json, words?: string): Refusal {
  return { name, upstream, status, body: { error }, ...(words !== undefined && { words }) };
}

const responses = (status: string, more: Json): Json => ({
  id: "resp_1",
  object: "response",
  created_at: 1_765_552_659,
  model: "m",
  status,
  output: [],
  ...more,
});
const incomplete = responses("incomplete", { incomplete_details: { reason: "content_filter" } });

const REFUSALS: readonly Refusal[] = [
  refused(
    "OpenAI",
    OPENAI,
    400,
    { code: "content_filter", type: "invalid_request_error", message: FILTERED },
    FILTERED,
  ),
  refused(
    "OpenAI, a flagged prompt",
    OPENAI,
    400,
    {
      code: "invalid_prompt",
      message: "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
    },
    "your prompt was flagged",
  ),
  refused("Azure", { dialect: "azure" }, 400, { code: "content_filter", message: FILTERED, param: "prompt" }, FILTERED),
  refused("OpenRouter", OPENAI, 403, { code: 403, message: "flagged", metadata: { flagged_input: "x" } }, "flagged"),
  refused("DeepSeek", OPENAI, 400, { message: "Content Exists Risk", type: "invalid_request_error" }, "Content Exists"),
  refused("Alibaba", OPENAI, 400, { code: "data_inspection_failed", message: "inappropriate" }, "inappropriate"),
  refused("Moonshot", OPENAI, 400, { code: 400, type: "content_filter", message: "high risk" }, "high risk"),
  refused("Z.ai", { ...OPENAI, vendor: "zai" }, 400, { code: "1301", message: "unsafe" }, "unsafe"),
  {
    ...refused("xAI", OPENAI, 403, {}, "Content violates usage guidelines"),
    body: { code: "permission-denied", error: "Content violates usage guidelines. " },
  },
  {
    ...refused("Anthropic", { dialect: "anthropic" }, 400, {}, "Output blocked by content filtering policy"),
    body: {
      type: "error",
      error: { type: "invalid_request_error", message: "Output blocked by content filtering policy" },
    },
  },
  {
    name: "Anthropic, as the first event",
    upstream: { dialect: "anthropic" },
    status: 400,
    body: {
      type: "error",
      error: { type: "invalid_request_error", message: "Output blocked by content filtering policy" },
    },
    events: [
      {
        type: "error",
        error: { type: "invalid_request_error", message: "Output blocked by content filtering policy" },
      },
    ],
    words: "Output blocked by content filtering policy",
  },
  {
    name: "Bedrock",
    upstream: { dialect: "bedrock" },
    status: 400,
    body: { __type: "ValidationException", message: "Output blocked by content filtering policy" },
    words: "Output blocked",
  },
  {
    name: "Anthropic, an answer that is a refusal",
    upstream: { dialect: "anthropic" },
    status: 200,
    body: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: "refusal",
      stop_sequence: null,
      usage: { input_tokens: 2, output_tokens: 1 },
    },
    events: [
      {
        type: "message_start",
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          content: [],
          stop_reason: null,
          usage: { input_tokens: 2, output_tokens: 1 },
        },
      },
      { type: "message_delta", delta: { stop_reason: "refusal", stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ],
  },
  {
    name: "Gemini, the prompt",
    upstream: { dialect: "gemini" },
    status: 200,
    body: { promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 4 } },
    events: [{ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 4 } }],
  },
  {
    name: "Gemini, the answer",
    upstream: { dialect: "gemini" },
    status: 200,
    body: { candidates: [{ index: 0, finishReason: "PROHIBITED_CONTENT" }], usageMetadata: { promptTokenCount: 4 } },
    events: [
      { candidates: [{ index: 0, finishReason: "PROHIBITED_CONTENT" }], usageMetadata: { promptTokenCount: 4 } },
    ],
  },
  {
    name: "Bedrock, a guardrail",
    upstream: { dialect: "bedrock" },
    status: 200,
    body: {
      output: { message: { role: "assistant", content: [{ text: "Sorry, the guardrail says no." }] } },
      stopReason: "guardrail_intervened",
      usage: { inputTokens: 2, outputTokens: 0, totalTokens: 2 },
    },
    // With its own words in front a stream has begun: one without them can be moved.
    events: [
      { messageStart: { role: "assistant" } },
      { messageStop: { stopReason: "guardrail_intervened" } },
      { metadata: { usage: { inputTokens: 2, outputTokens: 0, totalTokens: 2 } } },
    ],
  },
  {
    name: "Cohere",
    upstream: { dialect: "cohere" },
    status: 200,
    body: { id: "c", finish_reason: "ERROR_TOXIC", message: { role: "assistant", content: [] } },
    events: [
      { type: "message-start", id: "c", delta: { message: { role: "assistant", content: [] } } },
      { type: "message-end", delta: { finish_reason: "ERROR_TOXIC" } },
    ],
  },
  {
    name: "OpenAI, an empty answer",
    upstream: OPENAI,
    status: 200,
    body: {
      id: "c",
      choices: [{ index: 0, message: { role: "assistant", content: null }, finish_reason: "content_filter" }],
    },
    events: [
      { id: "c", choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] },
      { id: "c", choices: [{ index: 0, delta: {}, finish_reason: "content_filter" }] },
    ],
  },
  {
    name: "Responses",
    upstream: { dialect: "openai", api: "responses" },
    status: 200,
    body: incomplete,
    events: [
      { type: "response.created", sequence_number: 0, response: responses("in_progress", {}) },
      { type: "response.incomplete", sequence_number: 1, response: incomplete },
    ],
  },
];

function nameLine({ type }: Json): string {
  return typeof type === "string" ? `event: ${type}\n` : "";
}

/** Plays a refusal by the first segment of the path. */
class RefusingProviders {
  asked = 0;
  readonly #server: Server = createServer((request, response) => {
    this.asked += 1;
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => void parts.push(part));
    request.on("end", () => {
      const path = decodeURIComponent(request.url ?? "");
      const { status, body, events, upstream } = REFUSALS[Number(path.split("/")[1])]!;
      const text = String(Buffer.concat(parts));
      const streamed = /stream/i.test(path) || /"stream": ?true/.test(text);
      if (!streamed || events === undefined) {
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      } else if (upstream["dialect"] === "bedrock") {
        response.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" }).end(frames(...events));
      } else {
        const lines = events.map((event) => `${nameLine(event)}data: ${JSON.stringify(event)}\n\n`).join("");
        const done = upstream["dialect"] === "openai" && upstream["api"] === undefined ? "data: [DONE]\n\n" : "";
        response.writeHead(200, { "content-type": "text/event-stream" }).end(lines + done);
      }
    });
  });

  async listen(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

const KEYS: Json = { bedrock: ["bedrock-api-key-of-the-test"] };
const providers = new RefusingProviders();
let gateway: TestGateway;
let user: TestUser;

beforeAll(async () => {
  const origin = await providers.listen();
  const upstreams: Record<string, Json> = {};
  const chains: Record<string, { scripts: string[]; [key: string]: unknown }> = {
    "route/serving": { scripts: ["-"] },
    "route/failing": { scripts: ["?status=500"] },
  };
  for (const [index, { upstream }] of REFUSALS.entries()) {
    const name = `refusing-${index}`;
    upstreams[name] = {
      base_url: `${origin}/${index}`,
      api_keys: KEYS[String(upstream["dialect"])] ?? ["upstream-key"],
      ...upstream,
    };
    const step = (more: Json): Json => ({ upstream: name, model: "m", ...more });
    const [serving, failing] = ["serving-1", "failing-1"].map((one) => ({ upstream: one, model: "m" }));
    const on = { fail_over_on: ["content_filter"] };
    chains[`route/${index}-without`] = { scripts: [], chain: [step({}), serving] };
    chains[`route/${index}-step`] = { scripts: [], chain: [step(on), serving] };
    chains[`route/${index}-model`] = { scripts: [], chain: [step({}), serving], ...on };
    chains[`route/${index}-balanced`] = {
      scripts: [],
      chain: [{ balance: "sticky", targets: [step({})], ...on }, serving],
    };
    chains[`route/${index}-not`] = { scripts: [], chain: [step({ fail_over_on: [] }), serving], ...on };
    chains[`route/${index}-all`] = { scripts: [], chain: [step({}), step({})], ...on };
    chains[`route/${index}-failing`] = { scripts: [], chain: [step({}), failing], ...on };
  }
  gateway = await TestGateway.start({ chains, config: { upstreams } });
  user = await gateway.user();
});
afterAll(async () => {
  await gateway.close();
  await providers.close();
});

describe.each(REFUSALS.map((refusal, index) => ({ ...refusal, index })))("$name", ({ index, status, words }) => {
  const FORMS = FORMAT_NAMES.flatMap((format) => [false, true].map((stream) => ({ format, stream })));

  test.each(FORMS)("$format, streamed: $stream", async ({ format, stream }) => {
    const ask = (chain: string) => askFormat(gateway, user, format, { model: `route/${index}-${chain}`, stream });
    for (const chain of ["step", "model", "balanced"]) {
      const { status: served, text } = await ask(chain);
      const said = stream ? streamedText(format, text) : FORMATS[format].text(JSON.parse(text) as Json);
      expect([chain, served, said !== "" && !said.includes("guardrail")]).toEqual([chain, 200, true]);
    }
    for (const chain of ["without", "not"]) {
      const answer = await ask(chain);
      // What the provider answers as a 200 stays one: its finish reason tells what happened.
      expect([chain, answer.status]).toEqual([chain, status === 200 ? 200 : 400]);
      expect(answer.text).toMatch(status === 200 ? /content_filter|refusal/ : new RegExp(RegExp.escape(words ?? "")));
    }
    const before = providers.asked;
    const all = await ask("all");
    expect([all.status, all.headers["x-error-code"], providers.asked - before]).toEqual([400, "INVALID_REQUEST", 2]);
    expect(all.text).toContain(status === 200 ? "the provider's content filter refused the request" : words);
    expect((await ask("failing")).status).toBe(502);
  });

  test("counts against nobody", async () => {
    const { text } = await gateway.admin("/admin/upstreams");
    const state = (JSON.parse(text) as Record<string, Json>)[`refusing-${index}`]!;
    expect(state).toMatchObject({ breaker: "closed", keys: [{ rests_until: null, refusals: 0 }] });
    expect(state["health"]).not.toBe("degraded");
  });
});

test("of images, too", async () => {
  const filter = createServer((request, response) => {
    request.resume();
    const error = { code: "moderation_blocked", type: "image_generation_user_error", message: "rejected" };
    response.writeHead(400, { "content-type": "application/json" }).end(JSON.stringify({ error }));
  }).listen(0, "127.0.0.1");
  await once(filter, "listening");
  const url = `http://127.0.0.1:${(filter.address() as AddressInfo).port}`;
  const images = await TestGateway.start({
    chains: {
      "route/image": { scripts: [url, "-"], kind: "image", fail_over_on: ["content_filter"] },
    },
  });
  try {
    expect((await askKind(images, await images.user(), "image", { model: "route/image" })).status).toBe(200);
  } finally {
    await images.close();
    filter.closeAllConnections();
    filter.close();
  }
});
