import type { Json } from "../../src/kit/index.ts";
import { scriptedOrigin, scriptedUrl } from "../../src/simulator/server.ts";

const CLAUDE = "claude-sonnet-4-5";

/** A chat model behind each dialect: how its upstream is found at the simulator, and what it is called there. */
const UPSTREAMS: Readonly<Record<string, (origin: string) => readonly [model: string, upstream: Json]>> = {
  anthropic: (origin) => [CLAUDE, { dialect: "anthropic", base_url: scriptedOrigin(origin, "-") }],
  gemini: (origin) => ["gemini-3-pro", { dialect: "gemini", base_url: scriptedOrigin(origin, "-") }],
  bedrock: (origin) => [
    `anthropic.${CLAUDE}-20250929-v1:0`,
    { dialect: "bedrock", base_url: scriptedOrigin(origin, "-"), api_keys: ["AKID:secret"] },
  ],
  nova: (origin) => [
    "amazon.nova-pro-v1:0",
    { dialect: "bedrock", base_url: scriptedOrigin(origin, "-"), api_keys: ["AKID:secret"] },
  ],
  cohere: (origin) => ["command-a-03-2025", { dialect: "cohere", base_url: scriptedOrigin(origin, "-") }],
  azure: (origin) => ["gpt-4o", { dialect: "azure", base_url: `${scriptedOrigin(origin, "-")}/openai/v1` }],
  responses: (origin) => [
    "gpt-5",
    { dialect: "openai", vendor: "openai", api: "responses", base_url: scriptedUrl(origin, "-") },
  ],
  mistral: (origin) => [
    "mistral-large-latest",
    { dialect: "openai", vendor: "mistral", base_url: scriptedUrl(origin, "-") },
  ],
};

/** Models for conversations; the first is the one of OpenAI's dialect that `KIND_CHAINS` has. */
export const CHAT_MODELS: readonly string[] = ["route/one", ...Object.keys(UPSTREAMS).map((name) => `route/${name}`)];

/** The configuration of all but the first. @param origin the simulator's */
export function chatModels(origin: string): Json {
  const made = Object.entries(UPSTREAMS).map(([name, at]) => [name, ...at(origin)] as const);
  return {
    upstreams: Object.fromEntries(
      made.map(([name, , upstream]) => [name, { api_keys: ["upstream-key"], ...upstream }]),
    ),
    models: Object.fromEntries(
      made.map(([name, model]) => [
        `route/${name}`,
        {
          kind: "chat",
          tier: "Free",
          owned_by: "simulator",
          price: { input_per_million: 1, output_per_million: 2 },
          chain: [{ upstream: name, model }],
        },
      ]),
    ),
  };
}
