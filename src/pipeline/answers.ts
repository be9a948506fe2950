import {
  type Call,
  type Exchange,
  isJson,
  type KeepWish,
  type Observer,
  type OwnReply,
  type PluginHeaders,
  type Reply,
  type Sink,
  type Source,
  type StreamEvent,
  type Usage,
  type WholeAnswer,
} from "../kit/index.ts";
import type { BoundHooks } from "./build.ts";
import { checkedHeaders, checkedReply, passOver } from "./hooks.ts";
import { HookTimeout } from "./timing.ts";

/** What the answer hooks say of one call. */
export interface Asked {
  /** null: an upstream has to serve it. */
  readonly own: { readonly plugin: string; readonly reply: OwnReply } | null;
  /** null: nobody wants the upstream's answer. */
  readonly keeper: AnswerKeeper | null;
  /** What they want to tell the client beside it. */
  readonly headers: PluginHeaders;
}

/** Asks the answer hooks in order, until one answers. @throws GatewayError */
export async function askPlugins(
  hooks: BoundHooks["answer"],
  call: Call,
  exchange: Exchange,
  observer: Observer,
): Promise<Asked> {
  const wishes: Wish[] = [];
  const headers: Record<string, string> = {};
  for (const hook of hooks) {
    let said: OwnReply | KeepWish | null | void = null;
    try {
      said = await hook.call(call, exchange);
      if (said === null || said === undefined) continue;
      const added = checkedHeaders(said.headers ?? {});
      if (said.type !== "keep") {
        const reply = checkedOwn(said, call);
        return { own: { plugin: hook.plugin, reply }, keeper: null, headers: { ...headers, ...added } };
      }
      const wish = checkedWish(said);
      const keep = hook.later("keep", (answer: WholeAnswer) => wish.keep(answer));
      wishes.push({ plugin: hook.plugin, maxBytes: wish.maxBytes, keep });
      Object.assign(headers, added);
    } catch (error) {
      // A source that nobody reads may hold a connection.
      cancel(said);
      if (error instanceof HookTimeout) error.late.then(cancel, () => null);
      passOver(hook, error, observer);
    }
  }
  return { own: null, keeper: wishes.length === 0 ? null : new AnswerKeeper(wishes, observer), headers };
}

/** @param said whatever a hook has returned. */
function cancel(said: unknown): void {
  if (!isJson(said) || !isJson(said["source"]) || typeof said["source"]["cancel"] !== "function") return;
  said["source"]["cancel"]();
}

interface Wish extends Pick<KeepWish, "maxBytes" | "keep"> {
  readonly plugin: string;
}

function checkedWish(wish: KeepWish): KeepWish {
  if (typeof wish.keep === "function" && wish.maxBytes >= 0) return wish;
  throw new TypeError("answer must return a reply, or a wish with maxBytes and keep");
}

function checkedOwn(reply: OwnReply, call: Call): OwnReply {
  const checked = checkedReply(reply, call, "answer");
  if (checked.usage === null || isJson(checked.usage)) return checked;
  throw new TypeError("answer must return what is charged as usage, or null");
}

/**
 * Collects an upstream's answer as it is read, for the plugins that want it. What becomes larger than every wish is let
 * go of at once.
 */
export class AnswerKeeper {
  readonly #observer: Observer;
  #wishes: readonly Wish[];
  #bytes = 0;
  #events: StreamEvent[] = [];
  #chunks: Uint8Array[] = [];

  constructor(wishes: readonly Wish[], observer: Observer) {
    this.#wishes = wishes;
    this.#observer = observer;
  }

  /** The reply, collected as its taker reads it. */
  watch(reply: Reply): Reply {
    switch (reply.type) {
      case "answer":
        this.#count(JSON.stringify(reply.body).length);
        return reply;
      case "events":
        return { ...reply, source: new WatchedSource(reply.source, this.#addEvents) };
      case "bytes":
        return { ...reply, source: new WatchedSource(reply.source, this.#addChunk) };
    }
  }

  /** Hands the whole answer to the plugins, one after the other. Never rejects: the client has been served. */
  async keep(reply: Reply, usage: Usage): Promise<void> {
    const { target, dropped = [] } = reply;
    const about = { target, dropped, usage };
    for (const { plugin, keep } of this.#wishes) {
      try {
        await keep(this.#whole(reply, about));
      } catch (error) {
        this.#observer.pluginFailed(plugin, error);
      }
    }
  }

  #whole(reply: Reply, about: Pick<WholeAnswer, "target" | "dropped" | "usage">): WholeAnswer {
    switch (reply.type) {
      case "answer":
        return { ...about, type: "answer", body: reply.body };
      case "events":
        return { ...about, type: "events", events: this.#events };
      case "bytes":
        return { ...about, type: "bytes", contentType: reply.contentType, bytes: Buffer.concat(this.#chunks) };
    }
  }

  readonly #addEvents = (batch: readonly StreamEvent[]): void => {
    for (const event of batch) {
      if (this.#wishes.length === 0) return;
      this.#events.push(event);
      this.#count(event.raw?.length ?? JSON.stringify(event.data).length);
    }
  };

  readonly #addChunk = (chunk: Uint8Array): void => {
    if (this.#wishes.length === 0) return;
    this.#chunks.push(chunk);
    this.#count(chunk.length);
  };

  #count(bytes: number): void {
    this.#bytes += bytes;
    if (this.#wishes.every(({ maxBytes }) => maxBytes >= this.#bytes)) return;
    this.#wishes = this.#wishes.filter(({ maxBytes }) => maxBytes >= this.#bytes);
    if (this.#wishes.length > 0) return;
    this.#events = [];
    this.#chunks = [];
  }
}

/** A source whose items are seen on their way. */
export class WatchedSource<Item> implements Source<Item> {
  readonly #source: Source<Item>;
  readonly #see: (item: Item) => void;

  constructor(source: Source<Item>, see: (item: Item) => void) {
    this.#source = source;
    this.#see = see;
  }

  open(sink: Sink<Item>): void {
    this.#source.open({
      next: (item) => {
        this.#see(item);
        sink.next(item);
      },
      end: (ending) => sink.end(ending),
    });
  }

  pause(): void {
    this.#source.pause();
  }

  resume(): void {
    this.#source.resume();
  }

  cancel(): void {
    this.#source.cancel();
  }
}
