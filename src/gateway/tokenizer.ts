import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { overloaded } from "../kit/index.ts";

const MAX_WAITING_CHARACTERS = 32 * 1024 * 1024;
/** The rest is kept for settlements: clients that only ask must not delay them. */
const MAX_WAITING_CHARACTERS_OF_CLIENTS = MAX_WAITING_CHARACTERS / 2;

/** Counts tokens by the o200k vocabulary, off the event loop. */
export interface Tokenizer {
  /** For a settlement. @throws GatewayError OVERLOADED when too much waits already; Error when the worker ended. */
  readonly count: (text: string) => Promise<number>;
  /** For a client's own question: refused earlier. */
  readonly countForClient: (text: string) => Promise<number>;
  /** Loads the vocabulary ahead of the first count. */
  readonly warmUp: () => void;
  readonly close: () => Promise<void>;
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
  let lastId = 0;

  const take = (id: number): Waiting | undefined => {
    const found = waiting.get(id);
    waiting.delete(id);
    waitingCharacters -= found?.characters ?? 0;
    // An idle worker must not keep the process alive.
    if (waiting.size === 0) worker?.unref();
    return found;
  };
  const start = (): Worker => {
    const started = new Worker(new URL(`./tokenizer-worker${extname(import.meta.url)}`, import.meta.url));
    started.on("message", ({ id, tokens }: { id: number; tokens: number }) => take(id)?.resolve(tokens));
    started.on("error", () => {});
    started.on("exit", () => {
      if (worker === started) worker = null;
      for (const id of waiting.keys()) take(id)?.reject(new Error("the tokenizer ended"));
    });
    return started;
  };
  const countWithin = (maxWaiting: number, text: string): Promise<number> => {
    if (text === "") return Promise.resolve(0);
    if (waitingCharacters + text.length > maxWaiting) return Promise.reject(overloaded());
    worker ??= start();
    worker.ref();
    lastId += 1;
    const id = lastId;
    waitingCharacters += text.length;
    const counted = new Promise<number>((resolve, reject) => {
      waiting.set(id, { characters: text.length, resolve, reject });
    });
    worker.postMessage({ id, text }, []);
    return counted;
  };

  return {
    count: (text) => countWithin(MAX_WAITING_CHARACTERS, text),
    countForClient: (text) => countWithin(MAX_WAITING_CHARACTERS_OF_CLIENTS, text),
    warmUp() {
      countWithin(MAX_WAITING_CHARACTERS, " ").catch(() => {});
    },
    async close() {
      await worker?.terminate();
    },
  };
}
