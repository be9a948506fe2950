import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RunningKeys } from "../../src/gateway/idempotency.ts";
import {
  CancellationSource,
  type HeldKey,
  type KeptOutcome,
  type KeyClaim,
  type Store,
  storeUnavailable,
} from "../../src/kit/index.ts";
import { openStore } from "../../src/store/open.ts";
import { recordingLog } from "../store/redis/support.ts";

const ANSWER: KeptOutcome = { outcome: "served", answer: "sealed" };
const MINUTE = 60_000;

let store: Store;
/** Names of methods that fail, and what they throw. */
let failing: Map<string, Error>;
let asked: string[];
let keys: RunningKeys;
let log: ReturnType<typeof recordingLog>;
let last = 0;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval", "Date", "performance"] });
  store = await openStore("memory:", { serving: true, now: () => Date.now() });
  [failing, asked, log] = [new Map<string, Error>(), [], recordingLog()];
  keys = new RunningKeys({ store: flaky(store), log });
});
afterEach(async () => {
  await store.close();
  vi.useRealTimers();
});

function flaky(real: Store): Store {
  return new Proxy(real, {
    get(target, name: keyof Store) {
      return (...args: unknown[]) => {
        asked.push(name);
        if (failing.has(name)) return Promise.reject(failing.get(name));
        return (target[name] as (...args: unknown[]) => unknown)(...args);
      };
    },
  });
}

const away = () => storeUnavailable(new Error("away"));
const claimOf = (more: Partial<KeyClaim> = {}): KeyClaim => {
  const id = `ex_${(last += 1)}`;
  return { userId: "user_1", digest: "d", fingerprint: "f", id, requestId: `req-${id}`, ...more };
};
const take = (claim = claimOf(), cancellation = new CancellationSource()) =>
  keys.take(claim, { cancellation, maxMs: MINUTE });

async function first(claim = claimOf()): Promise<HeldKey> {
  const taken = await take(claim);
  if (taken.state !== "first") throw new Error(`the key was taken: ${taken.state}`);
  return taken.key;
}

describe("the keys of what a process runs", () => {
  test("are renewed as long as it runs, and no longer", async () => {
    const key = await first();
    await vi.advanceTimersByTimeAsync(5 * MINUTE);
    expect(await store.claimKey(claimOf(), MINUTE)).toMatchObject({ state: "running" });
    await key.release();
    await key.release();
    const count = asked.length;
    await vi.advanceTimersByTimeAsync(5 * MINUTE);
    expect(asked).toHaveLength(count);
    expect(await store.claimKey(claimOf(), MINUTE)).toEqual({ state: "claimed" });
  });

  test("of another process are asked for again and again until they are free", async () => {
    const elsewhere = claimOf();
    await store.claimKey(elsewhere, 10 * MINUTE);
    const waiting = take();
    await vi.advanceTimersByTimeAsync(10_000);
    const count = asked.length;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(asked.length - count).toBe(10);
    await store.freeKey(elsewhere);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await waiting).toMatchObject({ state: "first", waited: true });
  });

  test("are given up by who has waited long enough, or is cancelled", async () => {
    const { requestId } = claimOf();
    await first(claimOf({ requestId }));
    const cancellation = new CancellationSource();
    const [late, gone] = [take(), take(claimOf(), cancellation)];
    await vi.advanceTimersByTimeAsync(1_000);
    cancellation.abort("client_gone");
    expect(await gone).toEqual({ state: "aborted", waited: true });
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(await late).toEqual({ state: "running", requestId, waited: true });
  });

  test("with an answer that the store does not take are known here, and kept when it does", async () => {
    const claim = claimOf();
    const key = await first(claim);
    failing.set("keepKey", away()).set("renewKey", away()).set("claimKey", away());
    await key.keep(ANSWER);
    await key.release();
    const { requestId } = claim;
    expect(await take()).toEqual({ state: "answered", requestId, waited: false, ...ANSWER });
    expect(await take(claimOf({ fingerprint: "other" }))).toMatchObject({ state: "mismatch", requestId });
    await expect(take(claimOf({ digest: "new" })), "nobody knows").rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await vi.advanceTimersByTimeAsync(5 * MINUTE);
    failing.clear();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await store.claimKey(claimOf(), MINUTE)).toEqual({ state: "answered", requestId, ...ANSWER });
    expect(log.lines).toEqual([]);
  });

  test("with an answer are kept at the end of the process at the latest", async () => {
    const key = await first();
    failing.set("keepKey", away());
    await key.keep(ANSWER);
    failing.clear();
    await keys.close();
    expect(await store.claimKey(claimOf(), MINUTE)).toMatchObject({ state: "answered", ...ANSWER });
  });

  test("keep 16 MiB of answers for a store that is away, and of others what they came to", async () => {
    failing.set("keepKey", away());
    const answer = "x".repeat(3 * 1024 * 1024);
    for (let count = 0; count < 7; count += 1) {
      const key = await first(claimOf({ digest: `d${count}` }));
      await key.keep({ outcome: "served", answer });
    }
    const states = await Promise.all([0, 1, 2, 3, 4, 5, 6].map((count) => take(claimOf({ digest: `d${count}` }))));
    const kept = states.map((state) => state.state === "answered" && state.answer !== null);
    expect(kept).toEqual([true, true, true, true, true, false, false]);
  });

  test("whose claim had no answer are freed, for it may have been executed", async () => {
    failing.set("claimKey", away());
    await expect(take()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(asked).toEqual(["claimKey", "freeKey"]);
  });

  test("that a fault of the store's keeps from being kept, or freed, are told and let go of", async () => {
    failing.set("keepKey", new Error("broken")).set("freeKey", new Error("broken"));
    const [one, other] = [await first(), await first(claimOf({ digest: "d2" }))];
    await one.keep(ANSWER);
    await other.release();
    expect(log.lines.map((line) => line.slice(0, line.indexOf(" {")))).toEqual([
      "error answer could not be stored for its idempotency key",
      "error idempotency key could not be released",
    ]);
    const count = asked.length;
    await vi.advanceTimersByTimeAsync(5 * MINUTE);
    expect(asked).toHaveLength(count);
  });
});
