import {
  type AnswerExtras,
  type AnswerFormat,
  type Call,
  invalidRequest,
  isJson,
  type Json,
  type Usage,
} from "../../kit/index.ts";
import { malformed } from "../canonical/errors.ts";
import { withoutNulls } from "../canonical/json.ts";
import { parseAnswer, postJson } from "../canonical/requests.ts";
import { promptUsage } from "../canonical/usage.ts";
import type { AnswerCodec, Batches, Decoded } from "../dialect.ts";

/** An estimate, for prompts that come as tokens. */
const USUAL_BYTES_PER_TOKEN = 4;

/** The canonical call of an embeddings body that its schema has accepted. */
export function readEmbedding(body: Json): Call {
  const { model, input } = body;
  const { tokens } = inputsOf(input);
  return {
    kind: "embedding",
    model: String(model),
    stream: false,
    body: Object.freeze(withoutNulls(body, ["encoding_format", "dimensions", "user"])),
    promptBytes: tokens === null ? bytesOf(texts(input)) : tokens * USUAL_BYTES_PER_TOKEN,
    maxOutput: 0,
  };
}

/** Answers to an embeddings client, in the encoding it asked for whatever the upstream sent. */
export function embeddingFormat(call: Call): AnswerFormat {
  const base64 = call.body["encoding_format"] === "base64";
  return {
    contentType: "application/json",
    stream: null,

    answer({ data, usage }: Json, { provider, bill }: AnswerExtras): string {
      const tokens = bill.usage.prompt;
      return JSON.stringify({
        object: "list",
        data: Array.isArray(data) ? data.map((item: unknown, index) => entry(item, index, base64)) : [],
        model: call.model,
        usage: isJson(usage) ? usage : { prompt_tokens: tokens, total_tokens: tokens },
        provider,
      });
    },

    promptText: () => texts(call.body["input"]).join("\n"),
    producedText: () => "",
  };
}

function entry(item: unknown, index: number, base64: boolean): Json {
  const embedding = isJson(item) ? item["embedding"] : null;
  return { object: "embedding", embedding: encoded(embedding, base64), index };
}

function encoded(vector: unknown, base64: boolean): unknown {
  if (base64) return Array.isArray(vector) ? encodeVector(vector as readonly number[]) : vector;
  return typeof vector === "string" ? decodeVector(vector) : vector;
}

/** None when the input is in tokens. */
function texts(input: unknown): readonly string[] {
  return (Array.isArray(input) ? input : [input]).filter((text) => typeof text === "string");
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** `encoding_format` travels; upstreams that do not know it answer as they like, and either encoding is taken. */
export const embedding = embeddingCodec({ path: "/embeddings" });

/** What sets one dialect's embeddings apart from another's. */
interface EmbeddingDialect {
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
      const reported = usage && { prompt_tokens: usage.prompt, total_tokens: usage.prompt };
      return { body: { data: checkedVectors(data, inputs.count), usage: reported }, usage };
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
function inputsOf(input: unknown): { readonly count: number; readonly tokens: number | null } {
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

/** How much of an embedding's input an upstream takes in one request. */
export interface BatchLimits {
  readonly inputs: number;
  /** Of all inputs together; left out: no limit of its own. */
  readonly tokens?: number;
}

/** Fewer than any tokenizer has: what fits by this count, fits. */
const MIN_BYTES_PER_TOKEN = 2;

/** @param limitsOf those of a model, by the upstream's name for it. */
export function embeddingBatches(limitsOf: (model: string) => BatchLimits): Batches {
  return { split: (call, { model }) => batchesOf(call, limitsOf(model)), join: joined };
}

/** A call for embeddings of texts as several that each fit; the call itself alone where it fits as it is. */
function batchesOf(call: Call, { inputs, tokens = Infinity }: BatchLimits): readonly Call[] {
  const { input } = call.body;
  if (!Array.isArray(input) || typeof input[0] !== "string") return [call];
  const batches: string[][] = [];
  let batch: string[] = [];
  let counted = 0;
  for (const text of input as readonly string[]) {
    const count = Math.ceil(Buffer.byteLength(text) / MIN_BYTES_PER_TOKEN);
    if (batch.length === inputs || (batch.length > 0 && counted + count > tokens)) {
      batches.push(batch);
      batch = [];
      counted = 0;
    }
    batch.push(text);
    counted += count;
  }
  batches.push(batch);
  return batches.length === 1 ? [call] : batches.map((texts) => ({ ...call, body: { ...call.body, input: texts } }));
}

/** The answers to the batches of a call, in their order, as the answer to the call. Without one of the counts there is none. */
function joined(answers: readonly Decoded[]): Decoded {
  const data: Json[] = [];
  for (const { body } of answers) {
    const before = data.length;
    for (const vector of body["data"] as readonly Json[])
      data.push({ ...vector, index: before + Number(vector["index"]) });
  }
  const usage = answers.map((answer) => answer.usage).reduce(sum);
  const reported = usage && { prompt_tokens: usage.prompt, total_tokens: usage.prompt };
  return { body: { data, usage: reported }, usage };
}

function sum(a: Usage | null, b: Usage | null): Usage | null {
  return a && b && { ...a, prompt: a.prompt + b.prompt };
}

/** Searched for: a match of a whole text of megabytes would overflow the matcher's stack. */
const NOT_BASE64 = /[^A-Za-z0-9+/]/;
const FLOAT_BYTES = 4;

/** The base64 text of a vector's float32 values, little-endian: `encoding_format: "base64"` of OpenAI's API. */
export function encodeVector(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * FLOAT_BYTES);
  const view = viewOf(bytes);
  for (const [index, value] of vector.entries()) view.setFloat32(index * FLOAT_BYTES, value, true);
  return bytes.toString("base64");
}

/** The values in such a text; null when it is not one, or holds nothing or something that is no finite number. */
export function decodeVector(text: string): number[] | null {
  const view = floats(text);
  if (view === null) return null;
  const vector: number[] = [];
  for (let offset = 0; offset < view.byteLength; offset += FLOAT_BYTES) vector.push(view.getFloat32(offset, true));
  return vector.every(Number.isFinite) ? vector : null;
}

/** How many values a vector has in either encoding; null for what is no vector of finite float32 values. */
export function dimensionsOf(vector: unknown): number | null {
  if (typeof vector === "string") return decodeVector(vector)?.length ?? null;
  if (!Array.isArray(vector) || vector.length === 0) return null;
  return vector.every((value) => typeof value === "number" && Number.isFinite(Math.fround(value)))
    ? vector.length
    : null;
}

/** The bytes of a padded base64 text, if they are one float32 value or several. */
function floats(text: string): DataView | null {
  const end = text.search(NOT_BASE64);
  const padding = end < 0 ? "" : text.slice(end);
  if (text === "" || text.length % 4 !== 0 || !["", "=", "=="].includes(padding)) return null;
  const view = viewOf(Buffer.from(text, "base64"));
  return view.byteLength % FLOAT_BYTES === 0 ? view : null;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
