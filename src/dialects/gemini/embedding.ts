import { isJson, type Json } from "../../kit/index.ts";
import type { AnswerCodec } from "../dialect.ts";
import { type EmbeddingAnswer, embeddingCodec, textsOf } from "../embeddings.ts";
import { pick } from "../fields.ts";
import { dropped } from "../pointers.ts";
import { post, resourceOf } from "./http.ts";

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

const shared = embeddingCodec({ path: "", read });

/** `batchEmbedContents`; vectors are lists of floats, whatever encoding the client gets. */
export const embedding = {
  type: "answer",

  request({ body }, { model }, apiKey) {
    const task = body["input_type"];
    const known = typeof task === "string" && Object.hasOwn(TASKS, task) ? { taskType: TASKS[task] } : null;
    const fields = { ...known, ...pick(body, [], { dimensions: "outputDimensionality", task_type: "taskType" }) };
    const requests = textsOf(body["input"]).map((text) => ({
      model: resourceOf(model),
      content: { parts: [{ text }] },
      ...fields,
    }));
    const lost = known === null && task !== undefined && task !== null ? ["/input_type"] : [];
    return { ...post(model, "batchEmbedContents", apiKey, { requests }), dropped: [...dropped(body, READ), ...lost] };
  },

  answer: (bytes, call) => shared.answer(bytes, call),
  decoder: null,
} satisfies AnswerCodec;

function read({ embeddings, usageMetadata: counts }: Json): EmbeddingAnswer {
  return {
    data: Array.isArray(embeddings)
      ? embeddings.map((one: unknown) => ({ embedding: isJson(one) ? one["values"] : null }))
      : null,
    tokens: isJson(counts) ? (counts["promptTokenCount"] ?? counts["totalTokenCount"]) : null,
  };
}
