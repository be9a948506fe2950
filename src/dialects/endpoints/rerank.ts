import { type AnswerExtras, type AnswerFormat, type Call, isJson, type Json } from "../../kit/index.ts";
import { malformed } from "../canonical/errors.ts";
import { withoutNulls } from "../canonical/json.ts";
import { parseAnswer, postJson } from "../canonical/requests.ts";
import { promptUsage } from "../canonical/usage.ts";
import type { AnswerCodec } from "../dialect.ts";

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

/** Answers to a rerank client: at most `top_n` results, best first, whatever the upstream sent. */
export function rerankFormat(call: Call): AnswerFormat {
  const { query, top_n, return_documents } = call.body;
  const documents = documentsOf(call.body);
  return {
    contentType: "application/json",
    stream: null,

    answer({ results }: Json, { provider }: AnswerExtras): string {
      const ranked: readonly unknown[] = Array.isArray(results) ? results : [];
      const best = ranked.slice(0, typeof top_n === "number" ? top_n : undefined).filter(isJson);
      return JSON.stringify({
        results: best.map(({ index, relevance_score }) => ({
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

/** OpenAI has no such endpoint; this is what vLLM, Together, LiteLLM and others serve beside theirs. */
export const rerank = rerankCodec({ path: "/rerank" });

/** What sets one dialect's reranking apart from another's; all answers are read alike. */
interface RerankDialect {
  readonly path: string;
  /**
   * A canonical body in the dialect; its model is put in afterwards. Left out: as it is, but for `return_documents`:
   * clients get the documents of their own request.
   */
  readonly body?: (body: Json) => Json;
}

export function rerankCodec({ path, body: write = withoutReturn }: RerankDialect): AnswerCodec {
  return {
    type: "answer",

    request: (call, target, apiKey) => postJson(path, apiKey, { ...write(call.body), model: target.model }),

    answer(bytes, call) {
      const answer = parseAnswer(bytes);
      const { documents } = call.body;
      const results = ranking(answer["results"] ?? answer["data"], Array.isArray(documents) ? documents.length : 0);
      const usage = isJson(answer["usage"]) ? answer["usage"] : {};
      return { body: { results }, usage: promptUsage(usage["total_tokens"] ?? usage["prompt_tokens"]) };
    },

    decoder: null,
  };
}

function withoutReturn(body: Json): Json {
  const sent: Record<string, unknown> = { ...body };
  delete sent["return_documents"];
  return sent;
}

interface Ranked {
  readonly index: number;
  readonly relevance_score: number;
}

/** Best first. @throws AttemptError unless each result is a document's own. */
function ranking(results: unknown, documents: number): readonly Ranked[] {
  if (!Array.isArray(results) || results.length === 0) throw malformed("an answer without results");
  const seen = new Set<number>();
  const ranked = results.map((result: unknown): Ranked => {
    const { index, ...scores } = isJson(result) ? result : {};
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= documents) {
      throw malformed("a result of no document");
    }
    if (seen.has(index)) throw malformed("two results of one document");
    seen.add(index);
    const score = scores["relevance_score"] ?? scores["relevanceScore"] ?? scores["score"];
    if (typeof score !== "number" || !Number.isFinite(score)) throw malformed("a result without a score");
    return { index, relevance_score: score };
  });
  return ranked.sort((a, b) => b.relevance_score - a.relevance_score);
}
