import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isJson, type Json } from "../../../src/kit/index.ts";
import { type LedgerEntry, scriptedOrigin, scriptedUrl } from "../../../src/simulator/server.ts";
import type { StrictVendor } from "../../../src/simulator/strict/rule.ts";
import { type Called, type Dialogue, dialogue } from "../support/dialogue.ts";
import { askFormat, FORMAT_NAMES, FORMATS, type FormatName, streamedText } from "../support/formats.ts";
import type { Answer } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

const CELLS = ["text", "stream", "tools", "reasoning", "structured", "image", "history"] as const;
type Cell = (typeof CELLS)[number];

interface Target {
  readonly model: string;
  /** Where it is not OpenAI's dialect. */
  readonly dialect?: "azure" | "anthropic" | "bedrock" | "gemini" | "cohere";
  readonly vendor?: StrictVendor;
  /** What the address ends with. */
  readonly path?: string;
  readonly api?: "chat" | "responses";
  /** What nobody can have of this model. */
  readonly lacks?: readonly Cell[];
}

const NO_TOOLS: readonly Cell[] = ["tools", "reasoning", "history"];

/** The models that requests go to: of every vendor one at least, and every kind of rules that OpenAI's and Claude's have. */
const TARGETS: readonly Target[] = [
  { vendor: "openai", model: "gpt-4o" },
  { vendor: "openai", model: "gpt-5-mini" },
  { vendor: "openai", model: "o4-mini" },
  { vendor: "openai", model: "gpt-5.2" },
  { vendor: "openai", model: "gpt-5.6-terra" },
  { vendor: "openai", model: "gpt-5.1-codex" },
  { vendor: "openai", model: "gpt-5", api: "responses" },
  { vendor: "openai", model: "gpt-4.1", api: "responses" },
  { vendor: "azure", dialect: "azure", model: "gpt-4o" },
  { vendor: "azure", dialect: "azure", model: "gpt-5.4" },
  { vendor: "anthropic", dialect: "anthropic", model: "claude-sonnet-4-5" },
  { vendor: "anthropic", dialect: "anthropic", model: "claude-opus-4-6" },
  { vendor: "anthropic", dialect: "anthropic", model: "claude-opus-5" },
  { vendor: "anthropic", dialect: "anthropic", model: "claude-3-5-haiku-20241022" },
  ...["claude-sonnet-4-5@20250929", "claude-opus-4-6", "claude-opus-5", "claude-3-5-haiku@20241022"].map((model) => ({
    vendor: "vertex" as const,
    dialect: "anthropic" as const,
    path: "/v1/projects/p/locations/global/publishers/anthropic",
    model,
  })),
  { vendor: "bedrock", dialect: "bedrock", model: "anthropic.claude-sonnet-4-5-20250929-v1:0" },
  { vendor: "bedrock", dialect: "bedrock", model: "anthropic.claude-opus-4-7-v1:0" },
  { vendor: "bedrock", dialect: "bedrock", model: "amazon.nova-pro-v1:0" },
  { vendor: "gemini", dialect: "gemini", model: "gemini-2.5-flash" },
  { vendor: "gemini", dialect: "gemini", model: "gemini-3-pro" },
  { vendor: "cohere", dialect: "cohere", model: "command-a-reasoning-08-2025", lacks: ["image"] },
  { vendor: "mistral", model: "mistral-large-latest" },
  { vendor: "mistral", model: "mistral-small-latest" },
  { vendor: "deepseek", model: "deepseek-chat", lacks: ["image"] },
  { vendor: "deepseek", model: "deepseek-reasoner", lacks: ["image"] },
  { vendor: "groq", model: "openai/gpt-oss-120b", lacks: ["image"] },
  { vendor: "groq", model: "llama-3.3-70b-versatile", lacks: ["image"] },
  { vendor: "openrouter", model: "anthropic/claude-sonnet-4.5" },
  { vendor: "xai", model: "grok-4.3" },
  { vendor: "moonshot", model: "kimi-k2.6" },
  { vendor: "together", model: "meta-llama/Llama-4-Maverick" },
  { vendor: "fireworks", model: "accounts/fireworks/models/kimi-k2p6" },
  { vendor: "cerebras", model: "gpt-oss-120b", lacks: ["image"] },
  { vendor: "perplexity", model: "sonar-pro", lacks: NO_TOOLS },
  { vendor: "alibaba", model: "qwen3.5-plus" },
  { vendor: "zai", model: "glm-4.7", lacks: ["image"] },
  { vendor: "nvidia", model: "nvidia/nemotron-nano-12b-v2-vl" },
  { vendor: "ollama", model: "qwen3-vl:8b" },
  { vendor: "vllm", model: "Qwen/Qwen3.5-27B" },
  { vendor: "lmstudio", model: "qwen3-vl-8b" },
  { vendor: "llamacpp", model: "qwen3.5-27b" },
  { vendor: "generic", model: "anything" },
];

const nameOf = ({ vendor, model, api }: Target) => [vendor, model, ...(api ? [api] : [])].join(" ");
const idOf = (target: Target) => `route/${nameOf(target).replaceAll(/[^a-z0-9.]+/gi, "-")}`;
const upstreamOf = (target: Target) => idOf(target).replace("route/", "").toLowerCase().replaceAll(".", "-");

/** Where histories come from: vendors that sign what they think, each in its own way. */
const SOURCES = ["gemini gemini-3-pro", "anthropic claude-opus-4-6", "openai gpt-5 responses"];

const NAME = "mcp__plugin_weather_service__get_current_weather_of_a_place_in_the_world_by_its_name";
const PARAMETERS = {
  type: "object",
  properties: { city: { type: "string", minLength: 1 }, days: { type: "integer", exclusiveMinimum: 0, maximum: 14 } },
  required: ["city"],
  additionalProperties: false,
};
/** As a program would write it, with all that one provider or the other refuses. */
const SCHEMA = {
  type: "object",
  properties: {
    kind: { type: "string", enum: ["cat", "dog"] },
    age: { type: "integer", minimum: 0, maximum: 40 },
    site: { type: "string", format: "uri" },
    names: { type: "array", items: { type: "string", maxLength: 20 }, minItems: 1, maxItems: 3 },
    owner: { type: "object", properties: { email: { type: "string" } }, required: ["email"] },
  },
  required: ["kind", "names", "owner"],
};
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const USER = `user_${"a".repeat(64)}_account__session_${"b".repeat(43)}`;

/** How each format asks for things. Numbers are known again wherever they travel. */
const ASKS: Readonly<
  Record<
    FormatName,
    {
      readonly plain: Json;
      /** What is looked for in what the upstream got, and the name that is told when it is not there. */
      readonly marks: readonly (readonly [mark: string, name: string])[];
      readonly thinking: Json;
      readonly tool: Json;
      readonly schema: Json;
    }
  >
> = {
  chat: {
    plain: { max_tokens: 2_011, temperature: 0.37, stop: ["S1", "S2"], user: USER, seed: 77_123, n: 1 },
    marks: [
      ["2011", "max_tokens"],
      ["0.37", "temperature"],
      ["S2", "stop"],
      ["77123", "seed"],
    ],
    thinking: { max_completion_tokens: 8_011, reasoning_effort: "high" },
    tool: { type: "function", function: { name: NAME, description: "weather", parameters: PARAMETERS } },
    schema: { response_format: { type: "json_schema", json_schema: { name: "pet", schema: SCHEMA, strict: false } } },
  },
  messages: {
    plain: {
      max_tokens: 2_011,
      temperature: 0.37,
      stop_sequences: ["S1", "S2", "S3", "S4", "S5", "S6"],
      metadata: { user_id: USER },
    },
    marks: [
      ["2011", "max_tokens"],
      ["0.37", "temperature"],
      ["S6", "stop_sequences"],
    ],
    thinking: { max_tokens: 8_011, thinking: { type: "adaptive" }, output_config: { effort: "high" } },
    tool: { name: NAME, description: "weather", input_schema: PARAMETERS },
    schema: { output_config: { format: { type: "json_schema", schema: SCHEMA } } },
  },
  responses: {
    plain: { max_output_tokens: 2_011, temperature: 0.37, user: USER, store: false },
    marks: [
      ["2011", "max_output_tokens"],
      ["0.37", "temperature"],
    ],
    thinking: {
      max_output_tokens: 8_011,
      reasoning: { effort: "high", summary: "auto" },
      include: ["reasoning.encrypted_content"],
      store: false,
    },
    tool: { type: "function", name: NAME, description: "weather", parameters: PARAMETERS, strict: false },
    schema: { text: { format: { type: "json_schema", name: "pet", schema: SCHEMA, strict: false } } },
  },
};

let gateway: TestGateway;
let user: TestUser;
const histories = new Map<FormatName, Dialogue>();

beforeAll(async () => {
  gateway = await TestGateway.start({
    config: (origin) => ({
      upstreams: Object.fromEntries(TARGETS.map((target) => [upstreamOf(target), upstream(origin, target)])),
      models: Object.fromEntries(
        TARGETS.map((target) => [
          idOf(target),
          {
            kind: "chat",
            tier: "Free",
            owned_by: "simulator",
            price: { input_per_million: 1, output_per_million: 2 },
            chain: [{ upstream: upstreamOf(target), model: target.model }],
          },
        ]),
      ),
    }),
  });
});
afterAll(() => gateway.close());

function upstream(origin: string, { vendor = "generic", dialect, path = "", api }: Target): Json {
  const script = `vendor=${vendor}&record`;
  const common = { api_keys: [dialect === "bedrock" ? "AKID:secret" : "upstream-key"], retries: { attempts: 1 } };
  if (dialect === "azure") return { ...common, dialect, base_url: `${scriptedOrigin(origin, script)}/openai/v1` };
  if (dialect) return { ...common, dialect, base_url: scriptedOrigin(origin, script) + path };
  return { ...common, dialect: "openai", vendor, base_url: scriptedUrl(origin, script), ...(api && { api }) };
}

interface Seen extends Answer {
  readonly id: string;
  readonly body: Json;
  /** What reached the upstream. */
  readonly entries: readonly LedgerEntry[];
  readonly dropped: string;
}

let asked = 0;

/** One request: served, and refused nowhere. */
async function ask(format: FormatName, target: Target, body: Json): Promise<Seen> {
  const id = `cell-${asked++}`;
  const headers = { "x-request-id": id, "anthropic-version": "2023-06-01" };
  const answer = await askFormat(gateway, user, format, { model: idOf(target), ...body }, { headers });
  const entries = gateway.simulator.ledger().filter(({ requestId }) => requestId === id);
  const refusals = entries.map(({ refusal, path }) => refusal && `${path.replace(/^\/sim\/[^/]+/, "")}: ${refusal}`);
  expect(refusals.filter((refusal) => refusal !== null).join("; ")).toBe("");
  expect(answer.status === 200 ? "served" : answer.text).toBe("served");
  expect(entries).toHaveLength(1);
  return {
    ...answer,
    id,
    body: body["stream"] === true ? {} : (JSON.parse(answer.text) as Json),
    entries,
    dropped: String(answer.headers["x-gateway-dropped"] ?? ""),
  };
}

/** What is not in the request that the upstream got is told. */
function expectTold(format: FormatName, { entries, dropped }: Seen): void {
  const got = entries[0]?.body ?? "";
  const lost = ASKS[format].marks.filter(([mark, name]) => !got.includes(mark) && !dropped.includes(name));
  expect(`${lost.join("; ")} dropped: ${dropped}`).toMatch(/^ dropped/);
}

/** The text of an answer, without what was thought. */
function spokenText(format: FormatName, body: Json): string {
  const { output } = body;
  const messages = Array.isArray(output)
    ? output.filter((item: unknown) => isJson(item) && item["type"] === "message")
    : [];
  return FORMATS[format].text(format === "responses" ? { output: messages } : body);
}

const spoken = (said: string) => expect.stringMatching(new RegExp(`simulated answer.*${said}`, "s"));

/** Two turns: the tool is called by the name the client gave it, and its result is read. */
async function toolLoop(format: FormatName, target: Target, said: Dialogue, more: Json): Promise<Seen> {
  const body = { ...more, tools: [ASKS[format].tool] };
  said.ask(`What is the weather? Use the tool ${NAME}.`);
  const first = await ask(format, target, { ...body, ...said.history });
  const calls = said.take(first.body);
  expect(calls).toEqual([
    { id: expect.any(String), name: NAME, input: expect.objectContaining({ city: "simulated" }) },
  ]);
  said.give(calls[0] as Called, "sunny-4711");
  const second = await ask(format, target, { ...body, ...said.history });
  said.take(second.body);
  expect(FORMATS[format].text(second.body)).toEqual(spoken(""));
  expect(second.entries[0]?.body).toContain("sunny-4711");
  return second;
}

/** A conversation that began with others: each thought, called a tool, and signed what it did. */
async function historyOf(format: FormatName): Promise<Dialogue> {
  const known = histories.get(format);
  if (known) return known.fork();
  const said = dialogue(format);
  for (const source of SOURCES) {
    const target = TARGETS.find((one) => nameOf(one) === source);
    if (!target) throw new Error(`no target ${source}`);
    await toolLoop(format, target, said, ASKS[format].thinking);
  }
  histories.set(format, said);
  return said.fork();
}

const CHECKS: Readonly<Record<Cell, (format: FormatName, target: Target) => Promise<void>>> = {
  async text(format, target) {
    const said = dialogue(format);
    said.ask("Hello 4711");
    const seen = await ask(format, target, { ...ASKS[format].plain, ...said.history });
    expect(FORMATS[format].text(seen.body)).toEqual(spoken("Hello 4711"));
    expectTold(format, seen);
  },

  async stream(format, target) {
    const said = dialogue(format);
    said.ask("Hello 4711");
    const seen = await ask(format, target, { ...ASKS[format].plain, ...said.history, stream: true });
    expect(streamedText(format, seen.text)).toEqual(spoken("Hello 4711"));
    expect(seen.text).toMatch(FORMATS[format].done);
    const charge = async () => (await gateway.books(user)).ledger.find(({ requestId }) => requestId === seen.id);
    await expect.poll(charge, { interval: 5 }).toMatchObject({ outcome: "served", estimated: false });
  },

  async tools(format, target) {
    await toolLoop(format, target, dialogue(format), { ...ASKS[format].plain });
  },

  async reasoning(format, target) {
    await toolLoop(format, target, dialogue(format), ASKS[format].thinking);
  },

  async structured(format, target) {
    const said = dialogue(format);
    said.ask("A pet, as JSON.");
    const seen = await ask(format, target, { ...ASKS[format].plain, ...ASKS[format].schema, ...said.history });
    const text = spokenText(format, seen.body);
    if (/response_format|output_config|text/.test(seen.dropped) && !/^[{[]/.test(text)) return;
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    expect([ajv.validate(SCHEMA, JSON.parse(text)), ajv.errorsText()]).toEqual([true, "No errors"]);
  },

  async image(format, target) {
    const said = dialogue(format);
    said.ask("What is this? 4711", PNG);
    const seen = await ask(format, target, { ...ASKS[format].plain, ...said.history });
    expect(FORMATS[format].text(seen.body)).toEqual(spoken("4711"));
    expect(seen.entries[0]?.body).toContain(PNG);
  },

  async history(format, target) {
    const said = await historyOf(format);
    const seen = await toolLoop(format, target, said, ASKS[format].thinking);
    // Every turn of before is still there: its question, its call and what the tool gave.
    const got = seen.entries[0]?.body ?? "";
    expect(got.split("sunny-4711").length - 1).toBe(SOURCES.length + 1);
    said.ask("And now? 4712");
    const last = await ask(format, target, { ...ASKS[format].thinking, tools: [ASKS[format].tool], ...said.history });
    expect(FORMATS[format].text(last.body)).toEqual(spoken("4712"));
  },
};

describe.each(FORMAT_NAMES)("%s", (format) => {
  describe.each(TARGETS.map((target) => [nameOf(target), target] as const))("over %s", (_name, target) => {
    // Each its own: the ledger is read again and again.
    beforeAll(async () => {
      user = await gateway.user({ credits: "1000" });
    });

    test.each(CELLS.filter((cell) => !target.lacks?.includes(cell)))("%s", async (cell) => {
      expect.hasAssertions();
      await CHECKS[cell](format, target);
    });
  });
});
