import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Log } from "./kit/index.ts";
import type { Listening } from "./server/listen.ts";
import type { PublicServer } from "./server/public.ts";

/** For what is ended by force to be settled: a store that hangs must not hold the process for ever. */
const SETTLE_TIMEOUT = 5_000;
const CHECK = 20;

export interface DrainParts {
  readonly server: PublicServer;
  readonly listening: Listening;
  /** Milliseconds during which new requests are still served: balancers have not heard yet. */
  readonly delay: number;
  /** Milliseconds for what is in flight after that. */
  readonly timeout: number;
  readonly log: Log;
}

/** Ends serving without losing a request that could finish (design 10). Resolves when everything is settled. */
export async function drain({ server, listening, delay, timeout, log }: DrainParts): Promise<void> {
  server.setDraining(true);
  if (delay > 0) await sleep(delay);
  await unread();
  const closed = listening.close();
  await idle(server, timeout);
  const left = server.inFlight();
  if (left > 0) {
    log.warn({ requests: left }, "drain timed out: ending what is left");
    server.abortAll("shutdown");
    await idle(server, SETTLE_TIMEOUT);
  }
  // Answers just written are given a moment to reach their clients before idle connections are cut.
  await Promise.race([closed, sleep(left > 0 ? 250 : 50)]);
  await unread();
  await idle(server, SETTLE_TIMEOUT);
  listening.closeAll();
  await closed;
}

/** What a busy process has not read yet of connections that wait for an answer would look idle, and be cut. */
async function unread(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}

async function idle(server: PublicServer, timeout: number): Promise<void> {
  const until = performance.now() + timeout;
  while (server.inFlight() > 0 && performance.now() < until) await sleep(CHECK);
}
