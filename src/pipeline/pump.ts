import {
  type AnswerFormat,
  type AbortReason,
  type Client,
  type EventSource,
  type Exchange,
  GatewayError,
  type Observer,
  type StreamEvent,
  type Usage,
} from "../kit/index.ts";
import type { Plan } from "./build.ts";
import type { Delivered } from "./delivered.ts";
import type { Heartbeat } from "./heartbeat.ts";
import { passOver } from "./hooks.ts";
import { checkedEvent } from "./returned.ts";

export type PumpEnd =
  | { readonly kind: "served" }
  | { readonly kind: "upstream_cut"; readonly message: string }
  | { readonly kind: AbortReason };

export interface PumpParts {
  readonly exchange: Exchange;
  readonly client: Client;
  readonly format: AnswerFormat;
  readonly hooks: Plan["event"];
  readonly observer: Observer;
  readonly heartbeat: Heartbeat;
  readonly delivered: Delivered;
  readonly onUsage: (usage: Usage) => void;
}

/** Relays a stream event by event under back-pressure; resolves when it has ended, for whatever reason. Never rejects. */
export function pump(source: EventSource, parts: PumpParts): Promise<PumpEnd> {
  const { exchange, client, format, heartbeat, delivered } = parts;
  const { signal } = exchange;
  return new Promise((resolve) => {
    let waiting = false;
    const finish = (end: PumpEnd): void => {
      waiting = false;
      signal.removeEventListener("abort", onAbort);
      resolve(end);
    };
    const onAbort = (): void => {
      source.cancel();
      finish({ kind: signal.reason as AbortReason });
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort);

    const resume = (): void => {
      if (!waiting) return;
      waiting = false;
      source.resume();
    };
    source.open({
      events(batch) {
        let text = "";
        try {
          for (const event of batch) {
            delivered.add(event.text);
            if (event.usage !== undefined) parts.onUsage(event.usage);
            text += format.event(applyHooks(event, parts));
          }
        } catch (error) {
          source.cancel();
          // What came before reaches the client, however the upstream's reads happened to group it.
          if (text !== "") client.write(text);
          finish({
            kind: "upstream_cut",
            message: error instanceof GatewayError ? error.message : "Internal server error",
          });
          return;
        }
        if (text === "") return;
        heartbeat.touch();
        // Ignoring a full buffer here would let one slow client hold the whole stream in memory.
        if (!client.write(text) && !waiting) {
          waiting = true;
          source.pause();
          client.onDrain(resume);
        }
      },
      end(ending) {
        finish(ending.complete ? { kind: "served" } : { kind: "upstream_cut", message: ending.message });
      },
    });
  });
}

function applyHooks(event: StreamEvent, { hooks, exchange, observer }: PumpParts): StreamEvent {
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
