import type { EventSourceMessage } from "eventsource-parser";
import type { Json, StreamEvent } from "../../kit/index.ts";
import { SseDecoder } from "../sse.ts";
import { EventReader } from "./events.ts";

/** Reads the server-sent events of one stream of chat; `message-end` is its ending. */
export class CohereDecoder extends SseDecoder {
  readonly #reader = new EventReader();

  override get done(): boolean {
    return this.#reader.ended;
  }

  override get complete(): boolean {
    return this.#reader.ended;
  }

  protected override read(data: Json, { event }: EventSourceMessage, events: StreamEvent[]): void {
    for (const read of this.#reader.read(event === "error" ? { ...data, type: event } : data)) events.push(read);
  }
}
