import { hash } from "node:crypto";
import { countTokens } from "../answer.ts";
import { jsonOf } from "./endpoint.ts";
import type { Asked, Received } from "./endpoint.ts";
import { integer, oneOf, parseList, parseModel, parseText, wrong } from "../fields.ts";
import type { Claims } from "../part.ts";
import { jsonReply } from "../reply.ts";
import type { Reply } from "../reply.ts";
import type { Script } from "../script.ts";
import type { Shape } from "../shape.ts";
import { encodeVector, vectorOf } from "./vector.ts";

const DIMENSIONS = 16;
const MAXIMUM_DIMENSIONS = 4_096;
const ENCODINGS = ["float", "base64"] as const;

/** A text, or a list of token ids. */
interface Input {
  readonly text: string;
  readonly tokens: number;
}

/** `POST /embeddings` of OpenAI, and of Jina and Voyage, which differ in what they count. */
export function readEmbeddings(received: Received): Asked {
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
      return counted(inputs, script, (claims) => ({
        object: "list",
        data,
        model,
        usage: usageOf(claims, script.shape),
      }));
    },
  };
}

/** `POST /v2/embed` and `/v1/embed` of Cohere. */
export function readCohereEmbed(received: Received): Asked {
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
      return counted(inputs, script, (claims) => ({
        id: `embed-sim-${hash("sha256", received.body).slice(0, 24)}`,
        response_type: bare ? "embeddings_floats" : "embeddings_by_type",
        texts: inputs.map(({ text }) => text),
        embeddings,
        meta: { api_version: { version }, billed_units: claims && { input_tokens: claims.prompt } },
      }));
    },
  };
}

function counted(inputs: readonly Input[], script: Script, body: (claims: Claims | undefined) => object): Reply {
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
