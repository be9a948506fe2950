import type { TargetConfig, UpstreamConfig } from "#schema";
import { isLocal } from "../../config/local.ts";
import { type Draft, upstreamPointer } from "../draft.ts";
import { addressOf, headersOf, isStandIn } from "../endpoints.ts";
import { type Named, type Provider, providerNamed } from "../providers.ts";
import { literal } from "../secrets.ts";
import { type Field, numberOf } from "../source.ts";

/** The parameters of one deployment: its own, else those of the credential that it names. */
export type Params = (key: string) => Field | undefined;

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
  compatible: "OPENAI_LIKE_API_KEY",
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

/** Where a deployment sends its requests. */
export interface Destination {
  readonly provider: Named;
  /** The provider's own name for the model. */
  readonly model: string;
  /** What differs from the source; null where nothing does. */
  readonly difference: string | null;
}

/** The provider and model of a deployment, or why there is none here. */
export function destinationOf(
  written: string,
  custom: string | null,
  hasBase: boolean,
): Destination | { readonly why: string } {
  const slash = written.indexOf("/");
  const prefix = slash < 0 ? "" : written.slice(0, slash);
  const known = (name: string): boolean =>
    Object.hasOwn(PREFIXES, name) || Object.hasOwn(UNKNOWN, name) || name === "vertex_ai";
  if (custom !== null && custom !== prefix) return withPrefix(custom, written, hasBase);
  if (known(prefix) || /^(?:azure_ai|vertex_ai_beta)$/.test(prefix))
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
  if (prefix === "openai" && hasBase) return { provider: "compatible", model: inner, difference: null };
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
  return { provider, model: inner, difference: null };
}

function onVertex(model: string): Destination | { readonly why: string } {
  const inner = model.replace(/^(?:gemini|openai|anthropic)\//, "");
  if (/^claude/.test(inner)) return { provider: "vertex-anthropic", model: inner, difference: null };
  if (/^(?:gemini|text-(?:multilingual-)?embedding|textembedding|text-embedding|multimodalembedding|\*)/.test(inner))
    return { provider: "vertex-gemini", model: inner, difference: null };
  return { why: "on Vertex AI only Gemini and Claude are spoken to: call this model at another provider" };
}

function onAzureAi(model: string): Destination | { readonly why: string } {
  if (/^claude/.test(model))
    return { provider: "anthropic", model, difference: "is asked at the resource's Claude endpoint" };
  return { provider: "compatible", model, difference: "is asked at the resource's OpenAI-compatible endpoint" };
}

/** A target and its upstream, or null, and told, where there is no way to write it. */
export function targetOf(
  draft: Draft,
  params: Params,
  modelField: Field,
  destination: Destination,
): { readonly target: TargetConfig; readonly isLocal: boolean } | null {
  const { provider: name, model } = destination;
  const provider = litellmProvider(name);
  const place = placeOf(draft, params, modelField, name, provider);
  if (place === null) return null;
  const headers = headersOf(
    draft,
    [params("extra_headers"), params("default_headers"), params("headers")],
    place.variable,
  );
  const isKnownByHost = !provider.local && place.baseUrl === provider.baseUrl;
  const upstream: UpstreamConfig = {
    dialect: provider.dialect,
    ...(provider.vendor !== undefined && !isKnownByHost && { vendor: provider.vendor }),
    base_url: place.baseUrl,
    ...(place.keys.length > 0 && { api_keys: place.keys }),
    ...((Object.keys(headers.headers).length > 0 || place.headers !== undefined) && {
      headers: { ...place.headers, ...headers.headers },
    }),
    ...place.concurrency,
    ...retriesOf(params),
  };
  const upstreamName = draft.addUpstream(nameFor(name, modelField), upstream, place.hint ?? undefined);
  const pointer = (...keys: readonly (string | number)[]): string => upstreamPointer(upstreamName, ...keys);
  for (const tell of place.tells) tell(pointer);
  headers.tell((header) => pointer("headers", header));
  for (const key of ["max_retries", "num_retries"])
    draft.findings.changed(
      params(key),
      pointer("retries", "attempts"),
      "tries at this upstream, the first one included",
    );
  return { target: { upstream: upstreamName, model: literal(model) }, isLocal: isLocal(upstream) };
}

const MAX_RETRIES_COUNT = 20;

function retriesOf(params: Params): Pick<UpstreamConfig, "retries"> {
  const retries = numberOf(params("max_retries") ?? params("num_retries"));
  return retries !== null && Number.isInteger(retries) && retries >= 0 && retries <= MAX_RETRIES_COUNT
    ? { retries: { attempts: retries + 1 } }
    : {};
}

function nameFor(name: Named, modelField: Field): string {
  const prefix = /^([a-z_]+)\//.exec(modelField.text ?? "")?.[1] ?? "";
  if (name === "compatible")
    return prefix === "" || prefix === "custom_openai" || prefix === "openai_like"
      ? "compatible"
      : prefix.replaceAll("_", "-");
  return name;
}

const TESTED_VERSION = "2024-10-21";

type Tell = (pointer: (...keys: readonly (string | number)[]) => string) => void;

/** Address and credentials of an upstream, as each kind of provider has them. */
interface Place {
  readonly baseUrl: string;
  readonly keys: string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly concurrency?: Pick<UpstreamConfig, "concurrency">;
  readonly hint: string | null;
  /** The variable that secrets are put into. */
  readonly variable: string;
  readonly tells: readonly Tell[];
}

function placeOf(draft: Draft, params: Params, modelField: Field, name: Named, provider: Provider): Place | null {
  switch (name) {
    case "bedrock":
      return onBedrock(draft, params, modelField);
    case "vertex-gemini":
    case "vertex-anthropic":
      return atGoogle(draft, params, name === "vertex-gemini" ? "google" : "anthropic");
    default:
      return byKey(draft, params, modelField, provider);
  }
}

/** An address and an API key. */
function byKey(draft: Draft, params: Params, modelField: Field, provider: Provider): Place | null {
  const { findings } = draft;
  const baseField = params("api_base") ?? params("base_url");
  const prefix = variablePrefix(provider.variable);
  const address = baseField?.text == null ? null : addressOf(draft, baseField, provider, `${prefix}_API_BASE`);
  if (baseField?.text != null && address === null) {
    findings.lost(modelField, "its address cannot be used");
    return null;
  }
  if (params("base_url") !== undefined && params("base_url") !== baseField)
    findings.lost(params("base_url"), "api_base stands beside it, and wins");
  const azureAi = /^azure_ai\//.test(modelField.text ?? "");
  const variable = `${prefix}_API_BASE`;
  const assumed = provider.baseUrl ?? `\${env:${draft.variables.use(variable)}}${provider.local ? "/v1" : ""}`;
  const baseUrl = azureAi ? atAzureAi(address?.baseUrl ?? assumed, provider) : (address?.baseUrl ?? assumed);
  const tells: Tell[] = [];
  if (address !== null && baseField !== undefined) tells.push((at) => address.tell(at("base_url")));
  if (address === null && provider.baseUrl === null)
    tells.push(() =>
      findings.changed(modelField, null, `has no api_base: its address comes from the variable ${variable}`),
    );
  const keyField = params("api_key") ?? params("azure_ad_token");
  const isOwnServer = provider.local || address !== null;
  const keys: string[] = [];
  if (keyField !== undefined && !(isStandIn(keyField) && isOwnServer)) {
    const secret = draft.secret(keyField, provider.variable);
    keys.push(secret.text);
    tells.push((at) => secret.tell(at("api_keys", 0)));
  } else if (isOwnServer) {
    if (!isLocal({ base_url: baseUrl, ...(provider.vendor !== undefined && { vendor: provider.vendor }) }))
      keys.push("none");
    if (keyField !== undefined)
      tells.push(() => findings.mapped(keyField, null, "stands for no key: the server asks for none"));
  } else {
    keys.push(`\${env:${draft.variables.use(provider.variable)}}`);
  }
  const headers: Record<string, string> = {};
  const versionField = params("api_version");
  const version = versionField?.text ?? address?.version ?? null;
  if (version !== null && provider.dialect === "azure") {
    const named = draft.referenceOf(versionField);
    headers["api-version"] = named === null ? literal(version) : `\${env:${draft.variables.use(named)}}`;
    // Without a version Azure answers 404, also the simulated one of tests.
    if (named !== null) draft.testVariables.set(named, TESTED_VERSION);
    if (named === null && !/^[\w.-]{1,40}$/.test(version)) {
      findings.lost(versionField, "is no version of Azure's API");
      delete headers["api-version"];
    } else tells.push((at) => findings.mapped(versionField, at("headers", "api-version")));
  } else if (versionField !== undefined) findings.mapped(versionField, null, "is not needed: only Azure has versions");
  const organization = params("organization") ?? params("openai_organization");
  if (organization?.text != null) {
    const secret = draft.secret(organization, "OPENAI_ORGANIZATION");
    headers["openai-organization"] = secret.text;
    tells.push((at) => secret.tell(at("headers", "openai-organization")));
  }
  const parallel = Number(params("max_parallel_requests")?.text);
  const concurrency = Number.isInteger(parallel) && parallel > 0 ? { concurrency: { requests: parallel } } : undefined;
  if (concurrency !== undefined)
    tells.push((at) =>
      findings.changed(
        params("max_parallel_requests"),
        at("concurrency", "requests"),
        "bounds the requests of one process to this upstream; those beyond wait",
      ),
    );
  return {
    baseUrl,
    keys,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(concurrency !== undefined && { concurrency }),
    hint: address?.hint ?? null,
    variable: prefix,
    tells,
  };
}

/** The endpoint of a Foundry resource for Claude, and for the others. */
function atAzureAi(baseUrl: string, { dialect }: Provider): string {
  const resource = baseUrl.replace(/\/(?:models|anthropic|openai)(?:\/.*)?$/, "");
  return dialect === "anthropic" ? `${resource}/anthropic` : `${resource}/openai/v1`;
}

function variablePrefix(variable: string): string {
  return variable.replace(/_(?:API_)?(?:KEY|TOKEN)$/, "");
}

const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d$/;

/** A region, and keys that sign requests or a bearer key. */
function onBedrock(draft: Draft, params: Params, modelField: Field): Place {
  const { findings, variables } = draft;
  const tells: Tell[] = [];
  const region = params("aws_region_name") ?? params("region_name");
  const inModel = /(?:^|\/)([a-z]{2}(?:-gov)?-[a-z]+-\d)\//.exec(modelField.text ?? "")?.[1] ?? null;
  const named = draft.referenceOf(region);
  const isRegion = REGION.test(region?.text ?? "");
  if (named === null && !isRegion && region?.text != null) findings.lost(region, "is no region of AWS");
  const fixed = isRegion ? region!.text! : inModel;
  const host =
    named === null
      ? (fixed ?? `\${env:${variables.use("AWS_REGION_NAME")}:-us-east-1}`)
      : `\${env:${variables.use(named)}}`;
  if (host === region?.text || named !== null)
    tells.push((at) => findings.mapped(region, at("base_url"), "is the region in base_url"));
  const endpoint = params("aws_bedrock_runtime_endpoint") ?? params("api_base");
  const address =
    endpoint?.text == null
      ? null
      : addressOf(draft, endpoint, litellmProvider("bedrock"), "AWS_BEDROCK_RUNTIME_ENDPOINT");
  if (address !== null) tells.push((at) => address.tell(at("base_url")));
  const bearer = params("api_key");
  const id = params("aws_access_key_id");
  const secret = params("aws_secret_access_key");
  const token = params("aws_session_token");
  const parts: string[] = [];
  if (bearer?.text != null) {
    const key = draft.secret(bearer, litellmProvider("bedrock").variable);
    parts.push(key.text);
    tells.push((at) => key.tell(at("api_keys", 0)));
  } else {
    for (const [field, variable] of [
      [id, "AWS_ACCESS_KEY_ID"],
      [secret, "AWS_SECRET_ACCESS_KEY"],
      [token, "AWS_SESSION_TOKEN"],
    ] as const) {
      if (field?.text != null) {
        const key = draft.secret(field, variable);
        parts.push(key.text);
        tells.push((at) => key.tell(at("api_keys", 0)));
      } else if (variable !== "AWS_SESSION_TOKEN") parts.push(`\${env:${variables.use(variable)}}`);
    }
  }
  return {
    baseUrl: address?.baseUrl ?? `https://bedrock-runtime.${host}.amazonaws.com`,
    keys: [parts.join(":")],
    hint: REGION.test(host) ? host : null,
    variable: "AWS",
    tells,
  };
}

/** Project and location, and a service account's file or the machine's own credentials. */
function atGoogle(draft: Draft, params: Params, publisher: "google" | "anthropic"): Place {
  const { findings, variables, secrets } = draft;
  const tells: Tell[] = [];
  const part = (field: Field | undefined, fallback: () => string): string => {
    const named = draft.referenceOf(field);
    if (named !== null) {
      tells.push((at) => findings.mapped(field, at("base_url"), `is part of base_url, from the variable ${named}`));
      return `\${env:${variables.use(named)}}`;
    }
    const text = field?.text?.trim() ?? "";
    if (/^[a-z][a-z0-9:.-]{1,60}$/.test(text) && secrets.isPublic(text)) {
      tells.push((at) => findings.mapped(field, at("base_url"), "is part of base_url"));
      return text;
    }
    if (field?.text != null) findings.lost(field, "cannot stand in an address");
    return fallback();
  };
  const project = part(
    params("vertex_project") ?? params("vertex_ai_project"),
    () => `\${env:${variables.use("VERTEXAI_PROJECT")}}`,
  );
  const location = part(
    params("vertex_location") ?? params("vertex_ai_location") ?? params("region_name"),
    () => "global",
  );
  const host = location === "global" ? "aiplatform.googleapis.com" : `${location}-aiplatform.googleapis.com`;
  const credentials = params("vertex_credentials") ?? params("vertex_ai_credentials");
  return {
    baseUrl: `https://${host}/v1/projects/${project}/locations/${location}/publishers/${publisher}`,
    keys: [credentialsOf(draft, credentials, tells)],
    hint: /^[a-z0-9-]+$/.test(location) ? location : null,
    variable: "GOOGLE",
    tells,
  };
}

/** A service account's key file. */
const KEY_FILE = /^[\w./~ -]+\.json$/;

function credentialsOf(draft: Draft, field: Field | undefined, tells: Tell[]): string {
  const { findings } = draft;
  if (field === undefined || (field.kind === "scalar" && (field.text ?? "") === "")) {
    if (field !== undefined) tells.push((at) => findings.mapped(field, at("api_keys", 0)));
    return "application-default";
  }
  const named = draft.referenceOf(field);
  const text = field.text?.trim() ?? "";
  if (named === null && field.kind === "scalar" && KEY_FILE.test(text) && draft.secrets.isPublic(text)) {
    const name = draft.variables.nameOf(text, "GOOGLE_CREDENTIALS");
    const reason = `is a file, which may be elsewhere here: put what it holds into the variable ${name}, or write \${file:PATH} in its place`;
    tells.push((at) => findings.changed(field, at("api_keys", 0), reason));
    return `\${env:${name}}`;
  }
  if (field.kind === "scalar") {
    const secret = draft.secret(field, "GOOGLE_CREDENTIALS");
    tells.push((at) => secret.tell(at("api_keys", 0)));
    return secret.text;
  }
  const name = draft.variables.nameOf(`${field.path}`, "GOOGLE_CREDENTIALS");
  tells.push((at) =>
    findings.changed(
      field,
      at("api_keys", 0),
      `is a secret that is not copied: put the whole key file, as JSON, into the variable ${name}`,
    ),
  );
  return `\${env:${name}}`;
}
