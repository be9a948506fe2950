import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CAPABILITIES, DIALECTS, type FeatureName, FEATURES } from "../../src/dialects/capabilities.ts";
import { isOfCaching } from "../../src/dialects/canonical/report.ts";
import type { Location } from "../../src/dialects/dialect.ts";
import { EFFORTS, isJson, type Json, type Kind, VENDORS } from "../../src/kit/index.ts";
import { type ChatDialect, SUPPORT } from "./supported.ts";

/** Models that the dialect's translation treats alike in what depends on none, and apart in the rest. */
const MODELS: Readonly<Record<ChatDialect, readonly string[]>> = {
  openai: ["m", "gpt-5"],
  azure: ["m", "gpt-5"],
  anthropic: [
    "m",
    "claude-3-5-sonnet-latest",
    "claude-3-7-sonnet",
    "claude-opus-4-1",
    "claude-opus-4-6",
    "claude-opus-5-5",
  ],
  gemini: ["m", "gemini-2.0-flash", "gemini-2.5-flash", "gemini-2.5-pro", "gemini-3-pro-preview"],
  bedrock: [
    "m",
    "us.anthropic.claude-sonnet-4-6",
    "anthropic.claude-3-5-sonnet-20240620-v1:0",
    "anthropic.claude-opus-4-1-20250805-v1:0",
    "amazon.nova-pro-v1:0",
    "amazon.nova-2-lite-v1:0",
    "meta.llama3-3-70b-instruct-v1:0",
    "mistral.mistral-large-2407-v1:0",
    "openai.gpt-oss-120b-1:0",
    "cohere.command-r-plus-v1:0",
  ],
  cohere: ["command-a-03-2025", "command-a-vision-07-2025", "command-a-reasoning-08-2025"],
};

/** What of a feature shows in a request that carries it, whatever the dialect calls it. */
const MARKS: Readonly<Partial<Record<FeatureName, RegExp>>> = {
  vision: /iVBORw0KGgo=/,
  image_urls: /https:\/\/media\.example\/a\.png/,
  documents: /JVBERi0xLjQK/,
  document_urls: /https:\/\/media\.example\/a\.pdf/,
  text_documents: /c2FtcGxl|sample/,
  audio: /UklGRiQA/,
  tools: /"lookup".*"word"/,
  tool_choice: /required|any/i,
  json_schema: /"required\\*":\[\\*"word/,
  stop: /HALT/,
  seed: /4711/,
  thinking_budget: /2048|"adaptive"|"reasoning_effort":"low"/,
  top_k: /\b7\b/,
  choices: /:2\b/,
  penalties: /0\.5/,
};

/** Addresses that change what a dialect is. */
const PLACES = [
  "https://x.openai.azure.com/openai/deployments/d",
  "https://x/v1/projects/p/locations/l/publishers/google",
  "https://x/v1/projects/p/locations/l/publishers/anthropic",
];

const NAMES = Object.keys(FEATURES) as FeatureName[];
const CHAT = Object.keys(SUPPORT) as ChatDialect[];

interface Sent {
  readonly body: Json;
  readonly dropped: readonly string[];
}

function sent(dialect: ChatDialect, model: string, body: Json): Sent {
  const target = {
    upstream: "alpha",
    model,
    weight: 1,
    timeouts: { connect: 0, firstByte: 0, idle: 0, total: 0 },
    contextWindow: null,
    features: [],
  };
  const call = { kind: "chat" as const, model: "route/m", stream: false, body, promptBytes: 0, maxOutput: null };
  const written = DIALECTS[dialect]!.codecs.chat!.request(call, target, "key");
  return { body: JSON.parse(written.body as string) as Json, dropped: written.dropped ?? [] };
}

/** What becomes of a feature, told by what is sent and what is reported; or how the two contradict each other. */
function outcome(dialect: ChatDialect, model: string, name: FeatureName): string {
  const feature = FEATURES[name];
  const without = sent(dialect, model, feature.without);
  if (without.dropped.length > 0) return `without it ${without.dropped.join(", ")} is dropped`;
  const { body, dropped } = sent(dialect, model, feature.body);
  const same = JSON.stringify(body) === JSON.stringify(without.body);
  // The mark is told, and what it asks for is had without.
  if (same && DIALECTS[dialect]!.cachesUnasked === true && dropped.every(isOfCaching)) return "unasked";
  if (dropped.length > 0) {
    const places = pointers(feature);
    const elsewhere = dropped.filter((pointer) => !places.some((place) => pointer.startsWith(place)));
    if (elsewhere.length > 0) return `dropped at ${elsewhere.join(", ")}`;
    // A part that is left out leaves a text that says so.
    const omitted = JSON.stringify(body).includes(" omitted: ");
    // A model that cannot be made to call a tool is offered it all the same.
    return same || omitted || name === "json_schema" ? "dropped" : "reported as dropped, and sent";
  }
  if (same) return "asked for nothing";
  return MARKS[name]?.test(JSON.stringify(body)) === false ? "sent without what it is about" : "carried";
}

/** Where the two bodies of a feature differ, as deep as a report may point. */
function pointers({ body, without }: { readonly body: Json; readonly without: Json }): readonly string[] {
  return differences(body, without, "");
}

function differences(a: unknown, b: unknown, at: string): readonly string[] {
  if (JSON.stringify(a) === JSON.stringify(b)) return [];
  const [one, other] = [entries(a), entries(b)];
  if (one === null || other === null) return [at];
  return Object.keys(one).flatMap((key) => differences(one[key], other[key], `${at}/${key}`));
}

function entries(value: unknown): Json | null {
  if (Array.isArray(value)) return Object.fromEntries(value.entries());
  return isJson(value) ? value : null;
}

describe.each(CHAT)("%s", (dialect) => {
  test.each(NAMES)("%s", (name) => {
    const outcomes = MODELS[dialect].map((model) => outcome(dialect, model, name));
    const declared = SUPPORT[dialect][name];
    expect(new Set(outcomes)).toEqual(new Set(declared === "model" ? ["carried", "dropped"] : [declared]));
  });

  test.each(MODELS[dialect])("what %s is promised to have is lost when it is dropped", (model) => {
    const dropped = NAMES.filter((name) => outcome(dialect, model, name) === "dropped");
    expect(NAMES.filter((name) => CAPABILITIES[dialect].loses("chat", name, model))).toEqual(dropped);
  });
});

describe("promises", () => {
  test.each<[promise: string, dialect: ChatDialect, model: string, lost: boolean]>([
    // Either way of asking is enough.
    ["reasoning", "cohere", "command-a-reasoning-08-2025", false],
    ["reasoning", "gemini", "gemini-2.0-flash", true],
    ["thinking", "gemini", "gemini-2.5-flash", false],
    ["reasoning", "anthropic", "claude-3-5-haiku-latest", true],
    ["reasoning", "bedrock", "openai.gpt-oss-120b-1:0", false],
    ["reasoning", "bedrock", "anthropic.claude-3-5-sonnet-20240620-v1:0", true],
    ["reasoning", "bedrock", "anthropic.claude-opus-4-1-20250805-v1:0", false],
    ["images", "bedrock", "m", false],
    ["pdf", "cohere", "m", true],
    ["structured_outputs", "anthropic", "m", false],
    ["json_mode", "anthropic", "m", true],
    ["caching", "bedrock", "meta.llama3-3-70b-instruct-v1:0", true],
    ["caching", "gemini", "m", false],
    ["single_tool_calls", "openai", "m", false],
    ["__proto__", "cohere", "m", false],
    ["a-word-of-their-own", "cohere", "m", false],
  ])("%s at %s with %s: lost is %j", (promise, dialect, model, lost) => {
    expect(CAPABILITIES[dialect].loses("chat", promise, model)).toBe(lost);
  });

  test.each<[promise: string, dialect: ChatDialect, location: Partial<Location>, model: string, lost: boolean]>([
    ["top_k", "openai", {}, "m", false],
    ["top_k", "openai", { vendor: "mistral" }, "mistral-large-latest", true],
    ["top_k", "openai", { baseUrl: "https://api.mistral.ai/v1" }, "mistral-large-latest", true],
    ["top_k", "openai", { baseUrl: "https://api.mistral.ai/v1", vendor: "generic" }, "m", false],
    ["top_k", "openai", { vendor: "mistral", accepts: { fields: ["top_k"] } }, "mistral-large-latest", false],
    ["tools", "openai", { vendor: "mistral" }, "mistral-large-latest", false],
    ["stop", "openai", { vendor: "openai" }, "gpt-5.2", true],
    ["stop", "openai", { vendor: "openai", accepts: { stop: 4 } }, "gpt-5.2", false],
    ["stop", "openai", { accepts: { stop: 0 } }, "m", true],
    ["stop", "azure", { baseUrl: "https://x.openai.azure.com" }, "gpt-5.2", true],
    ["stop", "openai", { api: "responses" }, "m", true],
    ["tools", "openai", { api: "responses" }, "m", false],
    ["vision", "gemini", { baseUrl: "https://x/v1/projects/p/locations/l/publishers/google" }, "m", false],
  ])("%s at %s %j with %s: lost is %j", (promise, dialect, location, model, lost) => {
    expect(CAPABILITIES[dialect].loses("chat", promise, model, { baseUrl: "", headers: {}, ...location })).toBe(lost);
  });

  test("of other kinds and of dialects without chat are nobody's to judge", () => {
    expect(CAPABILITIES.cohere.loses("embedding", "audio", "m")).toBe(false);
    expect(CAPABILITIES.jina.loses("chat", "audio", "m")).toBe(false);
  });

  test("whatever the words: an answer, never an exception", () => {
    const words = fc.oneof(fc.string(), fc.constantFrom(...NAMES));
    const dialects = fc.constantFrom(...(Object.keys(CAPABILITIES) as (keyof typeof CAPABILITIES)[]));
    const location = fc.record(
      {
        baseUrl: fc.oneof(fc.string(), fc.webUrl(), fc.constantFrom(...PLACES)),
        headers: fc.constant({}),
        vendor: fc.constantFrom(...VENDORS),
        api: fc.constantFrom("auto" as const, "chat" as const, "responses" as const),
        accepts: fc.record({ stop: fc.nat(4), efforts: fc.subarray([...EFFORTS]), sampling: fc.boolean() }),
      },
      { requiredKeys: ["baseUrl", "headers"] },
    );
    fc.assert(
      fc.property(words, dialects, fc.string(), location, (promise, dialect, model, location) => {
        const { loses, vendor, mayHaveResponses } = CAPABILITIES[dialect];
        expect(typeof loses("chat", promise, model)).toBe("boolean");
        expect(typeof loses("chat", promise, model, location)).toBe("boolean");
        expect([...VENDORS, null]).toContain(vendor(location));
        expect(typeof mayHaveResponses(location)).toBe("boolean");
      }),
    );
  });
});

test.each<[keyof typeof CAPABILITIES, Partial<Location>, string | null, boolean]>([
  ["openai", {}, null, true],
  ["openai", { vendor: "generic" }, null, true],
  ["openai", { baseUrl: "https://api.openai.com/v1" }, "openai", true],
  ["openai", { baseUrl: "https://api.mistral.ai/v1" }, "mistral", false],
  ["openai", { baseUrl: "https://api.mistral.ai/v1", vendor: "vllm" }, "vllm", true],
  ["azure", { baseUrl: "https://x.openai.azure.com" }, null, true],
  ["azure", { baseUrl: "https://x.openai.azure.com/openai/deployments/d" }, null, false],
  ["anthropic", {}, null, false],
])("%s at %j is %j; Responses: %j", (dialect, location, vendor, responses) => {
  const at = { baseUrl: "", headers: {}, ...location };
  expect(CAPABILITIES[dialect].vendor(at)).toBe(vendor);
  expect(CAPABILITIES[dialect].mayHaveResponses(at)).toBe(responses);
});

test("every dialect with chat models is in the table, and no other", () => {
  const chat = Object.entries(CAPABILITIES).filter(([, { kinds }]) => kinds.includes("chat" satisfies Kind));
  expect(chat.map(([name]) => name).toSorted()).toEqual(CHAT.toSorted());
});
