import { isJson, type Json } from "../../kit/index.ts";
import type { AnswerCodec } from "../dialect.ts";
import { malformed } from "./errors.ts";
import { promptUsage } from "./usage.ts";
import { parseAnswer, postJson } from "./requests.ts";

/** What sets one dialect's reranking apart from another's; all answers are read alike. */
export interface RerankDialect {
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
  const rest: Record<string, unknown> = { ...body };
  delete rest["return_documents"];
  return rest;
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
