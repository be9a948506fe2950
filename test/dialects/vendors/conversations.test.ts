import { describe, expect, test } from "vitest";
import { DIALECTS } from "../../../src/dialects/capabilities.ts";
import { readChat } from "../../../src/dialects/chat/client.ts";
import type { UpstreamDialect, UpstreamRequest } from "../../../src/dialects/dialect.ts";
import { readMessages } from "../../../src/dialects/messages/client/format.ts";
import { readResponses } from "../../../src/dialects/responses/client/request.ts";
import type { ApiChoice, Call, DialectName, Json, Vendor } from "../../../src/kit/index.ts";
import { checkVendor } from "../../../src/simulator/strict/vendors.ts";
import type { StrictVendor } from "../../../src/simulator/strict/rule.ts";
import { testTarget } from "../../support/snapshot.ts";
import { type Case, CASES } from "./bodies.ts";

/* What each vendor's models are sent of every legal request: nothing that they refuse, and nothing lost in silence. */

interface Place {
  readonly vendor: StrictVendor;
  readonly models: readonly string[];
  /** Where it is not OpenAI's dialect. */
  readonly dialect?: DialectName;
  readonly api?: ApiChoice;
  readonly baseUrl?: string;
}

const PLACES: readonly Place[] = [
  {
    vendor: "openai",
    models: [
      "gpt-4o",
      "gpt-4.1",
      "gpt-3.5-turbo",
      "gpt-4",
      "o1",
      "o3-mini",
      "o4-mini",
      "gpt-5",
      "gpt-5-mini",
      "gpt-5.1",
    ],
  },
  {
    vendor: "openai",
    models: ["gpt-5.2", "gpt-5.4", "gpt-5.5", "gpt-5.6-terra", "gpt-5.1-codex", "gpt-6", "gpt-5-chat-latest"],
  },
  { vendor: "openai", api: "chat", models: ["gpt-5.4", "gpt-5.5", "gpt-5.6-terra"] },
  { vendor: "openai", api: "responses", models: ["gpt-4o", "gpt-4.1", "o3-mini", "gpt-5", "gpt-5.6-terra"] },
  {
    vendor: "azure",
    dialect: "azure",
    baseUrl: "https://r.openai.azure.com/openai/v1",
    models: ["gpt-4o", "o3-mini", "gpt-5", "gpt-5.4"],
  },
  {
    vendor: "azure",
    dialect: "azure",
    baseUrl: "https://r.openai.azure.com/openai/deployments/d",
    models: ["gpt-4o", "gpt-5.4"],
  },
  {
    vendor: "mistral",
    models: [
      "mistral-large-latest",
      "mistral-small-latest",
      "codestral-2508",
      "pixtral-12b-2409",
      "magistral-medium-2509",
      "open-mistral-7b",
    ],
  },
  { vendor: "deepseek", models: ["deepseek-chat", "deepseek-reasoner", "deepseek-v4-pro"] },
  {
    vendor: "groq",
    models: ["openai/gpt-oss-120b", "llama-3.3-70b-versatile", "meta-llama/llama-4-scout", "qwen/qwen3-32b"],
  },
  {
    vendor: "openrouter",
    models: ["anthropic/claude-sonnet-4.5", "openai/gpt-4o", "mistralai/mistral-large", "google/gemma-2-27b-it", "x/y"],
  },
  { vendor: "xai", models: ["grok-4.3", "grok-3-mini", "grok-3", "grok-code-fast-1", "grok-4.5"] },
  { vendor: "moonshot", models: ["kimi-k2.6", "kimi-k2-0905-preview", "kimi-k2-thinking", "moonshot-v1-8k"] },
  {
    vendor: "together",
    models: ["meta-llama/Llama-4-Maverick", "mistralai/Mixtral-8x7B-Instruct-v0.1", "openai/gpt-oss-20b"],
  },
  { vendor: "fireworks", models: ["accounts/fireworks/models/kimi-k2p6", "accounts/fireworks/models/glm-4p6"] },
  { vendor: "cerebras", models: ["gpt-oss-120b", "zai-glm-4.7", "llama-3.3-70b"] },
  { vendor: "perplexity", models: ["sonar", "sonar-pro", "sonar-reasoning-pro"] },
  { vendor: "alibaba", models: ["qwen3.5-plus", "qwen-plus", "qwen3-vl-plus", "qwq-plus", "deepseek-v3.2"] },
  { vendor: "zai", models: ["glm-4.7", "glm-4.6v", "glm-5.3"] },
  {
    vendor: "nvidia",
    models: ["nvidia/nemotron-nano-12b-v2-vl", "mistralai/mistral-large-2-instruct", "google/gemma-2-9b-it"],
  },
  { vendor: "ollama", models: ["qwen3-vl:8b", "llama3.1:8b", "mistral:7b", "gemma3:4b"] },
  { vendor: "vllm", models: ["Qwen/Qwen3.5-27B", "mistralai/Mistral-7B-Instruct-v0.3", "google/gemma-2-9b-it", "any"] },
  { vendor: "lmstudio", models: ["qwen3-vl-8b", "mistralai/devstral-small-2507", "google/gemma-3-4b"] },
  { vendor: "llamacpp", models: ["qwen3.5-27b", "gpt-oss-20b", "mistral-7b-instruct", "gemma-2-9b"] },
  { vendor: "generic", models: ["any", "mistral-7b-instruct"] },
  {
    vendor: "gemini",
    dialect: "gemini",
    models: ["gemini-2.0-flash", "gemini-2.5-flash", "gemini-2.5-pro", "gemini-3-pro"],
  },
  {
    vendor: "cohere",
    dialect: "cohere",
    models: ["command-a-03-2025", "command-a-vision-07-2025", "command-a-reasoning-08-2025", "command-r-plus"],
  },
];

const READERS = { chat: readChat, messages: readMessages, responses: readResponses };

function callOf({ format, body }: Case, stream: boolean): Call {
  return READERS[format]({ model: "route/a", ...body, ...(stream && { stream }) });
}

function dialectOf({ vendor, dialect = "openai", api, baseUrl = "" }: Place): UpstreamDialect {
  const own = dialect === "openai" ? { vendor: vendor as Vendor } : {};
  const found = DIALECTS[dialect]!;
  return found.at?.({ baseUrl, headers: {}, ...own, ...(api && { api }) }) ?? found;
}

interface Sent {
  readonly request: UpstreamRequest;
  readonly body: Json;
  readonly dropped: readonly string[];
}

function send(place: Place, model: string, one: Case, stream: boolean): Sent {
  const request = dialectOf(place).codecs.chat!.request(callOf(one, stream), testTarget("alpha", { model }), "k");
  const body = JSON.parse(request.body as string) as Json;
  return { request, body, dropped: request.dropped ?? [] };
}

/** The refusal of the vendor in its words; empty without one. */
function refusal({ vendor }: Place, { request, body }: Sent): string {
  try {
    checkVendor({ vendor }, request.path.replace(/\?.*$/, ""), body);
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What media are known again by, wherever they travel. */
const MEDIA = [
  ["iVBORw0KGgo", "image"],
  ["JVBERi0xLjQ", "file"],
  ["UklGRiQA", "audio"],
  ["media.example/a.png", "image"],
  ["media.example/a.pdf", "file"],
] as const;

describe.each(
  PLACES.map(
    (place) => [[place.vendor, place.dialect, place.api, place.baseUrl].filter(Boolean).join(" "), place] as const,
  ),
)("%s", (_, place) => {
  describe.each(place.models)("%s", (model) => {
    test.each(CASES.map((one) => [`${one.format}: ${one.about}`, one] as const))("%s", (_about, one) => {
      for (const stream of [false, true]) {
        const sent = send(place, model, one, stream);
        expect(refusal(place, sent)).toBe("");
        const text = JSON.stringify(sent.body);
        for (const word of one.said) expect(text).toContain(word);
        // What was there is said in its place, and told.
        const lost = MEDIA.filter(([mark]) => JSON.stringify(one.body).includes(mark) && !text.includes(mark));
        for (const [, kind] of lost) expect(text).toContain(`[${kind} omitted: `);
        expect(sent.dropped.length).toBeGreaterThanOrEqual(Math.min(lost.length, 1));
      }
    });
  });
});
