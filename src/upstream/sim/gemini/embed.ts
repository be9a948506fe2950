import { isJson, type Json } from "../../../kit/index.ts";
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
