import { type Call, isJson, type Json } from "../../kit/index.ts";
import {
  type BatchLimits,
  type EmbeddingAnswer,
  embeddingBatches,
  embeddingCodec,
  textsOf,
} from "../endpoints/embedding.ts";
import { pick } from "../canonical/json.ts";
import type { JsonRequest } from "../canonical/requests.ts";
import type { AnswerCodec } from "../dialect.ts";
import { dropped } from "../canonical/report.ts";
import { post, resourceOf } from "./models.ts";

const READ: ReadonlySet<string> = new Set(["input", "dimensions", "encoding_format", "task_type", "input_type"]);

/** Cohere's and Voyage's words for what a text is embedded for. */
const TASKS: Readonly<Record<string, string>> = {
  search_document: "RETRIEVAL_DOCUMENT",
  search_query: "RETRIEVAL_QUERY",
  document: "RETRIEVAL_DOCUMENT",
  query: "RETRIEVAL_QUERY",
  classification: "CLASSIFICATION",
  clustering: "CLUSTERING",
};

/** One of Google's methods for embeddings. Vectors are lists of floats, whatever encoding the client gets. */
interface Method {
  readonly name: string;
  /** @param model its resource name. */
  readonly body: (texts: readonly unknown[], model: string, asked: Asked) => Json;
  readonly limits: BatchLimits;
}

/** What a client says beside the texts. */
interface Asked {
  readonly task: unknown;
  readonly dimensions: unknown;
}

/** The Gemini API. "At most 100 requests can be in one batch" is its own refusal. */
const BATCH: Method = {
  name: "batchEmbedContents",
  body: (texts, model, { task, dimensions }) => ({
    requests: texts.map((text) => ({ model, ...contentOf(text), taskType: task, outputDimensionality: dimensions })),
  }),
  limits: { inputs: 100 },
};

/**
 * Vertex AI (https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api), which counts each
 * text by itself. 250 texts and 20,000 tokens a request: its page on embeddings, "API limits", and its refusal "the
 * supported range is from 1 (inclusive) to 251 (exclusive)" (https://github.com/topoteretes/cognee/pull/4856).
 */
const PREDICT: Method = {
  name: "predict",
  body: (texts, _model, { task, dimensions }) => ({
    instances: texts.map((content) => ({ content, task_type: task })),
    ...(dimensions === undefined ? {} : { parameters: { outputDimensionality: dimensions } }),
  }),
  limits: { inputs: 250, tokens: 20_000 },
};

/** Vertex AI's models from Gemini Embedding 2 on, one text a request (https://github.com/vercel/ai/pull/16238). */
const SINGLE: Method = {
  name: "embedContent",
  body: ([text], _model, { task, dimensions }) => ({
    ...contentOf(text),
    taskType: task,
    outputDimensionality: dimensions,
  }),
  limits: { inputs: 1 },
};
const SINGLE_MODELS = /gemini-embedding-(?!001)/;

/** Embeddings of the Gemini API. */
export const embedding = codecOf(() => BATCH, listed);

/** Embeddings of Vertex AI. */
export const vertexEmbedding = codecOf((model) => (SINGLE_MODELS.test(model) ? SINGLE : PREDICT), ofVertex);

/**
 * @param methodOf the one that a model has.
 * @param read an answer to any of them: which model was asked is not known there.
 */
function codecOf(methodOf: (model: string) => Method, read: (answer: Json) => EmbeddingAnswer) {
  const shared = embeddingCodec({ path: "", read });
  return {
    type: "answer",

    request({ body }: Call, { model }: { readonly model: string }, apiKey: string): JsonRequest {
      const { input_type: type } = body;
      const known = typeof type === "string" && Object.hasOwn(TASKS, type) ? TASKS[type] : undefined;
      const { dimensions, task = known } = pick(body, ["dimensions"], { task_type: "task" });
      const method = methodOf(model);
      const written = method.body(textsOf(body["input"]), resourceOf(model), { task, dimensions });
      const droppedType = known === undefined && type !== undefined && type !== null ? ["/input_type"] : [];
      return { ...post(model, method.name, apiKey, written), dropped: [...dropped(body, READ), ...droppedType] };
    },

    answer: (bytes: Uint8Array, call: Call) => shared.answer(bytes, call),
    decoder: null,
    batches: embeddingBatches((model) => methodOf(model).limits),
  } satisfies AnswerCodec;
}

/** Of `batchEmbedContents`. */
function listed({ embeddings, usageMetadata: counts }: Json): EmbeddingAnswer {
  return {
    data: Array.isArray(embeddings) ? embeddings.map(vectorOf) : null,
    tokens: isJson(counts) ? (counts["promptTokenCount"] ?? counts["totalTokenCount"]) : null,
  };
}

/** Of `predict`, and of `embedContent`. */
function ofVertex({ predictions, embedding: single, usageMetadata }: Json): EmbeddingAnswer {
  if (!Array.isArray(predictions)) return listed({ embeddings: isJson(single) ? [single] : null, usageMetadata });
  const embeddings = predictions.map((one: unknown) =>
    isJson(one) && isJson(one["embeddings"]) ? one["embeddings"] : {},
  );
  const counts = embeddings.map(({ statistics }) => (isJson(statistics) ? statistics["token_count"] : null));
  const all = counts.every((count) => typeof count === "number");
  return { data: embeddings.map(vectorOf), tokens: all ? counts.reduce((sum, count) => sum + count, 0) : null };
}

function contentOf(text: unknown): Json {
  return { content: { parts: [{ text }] } };
}

function vectorOf(one: unknown): Json {
  return { embedding: isJson(one) ? one["values"] : null };
}
