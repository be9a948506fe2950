import type { ApiChoice, Json } from "../../src/kit/index.ts";
import { scriptedOrigin, scriptedUrl } from "../../src/simulator/server.ts";
import type { StrictVendor } from "../../src/simulator/strict/rule.ts";

/** A model at a vendor, as the strict simulator plays it. */
export interface SweepTarget {
  /** `vendor/model`, and `via responses` or `via chat` where the endpoint is chosen. */
  readonly name: string;
  readonly vendor: StrictVendor;
  readonly model: string;
  readonly api: ApiChoice;
}

/**
 * By vendor, one model of each family that the tables of `src/dialects` tell apart; `targets.test.ts` finds a family without
 * one. Models with the very rules of another are not here: Haiku 4.5 has those of Sonnet 4.5, Pixtral those of Mistral Large. `>` behind a model chooses the endpoint.
 */
const MODELS: Readonly<Record<StrictVendor, readonly string[]>> = {
  openai: [
    "gpt-4o",
    "gpt-4o-2024-05-13",
    "gpt-4",
    "gpt-4.1>responses",
    "gpt-4o-search-preview",
    "o1-mini",
    "o1",
    "o3",
    "o4-mini>responses",
    "o3-pro",
    "gpt-5",
    "gpt-5>responses",
    "gpt-5-chat-latest",
    "gpt-5.3-chat-latest",
    "gpt-5-pro",
    "gpt-5.4-pro",
    "gpt-5.1-codex",
    "gpt-5.3-codex",
    "gpt-5.1",
    "gpt-5.2",
    "gpt-5.4",
    "gpt-5.4>chat",
    "gpt-5.5",
    "gpt-5.6-terra",
    "gpt-6-sol",
    "gpt-6",
    "gpt-6>chat",
    "computer-use-preview",
  ],
  azure: ["gpt-4o", "gpt-5", "gpt-5.4", "o3", "gpt-5.1-codex", "our-deployment"],
  anthropic: [
    "claude-3-haiku-20240307",
    "claude-3-5-haiku-20241022",
    "claude-3-7-sonnet-20250219",
    "claude-opus-4-1-20250805",
    "claude-sonnet-4-20250514",
    "claude-sonnet-4-5-20250929",
    "claude-opus-4-5-20251101",
    "claude-opus-4-6",
    "claude-opus-4-7",
    "claude-opus-5",
    "claude-opus-5-5",
    "claude-fable-5",
  ],
  vertex: ["claude-3-5-haiku@20241022", "claude-sonnet-4-5@20250929", "claude-opus-4-6", "claude-opus-5"],
  bedrock: [
    "us.anthropic.claude-3-5-haiku-20241022-v1:0",
    "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "global.anthropic.claude-opus-4-6-v1",
    "us.anthropic.claude-opus-4-7-v1:0",
    "us.amazon.nova-pro-v1:0",
    "us.amazon.nova-2-lite-v1:0",
    "us.meta.llama3-3-70b-instruct-v1:0",
    "mistral.mistral-large-2407-v1:0",
    "openai.gpt-oss-120b-1:0",
    "cohere.command-r-plus-v1:0",
  ],
  gemini: ["gemini-2.0-flash", "gemini-2.5-flash", "gemini-2.5-pro", "gemini-3-pro-preview", "gemini-3-flash-preview"],
  cohere: ["command-a-03-2025", "command-a-reasoning-08-2025", "command-r7b-12-2024"],
  mistral: ["mistral-large-latest", "mistral-small-latest", "codestral-latest"],
  deepseek: ["deepseek-chat", "deepseek-reasoner", "deepseek-v4-flash"],
  groq: [
    "llama-3.3-70b-versatile",
    "openai/gpt-oss-120b",
    "meta-llama/llama-4-maverick-17b-128e-instruct",
    "qwen/qwen3-32b",
  ],
  openrouter: [
    "anthropic/claude-sonnet-4.5",
    "anthropic/claude-opus-4.6",
    "openai/gpt-5",
    "google/gemini-2.5-pro",
    "mistralai/mistral-large-2512",
    "deepseek/deepseek-chat-v3.1",
  ],
  xai: [
    "grok-3",
    "grok-3-mini",
    "grok-4",
    "grok-4.3",
    "grok-4.5",
    "grok-4-fast-non-reasoning",
    "grok-4.20-multi-agent",
  ],
  moonshot: ["moonshot-v1-32k", "kimi-k2-thinking", "kimi-k2.6"],
  together: ["meta-llama/Llama-3.3-70B-Instruct-Turbo", "openai/gpt-oss-120b", "deepseek-ai/DeepSeek-V3.1"],
  fireworks: [
    "accounts/fireworks/models/llama-v3p3-70b-instruct",
    "accounts/fireworks/models/gpt-oss-120b",
    "accounts/fireworks/models/kimi-k2p6",
  ],
  cerebras: ["llama-3.3-70b", "gpt-oss-120b", "zai-glm-4.7"],
  perplexity: ["sonar-pro", "sonar-reasoning-pro"],
  alibaba: ["qwen3.5-plus", "deepseek-v3.2"],
  zai: ["glm-4.7", "glm-5.2", "glm-5.3"],
  nvidia: [
    "meta/llama-3.3-70b-instruct",
    "openai/gpt-oss-120b",
    "nvidia/nemotron-3-super-120b-a12b",
    "nvidia/nemotron-3-ultra",
    "deepseek-ai/deepseek-v4",
  ],
  ollama: ["llama3.3", "gpt-oss:20b", "qwen3-vl:8b"],
  vllm: ["Qwen/Qwen3.5-27B", "mistralai/Mistral-7B-Instruct-v0.3", "openai/gpt-oss-120b"],
  lmstudio: ["qwen3-vl-8b", "openai/gpt-oss-20b"],
  llamacpp: ["qwen3.5-27b", "gemma-3-12b", "gpt-oss-20b"],
  generic: ["anything", "gpt-5", "deepseek-v3"],
};

export const TARGETS: readonly SweepTarget[] = Object.entries(MODELS).flatMap(([vendor, models]) =>
  models.map((written) => {
    const [model = "", api] = written.split(">");
    const name = `${vendor}/${model}${api === undefined ? "" : ` via ${api}`}`;
    return { name, vendor: vendor as StrictVendor, model, api: (api as ApiChoice | undefined) ?? "auto" };
  }),
);

/** The id of the model that is served by a target alone. */
export function routeOf({ name }: SweepTarget): string {
  return `route/${name.replaceAll(/[^a-z0-9.]+/gi, "-")}`;
}

/** Upstreams and models of a configuration, one each for every target, of which the simulator keeps what it got. */
export function targetsConfig(origin: string, targets: readonly SweepTarget[]): Json {
  const upstreamOf = (target: SweepTarget): string =>
    routeOf(target).replace("route/", "").toLowerCase().replaceAll(".", "-");
  return {
    upstreams: Object.fromEntries(targets.map((target) => [upstreamOf(target), upstream(origin, target)])),
    models: Object.fromEntries(
      targets.map((target) => [
        routeOf(target),
        {
          kind: "chat",
          tier: "Free",
          owned_by: "simulator",
          price: { input_per_million: 1, output_per_million: 2 },
          chain: [{ upstream: upstreamOf(target), model: target.model }],
        },
      ]),
    ),
  };
}

function upstream(origin: string, { vendor, api }: SweepTarget): Json {
  const script = `vendor=${vendor}&record`;
  const url = scriptedOrigin(origin, script);
  const common = { api_keys: ["upstream-key"], retries: { attempts: 1 } };
  switch (vendor) {
    case "azure":
      return { ...common, dialect: "azure", base_url: `${url}/openai/v1` };
    case "vertex":
      return {
        ...common,
        dialect: "anthropic",
        base_url: `${url}/v1/projects/p/locations/global/publishers/anthropic`,
      };
    case "bedrock":
      return { ...common, dialect: "bedrock", base_url: url, api_keys: ["AKID:secret"] };
    case "anthropic":
    case "gemini":
    case "cohere":
      return { ...common, dialect: vendor, base_url: url };
    default:
      return { ...common, dialect: "openai", vendor, base_url: scriptedUrl(origin, script), api };
  }
}
