import { randomUUID } from "node:crypto";
import { type Bill, isJson, type Json, type StreamEvent, type StreamFormat, type Usage } from "../../../kit/index.ts";
import { DeltaWriter } from "./delta.ts";
import { objects } from "./fields.ts";
import { frame } from "./sequence.ts";
import { type Stop, stopOf } from "./stop.ts";
import { firstUsage, NO_USAGE, shownUsage } from "./usage.ts";

/** The events of a Messages stream; `model` is the route. */
export class MessagesStream implements StreamFormat {
  readonly heartbeat = frame("ping");
  readonly #model: string;
  readonly #deltas = new DeltaWriter();
  #begun = false;
  #usage: Usage | null = null;
  /** `#usage` was told at the start, before there was output to count. */
  #isPartial = false;
  #finish: Json = {};

  constructor(model: string) {
    this.#model = model;
  }

  event({ data, usage, partial }: StreamEvent): string {
    // Counts are cumulative: the last one stands.
    if (usage !== undefined) {
      this.#usage = usage;
      this.#isPartial = partial === true;
    }
    let written = "";
    for (const choice of objects(data["choices"])) {
      // Messages has one answer.
      if (choice["index"] !== undefined && choice["index"] !== 0) continue;
      if (isJson(choice["delta"])) written += this.#deltas.write(choice["delta"]);
      if (typeof choice["finish_reason"] === "string") this.#finish = choice;
    }
    return this.#begin(data["id"]) + written;
  }

  failure(message: string): string {
    return frame("error", { error: { type: "api_error", message } });
  }

  done(bill: Bill): string {
    if (this.#usage === null || this.#isPartial) this.#usage = bill.usage;
    const stop = stopOf(this.#finish, this.#deltas);
    return this.#begin(undefined) + this.#deltas.end(stop.stop_reason === "end_turn") + this.#end(stop);
  }

  killed(bill: Bill): string {
    // Counted up to the end: the upstream's last word may have been about less.
    this.#usage = bill.usage;
    return this.#begin(undefined) + this.#deltas.cut() + this.#end({ stop_reason: "end_turn", stop_sequence: null });
  }

  #begin(id: unknown): string {
    if (this.#begun) return "";
    this.#begun = true;
    const { message, usage } = this.#deltas.native;
    return frame("message_start", {
      message: {
        ...message,
        id: messageId(id, randomUUID()),
        type: "message",
        role: "assistant",
        model: this.#model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: this.#usage === null ? firstUsage(usage) : shownUsage(this.#usage, usage),
      },
    });
  }

  #end(stop: Stop): string {
    const { delta, event, usage } = this.#deltas.native;
    const shown = shownUsage(this.#usage ?? NO_USAGE, usage);
    return frame("message_delta", { ...event, delta: { ...delta, ...stop }, usage: shown }) + frame("message_stop");
  }
}

/** An id of Messages' form from the upstream's. @param other stands in for one that the upstream left out. */
export function messageId(id: unknown, other: string): string {
  const own = typeof id === "string" ? id.replaceAll(/[^\w-]/g, "") : "";
  return own.startsWith("msg_") ? own : `msg_${own === "" ? other.replaceAll("-", "") : own}`;
}
