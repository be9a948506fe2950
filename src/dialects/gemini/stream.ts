import { createParser, type EventSourceMessage, type EventSourceParser } from "eventsource-parser";
import { AttemptError, type Call, isJson, type Json, type StreamEvent } from "../../kit/index.ts";
import type { StreamDecoder } from "../dialect.ts";
import { reportedError } from "../errors.ts";
import { parseJson } from "../json.ts";
import { producedText } from "../openai/chat.ts";
import { Candidates } from "./candidates.ts";
import { type Counted, readCounts } from "./usage.ts";

/** The longest event accepted from an upstream, in characters. */
const MAX_EVENT = 1024 * 1024;
/** The same for a call that asks for images: each comes in one event. */
const MAX_IMAGE_EVENT = 32 * 1024 * 1024;
/** What the parser may hold besides an event's data: field names and a line that has only begun. */
const FRAMING = 1024;
const TOO_LARGE = "upstream sent an event that is too large";

/**
 * `streamGenerateContent?alt=sse`: each event is a `GenerateContentResponse`. There is no ending: the body's end is it, if
 * a finish reason was seen, and only then are the finish reasons passed on, for some models repeat them on every event.
 */
export class GeminiDecoder implements StreamDecoder {
  fault: AttemptError | null = null;
  readonly done = false;
  #begun = false;
  #ended = false;
  #closed = false;
  #events: StreamEvent[] = [];
  #counted: Counted | null = null;
  readonly #candidates: Candidates;
  readonly #maximum: number;
  readonly #text = new TextDecoder();
  readonly #parser: EventSourceParser;

  constructor(call: Call) {
    this.#candidates = new Candidates(call);
    this.#maximum = asksForImages(call.body) ? MAX_IMAGE_EVENT : MAX_EVENT;
    this.#parser = createParser({
      maxBufferSize: this.#maximum + FRAMING,
      onEvent: (message) => this.#event(message),
      onError: (error) => {
        if (error.type === "max-buffer-size-exceeded") this.#fail(TOO_LARGE);
      },
    });
  }

  get complete(): boolean {
    return this.#candidates.ended;
  }

  feed(chunk: Uint8Array): readonly StreamEvent[] {
    if (this.fault === null && !this.#closed) this.#parse(this.#text.decode(chunk, { stream: true }));
    return this.#take();
  }

  finish(): readonly StreamEvent[] {
    if (this.#closed) return [];
    // An event without its empty line at the end of the body is dropped by the SSE rules; some upstreams end that way.
    this.#ended = true;
    if (this.fault === null) this.#parse(`${this.#text.decode()}\n\n`);
    this.#closed = true;
    if (this.fault === null && this.complete) this.#guarded(() => this.#close());
    return this.#take();
  }

  #parse(text: string): void {
    const first = this.#begun ? "" : text.trimStart().slice(0, 1);
    this.#begun ||= first !== "";
    if (first === "[" || first === "{") return this.#fail("upstream sent JSON where events were asked for");
    this.#parser.feed(text);
  }

  #take(): readonly StreamEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #event(message: EventSourceMessage): void {
    if (this.fault !== null) return;
    const raw = message.data;
    // The parser measures only what it must hold: without this an event's fate would hang on how its reads were split.
    if (raw.length > this.#maximum) return this.#fail(TOO_LARGE);
    const body = parseJson(raw);
    if (!isJson(body)) return this.#fail("upstream sent an event that is not JSON");
    if ((body["error"] !== undefined && body["error"] !== null) || message.event === "error") {
      this.fault = reportedError(body["error"] ?? body["message"]);
      return;
    }
    this.#guarded(() => this.#chunk(body));
  }

  #chunk(body: Json): void {
    const counted = readCounts(body);
    this.#counted = counted ?? this.#counted;
    const choices = this.#candidates.add(body);
    for (const [index, choice] of choices.entries()) {
      const event = this.#chat([choice]);
      // Counts are cumulative: with them a stream that breaks off is charged for its thoughts as well.
      const known = index === choices.length - 1 && isWhole(body) ? counted : null;
      this.#events.push(known === null ? event : { ...event, usage: known.usage });
    }
  }

  #close(): void {
    this.#events.push(...this.#candidates.finish().map((choice) => this.#chat([choice])));
    if (this.#counted === null) return;
    const { shown, usage } = this.#counted;
    const { data } = this.#chat([]);
    this.#events.push({ data: { ...data, usage: shown }, text: "", usage });
  }

  #chat(choices: readonly Json[]): StreamEvent {
    const text = choices.map(({ delta }) => (isJson(delta) ? producedText(delta) : "")).join("");
    return { data: { ...this.#candidates.head, object: "chat.completion.chunk", choices }, text };
  }

  #guarded(run: () => void): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof AttemptError)) throw error;
      this.fault = error;
    }
  }

  #fail(message: string): void {
    // The whole answer had come: a count cut off behind it must not turn it into a failure.
    if (this.#ended && this.complete) return;
    this.fault ??= new AttemptError("protocol", message);
  }
}

/** Early counts may lack the output's. */
function isWhole({ usageMetadata: counts }: Json): boolean {
  return isJson(counts) && typeof counts["candidatesTokenCount"] === "number";
}

function asksForImages({ modalities }: Json): boolean {
  return Array.isArray(modalities) && modalities.includes("image");
}
