import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Log } from "./kit/index.ts";
import type { Listening } from "./server/listen.ts";
import type { PublicServer } from "./server/public.ts";

/** Milliseconds between looks at what is in flight. */
const CHECK_MS = 20;
/**
 * For what is ended by force to be counted and settled, as long as that is work: the store is waited for less. A charge
 * that is not settled by then is lost.
 */
const SETTLE_MS = 5_000;
/** Milliseconds before `timeout` is over at which what runs is not expected to finish. */
const LATE_MS = 2_000;
/** Milliseconds for answers to reach their clients before connections are cut: just written, and written by force. */
const WRITTEN_MS = 50;
const ENDED_MS = 250;

export interface DrainParts {
  readonly server: PublicServer;
  readonly listening: Listening;
  /** Milliseconds during which new requests are still served: balancers have not heard yet. */
  readonly delay: number;
  /** Milliseconds for what is in flight after that. */
  readonly timeout: number;
  /** Called while there still is time before that: what breaks off will have to be counted. */
  readonly onLate: () => void;
  /** Called when what is left is ended: nobody is to wait long for the store from now on. */
  readonly onTimeout: () => void;
  readonly log: Log;
}

/** Ends serving without losing a request that could finish. Resolves when everything is settled. */
export async function drain(parts: DrainParts): Promise<void> {
  const { server, listening, delay, timeout, onLate, onTimeout, log } = parts;
  server.setDraining(true);
  if (delay > 0) await sleep(delay);
  const until = performance.now() + timeout;
  /** @returns whether something had to be ended. */
  const finish = async (): Promise<boolean> => {
    await idle(server, until);
    const left = server.inFlight();
    if (left === 0) return false;
    log.warn({ requests: left }, "drain timed out: ending what is left");
    server.abortAll("shutdown");
    onTimeout();
    await idle(server, until + SETTLE_MS);
    return true;
  };
  await unread();
  const closed = listening.close();
  await idle(server, until - LATE_MS);
  if (server.inFlight() > 0) onLate();
  const ended = await finish();
  await Promise.race([closed, sleep(ended ? ENDED_MS : WRITTEN_MS)]);
  await unread();
  // What was read just now.
  if (await finish()) await sleep(WRITTEN_MS);
  listening.closeAll();
  await closed;
}

/** What a busy process has not read yet of connections that wait for an answer would look idle, and be cut. */
async function unread(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}

/** @param until as `performance.now()`. */
async function idle(server: PublicServer, until: number): Promise<void> {
  while (server.inFlight() > 0 && performance.now() < until) await sleep(CHECK_MS);
}
