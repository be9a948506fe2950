import { type AbortReason, type Client, GatewayError, type Source } from "../kit/index.ts";

export type PumpEnd =
  | { readonly kind: "served" }
  | { readonly kind: "upstream_cut"; readonly message: string }
  | { readonly kind: AbortReason };

export interface PumpParts<Item> {
  readonly client: Client;
  /** Writes what the client is to see of one read; what it throws ends the stream. */
  readonly next: (item: Item, write: (chunk: string | Uint8Array) => void) => void;
}

/** Relays a stream read by read under back-pressure; resolves when it has ended, for whatever reason. Never rejects. */
export function pump<Item>(source: Source<Item>, { client, next }: PumpParts<Item>): Promise<PumpEnd> {
  const { signal } = client;
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
    const write = (chunk: string | Uint8Array): void => {
      // Ignoring a full buffer here would let one slow client hold the whole stream in memory.
      if (client.write(chunk) || waiting) return;
      waiting = true;
      source.pause();
      client.onDrain(resume);
    };
    source.open({
      next(item) {
        try {
          next(item, write);
        } catch (error) {
          source.cancel();
          const message = error instanceof GatewayError ? error.message : "Internal server error";
          finish({ kind: "upstream_cut", message });
        }
      },
      end(ending) {
        finish(ending.complete ? { kind: "served" } : { kind: "upstream_cut", message: ending.message });
      },
    });
  });
}
