import { LOCAL_VENDORS, type Vendor, VENDORS } from "../kit/index.ts";
import type { UpstreamConfig } from "#schema";
import { PROVIDERS } from "./addresses.ts";

type Dialect = UpstreamConfig["dialect"];

/** Every name that `init`, `import` and `connect` take for a provider: a vendor, a dialect, or `compatible`. */
export type ProviderName = Vendor | Dialect | "compatible";

export interface ProviderEntry {
  readonly name: ProviderName;
  readonly displayName: string;
  readonly dialect: Dialect;
  /** The vendor, where the dialect is openai and the vendor is known. Hosted ones are also known by `baseUrl`. */
  readonly vendor?: Vendor;
  /** Words in capitals (HOST, REGION, RESOURCE) stand for the operator's own. */
  readonly baseUrl: string;
  /** The environment variable from which the provider's own SDK reads the key. */
  readonly keyVariable: string;
  /** Documentation or SDK that names `keyVariable`. */
  readonly source: string;
  /** Runs on the operator's machines: needs no key, and its models cost nothing. */
  readonly local: boolean;
}

interface Hosted {
  /** Its entry in PROVIDERS, which has the address. */
  readonly at: string;
  /** Default: openai. */
  readonly dialect?: Dialect;
  readonly key: string;
  readonly source: string;
}

const HOSTED = {
  openai: { at: "OpenAI", key: "OPENAI_API_KEY", source: "https://github.com/openai/openai-python#usage" },
  anthropic: {
    at: "Anthropic",
    dialect: "anthropic",
    key: "ANTHROPIC_API_KEY",
    source: "https://github.com/anthropics/anthropic-sdk-typescript#usage",
  },
  gemini: {
    at: "Google",
    dialect: "gemini",
    key: "GEMINI_API_KEY",
    source: "https://ai.google.dev/gemini-api/docs/api-key",
  },
  azure: {
    at: "Azure",
    dialect: "azure",
    key: "AZURE_OPENAI_API_KEY",
    source: "https://github.com/openai/openai-python#microsoft-azure-openai",
  },
  bedrock: {
    at: "Bedrock",
    dialect: "bedrock",
    key: "AWS_BEARER_TOKEN_BEDROCK",
    source: "https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-use.html",
  },
  mistral: { at: "Mistral", key: "MISTRAL_API_KEY", source: "https://github.com/mistralai/client-python" },
  deepseek: { at: "DeepSeek", key: "DEEPSEEK_API_KEY", source: "https://api-docs.deepseek.com" },
  groq: { at: "Groq", key: "GROQ_API_KEY", source: "https://console.groq.com/docs/quickstart" },
  openrouter: {
    at: "OpenRouter",
    key: "OPENROUTER_API_KEY",
    source: "https://github.com/OpenRouterTeam/typescript-sdk",
  },
  xai: { at: "xAI", key: "XAI_API_KEY", source: "https://docs.x.ai/docs/tutorial" },
  moonshot: { at: "Moonshot", key: "MOONSHOT_API_KEY", source: "https://platform.moonshot.ai/docs" },
  together: { at: "Together", key: "TOGETHER_API_KEY", source: "https://docs.together.ai/docs/quickstart" },
  fireworks: {
    at: "Fireworks",
    key: "FIREWORKS_API_KEY",
    source: "https://docs.fireworks.ai/getting-started/quickstart",
  },
  cerebras: { at: "Cerebras", key: "CEREBRAS_API_KEY", source: "https://inference-docs.cerebras.ai/quickstart" },
  perplexity: {
    at: "Perplexity",
    key: "PERPLEXITY_API_KEY",
    source: "https://docs.perplexity.ai/guides/perplexity-sdk",
  },
  alibaba: {
    at: "Alibaba",
    key: "DASHSCOPE_API_KEY",
    source: "https://www.alibabacloud.com/help/en/model-studio/get-api-key",
  },
  zai: { at: "Z.ai", key: "ZAI_API_KEY", source: "https://docs.z.ai/guides/develop/python/introduction" },
  nvidia: { at: "NVIDIA", key: "NVIDIA_API_KEY", source: "https://docs.api.nvidia.com/nim/reference/llm-apis" },
  cohere: {
    at: "Cohere",
    dialect: "cohere",
    key: "CO_API_KEY",
    source: "https://github.com/cohere-ai/cohere-python#usage",
  },
  jina: { at: "Jina", dialect: "jina", key: "JINA_API_KEY", source: "https://github.com/jina-ai/MCP" },
  voyage: {
    at: "Voyage",
    dialect: "voyage",
    key: "VOYAGE_API_KEY",
    source: "https://docs.voyageai.com/docs/api-key-and-installation",
  },
  elevenlabs: {
    at: "ElevenLabs",
    dialect: "elevenlabs",
    key: "ELEVENLABS_API_KEY",
    source: "https://github.com/elevenlabs/elevenlabs-js",
  },
  deepgram: {
    at: "Deepgram",
    dialect: "deepgram",
    key: "DEEPGRAM_API_KEY",
    source: "https://github.com/deepgram/deepgram-js-sdk",
  },
} satisfies Partial<Record<ProviderName, Hosted>>;

/** Servers that operators run themselves, at the ports that they have unless told otherwise. */
const OWN = {
  ollama: {
    displayName: "Ollama",
    baseUrl: "http://127.0.0.1:11434/v1",
    keyVariable: "OLLAMA_API_KEY",
    source: "https://docs.ollama.com/api/authentication",
  },
  vllm: {
    displayName: "vLLM",
    baseUrl: "http://127.0.0.1:8000/v1",
    keyVariable: "VLLM_API_KEY",
    source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server",
  },
  lmstudio: {
    displayName: "LM Studio",
    baseUrl: "http://127.0.0.1:1234/v1",
    keyVariable: "LM_API_TOKEN",
    source: "https://lmstudio.ai/docs/typescript/authentication",
  },
  llamacpp: {
    displayName: "llama.cpp",
    baseUrl: "http://127.0.0.1:8080/v1",
    keyVariable: "LLAMA_API_KEY",
    source: "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
  },
  compatible: {
    displayName: "an OpenAI-compatible server",
    baseUrl: "https://HOST/v1",
    keyVariable: "UPSTREAM_API_KEY",
    source: "this gateway's own name: the server may be anybody's",
  },
} satisfies Partial<Record<ProviderName, Pick<ProviderEntry, "displayName" | "baseUrl" | "keyVariable" | "source">>>;

type OwnName = keyof typeof OWN | "generic";

/** The providers in the order in which a person is asked: the well-known ones first, `compatible` last. */
const NAMES = [...Object.keys(HOSTED), ...Object.keys(OWN), "generic"] as readonly (keyof typeof HOSTED | OwnName)[];

/**
 * The provider directory: one entry for every vendor and dialect, and `compatible` (also called `generic`, the vendor).
 * @example PROVIDER_DIRECTORY.get("groq")?.keyVariable === "GROQ_API_KEY"
 */
export const PROVIDER_DIRECTORY: ReadonlyMap<string, ProviderEntry> = new Map(
  NAMES.map((name) => [name, isOwn(name) ? ownEntry(name) : hostedEntry(name, HOSTED[name])]),
);

function isOwn(name: keyof typeof HOSTED | OwnName): name is OwnName {
  return name in OWN || name === "generic";
}

function vendorNamed(name: ProviderName): Pick<ProviderEntry, "vendor"> {
  const vendor = VENDORS.find((one) => one === name && one !== "generic");
  return vendor === undefined ? {} : { vendor };
}

function ownEntry(name: OwnName): ProviderEntry {
  const named = vendorNamed(name);
  const local = named.vendor !== undefined && LOCAL_VENDORS.has(named.vendor);
  const entry = OWN[name === "generic" ? "compatible" : name];
  return { name, dialect: "openai", ...named, local, ...entry };
}

function hostedEntry(name: keyof typeof HOSTED, hosted: Hosted): ProviderEntry {
  const { at, dialect = "openai", key, source } = hosted;
  const baseUrl = PROVIDERS.find((provider) => provider.name === at)?.addresses[dialect]?.url;
  if (baseUrl === undefined) throw new Error(`addresses.ts has no address of ${at} in the dialect ${dialect}`);
  return { name, displayName: at, dialect, ...vendorNamed(name), baseUrl, keyVariable: key, source, local: false };
}
