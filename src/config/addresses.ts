import type { UpstreamConfig } from "#schema";

type Dialect = UpstreamConfig["dialect"];

/** The `base_url` of one dialect at a provider: how it is written, and the paths that work. */
interface Address {
  /** As an example; words in capitals stand for what is the operator's. */
  readonly url: string;
  /** Matches the path without its last slash; by default the path of `url`. */
  readonly path?: RegExp;
}

/** Where a provider has its API, and where people look for it in vain. */
export interface Provider {
  readonly name: string;
  /** Documentation of the address, or the client library that has it. */
  readonly source: string;
  /** Hosts of the API. */
  readonly hosts: RegExp;
  /** Hosts of its pages, which answer no API request. */
  readonly pages?: RegExp;
  /** Hosts of another API of the provider. */
  readonly others?: { readonly hosts: RegExp; readonly why: string };
  readonly addresses: Partial<Record<Dialect, Address>>;
}

const BARE = /^(?:\/v1)?$/;

/** A dialect that is not among the addresses of a provider is not spoken there. */
export const PROVIDERS: readonly Provider[] = [
  {
    name: "OpenAI",
    source: "https://platform.openai.com/docs/api-reference/introduction",
    hosts: /^(?:[a-z]+\.)?api\.openai\.com$/,
    pages: /^(?:(?:www|platform|chat|help)\.)?openai\.com$|^(?:www\.)?chatgpt\.com$/,
    addresses: { openai: { url: "https://api.openai.com/v1" } },
  },
  {
    name: "Anthropic",
    source: "https://docs.anthropic.com/en/api/overview, https://docs.anthropic.com/en/api/openai-sdk",
    hosts: /^api\.anthropic\.com$/,
    pages: /^(?:(?:www|console|docs)\.)?anthropic\.com$|^(?:www\.)?claude\.ai$|^(?:(?:www|platform)\.)?claude\.com$/,
    addresses: {
      anthropic: { url: "https://api.anthropic.com", path: BARE },
      openai: { url: "https://api.anthropic.com/v1" },
    },
  },
  {
    name: "Google",
    source: "https://ai.google.dev/api, https://ai.google.dev/gemini-api/docs/openai",
    hosts: /^generativelanguage\.googleapis\.com$/,
    pages: /^(?:aistudio|gemini|makersuite)\.google\.com$|^ai\.google\.dev$/,
    addresses: {
      gemini: { url: "https://generativelanguage.googleapis.com", path: /^(?:\/v1(?:alpha|beta)?)?$/ },
      openai: {
        url: "https://generativelanguage.googleapis.com/v1beta/openai",
        path: /^\/v1(?:alpha|beta)?\/openai$/,
      },
    },
  },
  {
    name: "Azure",
    source: "https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle",
    hosts: /\.(?:openai\.azure\.(?:com|us)|cognitiveservices\.azure\.com|services\.ai\.azure\.com)$/,
    pages: /^(?:portal|ai|oai|ml)\.azure\.com$/,
    addresses: {
      azure: {
        url: "https://RESOURCE.openai.azure.com",
        path: /^(?:\/openai(?:\/v1|\/deployments\/[^/]+)?)?$/,
      },
      openai: { url: "https://RESOURCE.openai.azure.com/openai/v1" },
      anthropic: { url: "https://RESOURCE.services.ai.azure.com/anthropic", path: /^\/anthropic(?:\/v1)?$/ },
    },
  },
  {
    name: "Bedrock",
    source: "https://docs.aws.amazon.com/general/latest/gr/bedrock.html",
    hosts: /(?:^|\.)bedrock-runtime(?:-fips)?\.[a-z]+(?:-[a-z]+)+-\d+\.(?:vpce\.)?amazonaws\.com(?:\.cn)?$/,
    pages: /\.console\.aws\.amazon\.com$|^(?:console\.)?aws\.amazon\.com$/,
    others: {
      hosts: /(?:^|\.)bedrock(?:-runtime|-agent|-agent-runtime)?(?:\.[a-z]+-[a-z-]+-\d+)?\.amazonaws\.com$/,
      why: "models are called at bedrock-runtime in a region",
    },
    addresses: {
      bedrock: { url: "https://bedrock-runtime.REGION.amazonaws.com" },
      openai: { url: "https://bedrock-runtime.REGION.amazonaws.com/openai/v1" },
    },
  },
  {
    name: "Mistral",
    source: "https://docs.mistral.ai/api",
    hosts: /^(?:api|codestral)\.mistral\.ai$/,
    pages: /^(?:(?:www|console|chat|admin|docs)\.)?mistral\.ai$/,
    addresses: { openai: { url: "https://api.mistral.ai/v1" } },
  },
  {
    name: "DeepSeek",
    source: "https://api-docs.deepseek.com, https://api-docs.deepseek.com/guides/anthropic_api",
    hosts: /^api\.deepseek\.com$/,
    pages: /^(?:(?:www|platform|chat)\.)?deepseek\.com$/,
    addresses: {
      openai: { url: "https://api.deepseek.com/v1", path: /^(?:\/v1|\/beta)?$/ },
      anthropic: { url: "https://api.deepseek.com/anthropic", path: /^\/anthropic(?:\/v1)?$/ },
    },
  },
  {
    name: "Groq",
    source: "https://console.groq.com/docs/openai",
    hosts: /^api\.groq\.com$/,
    pages: /^(?:(?:www|console)\.)?groq\.com$/,
    addresses: { openai: { url: "https://api.groq.com/openai/v1" } },
  },
  {
    name: "OpenRouter",
    source: "https://openrouter.ai/docs/quickstart",
    hosts: /^(?:[a-z]+\.)?openrouter\.ai$/,
    addresses: {
      openai: { url: "https://openrouter.ai/api/v1" },
      anthropic: { url: "https://openrouter.ai/api", path: /^\/api(?:\/v1)?$/ },
    },
  },
  {
    name: "xAI",
    source: "https://docs.x.ai/docs/overview",
    hosts: /^(?:[a-z0-9-]+\.)?api\.x\.ai$/,
    pages: /^(?:(?:www|console)\.)?x\.ai$|^(?:www\.)?grok\.com$/,
    addresses: { openai: { url: "https://api.x.ai/v1" }, anthropic: { url: "https://api.x.ai", path: BARE } },
  },
  {
    name: "Moonshot",
    source: "https://platform.moonshot.ai/docs",
    hosts: /^api\.moonshot\.(?:ai|cn)$/,
    pages: /^(?:(?:www|platform)\.)?moonshot\.(?:ai|cn)$|^(?:www\.)?kimi\.com$/,
    addresses: {
      openai: { url: "https://api.moonshot.ai/v1" },
      anthropic: { url: "https://api.moonshot.ai/anthropic", path: /^\/anthropic(?:\/v1)?$/ },
    },
  },
  {
    name: "Together",
    source: "https://docs.together.ai/docs/openai-api-compatibility",
    hosts: /^api\.together\.(?:xyz|ai)$/,
    pages: /^(?:www\.)?together\.(?:xyz|ai)$/,
    addresses: { openai: { url: "https://api.together.xyz/v1" } },
  },
  {
    name: "Fireworks",
    source: "https://docs.fireworks.ai/tools-sdks/openai-compatibility",
    hosts: /^api\.fireworks\.ai$/,
    pages: /^(?:(?:www|app)\.)?fireworks\.ai$/,
    addresses: {
      openai: { url: "https://api.fireworks.ai/inference/v1" },
      anthropic: { url: "https://api.fireworks.ai/inference", path: /^\/inference(?:\/v1)?$/ },
    },
  },
  {
    name: "Cerebras",
    source: "https://inference-docs.cerebras.ai/resources/openai",
    hosts: /^api\.cerebras\.ai$/,
    pages: /^(?:(?:www|cloud|inference)\.)?cerebras\.ai$/,
    addresses: { openai: { url: "https://api.cerebras.ai/v1" } },
  },
  {
    name: "Perplexity",
    source: "https://docs.perplexity.ai/guides/chat-completions-guide",
    hosts: /^api\.perplexity\.ai$/,
    pages: /^(?:www\.)?perplexity\.ai$/,
    addresses: { openai: { url: "https://api.perplexity.ai", path: BARE } },
  },
  {
    name: "Alibaba",
    source: "https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope",
    hosts: /^(?:[a-z0-9-]+\.)*(?:dashscope[a-z-]*|maas)\.aliyuncs\.com$/,
    pages: /^(?:bailian|modelstudio)\.console\.(?:aliyun|alibabacloud)\.com$/,
    addresses: {
      openai: {
        url: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        path: /^\/(?:compatible-mode|compatible-api)\/v1$/,
      },
      anthropic: { url: "https://dashscope-intl.aliyuncs.com/apps/anthropic", path: /^\/apps\/anthropic(?:\/v1)?$/ },
    },
  },
  {
    name: "Z.ai",
    source: "https://docs.z.ai/api-reference/introduction",
    hosts: /^(?:api\.z\.ai|open\.bigmodel\.cn)$/,
    pages: /^(?:(?:www|chat)\.)?z\.ai$|^(?:www\.)?bigmodel\.cn$/,
    addresses: {
      openai: { url: "https://api.z.ai/api/paas/v4", path: /^\/api\/(?:coding\/)?paas\/v4$/ },
      anthropic: { url: "https://api.z.ai/api/anthropic", path: /^\/api\/anthropic(?:\/v1)?$/ },
    },
  },
  {
    name: "NVIDIA",
    source: "https://docs.api.nvidia.com/nim/reference/llm-apis",
    hosts: /^integrate\.api\.nvidia\.com$/,
    pages: /^(?:build|www)\.nvidia\.com$/,
    addresses: { openai: { url: "https://integrate.api.nvidia.com/v1" } },
  },
  {
    name: "Cohere",
    source: "https://docs.cohere.com/reference/about, https://docs.cohere.com/docs/compatibility-api",
    hosts: /^api\.cohere\.(?:com|ai)$/,
    pages: /^(?:(?:www|dashboard|docs|coral)\.)?cohere\.com$/,
    addresses: {
      cohere: { url: "https://api.cohere.com", path: /^(?:\/v2)?$/ },
      openai: { url: "https://api.cohere.com/compatibility/v1" },
    },
  },
  {
    name: "Jina",
    source: "https://api.jina.ai/redoc",
    hosts: /^api\.jina\.ai$/,
    pages: /^(?:www\.)?jina\.ai$/,
    addresses: { jina: { url: "https://api.jina.ai/v1", path: BARE }, openai: { url: "https://api.jina.ai/v1" } },
  },
  {
    name: "Voyage",
    source: "https://docs.voyageai.com/reference/embeddings-api",
    hosts: /^api\.voyageai\.com$/,
    pages: /^(?:(?:www|dash|dashboard|docs)\.)?voyageai\.com$/,
    addresses: {
      voyage: { url: "https://api.voyageai.com/v1", path: BARE },
      openai: { url: "https://api.voyageai.com/v1" },
    },
  },
  {
    name: "ElevenLabs",
    source: "https://elevenlabs.io/docs/api-reference/introduction",
    hosts: /^api(?:\.[a-z]+)*\.elevenlabs\.io$/,
    pages: /^(?:www\.)?elevenlabs\.io$/,
    addresses: { elevenlabs: { url: "https://api.elevenlabs.io", path: BARE } },
  },
  {
    name: "Deepgram",
    source: "https://developers.deepgram.com/reference/deepgram-api-overview",
    hosts: /^api(?:\.[a-z]+)?\.deepgram\.com$/,
    pages: /^(?:(?:www|console|developers|playground)\.)?deepgram\.com$/,
    addresses: { deepgram: { url: "https://api.deepgram.com", path: BARE } },
  },
];

/** A server that operators run themselves, known by `vendor` or by the port that it has unless told otherwise. */
export interface LocalServer {
  readonly source: string;
  readonly name: string;
  readonly vendor: string;
  readonly port: string;
  /** Paths of its other interface. */
  readonly own: RegExp;
}

export const LOCAL_SERVERS: readonly LocalServer[] = [
  {
    name: "Ollama",
    vendor: "ollama",
    port: "11434",
    own: /^\/api(?:\/.*)?$/,
    source: "https://github.com/ollama/ollama/blob/main/docs/openai.md",
  },
  {
    name: "LM Studio",
    vendor: "lmstudio",
    port: "1234",
    own: /^\/api(?:\/.*)?$/,
    source: "https://lmstudio.ai/docs/app/api/endpoints/openai",
  },
  {
    name: "vLLM",
    vendor: "vllm",
    port: "",
    own: /^\/(?:docs|metrics)$/,
    source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
  },
];
