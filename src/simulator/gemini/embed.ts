import { isJson, type Json } from "../../kit/index.ts";
import { countTokens } from "../answer.ts";
import { vectorOf } from "../endpoints/vector.ts";
import type { Asked } from "../endpoints/endpoint.ts";
import { SimError } from "../error.ts";
import { integer } from "../fields.ts";
import { jsonReply } from "../reply.ts";
import { parseParts, textOf } from "./contents.ts";
import { bad, list, message } from "./refusal.ts";

const DIMENSIONS = 16;
const MAXIMUM_DIMENSIONS = 4_096;
const MAXIMUM_REQUESTS = 100;
/** Of Vertex AI: texts, and tokens in all. */
const MAXIMUM_INSTANCES = 250;
const MAXIMUM_TOKENS = 20_000;
const NAMES = ["model", "content", "taskType", "title", "outputDimensionality"];

interface Input {
  readonly text: string;
  readonly dimensions: number;
}

/** `POST …/models/{model}:embedContent`. */
export function readEmbed(body: Json, model: string): Asked {
  const { sim, ...request } = body;
  const input = parseInput(request, "");
  return asked(model, sim, [input], ([embedding]) => ({ embedding }));
}

/** `POST …/models/{model}:batchEmbedContents`. Of tokens the interface says nothing. */
export function readBatchEmbed(body: Json, model: string): Asked {
  const { requests, sim } = message(body, "", ["requests", "sim"]);
  const inputs = list(requests, "requests").map((request, index) => {
    if (!isJson(request) || request["model"] !== `models/${model}`)
      throw new SimError(
        400,
        `* BatchEmbedContentsRequest.requests[${index}].model: model is not specified, or another one`,
      );
    return parseInput(request, `requests[${index}]`);
  });
  if (inputs.length === 0 || inputs.length > MAXIMUM_REQUESTS)
    throw new SimError(
      400,
      "* BatchEmbedContentsRequest.requests: at least one and at most 100 requests can be in one batch",
    );
  return asked(model, sim, inputs, (embeddings) => ({ embeddings }));
}

/** `POST …/publishers/google/models/{model}:predict`, of Vertex AI. */
export function readPredict(body: Json, model: string): Asked {
  const { instances, parameters = {}, sim } = message(body, "", ["instances", "parameters", "sim"]);
  const { outputDimensionality } = message(parameters, "parameters", ["autoTruncate", "outputDimensionality"]);
  const dimensions = integer("outputDimensionality", outputDimensionality, MAXIMUM_DIMENSIONS) ?? DIMENSIONS;
  const texts = list(instances, "instances").map((instance, index) => {
    const { content } = message(instance, `instances[${index}]`, ["content", "task_type", "title", "mimeType"]);
    if (typeof content !== "string" || content === "") throw bad(`instances[${index}].content`, "must be text");
    return content;
  });
  const tokens = texts.map(countTokens);
  const prompt = tokens.reduce((sum, count) => sum + count, 0);
  if (texts.length === 0 || texts.length > MAXIMUM_INSTANCES) {
    throw new SimError(
      400,
      `Unable to submit request because it has a batchSize value of ${texts.length} but the supported range is from 1 (inclusive) to ${MAXIMUM_INSTANCES + 1} (exclusive).`,
    );
  }
  if (prompt > MAXIMUM_TOKENS) {
    throw new SimError(400, `The input token count is ${prompt} but the model supports up to ${MAXIMUM_TOKENS}.`);
  }
  const predictions = texts.map((text, index) => ({
    embeddings: {
      values: [...vectorOf(text, dimensions)],
      statistics: { truncated: false, token_count: tokens[index] },
    },
  }));
  return { model, sim, reply: () => jsonReply(200, { data: JSON.stringify({ predictions }), units: { prompt } }) };
}

function asked(
  model: string,
  sim: unknown,
  inputs: readonly Input[],
  body: (vectors: readonly object[]) => object,
): Asked {
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

function parseInput(value: unknown, at: string): Input {
  const request = message(value, at, NAMES);
  const { parts } = message(request["content"], `${at}.content`, ["role", "parts"]);
  const text = textOf(parseParts(parts, `${at}.content.parts`));
  if (text === "") throw bad(`${at}.content`, "contains an empty Part");
  const dimensions = integer("output_dimensionality", request["outputDimensionality"], MAXIMUM_DIMENSIONS);
  return { text, dimensions: dimensions ?? DIMENSIONS };
}
