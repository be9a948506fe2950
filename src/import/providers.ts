import type { UpstreamConfig } from "#schema";

type Dialect = UpstreamConfig["dialect"];
type Vendor = NonNullable<UpstreamConfig["vendor"]>;

/** How a provider is written as an upstream. */
export interface Provider {
  readonly dialect: Dialect;
  readonly vendor?: Vendor;
  /** null: the source has to say it. */
  readonly baseUrl: string | null;
  /** The variable that its key is usually in. */
  readonly variable: string;
  /** A server of the operator's own: needs no key, bills nobody. */
  readonly isLocal?: true;
}

const openai = (baseUrl: string | null, variable: string, vendor?: Vendor): Provider => ({
  dialect: "openai",
  baseUrl,
  variable,
  ...(vendor !== undefined && { vendor }),
});
const local = (baseUrl: string | null, variable: string, vendor: Vendor): Provider => ({
  ...openai(baseUrl, variable, vendor),
  isLocal: true,
});

/**
 * Providers by the names that imports use. Those that are not OpenAI-compatible have a dialect of their own; addresses of
 * the rest: https://github.com/BerriAI/litellm/blob/main/litellm/litellm_core_utils/get_llm_provider_logic.py
 */
export const PROVIDERS = {
  openai: openai("https://api.openai.com/v1", "OPENAI_API_KEY"),
  compatible: openai(null, "COMPATIBLE_API_KEY"),
  azure: { dialect: "azure", baseUrl: null, variable: "AZURE_API_KEY" },
  anthropic: { dialect: "anthropic", baseUrl: "https://api.anthropic.com", variable: "ANTHROPIC_API_KEY" },
  gemini: { dialect: "gemini", baseUrl: "https://generativelanguage.googleapis.com", variable: "GEMINI_API_KEY" },
  "vertex-gemini": { dialect: "gemini", baseUrl: null, variable: "GOOGLE_CREDENTIALS" },
  "vertex-anthropic": { dialect: "anthropic", baseUrl: null, variable: "GOOGLE_CREDENTIALS" },
  bedrock: { dialect: "bedrock", baseUrl: null, variable: "AWS_BEARER_TOKEN_BEDROCK" },
  cohere: { dialect: "cohere", baseUrl: "https://api.cohere.com", variable: "COHERE_API_KEY" },
  jina: { dialect: "jina", baseUrl: "https://api.jina.ai/v1", variable: "JINA_AI_API_KEY" },
  voyage: { dialect: "voyage", baseUrl: "https://api.voyageai.com/v1", variable: "VOYAGE_API_KEY" },
  elevenlabs: { dialect: "elevenlabs", baseUrl: "https://api.elevenlabs.io", variable: "ELEVENLABS_API_KEY" },
  deepgram: { dialect: "deepgram", baseUrl: "https://api.deepgram.com", variable: "DEEPGRAM_API_KEY" },
  mistral: openai("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
  codestral: openai("https://codestral.mistral.ai/v1", "CODESTRAL_API_KEY"),
  deepseek: openai("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
  groq: openai("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
  openrouter: openai("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
  xai: openai("https://api.x.ai/v1", "XAI_API_KEY"),
  moonshot: openai("https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
  together: openai("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
  fireworks: openai("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
  cerebras: openai("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
  perplexity: openai("https://api.perplexity.ai", "PERPLEXITYAI_API_KEY"),
  alibaba: openai("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
  zai: openai("https://api.z.ai/api/paas/v4", "ZAI_API_KEY"),
  nvidia: openai("https://integrate.api.nvidia.com/v1", "NVIDIA_NIM_API_KEY"),
  ollama: local("http://localhost:11434/v1", "OLLAMA_API_KEY", "ollama"),
  vllm: local(null, "HOSTED_VLLM_API_KEY", "vllm"),
  lmstudio: local("http://localhost:1234/v1", "LM_STUDIO_API_KEY", "lmstudio"),
  llamacpp: local("http://127.0.0.1:8080/v1", "LLAMAFILE_API_KEY", "llamacpp"),
  huggingface: openai("https://router.huggingface.co/v1", "HF_TOKEN"),
  deepinfra: openai("https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
  sambanova: openai("https://api.sambanova.ai/v1", "SAMBANOVA_API_KEY"),
  "meta-llama": openai("https://api.llama.com/compat/v1", "LLAMA_API_KEY"),
  ai21: openai("https://api.ai21.com/studio/v1", "AI21_API_KEY"),
  volcengine: openai("https://ark.cn-beijing.volces.com/api/v3", "VOLCENGINE_API_KEY"),
  friendli: openai("https://api.friendli.ai/serverless/v1", "FRIENDLI_TOKEN"),
  galadriel: openai("https://api.galadriel.com/v1", "GALADRIEL_API_KEY"),
  github: openai("https://models.inference.ai.azure.com", "GITHUB_API_KEY"),
  novita: openai("https://api.novita.ai/v3/openai", "NOVITA_API_KEY"),
  featherless: openai("https://api.featherless.ai/v1", "FEATHERLESS_AI_API_KEY"),
  nscale: openai("https://inference.api.nscale.com/v1", "NSCALE_API_KEY"),
  nebius: openai("https://api.studio.nebius.ai/v1", "NEBIUS_API_KEY"),
  hyperbolic: openai("https://api.hyperbolic.xyz/v1", "HYPERBOLIC_API_KEY"),
  lambda: openai("https://api.lambda.ai/v1", "LAMBDA_API_KEY"),
  morph: openai("https://api.morphllm.com/v1", "MORPH_API_KEY"),
  v0: openai("https://api.v0.dev/v1", "V0_API_KEY"),
  vercel: openai("https://ai-gateway.vercel.sh/v1", "VERCEL_AI_GATEWAY_API_KEY"),
  wandb: openai("https://api.inference.wandb.ai/v1", "WANDB_API_KEY"),
  minimax: openai("https://api.minimax.io/v1", "MINIMAX_API_KEY"),
  siliconflow: openai("https://api.siliconflow.cn/v1", "SILICONFLOW_API_KEY"),
} as const satisfies Readonly<Record<string, Provider>>;

export type ProviderName = keyof typeof PROVIDERS;
