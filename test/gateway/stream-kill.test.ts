import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type OnStop, storeUnavailable } from "../../src/kit/index.ts";
import { KillSwitch } from "../../src/gateway/stream-kill.ts";
import { TestLog } from "../support/host.ts";

/** Stop tokens as a store keeps them; `asked` are the users of each look. */
function tokens() {
  const raised = new Map<string, number>();
  const asked: (readonly string[])[] = [];
  const state = { away: false };
  const listeners = new Set<OnStop>();
  const told = new Set<(is: boolean) => void>();
  return {
    raised,
    asked,
    state,
    listeners,
    sure: (is: boolean) => told.forEach((tell) => tell(is)),
    store: {
      onStop(listener: OnStop, sure: (is: boolean) => void) {
        listeners.add(listener);
        told.add(sure);
        return () => void listeners.delete(listener);
      },
      stopStreams(userId: string) {
        const token = (raised.get(userId) ?? 0) + 1;
        raised.set(userId, token);
        return { token, streams: 7 };
      },
      stopTokens(userIds: readonly string[]) {
        asked.push(userIds);
        if (state.away) throw storeUnavailable(new Error("away"));
        return new Map(userIds.map((id) => [id, raised.get(id) ?? 0]));
      },
    },
  };
}

function stopsOf(given = tokens(), pollIntervalMs = 5) {
  const log = new TestLog();
  const stops = new KillSwitch({ store: given.store, log, pollIntervalMs });
  const ended: string[] = [];
  const watch = (userId: string, token: number, name = userId) =>
    stops.watch(userId, token, () => void ended.push(name));
  return { ...given, stops, ended, watch, log };
}

describe("a kill", () => {
  test("ends every stream of the user below the new token at once, and no other", async () => {
    const { stops, watch, ended } = stopsOf(tokens(), 60_000);
    watch("ann", 0, "first");
    watch("ann", 0, "second");
    watch("ann", 1, "later");
    watch("ben", 0, "ben");
    expect(await stops.kill("ann")).toBe(7);
    expect(ended).toEqual(["first", "second"]);
    await stops.kill("ann");
    expect(ended).toEqual(["first", "second", "later"]);
    stops.close();
  });

  test("that another process pushes ends the streams below its token, until the stops are closed", async () => {
    const { stops, watch, ended, listeners } = stopsOf(tokens(), 60_000);
    watch("ann", 0, "first");
    watch("ann", 2, "later");
    for (const push of listeners) push("ann", 1);
    expect(ended).toEqual(["first"]);
    for (const push of listeners) push("ben", 9);
    expect(ended).toEqual(["first"]);
    stops.close();
    expect(listeners.size).toBe(0);
  });

  test("does not end a stream that was let go", async () => {
    const { stops, watch, ended } = stopsOf();
    watch("ann", 0)();
    await stops.kill("ann");
    expect(ended).toEqual([]);
  });

  test("ends each stream once, also when its end lets the others go", async () => {
    const { stops, ended } = stopsOf();
    const others: (() => void)[] = [];
    for (const name of ["a", "b", "c"]) {
      others.push(
        stops.watch("ann", 0, () => {
          ended.push(name);
          for (const other of others) other();
        }),
      );
    }
    await stops.kill("ann");
    expect(ended).toEqual(["a"]);
  });
});

describe("a token raised by another process", () => {
  test("ends the stream at the next look", async () => {
    const { watch, ended, raised, stops } = stopsOf();
    watch("ann", 0);
    watch("ben", 3);
    raised.set("ann", 1).set("ben", 3);
    await expect.poll(() => ended).toEqual(["ann"]);
    stops.close();
  });

  test("also after a time in which the store did not answer", async () => {
    const { watch, ended, raised, state, asked, stops, log } = stopsOf();
    state.away = true;
    watch("ann", 0);
    raised.set("ann", 1);
    await expect.poll(() => asked.length).toBeGreaterThan(2);
    expect(ended).toEqual([]);
    state.away = false;
    await expect.poll(() => ended).toEqual(["ann"]);
    expect(log.lines.every(({ level }) => level === "debug")).toBe(true);
    stops.close();
  });

  test("while pushes are sure to come the store is hardly asked, and at once when they no longer are", async () => {
    const { watch, ended, raised, asked, stops, sure } = stopsOf();
    sure(true);
    watch("ann", 0);
    await sleep(100);
    expect(asked.length).toBeLessThanOrEqual(1);
    raised.set("ann", 1);
    sure(false);
    await sleep(0);
    expect(ended).toEqual(["ann"]);
    stops.close();
  });

  test("what may have been missed before pushes were sure to come is asked for", async () => {
    const { watch, ended, raised, stops, sure } = stopsOf(tokens(), 60_000);
    watch("ann", 0);
    raised.set("ann", 1);
    sure(true);
    await sleep(0);
    expect(ended).toEqual(["ann"]);
    stops.close();
  });

  test("nobody asks the store while there are no streams", async () => {
    const { watch, asked, stops } = stopsOf();
    watch("ann", 0)();
    await sleep(30);
    expect(asked).toEqual([]);
    stops.close();
  });
});
