import type { EventSourceMessage } from "eventsource-parser";
import { isJson, type Json, type StreamEvent, type Usage } from "../../kit/index.ts";
import { malformed, reportedError } from "../canonical/errors.ts";
import { append, isText } from "../canonical/json.ts";
import { SseStreamReader } from "../canonical/requests.ts";
import { canonicalUsage, readUsage, reportedUsage } from "../canonical/usage.ts";
import { ChoiceReader } from "./answer.ts";
import { ChunkParser, type Shape } from "../canonical/chunk-shapes.ts";

/** Reads the events of one stream of chat completions; `[DONE]` is its ending. */
export class ChatStreamReader extends SseStreamReader {
  override done = false;
  readonly #parser = new ChunkParser();
  readonly #chunks = new ChunkReader();
  /** Its chunks are canonical, whatever their text is. */
  #canonical: Shape | null = null;

  override get complete(): boolean {
    return this.done || this.#chunks.finished;
  }

  protected override known(raw: string): StreamEvent | null {
    return this.#canonical === null || this.#chunks.keeps ? null : this.#canonical.read(raw);
  }

  protected override parse(raw: string): unknown {
    return this.#parser.parse(raw);
  }

  protected override read(data: Json, { event: name, data: raw }: EventSourceMessage, events: StreamEvent[]): void {
    const { error } = data;
    if ((error !== undefined && error !== null) || name === "error") throw reportedError(error ?? data["message"]);
    const event = this.#chunks.read(data, raw);
    if (event === null) return;
    events.push(event);
    const { shape } = this.#parser;
    if (shape?.isText && event.data === data) this.#canonical = shape;
  }

  protected override mark(events: StreamEvent[]): void {
    this.done = true;
    for (const event of this.#chunks.end(true)) events.push(event);
  }

  protected override close(events: StreamEvent[]): void {
    for (const event of this.#chunks.end(false)) events.push(event);
  }
}

/** More than any provider gives; what is kept of a stream is bounded. */
export const MAX_CHOICES = 256;
const OBJECT = "chat.completion.chunk";

/** What every chunk of one answer has in common; what the upstream leaves out is left out. */
interface Head {
  readonly id?: string;
  readonly created?: number;
  readonly model?: string;
}

/**
 * Puts the chunks of one stream into the canonical form: one id and time, `object`, a role first, one finish reason a
 * choice, usage once and last. A chunk that has it already keeps its text.
 */
class ChunkReader {
  /** Nearly always one, which a map would be larger than. */
  #choices: readonly ChoiceReader[] = [];
  #head: Head | null = null;
  /** Fields of the first chunk without choices, such as Azure's `prompt_filter_results`: they travel with the next chunk. */
  #kept: Json | null = null;
  /** The last count: earlier ones are part of it. */
  #usage: StreamEvent | null = null;
  /** The count has been sent: clients take one. */
  #usageSent = false;

  /** The next chunk gets fields of another one. */
  get keeps(): boolean {
    return this.#kept !== null;
  }

  /** Every choice that began has its finish reason. */
  get finished(): boolean {
    return this.#choices.length > 0 && this.#choices.every(({ finished }) => finished);
  }

  /**
   * @param raw `data` as it came.
   * @returns null for a chunk that says nothing yet.
   * @throws AttemptError for an answer that broke off.
   */
  read(data: Json, raw: string): StreamEvent | null {
    const usage = readUsage(data);
    const { choices: listed } = data;
    if (!Array.isArray(listed) || !(isJson(listed[0]) || listed.some(isJson))) {
      if (usage !== null) return this.#counted(data, usage, raw);
      if (Array.isArray(listed)) this.#keepForNext(data);
      return null;
    }
    const head = (this.#head ??= headOf(data));
    let same = this.#kept === null && isPlain(data, head) && (data["usage"] ?? null) === null && usage === null;
    let text = "";
    const choices: Json[] = [];
    for (let position = 0; position < listed.length; position++) {
      const choice: unknown = listed[position];
      const reader = isJson(choice) ? this.#choice(choice["index"], position) : null;
      const now = reader && isJson(choice) ? reader.read(choice) : null;
      if (reader) text += reader.text;
      if (same && now !== choice) {
        same = false;
        append(choices, listed.slice(0, position).filter(isJson));
      }
      if (!same && now !== null) choices.push("usage" in now ? withoutUsage(now) : now);
    }
    if (same) return { data, raw, text };
    if (usage !== null) this.#count(data, usage, null);
    if (choices.length === 0) return null;
    const chunk = { ...this.#takeKept(), ...rewritten(data, head), choices };
    return usage === null ? { data: chunk, text } : { data: chunk, text, usage };
  }

  /**
   * The chunks that end the stream.
   * @param whole whether the upstream ended its answer itself: choices without a finish reason then get one.
   */
  end(whole: boolean): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    const open = whole ? this.#choices.filter(({ finished }) => !finished) : [];
    if (open.length > 0) {
      const choices = open.map((choice) => choice.end());
      events.push({ data: { ...this.#head, object: OBJECT, choices }, text: "" });
    }
    if (this.#usage !== null && !this.#usageSent) events.push(this.#usage);
    this.#usage = null;
    return events;
  }

  #choice(index: unknown, position: number): ChoiceReader {
    const number = typeof index === "number" && Number.isSafeInteger(index) && index >= 0 ? index : position;
    const known = this.#choices.find((choice) => choice.index === number);
    if (known !== undefined) return known;
    if (this.#choices.length >= MAX_CHOICES) throw malformed("more choices than can be asked for");
    const choice = new ChoiceReader(number, this.#head?.id ?? "");
    this.#choices = this.#choices.concat([choice]);
    return choice;
  }

  /** What is said of a chunk that only counts: a stream may break off, or be left, before its ending. */
  #counted(data: Json, usage: Usage, raw: string): StreamEvent {
    this.#count(data, usage, raw);
    if (this.finished && !this.#usageSent && this.#usage !== null) {
      const last = this.#usage;
      this.#usage = null;
      this.#usageSent = true;
      return last;
    }
    return { data: { ...this.#head, object: OBJECT, choices: [] }, text: "", usage };
  }

  /** @param raw the chunk's text; null when its count is only a part of it. */
  #count(data: Json, usage: Usage, raw: string | null): void {
    const head = (this.#head ??= headOf(data));
    const { usage: own, choices } = data;
    const same = raw !== null && this.#kept === null && isPlain(data, head) && Array.isArray(choices);
    if (same && choices.length === 0 && isJson(own) && canonicalUsage(own, usage) === own) {
      this.#usage = { data, raw, text: "", usage };
      return;
    }
    const counts = canonicalUsage(reportedUsage(data) ?? {}, usage);
    const kept = raw === null ? {} : { ...this.#takeKept(), ...rewritten(data, head) };
    this.#usage = { data: { ...kept, ...head, object: OBJECT, choices: [], usage: counts }, text: "", usage };
  }

  #keepForNext(data: Json): void {
    const {
      id: _id,
      object: _object,
      created: _created,
      model: _model,
      choices: _choices,
      usage: _usage,
      ...rest
    } = data;
    if (Object.keys(rest).length > 0) this.#kept ??= rest;
  }

  #takeKept(): Json {
    const kept = this.#kept ?? {};
    this.#kept = null;
    return kept;
  }
}

function headOf({ id, created, model }: Json): Head {
  return {
    ...(isText(id) && { id }),
    ...(typeof created === "number" && Number.isSafeInteger(created) && created > 0 && { created }),
    ...(isText(model) && { model }),
  };
}

/** Whether the fields around the choices are canonical, but for the usage. */
function isPlain(data: Json, head: Head): boolean {
  return (
    data["object"] === OBJECT &&
    data["id"] === head.id &&
    data["created"] === head.created &&
    (data["x_groq"] === undefined || !hasUsage(data["x_groq"]))
  );
}

function withoutUsage({ usage: _usage, ...choice }: Json): Json {
  return choice;
}

function hasUsage(groq: unknown): boolean {
  return isJson(groq) && groq["usage"] !== undefined;
}

/** The fields of a chunk that stay, under the head of all chunks. Its count goes to the end of the stream. */
function rewritten({ id: _id, created: _created, usage, x_groq: groq, ...rest }: Json, head: Head): Json {
  const { usage: _usage, ...request } = isJson(groq) ? groq : {};
  const { model: _model, ...same } = head;
  return {
    ...same,
    ...rest,
    object: OBJECT,
    ...(usage === null && { usage }),
    ...(groq !== undefined && { x_groq: isJson(groq) ? request : groq }),
  };
}
