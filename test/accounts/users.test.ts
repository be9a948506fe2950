import { describe, expect, test } from "vitest";
import { createUser, parseEmail } from "../../src/accounts/users.ts";
import { storeWithUser } from "./support.ts";

describe("users", () => {
  test("get an id, their address in lower case, tier and credits", async () => {
    const { store } = await storeWithUser();
    const user = await createUser(store, {
      email: "Grace.Hopper+gw@Example.COM",
      tier: "Lite",
      credits: 1_500_000_000n,
    });
    expect(user).toMatchObject({ email: "grace.hopper+gw@example.com", tier: "Lite", balance: 1_500_000_000n });
    expect(user.id).toMatch(/^user_[A-Za-z0-9_-]{24}$/);
    expect(await store.findUser("GRACE.hopper+gw@example.com")).toEqual(user);
  });

  test("an address that is taken is an error that names it", async () => {
    const { store, user } = await storeWithUser();
    const again = createUser(store, { email: "ADA@example.com", tier: "Free", credits: 0n });
    await expect(again).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: "Invalid request: /email ada@example.com belongs to a user already",
    });
    expect(await store.listUsers()).toEqual([user]);
  });

  test.each(["a@b", "a@localhost", "o'neil@mail.example.co.uk", `${"a".repeat(64)}@example.com`])(
    "takes %s",
    (email) => {
      expect(parseEmail(email)).toBe(email);
    },
  );

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["a number", 7],
    ["an array", ["a@b.c"]],
    ["an empty text", ""],
    ["no at", "ada.example.com"],
    ["two ats", "a@b@c.d"],
    ["no name", "@example.com"],
    ["no host", "ada@"],
    ["blanks", "a da@example.com"],
    ["blanks around", " ada@example.com"],
    ["a line end", "ada@example.com\r\nBcc: eve@example.com"],
    ["a trailing line end", "ada@example.com\n"],
    ["a NUL", "ada\0@example.com"],
    ["letters that look like others", "\u0430da@example.com"],
    ["a letter whose lower case is ASCII", "\u212Aelvin@example.com"],
    ["a long name", `${"a".repeat(65)}@example.com`],
    ["a long address", `a@${"b.".repeat(130)}c`],
    ["a host label of 64", `a@${"b".repeat(64)}.com`],
    ["a hyphen at a label's end", "a@b-.com"],
  ])("refuses %s", (_, email) => {
    expect(() => parseEmail(email)).toThrow("Invalid request: /email must be an e-mail address");
  });

  test("a hostile address takes no time", () => {
    const begun = process.cpuUsage();
    for (const text of [`a@${"a-".repeat(200_000)}`, "a.".repeat(200_000), "@".repeat(400_000)]) {
      expect(() => parseEmail(text)).toThrow("must be an e-mail address");
    }
    expect(process.cpuUsage(begun).user).toBeLessThan(2_000_000);
  });
});
