import { isJson, type Json, type ListedModel } from "../../kit/index.ts";
import { kindByName } from "./kinds.ts";
import { entriesOf, listedModel, type ListPage, type ModelList } from "./list.ts";

/*
 * `GET /models`, and what its servers say beyond OpenAI's `{id, created, owned_by}`:
 *
 * - OpenAI: https://platform.openai.com/docs/api-reference/models/list
 * - OpenRouter `name`, `context_length`, `pricing`, `architecture`, `top_provider`:
 *   https://openrouter.ai/docs/api-reference/list-available-models
 * - Together, a bare list with `type`, `display_name`, `context_length`, `pricing`: https://docs.together.ai/reference/models
 * - Mistral `name`, `max_context_length`, `capabilities`: https://docs.mistral.ai/api/endpoint/models
 * - Groq `context_window`, `max_completion_tokens`, `active`: https://console.groq.com/docs/api-reference#models
 * - Fireworks `context_length`, `supports_chat`: https://docs.fireworks.ai/api-reference/list-models
 * - vLLM `max_model_len`: https://github.com/vllm-project/vllm vllm/entrypoints/openai (ModelCard)
 * - llama.cpp `meta.n_ctx`, `meta.n_ctx_train`: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
 * - Jina, as OpenRouter asks of its providers: https://openrouter.ai/docs/use-cases/for-providers
 * - Ollama, LM Studio, DeepSeek, xAI, Cerebras, NVIDIA, Moonshot, Alibaba, Z.AI: names alone, or the fields above.
 *   https://docs.ollama.com/api/openai-compatibility, https://lmstudio.ai/docs/developer/openai-compat
 */
export const OPENAI_LIST: ModelList = { questions: [{ path: () => "/models", read: readModels }] };

/** The same under a version that a base URL may leave out. */
export const VERSIONED_LIST: ModelList = { questions: [{ path: () => "/v1/models", read: readModels }] };

function readModels(body: unknown): ListPage | null {
  const entries = Array.isArray(body) ? entriesOf({ data: body as unknown }, "data") : entriesOf(body, "data");
  return entries && { models: entries.flatMap(modelOf), next: null };
}

function modelOf(entry: Json): readonly ListedModel[] {
  if (entry["active"] === false) return [];
  const { id } = entry;
  const best = objectAt(entry, "top_provider");
  const meta = objectAt(entry, "meta");
  const contexts = [
    best["context_length"],
    entry["context_length"],
    entry["context_window"],
    entry["max_context_length"],
    entry["max_model_len"],
    meta["n_ctx"],
    meta["n_ctx_train"],
  ];
  const outputs = [
    best["max_completion_tokens"],
    entry["max_completion_tokens"],
    entry["max_output_tokens"],
    entry["max_output_length"],
  ];
  return listedModel({
    id,
    kind: kindOf(entry, kindByName(String(id))),
    displayName: entry["display_name"] ?? entry["name"],
    ownedBy: entry["owned_by"] ?? entry["organization"],
    contextWindow: contexts.find((value) => typeof value === "number"),
    maxOutput: outputs.find((value) => typeof value === "number"),
    created: entry["created"],
    price: priceOf(objectAt(entry, "pricing")),
  });
}

/** Together's words; its `language` and `code` models take bare completions. */
const TYPES: Readonly<Record<string, ListedModel["kind"]>> = {
  chat: "chat",
  embedding: "embedding",
  rerank: "rerank",
  image: "image",
  transcribe: "transcription",
  language: "other",
  code: "other",
  moderation: "other",
  video: "other",
};

/** OpenRouter's words for what comes out. */
const OUTPUTS: Readonly<Record<string, ListedModel["kind"]>> = {
  text: "chat",
  embeddings: "embedding",
  rerank: "rerank",
  image: "image",
  speech: "speech",
  transcription: "transcription",
  video: "other",
};

/** What the provider says of it, else what its name says. */
function kindOf(entry: Json, byName: ListedModel["kind"]): ListedModel["kind"] {
  const { type } = entry;
  if (typeof type === "string" && Object.hasOwn(TYPES, type)) return TYPES[type]!;
  const outputs = objectAt(entry, "architecture")["output_modalities"];
  if (Array.isArray(outputs) && outputs.length > 0) {
    // A model that also writes text is called as one that chats.
    const named = outputs.includes("text") ? "text" : String(outputs[0]);
    // A chat model that answers in one modality alone says so in its name.
    return Object.hasOwn(OUTPUTS, named) ? (named === "text" && byName !== "chat" ? byName : OUTPUTS[named]!) : byName;
  }
  // Mistral and Fireworks list models of every endpoint.
  const chats = objectAt(entry, "capabilities")["completion_chat"] ?? entry["supports_chat"];
  return chats === false && byName === "chat" ? "other" : byName;
}

/** OpenRouter prices a token, as text; Together a million, as a number. */
function priceOf({ prompt, completion, input, output }: Json): ListedModel["price"] | undefined {
  const perToken = [prompt, completion].map((value) => perMillion(value, 1_000_000));
  const [inPrice = null, outPrice = null] = perToken.includes(null)
    ? [input, output].map((value) => perMillion(value, 1))
    : perToken;
  return inPrice === null || outPrice === null ? undefined : { input: inPrice, output: outPrice };
}

/** Digits that survive the arithmetic of a price. */
const PRICE_DIGITS = 10;

function perMillion(value: unknown, factor: number): number | null {
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  // OpenRouter's router of models has a price of -1.
  if (typeof number !== "number" || !Number.isFinite(number) || number < 0) return null;
  return Number((number * factor).toPrecision(PRICE_DIGITS));
}

function objectAt(entry: Json, name: string): Json {
  const value = entry[name];
  return isJson(value) ? value : {};
}
