import type { Call, Json, Usage } from "../kit/index.ts";
import type { Batches, Decoded } from "./dialect.ts";

/** How much of an embedding's input an upstream takes in one request. */
export interface BatchLimits {
  readonly inputs: number;
  /** Of all inputs together; left out: no limit of its own. */
  readonly tokens?: number;
}

/** Fewer than any tokenizer has: what fits by this count, fits. */
const BYTES_PER_TOKEN = 2;

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
    const count = Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
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
  const shown = usage && { prompt_tokens: usage.prompt, total_tokens: usage.prompt };
  return { body: { data, usage: shown }, usage };
}

function sum(a: Usage | null, b: Usage | null): Usage | null {
  return a && b && { ...a, prompt: a.prompt + b.prompt };
}
