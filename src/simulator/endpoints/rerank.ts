import { hash } from "node:crypto";
import { isJson } from "../../kit/index.ts";
import { countTokens } from "../answer.ts";
import { jsonOf, jsonReply, type ParsedRequest, type ReceivedRequest } from "../endpoint.ts";
import { integer, parseList, parseModel, parseText, wrong } from "../fields.ts";
import type { Claims } from "../ledger.ts";
import type { Shape } from "../script.ts";

const SEARCH_UNIT_DOCUMENTS = 100;
const SCORE_STEPS = 1e6;

interface Ranked {
  readonly index: number;
  readonly relevance_score: number;
  readonly text: string;
}

/** A ranking, best first, in no provider's own terms. */
interface Ranking {
  readonly id: string;
  readonly model: string;
  readonly results: readonly Ranked[];
  readonly documents: number;
  /** Of Cohere's interface. */
  readonly version: string;
  /** undefined: the client did not say. */
  readonly withText: boolean | undefined;
  /** undefined when nothing is claimed. */
  readonly claims?: Claims;
}

/** `POST /rerank`: Voyage's with `top_k`, Cohere's at `/v2`, else one that most clients read; a script forces another. */
export function readRerank(received: ReceivedRequest): ParsedRequest {
  const body = jsonOf(received);
  const model = parseModel(body["model"]);
  const query = parseText("query", body["query"]);
  const documents = parseList("documents", body["documents"]).map((one, index) => textOf(one, index));
  const limit = integer("top_n", body["top_n"]) ?? integer("top_k", body["top_k"]);
  const prompt = [query, ...documents].reduce((sum, text) => sum + countTokens(text), 0);
  const own: Shape = "top_k" in body ? "voyage" : received.path.endsWith("/v2/rerank") ? "cohere" : "openai";
  return {
    model,
    sim: body["sim"],
    shape: own,
    reply: (script) => {
      const shape = script.shape ?? own;
      const claims = script.no_usage ? undefined : { prompt: script["usage.prompt"] ?? prompt };
      const made = WRITERS[shape]({
        id: hash("sha256", received.body).slice(0, 24),
        model,
        results: rank(query, documents).slice(0, limit),
        documents: documents.length,
        version: received.path.endsWith("/v2/rerank") ? "2" : "1",
        withText: typeof body["return_documents"] === "boolean" ? body["return_documents"] : undefined,
        claims,
      });
      // Cohere counts searches, not tokens.
      const stated = shape === "cohere" ? undefined : claims;
      return jsonReply(200, { data: JSON.stringify(made), claims: stated, units: { prompt } });
    },
  };
}

const WRITERS: Readonly<Record<Shape, (ranking: Ranking) => object>> = {
  openai: ({ model, results, withText, claims }) => ({
    model,
    results: results.map((one) => written(one, withText === true)),
    usage: claims && { total_tokens: claims.prompt },
  }),
  cohere: ({ id, results, version, withText, documents, claims }) => ({
    id,
    results: results.map((one) => written(one, withText === true && version === "1")),
    meta: {
      api_version: { version },
      billed_units: claims && { search_units: Math.ceil(documents / SEARCH_UNIT_DOCUMENTS) },
    },
  }),
  jina: ({ model, results, withText, claims }) => ({
    model,
    usage: claims && { total_tokens: claims.prompt },
    results: results.map((one) => written(one, withText !== false)),
  }),
  voyage: ({ model, results, withText, claims }) => ({
    object: "list",
    data: results.map(({ index, relevance_score, text }) => ({
      index,
      relevance_score,
      ...(withText && { document: text }),
    })),
    model,
    usage: claims && { total_tokens: claims.prompt },
  }),
  together: ({ id, model, results, withText, claims }) => ({
    object: "rerank",
    id,
    model,
    results: results.map((one) => ({ document: {}, ...written(one, withText === true) })),
    usage: claims && { prompt_tokens: claims.prompt, completion_tokens: 0, total_tokens: claims.prompt },
  }),
};

function written({ index, relevance_score, text }: Ranked, withText: boolean): object {
  return { index, relevance_score, ...(withText && { document: { text } }) };
}

/** By the share of the query's words in a document; what the document is decides between equals. */
function rank(query: string, documents: readonly string[]): readonly Ranked[] {
  const asked = wordsOf(query);
  const scored = documents.map((text, index): Ranked => {
    const shared = wordsOf(text).intersection(asked).size;
    const tie = Number.parseInt(hash("sha256", text).slice(0, 8), 16) / 2 ** 32;
    const score = (shared + tie) / (asked.size + 1);
    return { index, relevance_score: Math.round(score * SCORE_STEPS) / SCORE_STEPS, text };
  });
  return scored.sort((a, b) => b.relevance_score - a.relevance_score);
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
}

function textOf(document: unknown, index: number): string {
  const text = isJson(document) ? document["text"] : document;
  if (typeof text === "string") return text;
  throw wrong(`documents[${index}]`, "a string, or an object with a text", document);
}
