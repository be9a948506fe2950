import type { EventSourceMessage } from "eventsource-parser";
import type { Call, Json, StreamEvent } from "../../kit/index.ts";
import { SseDecoder } from "../sse.ts";
import { ChunkWriter } from "./chunks.ts";

/** Reads the server-sent events of one Messages stream; `message_stop` is its ending. */
export class MessagesDecoder extends SseDecoder {
  readonly #chunks: ChunkWriter;

  constructor(call: Call) {
    super();
    this.#chunks = new ChunkWriter(call);
  }

  override get done(): boolean {
    return this.#chunks.ended;
  }

  override get complete(): boolean {
    return this.#chunks.ended || this.#chunks.finished;
  }

  protected override read(data: Json, { event }: EventSourceMessage, events: StreamEvent[]): void {
    events.push(...this.#chunks.read(event === "error" ? { ...data, type: event } : data));
  }

  protected override close(events: StreamEvent[], broken: boolean): void {
    if (!broken && this.complete) events.push(...this.#chunks.end());
  }
}
