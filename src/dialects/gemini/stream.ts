import type { EventSourceMessage } from "eventsource-parser";
import { type Call, isJson, type Json, type StreamEvent } from "../../kit/index.ts";
import { reportedError } from "../errors.ts";
import { producedText } from "../openai/produced.ts";
import { SseDecoder } from "../sse.ts";
import { Candidates } from "./candidates.ts";
import { type Counted, readCounts } from "./usage.ts";
import { append } from "../json-fields.ts";

/** The longest event of a call that asks for images, in characters: each comes in one event. */
const MAX_IMAGE_EVENT = 32 * 1024 * 1024;

/**
 * `streamGenerateContent?alt=sse`: each event is a `GenerateContentResponse`. There is no ending: the body's end is it, if
 * a finish reason was seen, and only then are the finish reasons passed on, for some models repeat them on every event.
 */
export class GeminiDecoder extends SseDecoder {
  override readonly done = false;
  #counted: Counted | null = null;
  #begun = false;
  readonly #candidates: Candidates;

  constructor(call: Call) {
    super(asksForImages(call.body) ? MAX_IMAGE_EVENT : undefined);
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
    const { shown, usage } = this.#counted;
    const { data } = this.#chat([]);
    events.push({ data: { ...data, usage: shown }, text: "", usage });
  }

  #chat(choices: readonly Json[]): StreamEvent {
    const text = choices.map(({ delta }) => (isJson(delta) ? producedText(delta) : "")).join("");
    return { data: { ...this.#candidates.head, object: "chat.completion.chunk", choices }, text };
  }
}

/** Early counts may lack the output's; one of zero is left out as well. */
function isWhole({ usageMetadata: counts }: Json): boolean {
  return isJson(counts) && typeof counts["candidatesTokenCount"] === "number";
}

function asksForImages({ modalities }: Json): boolean {
  return Array.isArray(modalities) && modalities.includes("image");
}
