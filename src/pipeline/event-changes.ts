import { type BegunExchange, isJson, type Observer, type StreamChange, type StreamEvent } from "../kit/index.ts";
import type { Bound, BoundHooks } from "./build.ts";
import { passOver } from "./hooks.ts";

/** What the hooks make of the events of one stream on their way to the client. */
export class EventChanges {
  readonly #hooks: BoundHooks;
  readonly #exchange: BegunExchange;
  readonly #observer: Observer;
  /** null before the first event, and where no hook changes how many events there are. */
  #links: readonly Link[] | null = null;

  constructor(hooks: BoundHooks, exchange: BegunExchange, observer: Observer) {
    this.#hooks = hooks;
    this.#exchange = exchange;
    this.#observer = observer;
  }

  /** Whether every event becomes one event: then `one` is to be called, else `all`, and `end` at the end. */
  get isOneToOne(): boolean {
    return this.#hooks.stream.length === 0;
  }

  /** @throws GatewayError */
  one(event: StreamEvent): StreamEvent {
    let current = this.#hooks.event.length === 0 ? event : frozenEvent(event);
    for (const hook of this.#hooks.event) {
      try {
        current = checkedEvent(hook.call(current, this.#exchange));
      } catch (error) {
        passOver(hook, error, this.#observer);
      }
    }
    return current;
  }

  /** @throws GatewayError */
  all(event: StreamEvent): readonly StreamEvent[] {
    this.#links ??= this.#begin();
    let events: readonly StreamEvent[] = [frozenEvent(event)];
    for (const link of this.#links) events = events.flatMap((one) => link.event(one));
    return events;
  }

  /** What is held back still. @throws GatewayError */
  end(): readonly StreamEvent[] {
    let events: readonly StreamEvent[] = [];
    for (const link of this.#links ?? []) events = [...events.flatMap((one) => link.event(one)), ...link.end()];
    return events;
  }

  /** The event hooks and what the stream hooks begin, in the order of the pipeline. @throws GatewayError */
  #begin(): Link[] {
    const { event, stream } = this.#hooks;
    const links = event.map((hook) => {
      const change = { event: (one: StreamEvent) => [hook.call(one, this.#exchange)] };
      return new Link(hook, change, false, this.#observer);
    });
    for (const hook of stream) {
      try {
        const change = hook.call(this.#exchange);
        if (change) links.push(new Link(hook, measured(hook, change), true, this.#observer));
      } catch (error) {
        passOver(hook, error, this.#observer);
      }
    }
    return links.toSorted((a, b) => a.position - b.position);
  }
}

/** All calls of one stream count under one name. */
function measured(hook: Bound<"stream">, change: StreamChange): StreamChange {
  return {
    event: hook.later("stream", (event: StreamEvent) => change.event(event)),
    end: hook.later("stream", () => change.end?.() ?? []),
  };
}

type EventHook = Bound<"event"> | Bound<"stream">;

/** One plugin's change of a stream. */
class Link {
  readonly position: number;
  readonly #hook: EventHook;
  readonly #observer: Observer;
  readonly #keepsState: boolean;
  /** null once one with a state has failed and may: what it held back is lost, and its state is not to be trusted. */
  #change: StreamChange | null;

  constructor(hook: EventHook, change: StreamChange, keepsState: boolean, observer: Observer) {
    this.position = hook.position;
    this.#hook = hook;
    this.#change = change;
    this.#keepsState = keepsState;
    this.#observer = observer;
  }

  event(event: StreamEvent): readonly StreamEvent[] {
    return this.#call((change) => change.event(event)) ?? [event];
  }

  end(): readonly StreamEvent[] {
    return this.#call((change) => change.end?.() ?? []) ?? [];
  }

  #call(make: (change: StreamChange) => readonly StreamEvent[]): readonly StreamEvent[] | null {
    if (this.#change === null) return null;
    try {
      const events = make(this.#change);
      if (!Array.isArray(events) || !events.every(isEvent)) {
        throw new TypeError(
          this.#keepsState ? "stream must return lists of events" : "event must return a stream event",
        );
      }
      return events;
    } catch (error) {
      if (this.#keepsState) this.#change = null;
      passOver(this.#hook, error, this.#observer);
      return null;
    }
  }
}

/** What is charged goes by the count in an event, which a hook may not change. */
function frozenEvent(event: StreamEvent): StreamEvent {
  if (event.usage !== undefined) Object.freeze(event.usage);
  return Object.freeze(event);
}

function isEvent(event: unknown): event is StreamEvent {
  return isJson(event) && isJson(event["data"]);
}

function checkedEvent(event: StreamEvent): StreamEvent {
  if (!isEvent(event)) throw new TypeError("event must return a stream event");
  return event;
}
