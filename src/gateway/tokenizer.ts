import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { overloaded } from "../kit/index.ts";

/** Characters that wait to be counted at most; clients' own questions get no more than half of the room. */
const MOST_WAITING = 32 * 1024 * 1024;

export interface Tokenizer {
  /**
   * Tokens of a text by the o200k vocabulary, counted off the event loop (decisions 10.1).
   * @param asked by a client, and not to settle what an answer costs.
   * @throws GatewayError OVERLOADED when too much waits already; Error when the worker ended.
   */
  count(text: string, asked?: boolean): Promise<number>;
  close(): Promise<void>;
}

interface Waiting {
  readonly characters: number;
  readonly resolve: (tokens: number) => void;
  readonly reject: (error: Error) => void;
}

/** The worker starts with the first text: its vocabulary takes about 75 MB, which most gateways never need. */
export function createTokenizer(): Tokenizer {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  let waitingCharacters = 0;
  let last = 0;

  const settle = (id: number): Waiting | undefined => {
    const found = waiting.get(id);
    waiting.delete(id);
    waitingCharacters -= found?.characters ?? 0;
    // What nobody waits for must not keep the process alive.
    if (waiting.size === 0) worker?.unref();
    return found;
  };
  const start = (): Worker => {
    const started = new Worker(new URL(`./tokenizer-worker${extname(import.meta.url)}`, import.meta.url));
    started.on("message", ({ id, tokens }: { id: number; tokens: number }) => settle(id)?.resolve(tokens));
    started.on("error", () => {});
    started.on("exit", () => {
      if (worker === started) worker = null;
      for (const id of waiting.keys()) settle(id)?.reject(new Error("the tokenizer ended"));
    });
    return started;
  };

  return {
    count(text, asked = false) {
      if (text === "") return Promise.resolve(0);
      if (waitingCharacters + text.length > MOST_WAITING / (asked ? 2 : 1)) {
        return Promise.reject(overloaded());
      }
      worker ??= start();
      worker.ref();
      last += 1;
      const id = last;
      waitingCharacters += text.length;
      const counted = new Promise<number>((resolve, reject) => {
        waiting.set(id, { characters: text.length, resolve, reject });
      });
      worker.postMessage({ id, text }, []);
      return counted;
    },
    async close() {
      await worker?.terminate();
    },
  };
}
