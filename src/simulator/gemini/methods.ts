import type { Json } from "../../kit/index.ts";
import { answer, countTokens } from "../answer.ts";
import type { Asked, Received } from "../endpoints/endpoint.ts";
import { decoded, jsonOf } from "../endpoints/endpoint.ts";
import { SimError } from "../error.ts";
import { failureOf } from "../failure.ts";
import type { Part } from "../part.ts";
import { jsonReply, MALFORMED, type Reply, streamReply } from "../reply.ts";
import { generated, pieces } from "./answer.ts";
import { parseContents, textOf } from "./contents.ts";
import { readBatchEmbed, readEmbed, readPredict } from "./embed.ts";
import { parseGenerate } from "./request.ts";

type Method = (body: Json, model: string, received: Received) => Asked;

const METHODS: Readonly<Record<string, Method>> = {
  generateContent: (body, model, received) => generate(body, model, received, false),
  streamGenerateContent: (body, model, received) => generate(body, model, received, true),
  countTokens: countMethod,
  embedContent: readEmbed,
  batchEmbedContents: readBatchEmbed,
};
/** Those of Vertex AI. */
const PUBLISHED: Readonly<Record<string, Method>> = {
  ...METHODS,
  predict: readPredict,
  batchEmbedContents: () => {
    throw new SimError(404, "Method not found: batchEmbedContents.");
  },
};

/** `POST …/models/{model}:{method}`. */
export function readGemini(received: Received): Asked {
  const [, name = "", method = ""] = /\/models\/([^/]+):([a-zA-Z]+)$/.exec(received.path) ?? [];
  const methods = received.path.includes("/publishers/") ? PUBLISHED : METHODS;
  const read = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (!read) throw new SimError(404, `Method not found: ${method}.`);
  return read(jsonOf(received), decoded(name), received);
}

function generate(body: Json, model: string, { body: bytes, query }: Received, stream: boolean): Asked {
  const { question, ...shown } = parseGenerate(body, model);
  return {
    model,
    sim: body["sim"],
    reply: (script) => {
      const made = answer(question, script, `${model} ${bytes.toString()}`);
      if (!stream) return jsonReply(200, generated(made, shown, script));
      const parts = pieces(made, shown, script);
      return query.get("alt") === "sse" ? streamReply(events(parts), event) : array(parts);
    },
  };
}

function countTokensOf(contents: unknown): number {
  return parseContents(contents).reduce((sum, { parts }) => sum + countTokens(textOf(parts)), 0);
}

function countMethod(body: Json, model: string): Asked {
  const totalTokens = countTokensOf(body["contents"]);
  return {
    model,
    sim: body["sim"],
    reply: () => jsonReply(200, { data: JSON.stringify({ totalTokens }) }),
  };
}

function* events(parts: Iterable<Part<string>>): Generator<Part<string>> {
  for (const part of parts) yield { ...part, data: sse(part.data) };
}

function event(error: SimError | null): string {
  return sse(error ? failureOf(error, "gemini").body : MALFORMED);
}

function sse(data: string): string {
  return `data: ${data}\r\n\r\n`;
}

/** Without `alt=sse` a stream is one array, whose elements come one by one. */
function array(parts: Iterable<Part<string>>): Reply<string> {
  return {
    status: 200,
    headers: { "content-type": "application/json; charset=UTF-8" },
    type: "events",
    parts: elements(parts),
    frame: (error) => `,\r\n${error ? failureOf(error, "gemini").body : MALFORMED}`,
  };
}

function* elements(parts: Iterable<Part<string>>): Generator<Part<string>> {
  let before = "[";
  for (const part of parts) {
    yield { ...part, data: before + part.data };
    before = ",\r\n";
  }
  yield { data: "]", uncounted: true };
}
