import { describe, expect, test } from "vitest";
import type { Store } from "../../../src/kit/index.ts";
import { addUser, unique } from "../support.ts";

const ISSUER = "https://id.example";

/** Who an identity provider's subjects sign in as. */
export function identitySuite(store: () => Store): void {
  describe("identities", () => {
    test("sign in as their user, as it is now", async () => {
      const user = await addUser(store(), 5n);
      const subject = unique("subject");
      expect(await store().findIdentity(ISSUER, subject)).toBeNull();
      expect(await store().linkIdentity(ISSUER, subject, user.id)).toEqual(user);
      expect(await store().findIdentity(ISSUER, subject)).toEqual(user);
      const changed = await store().setTier(user.id, "Max");
      expect(await store().findIdentity(ISSUER, subject)).toEqual(changed);
    });

    test("keep their first user, and a user may have several", async () => {
      const [user, other] = [await addUser(store()), await addUser(store())];
      const [a, b] = [unique("subject"), unique("subject")];
      await store().linkIdentity(ISSUER, a, user.id);
      expect(await store().linkIdentity(ISSUER, a, other.id)).toEqual(user);
      expect(await store().linkIdentity(ISSUER, b, user.id)).toEqual(user);
      expect(await store().findIdentity(ISSUER, a)).toEqual(user);
    });

    test("are issuer and subject to the letter", async () => {
      const user = await addUser(store());
      const subject = unique("Subject");
      await store().linkIdentity(ISSUER, subject, user.id);
      for (const [issuer, other] of [
        [ISSUER, subject.toLowerCase()],
        [ISSUER, `${subject} `],
        [`${ISSUER}/`, subject],
        [subject, ISSUER],
        [`${ISSUER}${subject}`, ""],
      ] as const) {
        expect(await store().findIdentity(issuer, other), `${issuer} ${other}`).toBeNull();
      }
    });

    test("may have any content", async () => {
      const user = await addUser(store());
      const names = ["", "{a}", "*", '","', "a\u0000b", "\u0000", "a\r\nb", "ü", "u\u0308", "🔑", "x".repeat(10_000)];
      const pairs = names.flatMap((issuer) => names.map((subject) => [`odd ${issuer}`, subject] as const));
      for (const [issuer, subject] of pairs) {
        expect(
          await store().findIdentity(issuer, subject),
          `the first ${issuer.length} and ${subject.length} letters`,
        ).toBeNull();
        await store().linkIdentity(issuer, subject, user.id);
      }
      for (const [issuer, subject] of pairs) expect(await store().findIdentity(issuer, subject)).toEqual(user);
    });

    test("of an unknown user are not made; one that is there stays", async () => {
      const user = await addUser(store());
      const [fresh, known] = [unique("subject"), unique("subject")];
      expect(await store().linkIdentity(ISSUER, fresh, "user_nobody")).toBeNull();
      expect(await store().linkIdentity(ISSUER, fresh, user.email), "by id only").toBeNull();
      expect(await store().findIdentity(ISSUER, fresh)).toBeNull();
      await store().linkIdentity(ISSUER, known, user.id);
      expect(await store().linkIdentity(ISSUER, known, "user_nobody")).toEqual(user);
    });

    test("50 links at once: the first one is in force for all", async () => {
      const users = await Promise.all(Array.from({ length: 50 }, () => addUser(store())));
      const subject = unique("subject");
      const all = await Promise.all(users.map(async ({ id }) => store().linkIdentity(ISSUER, subject, id)));
      expect(new Set(all.map((user) => user!.id)).size).toBe(1);
      expect(await store().findIdentity(ISSUER, subject)).toEqual(all[0]);
    });
  });
}
