import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openRedis } from "../../../src/store/redis/open.ts";
import { withResilience } from "../../../src/store/resilient/store.ts";
import { describeRedis, startRedis } from "../../support/redis.ts";
import { collectingLog } from "./flaky.ts";
import { temporaryJournal, until } from "./support.ts";
import { OPEN, addUser, admission, charged } from "../support.ts";

const AOF = ["--appendonly", "yes", "--appendfsync", "always"];

/** A server that keeps what it has acknowledged, a store on it, and one user. */
async function start() {
  const server = await startRedis(AOF);
  onTestFinished(() => server.stop());
  const redis = await openRedis({ url: server.url, nodes: [], prefix: "t:" });
  const { log } = collectingLog();
  const options = { onFailure: () => "open" as const, journal: temporaryJournal(), log, now: Date.now };
  const store = withResilience(redis, options);
  onTestFinished(() => store.close());
  const user = await addUser(store, 1_000_000n);
  /** Requests as they come, one after the other, until told to stop; each is of 7. */
  const serve = async (until: () => boolean, ids: string[]) => {
    while (!until()) {
      const request = admission(user.id, { stream: true, hold: 5n });
      if (!(await store.admit(request)).ok) throw new Error("refused");
      await pause(1);
      await store.settle(charged(request, 7n));
      ids.push(request.id);
    }
  };
  /** When everything has reached the store. */
  const books = async () => {
    await until(() => store.pending === 0);
    // What was admitted although the answer was lost is given back within the second.
    while ((await store.running(user.id)).requests > 0) await pause(20);
    const { balance, granted } = (await store.findUser(user.id))!;
    const charged = (await store.ledger(user.id)).map(({ id }) => id).toSorted();
    return { charged, spent: granted - balance, counted: (await store.windows(user.id, OPEN)).day.used };
  };
  return { server, serve, books };
}

describeRedis("a store on Redis that is away for a while", () => {
  test.each([
    ["killed and started again", "kill"],
    ["standing still", "pause"],
  ] as const)("%s: requests go on, and each is charged and counted once", async (_, how) => {
    const { server, serve, books } = await start();
    const ids: string[] = [];
    let over = false;
    const lanes = Array.from({ length: 8 }, () => serve(() => over, ids));
    for (let round = 0; round < 2; round++) {
      const reached = async (more: number) => {
        const before = ids.length;
        await until(() => ids.length >= before + more);
      };
      await reached(50);
      if (how === "kill") await server.kill();
      else server.pause();
      await reached(50);
      if (how === "kill") await server.restart();
      else server.resume();
    }
    over = true;
    await Promise.all(lanes);
    const expected = { charged: ids.toSorted(), spent: 7n * BigInt(ids.length), counted: ids.length };
    expect(await books()).toEqual(expected);
  });
});
