import type { EventSourceMessage } from "eventsource-parser";
import { type Call, isJson, type Json, type StreamEvent, type Usage } from "../../kit/index.ts";
import { producedText } from "../canonical/produced.ts";
import { malformed, reportedError } from "../canonical/errors.ts";
import { append, objects, stringOf } from "../canonical/json.ts";
import { parseAnswer, SseStreamReader } from "../canonical/requests.ts";
import { readUsage } from "../canonical/usage.ts";
import type { AnswerForm, Decoded } from "../dialect.ts";
import { Candidates } from "./candidates.ts";

/** A complete answer. @throws AttemptError for one without candidates, or with one that has not ended. */
export function chatAnswer(bytes: Uint8Array, call: Call): Decoded {
  const answer = parseAnswer(bytes);
  const candidates = new Candidates(call);
  const deltas = candidates.add(answer);
  if (!candidates.ended) throw malformed("an answer without an end");
  const all = [...deltas, ...candidates.finish()];
  const indexes = new Set(all.map(({ index }) => Number(index)));
  const choices = [...indexes]
    .toSorted((a, b) => a - b)
    .map((index) => assembled(all.filter((choice) => choice["index"] === index)));
  const counted = readCounts(answer);
  return {
    body: { ...candidates.head, object: "chat.completion", choices, ...(counted && { usage: counted.reported }) },
    usage: counted?.usage ?? null,
  };
}

/** How answers are read. */
export const FORM = {
  answer: chatAnswer,
  decoder: (call: Call) => new GeminiStreamReader(call),
} satisfies AnswerForm;

/** The longest event of a call that asks for images, in characters: each comes in one event. */
const MAX_IMAGE_EVENT_CHARACTERS = 32 * 1024 * 1024;

/**
 * `streamGenerateContent?alt=sse`: each event is a `GenerateContentResponse`. There is no ending: the body's end is it, if
 * a finish reason was seen, and only then are the finish reasons passed on, for some models repeat them on every event.
 */
class GeminiStreamReader extends SseStreamReader {
  override readonly done = false;
  #counted: Counted | null = null;
  #begun = false;
  readonly #candidates: Candidates;

  constructor(call: Call) {
    super(asksForImages(call.body) ? MAX_IMAGE_EVENT_CHARACTERS : undefined);
    this.#candidates = new Candidates(call);
  }

  override get complete(): boolean {
    return this.#candidates.ended;
  }

  protected override read(body: Json, { event: name }: EventSourceMessage, events: StreamEvent[]): void {
    const { error } = body;
    if ((error !== undefined && error !== null) || name === "error") throw reportedError(error ?? body["message"]);
    const counted = readCounts(body);
    this.#counted = counted ?? this.#counted;
    const chunks = this.#candidates.add(body).map((choice) => this.#chat([choice]));
    const unread = unreadText(body);
    if (unread !== "") chunks.push({ ...this.#chat([]), text: unread });
    // Counts are cumulative: with them a stream that breaks off is charged for its thoughts as well, also for those
    // that it does not show.
    const last = chunks.pop() ?? (this.#begun && counted !== null ? this.#chat([]) : null);
    append(events, chunks);
    if (last === null) return;
    this.#begun = true;
    events.push(counted === null ? last : { ...last, usage: counted.usage, ...(!isWhole(body) && { partial: true }) });
  }

  protected override close(events: StreamEvent[], broken: boolean): void {
    if (broken || !this.complete) return;
    append(
      events,
      this.#candidates.finish().map((choice) => this.#chat([choice])),
    );
    if (this.#counted === null) return;
    const { reported, usage } = this.#counted;
    const { data } = this.#chat([]);
    events.push({ data: { ...data, usage: reported }, text: "", usage });
  }

  #chat(choices: readonly Json[]): StreamEvent {
    const text = choices.map(({ delta }) => (isJson(delta) ? producedText(delta) : "")).join("");
    return { data: { ...this.#candidates.head, object: "chat.completion.chunk", choices }, text };
  }
}

/** What the model produced in parts without a canonical form: code that Gemini runs. */
function unreadText({ candidates }: Json): string {
  const parts = objects(candidates).flatMap(({ content }) => (isJson(content) ? objects(content["parts"]) : []));
  return parts.map(({ executableCode: code }) => producedText({ code })).join("");
}

/** Early counts may lack the output's; one of zero is left out as well. */
function isWhole({ usageMetadata: counts }: Json): boolean {
  return isJson(counts) && typeof counts["candidatesTokenCount"] === "number";
}

function asksForImages({ modalities }: Json): boolean {
  return Array.isArray(modalities) && modalities.includes("image");
}

/** A choice of a complete answer from all the choices of its deltas, in their order. */
function assembled(choices: readonly Json[]): Json {
  let content = "";
  let reasoning = "";
  const details: Json[] = [];
  const lists: Record<string, Json[]> = { tool_calls: [], images: [], annotations: [] };
  const logprobs: unknown[] = [];
  let last: Json = {};
  for (const choice of choices) {
    const { delta, ...rest } = choice;
    last = rest;
    if (isJson(rest["logprobs"])) append(logprobs, objects(rest["logprobs"]["content"]));
    if (!isJson(delta)) continue;
    content += stringOf(delta["content"]);
    reasoning += stringOf(delta["reasoning_content"]);
    for (const detail of objects(delta["reasoning_details"])) addDetail(details, detail);
    for (const [name, items] of Object.entries(lists)) append(items, objects(delta[name]));
  }
  const calls = lists["tool_calls"]!.map(unindexed);
  const { images = [], annotations = [] } = lists;
  const empty = content === "" && (calls.length > 0 || last["finish_reason"] === "content_filter");
  return {
    ...last,
    ...(logprobs.length > 0 && { logprobs: { content: logprobs } }),
    message: {
      role: "assistant",
      content: empty ? null : content,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(details.length > 0 && { reasoning_details: details.map(unindexed) }),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(images.length > 0 && { images }),
      ...(annotations.length > 0 && { annotations }),
    },
  };
}

/** Pieces of one detail share an index. */
function addDetail(details: Json[], part: Json): void {
  const at = details.findIndex(({ index }) => index === part["index"]);
  const before = details[at];
  if (before === undefined) {
    details.push(part["type"] === "reasoning.text" ? { ...part, text: part["text"] ?? "" } : part);
    return;
  }
  details[at] = { ...before, ...part, text: stringOf(before["text"]) + stringOf(part["text"]) };
}

/** Complete answers have their lists in order. */
function unindexed(item: Json): Json {
  return Object.fromEntries(Object.entries(item).filter(([key]) => key !== "index"));
}

interface Counted {
  /** In OpenAI's form. */
  readonly reported: Json;
  readonly usage: Usage;
}

/**
 * The counts of `usageMetadata`, which are cumulative in streams; null when they are missing or not to be believed. Gemini
 * counts thoughts and the results of its own tools apart from output and prompt; a count of zero is left out.
 */
function readCounts(body: Json): Counted | null {
  const raw = body["usageMetadata"];
  if (!isJson(raw)) return null;
  const reasoning = raw["thoughtsTokenCount"] ?? 0;
  const cached = raw["cachedContentTokenCount"] ?? 0;
  const prompt = sum(raw["promptTokenCount"], raw["toolUsePromptTokenCount"] ?? 0);
  const completion = sum(raw["candidatesTokenCount"] ?? 0, reasoning);
  const reported = {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
  const usage = readUsage({ usage: reported });
  if (usage === null) return null;
  const { cached: cached_tokens, reasoning: reasoning_tokens } = usage;
  return {
    usage,
    reported: {
      ...reported,
      prompt_tokens_details: { cached_tokens },
      completion_tokens_details: { reasoning_tokens },
    },
  };
}

/** NaN, which no count is, unless both are numbers. */
function sum(one: unknown, other: unknown): number {
  return typeof one === "number" && typeof other === "number" ? one + other : Number.NaN;
}
