import { describe, expect, test } from "vitest";
import { userOfEmail, userOfIdentity } from "../../src/accounts/users.ts";
import { decimal } from "../../src/kit/index.ts";
import { storeWithUser } from "./support.ts";

const SIGNUP = { tier: "Lite", credits: decimal("2") };
const GRACE = "grace@example.com";
const SUBJECT = { issuer: "https://id.example.com", subject: "s-1" };

const atOnce = <T>(make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: 50 }, (_, n) => make(n)));

describe("a first sign-in", () => {
  test("by mail makes one user of fifty at once", async () => {
    const { store } = await storeWithUser();
    const users = await atOnce(() => userOfEmail(store, GRACE, SIGNUP));
    expect(new Set(users.map((user) => user?.id)).size).toBe(1);
    expect(users[0]).toMatchObject({ email: GRACE, tier: "Lite", granted: 2_000_000_000n });
    expect(await store.listUsers()).toHaveLength(2);
  });

  test("through a provider makes one user of fifty at once", async () => {
    const { store } = await storeWithUser();
    const users = await atOnce(() => userOfIdentity(store, { ...SUBJECT, email: GRACE }, SIGNUP));
    expect(new Set(users.map((user) => user?.id)).size).toBe(1);
    expect(await store.listUsers()).toHaveLength(2);
  });

  test("of a subject with two addresses at once is one user in the end", async () => {
    const { store } = await storeWithUser();
    const users = await atOnce((n) =>
      userOfIdentity(store, { ...SUBJECT, email: `grace-${n % 2}@example.com` }, SIGNUP),
    );
    expect(new Set(users.map((user) => user?.id)).size).toBe(1);
  });
});

describe("an identity", () => {
  test("of a proven address is that address's user, and stays it whatever its address becomes", async () => {
    const { store, user } = await storeWithUser();
    const signIn = (email: string | null) => userOfIdentity(store, { ...SUBJECT, email }, SIGNUP);
    expect(await signIn(null), "not linked yet").toBeNull();
    expect(await signIn(user.email)).toMatchObject({ id: user.id });
    expect(await signIn("new@example.com")).toMatchObject({ id: user.id });
    expect(await signIn(null)).toMatchObject({ id: user.id });
    expect(await store.listUsers()).toHaveLength(1);
  });

  test("is told apart by issuer and by subject", async () => {
    const { store } = await storeWithUser();
    const signIn = async (issuer: string, subject: string, email: string) =>
      (await userOfIdentity(store, { issuer, subject, email }, SIGNUP))?.id;
    const ids = [
      await signIn("https://id.example.com", "1", "a@example.com"),
      await signIn("https://id.example.com", "2", "b@example.com"),
      await signIn("https://id.example.org", "1", "c@example.com"),
      await signIn("https://id.example.com/1", "", "d@example.com"),
    ];
    expect(new Set(ids).size).toBe(4);
    expect(await signIn("https://id.example.org", "1", "a@example.com")).toBe(ids[2]);
  });
});
