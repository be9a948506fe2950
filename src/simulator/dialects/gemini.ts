import type { Json } from "../../kit/index.ts";
import { type Answer, answer, callTokens, type Choice, countTokens, sign, subtract } from "../answer.ts";
import {
  bodyPart,
  decodePathPart,
  jsonOf,
  jsonReply,
  MALFORMED,
  type ParsedRequest,
  type Part,
  type ReceivedRequest,
  type Reply,
  streamReply,
} from "../endpoint.ts";
import { readBatchEmbed, readEmbed, readPredict } from "../endpoints/embeddings.ts";
import { camelCased, asNumber, SimError } from "../fields.ts";
import { failureOf } from "../provider.ts";
import type { Script } from "../script.ts";
import { type GenerateRequest, parseContents, parseGenerate, textOf } from "./gemini-request.ts";

type Method = (body: Json, model: string, received: ReceivedRequest) => ParsedRequest;

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
export function readGemini(received: ReceivedRequest): ParsedRequest {
  const [, name = "", method = ""] = /\/models\/([^/]+):([a-zA-Z]+)$/.exec(received.path) ?? [];
  const methods = received.path.includes("/publishers/") ? PUBLISHED : METHODS;
  const read = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (!read) throw new SimError(404, `Method not found: ${method}.`);
  return read(jsonOf(received), decodePathPart(name), received);
}

function generate(body: Json, model: string, { body: bytes, query }: ReceivedRequest, stream: boolean): ParsedRequest {
  const { question, ...options } = parseGenerate(camelCased(body) as Json, model);
  return {
    model,
    sim: body["sim"],
    reply: (script) => {
      const made = answer(question, script, `${model} ${bytes.toString()}`);
      if (!stream) return jsonReply(200, generated(made, options, script));
      const parts = streamedAnswers(made, options, script);
      return query.get("alt") === "sse" ? streamReply(events(parts), event) : array(parts);
    },
  };
}

function countTokensOf(contents: unknown): number {
  return parseContents(contents).reduce((sum, { parts }) => sum + countTokens(textOf(parts)), 0);
}

function countMethod(body: Json, model: string): ParsedRequest {
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

type ThoughtOptions = Pick<GenerateRequest, "thoughts" | "signs">;

/** Something of one candidate, with the tokens that have gone into it. */
interface CandidateChunk {
  readonly index: number;
  readonly parts: readonly object[];
  readonly finish?: string;
  readonly tokens: number;
  readonly thoughts: number;
}

/** The body of an answer in one chunk. */
export function generated(answer: Answer, options: ThoughtOptions, script: Script): Part<string> {
  const candidates = answer.choices.map((choice, index) => ({
    content: { parts: partsOf(choice, answer.seed, options), role: "model" },
    finishReason: finishOf(choice, script),
    index,
  }));
  const body = { candidates, ...(script.no_usage ? {} : { usageMetadata: usageOf(answer) }), ...tail(answer) };
  return bodyPart(answer, body);
}

/** The answers of a stream, as JSON: each states what has been used up to it, the last one all. */
export function* streamedAnswers(answer: Answer, options: ThoughtOptions, script: Script): Generator<Part<string>> {
  const all = answer.choices.flatMap((choice, index) => [
    ...candidateChunks(choice, index, answer.seed, options, script),
  ]);
  let tokens = 0;
  let thoughts = 0;
  for (const [at, chunk] of all.entries()) {
    const { index, parts, finish } = chunk;
    const last = at === all.length - 1;
    tokens += chunk.tokens;
    thoughts += chunk.thoughts;
    const candidate = {
      content: { parts, role: "model" },
      ...(finish !== undefined && { finishReason: finish }),
      index,
    };
    const usageMetadata = last ? usageOf(answer) : running(answer, tokens, thoughts);
    yield {
      data: JSON.stringify({ candidates: [candidate], ...(script.no_usage ? {} : { usageMetadata }), ...tail(answer) }),
      tokens: chunk.tokens + chunk.thoughts,
      claims: last && !script.no_usage ? answer.usage : undefined,
      units: at === 0 ? { prompt: answer.prompt } : undefined,
    };
  }
}

function* candidateChunks(
  choice: Choice,
  index: number,
  seed: string,
  options: ThoughtOptions,
  script: Script,
): Generator<CandidateChunk> {
  const thoughts = choice.reasoning.reduce((sum, chunk) => sum + countTokens(chunk), 0);
  if (options.thoughts) {
    for (const text of choice.reasoning)
      yield { index, parts: [{ text, thought: true }], tokens: 0, thoughts: countTokens(text) };
  }
  // Thoughts that the client does not see are counted with what follows them.
  let hidden = options.thoughts ? 0 : thoughts;
  for (const text of choice.content) {
    yield { index, parts: [{ text }], tokens: countTokens(text), thoughts: hidden };
    hidden = 0;
  }
  if (choice.calls.length > 0) {
    const tokens = choice.calls.reduce((sum, call) => sum + callTokens(call), 0);
    yield { index, parts: callsOf(choice, seed, options), tokens, thoughts: hidden };
    hidden = 0;
  }
  const signed = options.signs && choice.calls.length === 0 && choice.content.length > 0;
  const parts = [{ text: "", ...(signed && { thoughtSignature: sign("gemini", seed, "") }) }];
  yield { index, parts, finish: finishOf(choice, script), tokens: 0, thoughts: hidden };
}

function partsOf(choice: Choice, seed: string, options: ThoughtOptions): readonly object[] {
  const { reasoning, content, calls } = choice;
  const parts: object[] = [];
  if (options.thoughts && reasoning.length > 0) parts.push({ text: reasoning.join(""), thought: true });
  if (content.length > 0) {
    parts.push({ text: content.join(""), ...(options.signs && { thoughtSignature: sign("gemini", seed, "") }) });
  }
  return calls.length > 0 ? [...parts, ...callsOf(choice, seed, options)] : parts;
}

/** Of several calls only the first is signed. */
function callsOf({ calls }: Choice, seed: string, { signs }: ThoughtOptions): readonly object[] {
  return calls.map(({ name, arguments: text }, index) => ({
    functionCall: { name, args: JSON.parse(text) as unknown },
    ...(signs && index === 0 && { thoughtSignature: sign("gemini", seed, name) }),
  }));
}

/** Calls have no reason of their own. */
function finishOf({ finish }: Choice, script: Script): string {
  return script.finish ?? (finish === "length" ? "MAX_TOKENS" : "STOP");
}

function tail({ model, seed }: Answer): object {
  return { modelVersion: model, responseId: `sim-${seed}` };
}

/** Candidates' tokens are those without thoughts. */
function usageOf({ usage }: Answer): object {
  const { prompt, completion, cached, reasoning } = usage;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: subtract(completion, reasoning),
    totalTokenCount: asNumber(prompt) + asNumber(completion),
    ...(cached !== 0 && { cachedContentTokenCount: cached }),
    promptTokensDetails: [{ modality: "TEXT", tokenCount: prompt }],
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
  };
}

function running(answer: Answer, tokens: number, thoughts: number): object {
  return usageOf({ ...answer, usage: { ...answer.usage, completion: tokens + thoughts, reasoning: thoughts } });
}
