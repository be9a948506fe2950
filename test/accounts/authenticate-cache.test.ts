import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Principals } from "../../src/accounts/authenticate.ts";
import type { Principal } from "../../src/kit/index.ts";

type Step = readonly ["add" | "drop" | "forget" | "dropUser" | "doubtAll", secret: number, user: number];

const STEP: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom("add", "add", "add", "drop", "forget", "dropUser", "doubtAll"),
  fc.nat(5),
  fc.nat(3),
);

test("what was dropped is gone from both caches and from the index, and nothing else; what is in doubt is only the last known", () => {
  const property = fc.property(fc.array(STEP), (steps) => {
    const principals = new Principals();
    const model = new Map<string, Principal>();
    let certain = new Set<Principal | undefined>();
    for (const [act, number, owner] of steps) {
      const [secret, userId] = [`secret ${number}`, `user ${owner}`];
      const before = model.get(secret);
      if (act === "add") {
        const principal = { userId, tier: "Free", keyId: null };
        principals.add(secret, principal);
        model.set(secret, principal);
        certain.add(principal);
      } else if (act === "dropUser") {
        principals.dropUser(userId);
        for (const [each, { userId: its }] of model) if (its === userId) model.delete(each);
      } else if (act === "doubtAll") {
        principals.doubtAll();
        certain = new Set();
      } else {
        if (act === "drop") principals.drop(secret);
        else if (before) principals.forget(before);
        model.delete(secret);
      }
      for (let each = 0; each <= 5; each++) {
        const last = model.get(`secret ${each}`);
        expect(principals.last(`secret ${each}`)).toBe(last);
        expect(principals.known(`secret ${each}`)).toBe(certain.has(last) ? last : undefined);
        expect(principals.presumed(`secret ${each}`)).toBe(certain.has(last) ? last : undefined);
      }
      expect(principals.users).toBe(new Set([...model.values()].map((principal) => principal.userId)).size);
    }
  });
  expect(() => fc.assert(property)).not.toThrow();
});

test("users of whom nothing is presumed any more take no room", () => {
  const principals = new Principals();
  for (let number = 0; number < 100_500; number++)
    principals.add(`secret ${number}`, { userId: `user ${number}`, tier: "Free", keyId: null });
  expect(principals.users).toBe(100_000);
  expect(principals.presumed("secret 499")).toBeUndefined();
  principals.dropUser("user 500");
  expect(principals.presumed("secret 500")).toBeUndefined();
  expect(principals.users).toBe(99_999);
  principals.doubtAll();
  expect(principals.presumed("secret 501")).toBeUndefined();
  expect(principals.last("secret 501")).toMatchObject({ userId: "user 501" });
});
