import { invalidRequest, isJson, type Json } from "../kit/index.ts";
import { type BatchLimits, embeddingBatches } from "./batches.ts";
import type { AnswerCodec } from "./dialect.ts";
import { malformed } from "./errors.ts";
import { promptUsage } from "./openai/usage.ts";
import { parseAnswer, postJson } from "./requests.ts";
import { dimensionsOf } from "./vectors.ts";

/** What sets one dialect's embeddings apart from another's. */
export interface EmbeddingDialect {
  readonly path: string;
  /**
   * A canonical body in the dialect; its model is put in afterwards. Left out: as it is.
   * @throws GatewayError for an input that the dialect has no form for.
   */
  readonly body?: (body: Json) => Json;
  /** Left out: as OpenAI's answers. */
  readonly read?: (answer: Json) => EmbeddingAnswer;
  /** Left out: whatever a client may ask for. */
  readonly limits?: BatchLimits;
}

export interface EmbeddingAnswer {
  /** Items `{embedding, index?}`, yet to be checked. */
  readonly data: unknown;
  /** Tokens of the input as the upstream counted them, yet to be checked. */
  readonly tokens: unknown;
}

export function embeddingCodec(dialect: EmbeddingDialect): AnswerCodec {
  const { path, body: write = asItIs, read = readOpenAi, limits } = dialect;
  return {
    type: "answer",

    request: (call, target, apiKey) => postJson(path, apiKey, { ...write(call.body), model: target.model }),

    answer(bytes, call) {
      const { data, tokens } = read(parseAnswer(bytes));
      const inputs = inputsOf(call.body["input"]);
      // Of an input in tokens the gateway knows the count itself.
      const usage = promptUsage(tokens) ?? promptUsage(inputs.tokens);
      const shown = usage && { prompt_tokens: usage.prompt, total_tokens: usage.prompt };
      return { body: { data: checkedVectors(data, inputs.count), usage: shown }, usage };
    },

    decoder: null,
    ...(limits && { batches: embeddingBatches(() => limits) }),
  };
}

function asItIs(body: Json): Json {
  return body;
}

function readOpenAi({ data, usage }: Json): EmbeddingAnswer {
  return { data, tokens: isJson(usage) ? (usage["prompt_tokens"] ?? usage["total_tokens"]) : null };
}

/** How many inputs there are, and of how many tokens; null when they are texts. */
export function inputsOf(input: unknown): { readonly count: number; readonly tokens: number | null } {
  if (!Array.isArray(input)) return { count: 1, tokens: null };
  const [first] = input as readonly unknown[];
  if (typeof first === "number") return { count: 1, tokens: input.length };
  if (!Array.isArray(first)) return { count: input.length, tokens: null };
  return { count: input.length, tokens: input.reduce((sum, { length }: readonly unknown[]) => sum + length, 0) };
}

/** For dialects that take nothing else. @throws GatewayError for tokens. */
export function textsOf(input: unknown): readonly unknown[] {
  if (inputsOf(input).tokens !== null) throw invalidRequest("/input", "must be text for this model, not tokens");
  return Array.isArray(input) ? input : [input];
}

/** The canonical `data`, in the order of the inputs. @throws AttemptError unless every input has one vector, all alike. */
function checkedVectors(data: unknown, count: number): readonly Json[] {
  if (!Array.isArray(data)) throw malformed("an answer without embeddings");
  if (data.length !== count) throw malformed(`${data.length} embeddings for ${count} inputs`);
  const vectors: Json[] = Array.from({ length: count });
  let dimensions: number | null = null;
  for (const [position, item] of data.entries()) {
    const { index: own, embedding } = isJson(item) ? item : {};
    const index = own ?? position;
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= count) {
      throw malformed("an embedding of no input");
    }
    if (vectors[index] !== undefined) throw malformed("two embeddings of one input");
    const length = dimensionsOf(embedding);
    if (length === null) throw malformed("an embedding that is not a list of numbers");
    if (length !== (dimensions ??= length)) throw malformed("embeddings of different lengths");
    vectors[index] = { object: "embedding", index, embedding };
  }
  return vectors;
}
