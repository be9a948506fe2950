import { describe, expect, test } from "vitest";
import type { Admission, Store } from "../../../src/kit/index.ts";
import { OPEN, addUser, admission, charged, givenBack } from "../support.ts";

interface Admitted {
  readonly request: Admission;
  readonly token: number;
}

/** Stop tokens: what ends a user's running streams. */
export function stopSuite(store: () => Store): void {
  async function admit(userId: string, stream: boolean): Promise<Admitted> {
    const request = admission(userId, { stream });
    const result = await store().admit(request);
    if (!result.ok) throw new Error(result.refusal);
    return { request, token: result.stopToken };
  }

  describe("stop tokens", () => {
    test("are 0 before the first stop, also of users who are not there", async () => {
      const [a, b] = [await addUser(store()), await addUser(store())];
      expect(await store().stopStreams(a.id)).toEqual({ token: 1, streams: 0 });
      const tokens = { [a.id]: 1, [b.id]: 0, user_nobody: 0, '"]\u0000': 0 };
      expect(await store().stopTokens(Object.keys(tokens))).toEqual(new Map(Object.entries(tokens)));
      expect(await store().stopTokens([])).toEqual(new Map());
      expect(await store().stopStreams("user_nobody")).toEqual({ token: 0, streams: 0 });
    });

    test("a stop tells each running stream once, and no other request", async () => {
      const [user, other] = [await addUser(store()), await addUser(store())];
      const [settled, returned, first] = [
        await admit(user.id, true),
        await admit(user.id, true),
        await admit(user.id, true),
      ];
      await admit(user.id, true);
      await admit(user.id, false);
      await admit(other.id, true);
      await store().settle(charged(settled.request, 0n));
      await store().settle(givenBack(returned.request));
      expect(first.token).toBe(0);
      expect(await store().stopStreams(user.id)).toEqual({ token: 1, streams: 2 });
      expect(await store().stopStreams(user.id), "while they still end").toEqual({ token: 2, streams: 0 });
      expect(await store().running(user.id), "ended by whoever watches, not here").toMatchObject({ streams: 2 });
      expect((await admit(user.id, true)).token).toBe(2);
      expect(await store().stopStreams(user.id)).toEqual({ token: 3, streams: 1 });
      expect(await store().stopStreams(other.id)).toEqual({ token: 1, streams: 1 });
      expect(await store().stopTokens([other.id, user.id])).toEqual(
        new Map([
          [other.id, 1],
          [user.id, 3],
        ]),
      );
    });

    test("a stop takes no slot back: that is the settlement's", async () => {
      const user = await addUser(store());
      const stream = await admit(user.id, true);
      await store().stopStreams(user.id);
      const limits = { ...OPEN, streams: 1 };
      expect(await store().admit(admission(user.id, { stream: true, limits }))).toMatchObject({ refusal: "streams" });
      await store().settle(charged(stream.request, 0n));
      const next = await store().admit(admission(user.id, { stream: true, limits }));
      expect(next).toMatchObject({ ok: true, stopToken: 1 });
    });

    test("an admission that is repeated keeps the token it was admitted under", async () => {
      const user = await addUser(store());
      const { request } = await admit(user.id, true);
      expect(await store().stopStreams(user.id)).toEqual({ token: 1, streams: 1 });
      expect(await store().admit(request)).toMatchObject({ ok: true, stopToken: 0 });
      expect(await store().stopStreams(user.id), "told before").toEqual({ token: 2, streams: 0 });
    });
  });
}
