import { type AnswerExtras, type AnswerFormat, type Call, isJson, type Json } from "../../kit/index.ts";
import { withoutNulls } from "../canonical/json.ts";

/** The canonical call of a rerank body that its schema has accepted: documents as texts, `top_n` no more than there are. */
export function readRerank(body: Json): Call {
  const { model, query } = body;
  const documents = documentsOf(body);
  const topN = body["top_n"];
  const canonical = {
    ...withoutNulls(body, ["top_n", "return_documents"]),
    documents,
    ...(typeof topN === "number" && { top_n: Math.min(topN, documents.length) }),
  };
  return {
    kind: "rerank",
    model: String(model),
    stream: false,
    body: Object.freeze(canonical),
    promptBytes: [String(query), ...documents].reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    maxOutput: 0,
  };
}

/** Documents are strings, or objects with a `text` as Cohere's first version and Jina take them. */
function documentsOf({ documents }: Json): readonly string[] {
  if (!Array.isArray(documents)) return [];
  return documents.map((document: unknown) => String(isJson(document) ? document["text"] : document));
}

/** Answers to a rerank client: at most `top_n` results, best first, whatever the upstream sent (decisions 6b). */
export function rerankFormat(call: Call): AnswerFormat {
  const { query, top_n, return_documents } = call.body;
  const documents = documentsOf(call.body);
  return {
    contentType: "application/json",
    stream: null,

    answer({ results }: Json, { provider }: AnswerExtras): string {
      const ranked: readonly unknown[] = Array.isArray(results) ? results : [];
      const shown = ranked.slice(0, typeof top_n === "number" ? top_n : undefined).filter(isJson);
      return JSON.stringify({
        results: shown.map(({ index, relevance_score }) => ({
          index,
          relevance_score,
          ...(return_documents === true && { document: { text: documents[Number(index)] } }),
        })),
        model: call.model,
        provider,
      });
    },

    promptText: () => [String(query), ...documents].join("\n"),
    producedText: () => "",
  };
}
