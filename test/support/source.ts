import { isJson, type Sink, type Source, type StreamEvent, type Usage } from "../../src/kit/index.ts";

type Ending = Parameters<Sink<unknown>["end"]>[0];

/** An upstream stream played by hand: what is emitted waits until the source is open and not paused. */
class Played<Item> implements Source<Item> {
  cancelled = false;
  paused = false;
  pauses = 0;
  resumes = 0;
  #sink: Sink<Item> | null = null;
  #opened = false;
  #ended = false;
  #waiting: Item[] = [];
  #ending: Ending | null = null;

  /** Neither ended nor cancelled: somebody still holds an upstream connection. */
  get live(): boolean {
    return !this.#ended && !this.cancelled;
  }

  get opened(): boolean {
    return this.#opened;
  }

  open(sink: Sink<Item>): void {
    if (this.#opened) throw new Error("a source is opened once");
    this.#opened = true;
    this.#sink = sink;
    this.#flush();
  }

  pause(): void {
    this.paused = true;
    this.pauses += 1;
  }

  resume(): void {
    this.paused = false;
    this.resumes += 1;
    this.#flush();
  }

  cancel(): void {
    this.cancelled = true;
    this.#sink = null;
  }

  /** One read from the upstream. */
  read(item: Item): this {
    this.#waiting.push(item);
    this.#flush();
    return this;
  }

  /** The upstream's end: complete, or cut with a message. */
  finish(cut?: string): this {
    this.#ending = cut === undefined ? { complete: true } : { complete: false, message: cut };
    this.#flush();
    return this;
  }

  #flush(): void {
    while (this.#sink !== null && !this.paused) {
      const item = this.#waiting.shift();
      if (item !== undefined) {
        this.#sink.next(item);
        continue;
      }
      if (this.#ending === null) return;
      const sink = this.#sink;
      this.#sink = null;
      this.#ended = true;
      sink.end(this.#ending);
    }
  }
}

/** A stream of events. */
export class FakeSource extends Played<readonly StreamEvent[]> {
  /** One read from the upstream. */
  emit(...batch: readonly StreamEvent[]): this {
    return this.read(batch);
  }
}

/** A body relayed as it is. */
export class FakeBytes extends Played<Uint8Array> {}

/** An event as the openai decoder makes it from a chunk with this delta. */
export function chunk(delta: object, more: { readonly usage?: Usage; readonly finish?: string } = {}): StreamEvent {
  const data = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_768_478_400,
    model: "upstream-model",
    choices: [{ index: 0, delta, finish_reason: more.finish ?? null }],
  };
  const text = isJson(delta) && typeof delta["content"] === "string" ? delta["content"] : "";
  const event = { data, raw: JSON.stringify(data), text };
  return more.usage === undefined ? event : { ...event, usage: more.usage };
}

/** The chunk with nothing but a count, as an upstream sends it last. */
export function usageChunk(usage: Usage): StreamEvent {
  const data = {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_768_478_400,
    model: "upstream-model",
    choices: [],
    usage: {
      prompt_tokens: usage.prompt,
      completion_tokens: usage.completion,
      total_tokens: usage.prompt + usage.completion,
    },
  };
  return { data, raw: JSON.stringify(data), text: "", usage };
}
