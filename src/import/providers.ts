import type { UpstreamConfig } from "#schema";
import { PROVIDER_DIRECTORY, type ProviderName } from "../config/providers.ts";

/** How a provider is written as an upstream. */
export interface Provider {
  readonly dialect: UpstreamConfig["dialect"];
  readonly vendor?: NonNullable<UpstreamConfig["vendor"]>;
  /** null: the source has to say it. */
  readonly baseUrl: string | null;
  /** The variable that its key is in, unless the source says another. */
  readonly variable: string;
  /** A server of the operator's own: needs no key, bills nobody. */
  readonly local: boolean;
  /** What the source leaves out at the end of addresses. */
  readonly suffix?: string;
}

const compatible = (baseUrl: string, variable: string): Provider => ({
  dialect: "openai",
  baseUrl,
  variable,
  local: false,
});

/** What a service account's key is put into. */
export const VERTEX_VARIABLE = "GOOGLE_CREDENTIALS";

/**
 * Providers beside those of the directory. The OpenAI-compatible ones have the addresses and variables that LiteLLM knows
 * them by: https://github.com/BerriAI/litellm/blob/main/litellm/litellm_core_utils/get_llm_provider_logic.py
 */
const OTHERS = {
  "vertex-gemini": { dialect: "gemini", baseUrl: null, variable: VERTEX_VARIABLE, local: false },
  "vertex-anthropic": { dialect: "anthropic", baseUrl: null, variable: VERTEX_VARIABLE, local: false },
  codestral: compatible("https://codestral.mistral.ai/v1", "CODESTRAL_API_KEY"),
  huggingface: compatible("https://router.huggingface.co/v1", "HF_TOKEN"),
  deepinfra: compatible("https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
  sambanova: compatible("https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY"),
  "meta-llama": compatible("https://api.llama.com/compat/v1", "LLAMA_API_KEY"),
  ai21: compatible("https://api.ai21.com/studio/v1", "AI21_API_KEY"),
  volcengine: compatible("https://ark.cn-beijing.volces.com/api/v3", "VOLCENGINE_API_KEY"),
  friendli: compatible("https://api.friendli.ai/serverless/v1", "FRIENDLI_TOKEN"),
  galadriel: compatible("https://api.galadriel.com/v1", "GALADRIEL_API_KEY"),
  github: compatible("https://models.inference.ai.azure.com", "GITHUB_API_KEY"),
  novita: compatible("https://api.novita.ai/v3/openai", "NOVITA_API_KEY"),
  featherless: compatible("https://api.featherless.ai/v1", "FEATHERLESS_AI_API_KEY"),
  nscale: compatible("https://inference.api.nscale.com/v1", "NSCALE_API_KEY"),
  nebius: compatible("https://api.studio.nebius.ai/v1", "NEBIUS_API_KEY"),
  hyperbolic: compatible("https://api.hyperbolic.xyz/v1", "HYPERBOLIC_API_KEY"),
  lambda: compatible("https://api.lambda.ai/v1", "LAMBDA_API_KEY"),
  morph: compatible("https://api.morphllm.com/v1", "MORPH_API_KEY"),
  v0: compatible("https://api.v0.dev/v1", "V0_API_KEY"),
  vercel: compatible("https://ai-gateway.vercel.sh/v1", "VERCEL_AI_GATEWAY_API_KEY"),
  wandb: compatible("https://api.inference.wandb.ai/v1", "WANDB_API_KEY"),
  minimax: compatible("https://api.minimax.io/v1", "MINIMAX_API_KEY"),
  siliconflow: compatible("https://api.siliconflow.cn/v1", "SILICONFLOW_API_KEY"),
} as const satisfies Readonly<Record<string, Provider>>;

export type Named = ProviderName | keyof typeof OTHERS;

/** Words in capitals are the operator's own. */
const PLACEHOLDER = /[A-Z]{4,}/;

/** A provider of the directory, or one that only other gateways have a name for. */
export function providerNamed(name: Named): Provider {
  if (isOther(name)) return OTHERS[name];
  const entry = PROVIDER_DIRECTORY.get(name);
  if (entry === undefined) throw new Error(`the directory has no provider ${name}`);
  const { dialect, vendor, baseUrl, keyVariable, local } = entry;
  return {
    dialect,
    ...(vendor !== undefined && { vendor }),
    baseUrl: PLACEHOLDER.test(baseUrl) || name === "vllm" ? null : baseUrl,
    variable: keyVariable,
    local,
  };
}

/** Whether there is a provider of that name. */
export function isNamed(name: string): name is Named {
  return PROVIDER_DIRECTORY.has(name) || isOther(name);
}

function isOther(name: string): name is keyof typeof OTHERS {
  return Object.hasOwn(OTHERS, name);
}
