import { createHash, hash } from "node:crypto";
import { type Json, isJson } from "../../kit/index.ts";
import { countTokens } from "../answer.ts";
import { invalid, listOrNothing, messageWith, parseParts, textOf } from "../dialects/gemini-request.ts";
import { jsonOf, jsonReply, type ParsedRequest, type ReceivedRequest, type Reply } from "../endpoint.ts";
import { integer, oneOf, parseList, parseModel, parseText, SimError, wrong } from "../fields.ts";
import type { Claims } from "../ledger.ts";
import type { Script, Shape } from "../script.ts";

const DIMENSIONS = 16;
const MAXIMUM_DIMENSIONS = 4_096;
const ENCODINGS = ["float", "base64"] as const;

/** A text, or a list of token ids. */
interface Input {
  readonly text: string;
  readonly tokens: number;
}

/** `POST /embeddings` of OpenAI, and of Jina and Voyage, which differ in what they count. */
export function readEmbeddings(received: ReceivedRequest): ParsedRequest {
  const body = jsonOf(received);
  const model = parseModel(body["model"]);
  const inputs = parseInput(body["input"]);
  const asked = oneOf("encoding_format", body["encoding_format"], ENCODINGS);
  const dimensions = integer("dimensions", body["dimensions"] ?? body["output_dimension"], MAXIMUM_DIMENSIONS);
  return {
    model,
    sim: body["sim"],
    reply: (script) => {
      const encoding = script.embedding ?? asked;
      const data = vectors(inputs, dimensions).map((vector, index) => ({
        object: "embedding",
        index,
        embedding: encodeVector(vector, encoding),
      }));
      return countedReply(inputs, script, (claims) => ({
        object: "list",
        data,
        model,
        usage: usageOf(claims, script.shape),
      }));
    },
  };
}

/** `POST /v2/embed` and `/v1/embed` of Cohere. */
export function readCohereEmbed(received: ReceivedRequest): ParsedRequest {
  const body = jsonOf(received);
  const model = parseModel(body["model"]);
  const inputs = parseList("texts", body["texts"]).map((text, index) => ofText(`texts[${index}]`, text));
  const types = body["embedding_types"];
  const asked = types === undefined ? undefined : parseList("embedding_types", types);
  const encodings = asked?.map((type) => oneOf("embedding_types", type, ENCODINGS)) ?? [ENCODINGS[0]];
  // The first version answers with bare vectors unless types are asked for.
  const bare = asked === undefined && !received.path.endsWith("/v2/embed");
  const dimensions = integer("output_dimension", body["output_dimension"], MAXIMUM_DIMENSIONS);
  return {
    model,
    sim: body["sim"],
    reply: (script) => {
      const all = vectors(inputs, dimensions);
      const typed = encodings.map((type) => [type, all.map((vector) => encodeVector(vector, type))] as const);
      const embeddings = bare ? typed[0]?.[1] : Object.fromEntries(typed);
      const version = received.path.endsWith("/v2/embed") ? "2" : "1";
      return countedReply(inputs, script, (claims) => ({
        id: `embed-sim-${hash("sha256", received.body).slice(0, 24)}`,
        response_type: bare ? "embeddings_floats" : "embeddings_by_type",
        texts: inputs.map(({ text }) => text),
        embeddings,
        meta: { api_version: { version }, billed_units: claims && { input_tokens: claims.prompt } },
      }));
    },
  };
}

function countedReply(inputs: readonly Input[], script: Script, body: (claims: Claims | undefined) => object): Reply {
  const prompt = inputs.reduce((sum, { tokens }) => sum + tokens, 0);
  const claims = script.no_usage ? undefined : { prompt: script["usage.prompt"] ?? prompt };
  return jsonReply(200, { data: JSON.stringify(body(claims)), claims, units: { prompt } });
}

function usageOf(claims: Claims | undefined, shape?: Shape): object | undefined {
  if (claims === undefined) return undefined;
  const { prompt } = claims;
  return shape === "voyage" ? { total_tokens: prompt } : { prompt_tokens: prompt, total_tokens: prompt };
}

function vectors(inputs: readonly Input[], dimensions = DIMENSIONS): readonly Float32Array[] {
  return inputs.map(({ text }) => vectorOf(text, dimensions));
}

/** A text, texts, one list of token ids, or several. */
function parseInput(value: unknown): readonly Input[] {
  if (typeof value === "string") return [ofText("input", value)];
  const list = parseList("input", value);
  if (typeof list[0] === "number") return [ofIds("input", list)];
  return list.map((item, index) => {
    const name = `input[${index}]`;
    return Array.isArray(item) ? ofIds(name, item) : ofText(name, item);
  });
}

function ofText(name: string, value: unknown): Input {
  const text = parseText(name, value);
  return { text, tokens: countTokens(text) };
}

function ofIds(name: string, value: readonly unknown[]): Input {
  const ids = parseList(name, value);
  if (!ids.every((id) => Number.isInteger(id) && Number(id) >= 0)) throw wrong(name, "token ids", value);
  return { text: ids.join(" "), tokens: ids.length };
}

const GEMINI_MAXIMUM_REQUESTS = 100;
/** Texts, and tokens in all of them. */
const VERTEX_MAXIMUM_TEXTS = 250;
const VERTEX_MAXIMUM_TOKENS = 20_000;
const GEMINI_FIELDS = ["model", "content", "taskType", "title", "outputDimensionality"];

interface GeminiInput {
  readonly text: string;
  readonly dimensions: number;
}

/** `POST …/models/{model}:embedContent`. */
export function readEmbed(body: Json, model: string): ParsedRequest {
  const { sim, ...request } = body;
  const input = parseGeminiInput(request, "");
  return geminiEmbeddings(model, sim, [input], ([embedding]) => ({ embedding }));
}

/** `POST …/models/{model}:batchEmbedContents`. Of tokens the interface says nothing. */
export function readBatchEmbed(body: Json, model: string): ParsedRequest {
  const { requests, sim } = messageWith(body, "", ["requests", "sim"]);
  const inputs = listOrNothing(requests, "requests").map((request, index) => {
    if (!isJson(request) || request["model"] !== `models/${model}`)
      throw new SimError(
        400,
        `* BatchEmbedContentsRequest.requests[${index}].model: model is not specified, or another one`,
      );
    return parseGeminiInput(request, `requests[${index}]`);
  });
  if (inputs.length === 0 || inputs.length > GEMINI_MAXIMUM_REQUESTS)
    throw new SimError(
      400,
      "* BatchEmbedContentsRequest.requests: at least one and at most 100 requests can be in one batch",
    );
  return geminiEmbeddings(model, sim, inputs, (embeddings) => ({ embeddings }));
}

/** `POST …/publishers/google/models/{model}:predict`, of Vertex AI. */
export function readPredict(body: Json, model: string): ParsedRequest {
  const { instances, parameters = {}, sim } = messageWith(body, "", ["instances", "parameters", "sim"]);
  const { outputDimensionality } = messageWith(parameters, "parameters", ["autoTruncate", "outputDimensionality"]);
  const dimensions = integer("outputDimensionality", outputDimensionality, MAXIMUM_DIMENSIONS) ?? DIMENSIONS;
  const texts = listOrNothing(instances, "instances").map((instance, index) => {
    const { content } = messageWith(instance, `instances[${index}]`, ["content", "task_type", "title", "mimeType"]);
    if (typeof content !== "string" || content === "") throw invalid(`instances[${index}].content`, "must be text");
    return content;
  });
  const tokens = texts.map(countTokens);
  const prompt = tokens.reduce((sum, count) => sum + count, 0);
  if (texts.length === 0 || texts.length > VERTEX_MAXIMUM_TEXTS) {
    throw new SimError(
      400,
      `Unable to submit request because it has a batchSize value of ${texts.length} but the supported range is from 1 (inclusive) to ${VERTEX_MAXIMUM_TEXTS + 1} (exclusive).`,
    );
  }
  if (prompt > VERTEX_MAXIMUM_TOKENS) {
    throw new SimError(
      400,
      `The input token count is ${prompt} but the model supports up to ${VERTEX_MAXIMUM_TOKENS}.`,
    );
  }
  const predictions = texts.map((text, index) => ({
    embeddings: {
      values: [...vectorOf(text, dimensions)],
      statistics: { truncated: false, token_count: tokens[index] },
    },
  }));
  return { model, sim, reply: () => jsonReply(200, { data: JSON.stringify({ predictions }), units: { prompt } }) };
}

function geminiEmbeddings(
  model: string,
  sim: unknown,
  inputs: readonly GeminiInput[],
  body: (vectors: readonly object[]) => object,
): ParsedRequest {
  const prompt = inputs.reduce((sum, { text }) => sum + countTokens(text), 0);
  return {
    model,
    sim,
    reply: () => {
      const vectors = inputs.map(({ text, dimensions }) => ({ values: [...vectorOf(text, dimensions)] }));
      return jsonReply(200, { data: JSON.stringify(body(vectors)), units: { prompt } });
    },
  };
}

function parseGeminiInput(value: unknown, at: string): GeminiInput {
  const request = messageWith(value, at, GEMINI_FIELDS);
  const { parts } = messageWith(request["content"], `${at}.content`, ["role", "parts"]);
  const text = textOf(parseParts(parts, `${at}.content.parts`));
  if (text === "") throw invalid(`${at}.content`, "contains an empty Part");
  const dimensions = integer("output_dimensionality", request["outputDimensionality"], MAXIMUM_DIMENSIONS);
  return { text, dimensions: dimensions ?? DIMENSIONS };
}

const INT32_SCALE = 2 ** 31;

/** A vector of length 1 that depends on the text alone. Every number is a float32, so that both encodings agree. */
function vectorOf(text: string, dimensions: number): Float32Array {
  const bytes = createHash("shake256", { outputLength: dimensions * 4 })
    .update(text)
    .digest();
  const raw = Array.from({ length: dimensions }, (_, index) => bytes.readInt32LE(index * 4) / INT32_SCALE);
  const length = Math.hypot(...raw);
  return Float32Array.from(raw, (value) => value / length);
}

/** An array of numbers, or base64 of little-endian float32. */
function encodeVector(vector: Float32Array, encoding: "float" | "base64"): readonly number[] | string {
  if (encoding === "float") return [...vector];
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString("base64");
}
