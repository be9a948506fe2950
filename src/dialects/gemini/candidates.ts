import { type Call, isJson, type Json } from "../../kit/index.ts";
import { malformed } from "../canonical/errors.ts";
import { finishOf, unreadableFinish } from "../canonical/answer.ts";
import { list } from "../canonical/json.ts";
import { sha256, stripSignature, withSignature } from "../canonical/tools.ts";
import { type AnswerPart, PartReader } from "./parts.ts";
import { markSignature } from "./models.ts";

/** More than Gemini gives: what is above it is a defect. */
const MAX_CHOICES = 128;
const RESPONSE_ID = /^[\w-]{1,128}$/;

/** The candidates of one answer, in one body or over many chunks. */
export class Candidates {
  readonly #model: string;
  /** Without an id from the upstream the conversation's length keeps the calls of its turns apart. */
  readonly #turn: string;
  readonly #choices = new Map<number, Choice>();
  #head: Json | null = null;
  #ids: CallIds | null = null;

  constructor(call: Call) {
    const { messages } = call.body;
    this.#model = call.model;
    this.#turn = `${Array.isArray(messages) ? messages.length : 0}/${call.promptBytes}`;
  }

  /** What every chunk and a complete answer begin with. Gemini's API sends no time; Vertex does. */
  get head(): Json {
    return this.#head ?? {};
  }

  /** Every choice that was begun has ended, and there is one. */
  get ended(): boolean {
    return this.#choices.size > 0 && [...this.#choices.values()].every(({ ended }) => ended);
  }

  /** The choices of the deltas in one body. @throws AttemptError for a body that is none. */
  add(body: Json): readonly Json[] {
    this.#begin(body);
    const { candidates, promptFeedback: feedback } = body;
    if (candidates !== undefined && candidates !== null && !Array.isArray(candidates)) {
      throw malformed("candidates that are no list");
    }
    const deltas = (candidates ?? []).flatMap((candidate: unknown): readonly Json[] => {
      if (!isJson(candidate)) throw malformed("a candidate that is no object");
      return this.#choice(candidate["index"] ?? 0).add(candidate);
    });
    const blocked = isJson(feedback) ? feedback["blockReason"] : null;
    if (typeof blocked === "string" && this.#choices.size === 0) this.#choice(0).block(blocked);
    return deltas;
  }

  /** The last deltas. @throws AttemptError when something was begun and not ended. */
  finish(): readonly Json[] {
    return [...this.#choices.values()].toSorted((a, b) => a.index - b.index).flatMap((choice) => choice.finish());
  }

  #begin(body: Json): void {
    if (this.#head !== null) return;
    const { responseId, modelVersion, createTime } = body;
    const seed =
      typeof responseId === "string" && RESPONSE_ID.test(responseId) ? responseId : sha256(this.#turn).slice(0, 24);
    const created = typeof createTime === "string" ? Math.floor(Date.parse(createTime) / 1000) : Number.NaN;
    this.#ids = new CallIds(seed);
    this.#head = {
      id: `chatcmpl-${seed}`,
      ...(Number.isSafeInteger(created) && { created }),
      model: typeof modelVersion === "string" ? modelVersion : this.#model,
    };
  }

  #choice(index: unknown): Choice {
    if (typeof index !== "number" || !Number.isInteger(index) || index < 0 || index >= MAX_CHOICES) {
      throw malformed("a candidate out of range");
    }
    const known = this.#choices.get(index);
    if (known) return known;
    const choice = new Choice(index, (this.#ids ??= new CallIds("")));
    this.#choices.set(index, choice);
    return choice;
  }
}

/** One candidate's way into OpenAI's deltas, which a stream sends and a complete answer puts together. */
class Choice {
  readonly index: number;
  readonly #ids: CallIds;
  readonly #reader = new PartReader();
  #begun = false;
  #content = "";
  #calls = 0;
  /** Which detail of reasoning is being written, and whether it has begun. */
  #detail = 0;
  #thinking = false;
  #ended: string | null = null;
  /** Fields about sources; repeated, the last is the whole. */
  #sources: Json = {};

  constructor(index: number, ids: CallIds) {
    this.index = index;
    this.#ids = ids;
  }

  /** Whether a finish reason was seen. */
  get ended(): boolean {
    return this.#ended !== null;
  }

  /** The deltas of one candidate, or of one chunk's part of it. @throws AttemptError for what is none. */
  add(candidate: Json): readonly Json[] {
    const reason = candidate["finishReason"];
    const unreadable = unreadableFinish("gemini", reason);
    if (unreadable !== null) throw unreadable;
    const deltas = this.#reader.read(candidate["content"]).map((part) => this.#delta(part));
    if (isEnd(reason)) this.#ended = reason;
    for (const key of ["groundingMetadata", "citationMetadata"]) {
      if (isJson(candidate[key])) this.#sources = { ...this.#sources, [key]: candidate[key] };
    }
    const content = logprobsOfAnswer(candidate);
    if (content === null || content.length === 0) return deltas.map((delta) => this.#choice(delta));
    const [first = {}, ...rest] = deltas;
    return [{ ...this.#choice(first), logprobs: { content } }, ...rest.map((delta) => this.#choice(delta))];
  }

  /** The last deltas, for a candidate that has ended. @throws AttemptError when a function call has not. */
  finish(): readonly Json[] {
    if (this.#reader.open) throw malformed("a function call without an end");
    const annotations = annotationsOf(this.#sources, this.#content);
    const reason = this.#ended ?? "STOP";
    const last = {
      ...this.#choice({}),
      ...finishOf("gemini", reason, { called: this.#calls > 0 }),
    };
    const before = annotations.length > 0 ? [this.#choice({ annotations })] : [];
    return this.#begun ? [...before, last] : [this.#choice({ content: "" }), ...before, last];
  }

  /** A prompt that was refused ends like an answer that was. */
  block(reason: string): void {
    this.#ended = reason;
  }

  #choice(delta: Json): Json {
    // Empty ones bring an end or counts: they must not be the first.
    const opening = !this.#begun && Object.keys(delta).length > 0;
    if (opening) this.#begun = true;
    return { index: this.index, delta: opening ? { role: "assistant", ...delta } : delta, finish_reason: null };
  }

  #delta(part: AnswerPart): Json {
    switch (part.type) {
      case "text":
        this.#content += part.text;
        this.#close();
        return { content: part.text };
      case "thought":
        this.#thinking = true;
        return {
          reasoning_content: part.text,
          reasoning_details: [{ type: "reasoning.text", index: this.#detail, text: part.text }],
        };
      case "signature":
        return { reasoning_details: [this.#signature(part.bearer, part.signature)] };
      case "call":
        this.#close();
        return { tool_calls: [this.#call(part)] };
      case "image":
        this.#close();
        return { images: [{ type: "image_url", image_url: { url: part.url } }] };
    }
  }

  #signature(bearer: "thought" | "text" | "empty", signature: string): Json {
    const marked = markSignature(bearer, signature);
    if (bearer !== "thought") this.#close();
    const index = this.#detail;
    this.#detail += 1;
    this.#thinking = false;
    if (bearer === "thought") return { type: "reasoning.text", index, signature: marked };
    return { type: "reasoning.encrypted", index, data: marked };
  }

  #close(): void {
    if (this.#thinking) this.#detail += 1;
    this.#thinking = false;
  }

  #call({ id, name, args, signature }: Extract<AnswerPart, { type: "call" }>): Json {
    const index = this.#calls;
    this.#calls += 1;
    return {
      index,
      id: withSignature(this.#ids.next(id), signature),
      type: "function",
      function: { name, arguments: args },
      ...(signature !== null && { extra_content: { google: { thought_signature: signature } } }),
    };
  }
}

/** Whether a candidate's `finishReason` says that it has ended. */
function isEnd(reason: unknown): reason is string {
  return typeof reason === "string" && reason !== "" && reason !== "FINISH_REASON_UNSPECIFIED";
}

const USABLE = /^[\w-]{1,64}$/;

/** Gives each call of one answer an id: the upstream's own where it is usable and new, else one made of `seed`. */
export class CallIds {
  readonly #seed: string;
  readonly #used = new Set<string>();

  /** @param seed names the answer: equal seeds give equal ids. */
  constructor(seed: string) {
    this.#seed = seed;
  }

  next(own: unknown): string {
    const usable = typeof own === "string" && USABLE.test(own) && stripSignature(own) === own && !this.#used.has(own);
    const id = usable ? own : `call_${sha256(`${this.#seed}/${this.#used.size}`).slice(0, 24)}`;
    this.#used.add(id);
    return id;
  }
}

/** A candidate's sources as OpenAI's annotations of its text, each place once. */
function annotationsOf(candidate: Json, content: string): readonly Json[] {
  const bytes = Buffer.from(content);
  const all = [...grounding(candidate["groundingMetadata"], bytes), ...citations(candidate["citationMetadata"], bytes)];
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}

/** What Google's search found: pages, and which stretches of the text they support. */
function grounding(metadata: unknown, content: Buffer): Json[] {
  if (!isJson(metadata)) return [];
  const pages = list(metadata["groundingChunks"]).map((chunk) =>
    isJson(chunk) && isJson(chunk["web"]) ? chunk["web"] : {},
  );
  const supported = list(metadata["groundingSupports"]).flatMap((support) => {
    if (!isJson(support)) return [];
    const segment = isJson(support["segment"]) ? support["segment"] : {};
    return list(support["groundingChunkIndices"]).flatMap((index) =>
      annotation(pages[Number(index)], segment, content),
    );
  });
  return supported.length > 0 ? supported : pages.flatMap((page) => annotation(page, {}, content));
}

/** What the answer quotes. */
function citations(metadata: unknown, content: Buffer): Json[] {
  if (!isJson(metadata)) return [];
  const sources = list(metadata["citationSources"] ?? metadata["citations"]);
  return sources.flatMap((source) => (isJson(source) ? annotation(source, source, content) : []));
}

function annotation(page: Json | undefined, { startIndex, endIndex }: Json, content: Buffer): Json[] {
  const url = page?.["uri"];
  if (typeof url !== "string" || url === "") return [];
  const title = typeof page?.["title"] === "string" ? page["title"] : url;
  const [start_index, end_index] = [characters(startIndex, content), characters(endIndex, content)];
  return [{ type: "url_citation", url_citation: { url, title, start_index, end_index } }];
}

/** Gemini counts bytes of UTF-8. */
function characters(bytes: unknown, content: Buffer): number {
  return typeof bytes === "number" && bytes > 0 ? content.subarray(0, bytes).toString().length : 0;
}

/** `logprobsResult` in OpenAI's form; null when there is none. */
function logprobsOfAnswer(candidate: Json): readonly Json[] | null {
  const result = candidate["logprobsResult"];
  if (!isJson(result) || !Array.isArray(result["chosenCandidates"])) return null;
  const tops: readonly unknown[] = Array.isArray(result["topCandidates"]) ? result["topCandidates"] : [];
  const chosen = result["chosenCandidates"] as readonly unknown[];
  return chosen.flatMap((token, index) => {
    const top = tops[index];
    const alternatives: readonly unknown[] = isJson(top) && Array.isArray(top["candidates"]) ? top["candidates"] : [];
    return tokenOf(token).map((one) => ({ ...one, top_logprobs: alternatives.flatMap(tokenOf) }));
  });
}

function tokenOf(value: unknown): Json[] {
  const { token, logProbability: logprob } = isJson(value) ? value : {};
  if (typeof token !== "string" || typeof logprob !== "number") return [];
  return [{ token, logprob, bytes: [...Buffer.from(token)] }];
}
