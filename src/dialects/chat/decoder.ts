import type { EventSourceMessage } from "eventsource-parser";
import type { Json, StreamEvent } from "../../kit/index.ts";
import { SseStreamReader } from "../canonical/sse.ts";
import { ChunkParser } from "./chunk-parser.ts";
import { ChunkReader } from "./chunks.ts";
import { reportedError } from "../canonical/refusals.ts";

/** Reads the events of one stream of chat completions; `[DONE]` is its ending. */
export class ChatStreamReader extends SseStreamReader {
  override done = false;
  readonly #parser = new ChunkParser();
  readonly #chunks = new ChunkReader();

  override get complete(): boolean {
    return this.done || this.#chunks.finished;
  }

  protected override parse(raw: string): unknown {
    return this.#parser.parse(raw);
  }

  protected override read(data: Json, { event: name, data: raw }: EventSourceMessage, events: StreamEvent[]): void {
    const { error } = data;
    if ((error !== undefined && error !== null) || name === "error") throw reportedError(error ?? data["message"]);
    const event = this.#chunks.read(data, raw);
    if (event !== null) events.push(event);
  }

  protected override mark(events: StreamEvent[]): void {
    this.done = true;
    for (const event of this.#chunks.end(true)) events.push(event);
  }

  protected override close(events: StreamEvent[]): void {
    for (const event of this.#chunks.end(false)) events.push(event);
  }
}
