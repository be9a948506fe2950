import { type Named, type Provider, providerNamed } from "../providers.ts";
import type { Destination } from "../target.ts";

/** Prefixes of `model`, and values of `custom_llm_provider`: https://docs.litellm.ai/docs/providers */
const PREFIXES: Readonly<Record<string, Named>> = {
  openai: "openai",
  azure: "azure",
  azure_text: "azure",
  anthropic: "anthropic",
  gemini: "gemini",
  bedrock: "bedrock",
  bedrock_converse: "bedrock",
  cohere: "cohere",
  cohere_chat: "cohere",
  jina_ai: "jina",
  voyage: "voyage",
  elevenlabs: "elevenlabs",
  deepgram: "deepgram",
  mistral: "mistral",
  codestral: "codestral",
  deepseek: "deepseek",
  groq: "groq",
  openrouter: "openrouter",
  xai: "xai",
  moonshot: "moonshot",
  together_ai: "together",
  fireworks_ai: "fireworks",
  cerebras: "cerebras",
  perplexity: "perplexity",
  dashscope: "alibaba",
  zai: "zai",
  nvidia_nim: "nvidia",
  ollama: "ollama",
  ollama_chat: "ollama",
  hosted_vllm: "vllm",
  vllm: "vllm",
  lm_studio: "lmstudio",
  llamafile: "llamacpp",
  huggingface: "huggingface",
  deepinfra: "deepinfra",
  sambanova: "sambanova",
  meta_llama: "meta-llama",
  ai21: "ai21",
  ai21_chat: "ai21",
  volcengine: "volcengine",
  friendliai: "friendli",
  galadriel: "galadriel",
  github: "github",
  novita: "novita",
  featherless_ai: "featherless",
  nscale: "nscale",
  nebius: "nebius",
  hyperbolic: "hyperbolic",
  lambda_ai: "lambda",
  morph: "morph",
  v0: "v0",
  vercel_ai_gateway: "vercel",
  wandb: "wandb",
  minimax: "minimax",
  openai_like: "compatible",
  custom_openai: "compatible",
  custom: "compatible",
  litellm_proxy: "compatible",
  aiohttp_openai: "compatible",
  xinference: "compatible",
  infinity: "compatible",
  docker_model_runner: "compatible",
  lemonade: "compatible",
  baseten: "compatible",
  databricks: "compatible",
  "text-completion-openai": "openai",
};

/** Variables that LiteLLM reads keys from, where the provider's own SDK has another: https://docs.litellm.ai/docs/providers */
const VARIABLES: Partial<Record<Named, string>> = {
  azure: "AZURE_API_KEY",
  cohere: "COHERE_API_KEY",
  jina: "JINA_AI_API_KEY",
  perplexity: "PERPLEXITYAI_API_KEY",
  nvidia: "NVIDIA_NIM_API_KEY",
  vllm: "HOSTED_VLLM_API_KEY",
  lmstudio: "LM_STUDIO_API_KEY",
  compatible: "OPENAI_API_KEY",
};

/** A provider as LiteLLM has it. */
export function litellmProvider(name: Named): Provider {
  const provider = providerNamed(name);
  return { ...provider, variable: VARIABLES[name] ?? provider.variable };
}

/** Providers of LiteLLM that no dialect here speaks to, with what they are. */
const UNKNOWN: Readonly<Record<string, string>> = {
  sagemaker: "SageMaker endpoints sign requests in a way of their own",
  sagemaker_chat: "SageMaker endpoints sign requests in a way of their own",
  watsonx: "watsonx signs in by IAM tokens of its own",
  replicate: "Replicate's predictions are no chat API",
  predibase: "Predibase has an API of its own",
  triton: "Triton has an API of its own",
  cloudflare: "Workers AI is reached by its OpenAI-compatible address: write it as an upstream of dialect openai",
  github_copilot: "GitHub Copilot signs in by OAuth for one person",
  chatgpt: "a ChatGPT subscription signs in by OAuth for one person",
  oci: "OCI signs requests in a way of its own",
  snowflake: "Snowflake Cortex has an API of its own",
};

/** Names without a prefix that LiteLLM knows, the first that fits. */
const BARE: readonly (readonly [pattern: RegExp, provider: Named])[] = [
  [
    /^(?:gpt-|chatgpt-|o\d|text-embedding-(?:3|ada)|dall-e|whisper-1|tts-1|omni-moderation|text-moderation|ft:|davinci|babbage|codex)/,
    "openai",
  ],
  [/^claude-/, "anthropic"],
  [/^(?:command|embed-|rerank-)/, "cohere"],
  [/^(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek|us\.|eu\.|apac\.)\./, "bedrock"],
  [/^gemini-/, "gemini"],
];

/** Whether LiteLLM has a provider of that name. */
function isPrefix(name: string): boolean {
  return Object.hasOwn(PREFIXES, name) || Object.hasOwn(UNKNOWN, name) || name === "vertex_ai";
}

/** The provider and model of a deployment, or why it cannot be served here. */
export function destinationOf(
  written: string,
  custom: string | null,
  hasBase: boolean,
): Destination | { readonly why: string } {
  const slash = written.indexOf("/");
  const prefix = slash < 0 ? "" : written.slice(0, slash);
  if (custom !== null && custom !== prefix) return withPrefix(custom, written, hasBase);
  if (isPrefix(prefix) || /^(?:azure_ai|vertex_ai_beta)$/.test(prefix))
    return withPrefix(prefix, written.slice(slash + 1), hasBase);
  const [, bare] = BARE.find(([pattern]) => pattern.test(written)) ?? [];
  if (bare !== undefined) return { provider: bare, model: written, difference: null };
  if (written === "*") return { provider: "openai", model: "*", difference: null };
  if (hasBase) {
    return {
      provider: "compatible",
      model: written,
      difference: "has no provider in its name: taken as an OpenAI-compatible server",
    };
  }
  return {
    why: "names no provider that is known: write its upstream by hand, as an OpenAI-compatible server or with its dialect",
  };
}

function withPrefix(prefix: string, model: string, hasBase: boolean): Destination | { readonly why: string } {
  if (prefix === "vertex_ai" || prefix === "vertex_ai_beta") return onVertex(model);
  if (prefix === "azure_ai") return onAzureAi(model);
  if (Object.hasOwn(UNKNOWN, prefix)) return { why: `no dialect here speaks to this provider: ${UNKNOWN[prefix]}` };
  const provider = PREFIXES[prefix];
  if (provider === undefined) return { why: "no dialect here speaks to this provider" };
  const inner = model.replace(/^(?:responses|chat|converse|converse_like|invoke|o_series|gpt5_series)\//, "");
  if (prefix === "openai" && hasBase) return { provider: "compatible", model: inner, difference: null, name: "openai" };
  if (prefix === "bedrock")
    return { provider, model: inner.replace(/^[a-z]{2}(?:-gov)?-[a-z]+-\d\//, ""), difference: null };
  if (prefix === "huggingface" && !hasBase) {
    const [first, ...rest] = inner.split("/");
    const named = rest.length === 2 ? `${rest.join("/")}:${first}` : inner;
    return { provider, model: named, difference: "is asked at Hugging Face's OpenAI-compatible router" };
  }
  if (prefix === "ollama" || prefix === "ollama_chat")
    return { provider, model: inner, difference: "is asked at Ollama's OpenAI-compatible endpoint" };
  if (prefix.startsWith("text-completion"))
    return { provider, model: inner, difference: "is asked for chat completions: there is no /v1/completions here" };
  const isOwn = provider === "compatible" && !/^(?:openai_like|custom_openai|custom)$/.test(prefix);
  return { provider, model: inner, difference: null, ...(isOwn && { name: prefix.replaceAll("_", "-") }) };
}

function onVertex(model: string): Destination | { readonly why: string } {
  const inner = model.replace(/^(?:gemini|openai|anthropic)\//, "");
  if (inner.startsWith("claude")) return { provider: "vertex-anthropic", model: inner, difference: null };
  if (/^(?:gemini|text-(?:multilingual-)?embedding|textembedding|text-embedding|multimodalembedding|\*)/.test(inner))
    return { provider: "vertex-gemini", model: inner, difference: null };
  return { why: "on Vertex AI only Gemini and Claude are spoken to: call this model at another provider" };
}

function onAzureAi(model: string): Destination | { readonly why: string } {
  const at = { model, name: "azure-ai", isFoundry: true } as const;
  if (model.startsWith("claude"))
    return { ...at, provider: "anthropic", difference: "is asked at the resource's Claude endpoint" };
  return { ...at, provider: "compatible", difference: "is asked at the resource's OpenAI-compatible endpoint" };
}
