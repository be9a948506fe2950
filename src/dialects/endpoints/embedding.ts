import { type AnswerExtras, type AnswerFormat, type Call, isJson, type Json } from "../../kit/index.ts";
import { decodeVector, encodeVector, inputsOf } from "../canonical/embeddings.ts";
import { withoutNulls } from "../canonical/json.ts";

const BYTES_PER_TOKEN = 4;

/** The canonical call of an embeddings body that its schema has accepted. */
export function readEmbedding(body: Json): Call {
  const { model, input } = body;
  const { tokens } = inputsOf(input);
  return {
    kind: "embedding",
    model: String(model),
    stream: false,
    body: Object.freeze(withoutNulls(body, ["encoding_format", "dimensions", "user"])),
    promptBytes: tokens === null ? bytesOf(texts(input)) : tokens * BYTES_PER_TOKEN,
    maxOutput: 0,
  };
}

/** Answers to an embeddings client, in the encoding it asked for whatever the upstream sent (decisions 6b). */
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
