import type { Exchange, Observer, StreamEvent, StreamFormat, Usage } from "../kit/index.ts";
import type { Plan } from "./build.ts";
import type { Delivered } from "./delivered.ts";
import { passOver } from "./hooks.ts";
import { checkedEvent } from "./returned.ts";

export interface EventWriterParts {
  readonly exchange: Exchange;
  readonly format: StreamFormat;
  readonly hooks: Plan["event"];
  readonly observer: Observer;
  readonly delivered: Delivered;
  readonly onUsage: (usage: Usage) => void;
}

/** Writes batches of events in the client's format: counted as the upstream sent them, shown as the hooks made them. */
export function eventWriter(parts: EventWriterParts) {
  const { format, delivered } = parts;
  return (batch: readonly StreamEvent[], write: (text: string) => void): void => {
    let text = "";
    try {
      for (const event of batch) {
        delivered.add(event.text);
        if (event.usage !== undefined) parts.onUsage(event.usage);
        text += format.event(applyHooks(event, parts));
      }
    } finally {
      // Also what came before a failure: it must not hang on how the upstream's reads happened to group it.
      if (text !== "") write(text);
    }
  };
}

function applyHooks(event: StreamEvent, { hooks, exchange, observer }: EventWriterParts): StreamEvent {
  let current = event;
  for (const hook of hooks) {
    try {
      current = checkedEvent(hook.call(current, exchange));
    } catch (error) {
      passOver(hook, error, observer);
    }
  }
  return current;
}
