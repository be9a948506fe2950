import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KeptOutcome, KeyClaim, KeyState, Store } from "../../../src/kit/index.ts";
import { PATIENCE, RUNS } from "../../properties/runs.ts";
import { DAY, MINUTE, unique } from "../support.ts";

const LEASE = MINUTE;
const MIB = 1024 * 1024;
const KEPT_MIB = 64;
const SERVED: KeptOutcome = { outcome: "served", answer: "the answer" };
const BARE: KeptOutcome = { outcome: "client_gone", answer: null };

const COMMAND = fc.oneof(
  fc.record({
    do: fc.constantFrom("claim" as const, "renew" as const, "keep" as const, "bare" as const, "free" as const),
    request: fc.nat(2),
    key: fc.nat(1),
    body: fc.nat(1),
  }),
  fc.record({ do: fc.constant("pass" as const), time: fc.constantFrom(1, LEASE - 1, LEASE, DAY) }),
  fc.constant({ do: "forget" as const }),
);
type Command = typeof COMMAND extends fc.Arbitrary<infer Value> ? Value : never;

type Entry = { readonly claim: KeyClaim; readonly until: number; readonly kept: KeptOutcome | null };

/** The contract in a few lines. */
class Model {
  readonly #entries = new Map<string, Entry>();

  ask(asked: Exclude<Command["do"], "pass" | "forget">, claim: KeyClaim, now: number): unknown {
    const entry = this.#entries.get(claim.digest);
    const live = entry !== undefined && entry.until > now ? entry : null;
    const isOwn = live === null || (live.kept === null && live.claim.id === claim.id);
    const set = (kept: KeptOutcome | null): true => {
      this.#entries.set(claim.digest, { claim, kept, until: now + (kept === null ? LEASE : DAY) });
      return true;
    };
    switch (asked) {
      case "claim": {
        if (isOwn && set(null)) return { state: "claimed" };
        const { requestId, fingerprint } = live!.claim;
        if (fingerprint !== claim.fingerprint) return { state: "mismatch", requestId };
        return live!.kept === null ? { state: "running", requestId } : { state: "answered", requestId, ...live!.kept };
      }
      case "renew":
        return isOwn && set(null);
      case "keep":
      case "bare":
        return isOwn ? set(asked === "keep" ? SERVED : BARE) : live?.kept !== null && live?.claim.id === claim.id;
      case "free":
        if (isOwn) this.#entries.delete(claim.digest);
        return undefined;
    }
  }

  forget(): void {
    this.#entries.clear();
  }
}

function claimOf(userId: string, more: Partial<KeyClaim> = {}): KeyClaim {
  const id = unique("ex");
  return { userId, digest: "d1", fingerprint: "f1", id, requestId: `req-${id}`, ...more };
}

/** Idempotency keys; `clock` is the store's own and only goes forward. */
export function idempotencySuite(store: () => Store, clock: { now: number }, numRuns: number): void {
  const claim = async (asked: KeyClaim): Promise<KeyState> => store().claimKey(asked, LEASE);
  const keep = async (asked: KeyClaim, kept = SERVED) => store().keepKey(asked, kept, DAY);

  describe("idempotency keys", () => {
    test("are the first's; others wait for it, and then get what it was answered", async () => {
      const user = unique("user");
      const [first, second] = [claimOf(user), claimOf(user)];
      expect(await claim(first)).toEqual({ state: "claimed" });
      expect(await claim(first), "its answer was lost").toEqual({ state: "claimed" });
      const { requestId } = first;
      expect(await claim(second)).toEqual({ state: "running", requestId });
      expect(await keep(first)).toBe(true);
      expect(await keep(first, BARE), "repeated").toBe(true);
      expect(await keep(second), "of another").toBe(false);
      await store().freeKey(first);
      expect(await claim(second)).toEqual({ state: "answered", requestId, ...SERVED });
    });

    test("say of another request with the key that it is another, also while the first runs", async () => {
      const user = unique("user");
      const [first, other] = [claimOf(user), claimOf(user, { fingerprint: "f2" })];
      await claim(first);
      expect(await claim(other)).toEqual({ state: "mismatch", requestId: first.requestId });
      await keep(first, BARE);
      expect(await claim(other)).toEqual({ state: "mismatch", requestId: first.requestId });
    });

    test("of users and keys are apart, and a request id may hold whatever is visible", async () => {
      const requestId = String.raw`{"%7E}~\'*`;
      const [user, other] = [unique("user"), unique("user")];
      const claims = [claimOf(user, { requestId }), claimOf(user, { digest: "d2" }), claimOf(other)];
      for (const one of claims) expect(await claim(one)).toEqual({ state: "claimed" });
      await keep(claims[0]!, BARE);
      expect(await claim(claimOf(user))).toEqual({ state: "answered", requestId, ...BARE });
      expect(await claim(claimOf(other))).toEqual({ state: "running", requestId: claims[2]!.requestId });
    });

    test("are free once the first has failed, for any request", async () => {
      const user = unique("user");
      const [first, other] = [claimOf(user), claimOf(user, { fingerprint: "f2" })];
      await claim(first);
      await store().freeKey(other);
      expect(await claim(other), "another cannot free it").toMatchObject({ state: "mismatch" });
      await store().freeKey(first);
      expect(await claim(other)).toEqual({ state: "claimed" });
    });

    test("of a dead process are free when the lease ends, not before; a renewal prolongs it", async () => {
      const user = unique("user");
      const [dead, next] = [claimOf(user), claimOf(user)];
      await claim(dead);
      clock.now += LEASE - 1;
      expect(await store().renewKey(dead, LEASE)).toBe(true);
      expect(await store().renewKey(next, LEASE), "not its own").toBe(false);
      clock.now += LEASE - 1;
      expect(await claim(next)).toMatchObject({ state: "running" });
      clock.now += 1;
      expect(await claim(next)).toEqual({ state: "claimed" });
      expect([await store().renewKey(dead, LEASE), await keep(dead)], "it was not dead").toEqual([false, false]);
      expect(await keep(next)).toBe(true);
    });

    test("are kept also when the lease had ended, if nobody has taken the key since", async () => {
      const user = unique("user");
      const late = claimOf(user);
      await claim(late);
      clock.now += LEASE;
      expect(await keep(late)).toBe(true);
      expect(await claim(claimOf(user))).toMatchObject({ state: "answered", answer: SERVED.answer });
    });

    test("are forgotten after their time, and with their user", async () => {
      const user = unique("user");
      const first = claimOf(user);
      await claim(first);
      await keep(first);
      clock.now += DAY - 1;
      expect(await claim(claimOf(user))).toMatchObject({ state: "answered" });
      clock.now += 1;
      const second = claimOf(user, { fingerprint: "f2" });
      expect(await claim(second)).toEqual({ state: "claimed" });
      await keep(second);
      await claim(claimOf(user, { digest: "d2" }));
      await store().forgetKeys(user);
      for (const digest of ["d1", "d2"]) expect(await claim(claimOf(user, { digest }))).toEqual({ state: "claimed" });
      await store().forgetKeys("user_nobody");
    });

    test("of many requests at once one gets the key", async () => {
      const user = unique("user");
      const states = await Promise.all(Array.from({ length: 30 }, () => claim(claimOf(user))));
      expect(states.filter(({ state }) => state === "claimed")).toHaveLength(1);
      expect(states.filter(({ state }) => state === "running")).toHaveLength(29);
    });

    // Not where another suite runs the same code.
    test.each(numRuns < RUNS ? [] : [KEPT_MIB])(
      "of one user %i MiB of answers are kept: the oldest go, what they came to stays",
      async () => {
        const [user, other] = [unique("user"), unique("user")];
        await keep(claimOf(other));
        const answer = "x".repeat(4 * MIB);
        const digests = Array.from({ length: KEPT_MIB / 4 + 2 }, (_, index) => `d${index}`);
        for (const digest of digests) await keep(claimOf(user, { digest }), { outcome: "served", answer });
        const kept = { state: "answered", outcome: "served", answer };
        for (const digest of ["d0", "d1"])
          expect(await claim(claimOf(user, { digest }))).toMatchObject({ ...kept, answer: null });
        for (const digest of ["d2", digests.at(-1)]) expect(await claim(claimOf(user, { digest }))).toMatchObject(kept);
        expect(await claim(claimOf(other))).toMatchObject({ answer: SERVED.answer });
        await store().forgetKeys(user);
      },
      PATIENCE,
    );

    test(
      "random calls do what the model does",
      async () => {
        const property = fc.asyncProperty(fc.array(COMMAND, { maxLength: 20 }), async (commands) => {
          const user = unique("user");
          const model = new Model();
          for (const command of commands) {
            if (command.do === "pass") clock.now += command.time;
            const [told, expected] = await bothAsked(store(), model, command, user, clock.now);
            expect(told).toEqual(expected);
          }
        });
        await fc.assert(property, { numRuns });
      },
      PATIENCE,
    );
  });
}

/** Asks both the store and the model. */
async function bothAsked(store: Store, model: Model, command: Command, userId: string, now: number) {
  if (command.do === "pass") return [];
  if (command.do === "forget") return [await store.forgetKeys(userId), model.forget()];
  const { request, key, body } = command;
  const names = { id: `ex${request}`, requestId: `r${request}`, digest: `d${key}`, fingerprint: `f${body}` };
  const claim = { userId, ...names };
  return [await asked(store, command.do, claim), model.ask(command.do, claim, now)];
}

async function asked(store: Store, command: Exclude<Command["do"], "pass" | "forget">, claim: KeyClaim) {
  switch (command) {
    case "claim":
      return store.claimKey(claim, LEASE);
    case "renew":
      return store.renewKey(claim, LEASE);
    case "keep":
      return store.keepKey(claim, SERVED, DAY);
    case "bare":
      return store.keepKey(claim, BARE, DAY);
    case "free":
      return store.freeKey(claim);
  }
}
