import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { overloaded } from "../kit/index.ts";
import { ByteBudget } from "../server/byte-budget.ts";
import type { CountJob } from "./tokenizer-worker.ts";

const MAX_WAITING_CHARACTERS = 32 * 1024 * 1024;
/** Apart from settlements, which must not be refused for clients that only ask. One user has a quarter of it. */
const MAX_WAITING_CHARACTERS_OF_CLIENTS = 64 * 1024 * 1024;

/** Counts tokens by the o200k vocabulary, off the event loop. */
export interface Tokenizer {
  /** For a settlement. @throws GatewayError OVERLOADED when too much waits already; Error when the worker ended. */
  readonly count: (text: string) => Promise<number>;
  /** For a client's own question. Users take turns. @throws the same. */
  readonly countForClient: (text: string, userId: string) => Promise<number>;
  /** Loads the vocabulary ahead of the first count. */
  readonly warmUp: () => void;
  readonly close: () => Promise<void>;
}

interface Waiting {
  readonly free: () => void;
  readonly resolve: (tokens: number) => void;
  readonly reject: (error: Error) => void;
}

/** The worker starts with the first text: its vocabulary takes about 75 MB, which most gateways never need. */
export function createTokenizer(): Tokenizer {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | null = null;
  const clients = new ByteBudget(() => MAX_WAITING_CHARACTERS_OF_CLIENTS);
  let waitingCharacters = 0;
  let lastId = 0;

  const take = (id: number): Waiting | undefined => {
    const found = waiting.get(id);
    waiting.delete(id);
    found?.free();
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
  /** @param free called when it waits no more. */
  const post = (text: string, userId: string | null, free: () => void): Promise<number> => {
    worker ??= start();
    worker.ref();
    lastId += 1;
    const id = lastId;
    const counted = new Promise<number>((resolve, reject) => {
      waiting.set(id, { free, resolve, reject });
    });
    worker.postMessage({ id, text, userId } satisfies CountJob, []);
    return counted;
  };
  const count = async (text: string): Promise<number> => {
    if (text === "") return 0;
    if (waitingCharacters + text.length > MAX_WAITING_CHARACTERS) throw overloaded();
    waitingCharacters += text.length;
    return post(text, null, () => (waitingCharacters -= text.length));
  };

  return {
    count,
    async countForClient(text, userId) {
      if (text === "") return 0;
      const claim = clients.claim(userId);
      claim.hold(text.length);
      return post(text, userId, () => claim.release());
    },
    warmUp() {
      count(" ").catch(() => {});
    },
    async close() {
      await worker?.terminate();
    },
  };
}
