import { setTimeout as sleep } from "node:timers/promises";
import { isStoreUnavailable, type Log, type Settlement, type Store, storeUnavailable } from "./kit/index.ts";

/** Milliseconds between tries. */
const SHORTEST = 50;
const LONGEST = 1_000;
/** Milliseconds that an answer, and a shutdown, wait for charges that the store does not take. */
const PATIENCE = 5_000;

/**
 * Makes `store.settle` try again for as long as the store does not answer: a settlement given up is a charge lost, and
 * a slot and a hold taken for ever. An answer waits 5 s for its charge; beyond that its settlement goes on without it.
 * @returns `done`, which waits for what is unsettled, 5 s at most.
 */
export function keepSettling(store: Store, log: Log): { done(): Promise<void> } {
  const settle = store.settle.bind(store);
  const waiting = new Map<Settlement, PromiseWithResolvers<void>>();
  let working: Promise<void> | null = null;
  const over = new AbortController();

  async function work(): Promise<void> {
    log.warn({}, "the store does not answer: settlements wait for it");
    for (let wait = SHORTEST; waiting.size > 0 && !over.signal.aborted; wait = Math.min(2 * wait, LONGEST)) {
      await sleep(wait);
      // All in one turn: the store takes them in one transaction, and blocks once if it is still busy.
      await Promise.all([...waiting].map(([settlement, settled]) => again(settlement, settled)));
    }
    working = null;
    if (waiting.size > 0) log.error({ requests: waiting.size }, "the store does not answer: these remain unsettled");
    else log.info({}, "the store answers: everything is settled");
  }

  async function again(settlement: Settlement, settled: PromiseWithResolvers<void>): Promise<void> {
    try {
      await settle(settlement);
      settled.resolve();
    } catch (error) {
      if (isStoreUnavailable(error)) return;
      settled.reject(error);
    }
    waiting.delete(settlement);
  }

  store.settle = async (settlement) => {
    try {
      return await settle(settlement);
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error;
    }
    const settled = Promise.withResolvers<void>();
    waiting.set(settlement, settled);
    working ??= work();
    const tired = sleep(PATIENCE, null, { ref: false }).then(() => {
      throw storeUnavailable(new Error("the settlement goes on when the store answers"));
    });
    await Promise.race([settled.promise, tired]);
  };

  return {
    async done() {
      if (working) await Promise.race([working, sleep(PATIENCE)]);
      over.abort();
    },
  };
}
