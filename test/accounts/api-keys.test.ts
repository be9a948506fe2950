import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createKey, digest, isKeyShaped, keyBody, listKeys, revokeKey } from "../../src/accounts/api-keys.ts";
import { storeWithUser } from "./support.ts";

describe("keys", () => {
  test("are shown once, in the shape of the API", async () => {
    const { store, user } = await storeWithUser();
    const { body, key } = await createKey(store, { userId: user.id, name: "laptop" });
    expect(body).toEqual({
      key: expect.stringMatching(/^rk_[0-9a-f]{64}$/),
      id: expect.stringMatching(/^key_[A-Za-z0-9_-]{24}$/),
      key_prefix: body.key.slice(0, 11),
      name: "laptop",
      plan_tier: "Free",
      created_at: "2027-01-15T08:00:00.000Z",
      last_used_at: null,
      expires_at: null,
      models: null,
      budget: null,
      tags: {},
      scopes: null,
      addresses: null,
      replaced_by: null,
    });
    expect(key).toEqual((await store.listKeys(user.id))[0]);
    expect(await store.principalByDigest(digest(body.key))).toEqual({ userId: user.id, tier: "Free", keyId: body.id });
  });

  test("are kept as their SHA-256 alone", async () => {
    const { store, user } = await storeWithUser();
    const { body } = await createKey(store, { userId: user.id, name: "laptop" });
    const hash = createHash("sha256").update(body.key).digest();
    expect(Buffer.from(digest(body.key)).equals(hash)).toBe(true);
    const listed = JSON.stringify(await store.listKeys(user.id));
    expect(listed).toContain(body.key_prefix);
    expect(listed).not.toContain(body.key.slice(0, 16));
  });

  test("no two are alike", async () => {
    const { store, user } = await storeWithUser();
    const made = await Promise.all(Array.from({ length: 50 }, () => createKey(store, { userId: user.id, name: "n" })));
    expect(new Set(made.map(({ body }) => body.key)).size).toBe(50);
    expect(new Set(made.map(({ body }) => body.id)).size).toBe(50);
  });

  test("a user has at most 50 live ones", async () => {
    const { store, user } = await storeWithUser();
    const create = () => createKey(store, { userId: user.id, name: "n" });
    const made = await Promise.allSettled(Array.from({ length: 60 }, create));
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(50);
    await expect(create()).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: /50 live keys: revoke one first/,
    });
    await store.revokeKey((await store.listKeys(user.id))[0]!.id);
    expect((await create()).body.name).toBe("n");
  });

  test.each(["x", "名前 🔑", "x".repeat(100), "🔑".repeat(100), " padded "])(
    "take the name %j as it is",
    async (name) => {
      const { store, user } = await storeWithUser();
      expect((await createKey(store, { userId: user.id, name })).body.name).toBe(name);
    },
  );

  test.each([
    [undefined],
    [null],
    [7],
    [{}],
    [["a"]],
    [""],
    ["   "],
    ["x".repeat(101)],
    ["🔑".repeat(101)],
    ["\ud800"],
  ])("refuse the name %j", async (name) => {
    const { store, user } = await storeWithUser();
    await expect(createKey(store, { userId: user.id, name })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: "Invalid request: /name must be a string of 1 to 100 characters",
    });
    expect(await store.listKeys(user.id)).toEqual([]);
  });

  test("are not made for users who do not exist, nor for an address", async () => {
    const { store, user } = await storeWithUser();
    for (const userId of ["user_nobody", user.email]) {
      await expect(createKey(store, { userId, name: "n" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    }
  });

  test("are listed without their secrets, and no more once revoked", async () => {
    const { store, user } = await storeWithUser();
    const first = await createKey(store, { userId: user.id, name: "first" });
    const second = await createKey(store, { userId: user.id, name: "second" });
    const bodies = [first, second].map(({ key }) => keyBody(key, user.tier));
    const list = async () => listKeys(store, { userId: user.id, tier: user.tier });
    expect(new Set(await list())).toEqual(new Set(bodies));
    await revokeKey(store, { userId: user.id, keyId: first.body.id });
    expect(await list()).toEqual([bodies[1]]);
    expect(await listKeys(store, { userId: "user_2", tier: "Free" })).toEqual([]);
  });

  test("are revoked once, by their owner; all else is an unknown id", async () => {
    const { store, user } = await storeWithUser();
    const { body } = await createKey(store, { userId: user.id, name: "n" });
    await store.addUser({ id: "user_2", email: "eve@example.com", tier: "Max", credits: 0n });
    const refused = { code: "NOT_FOUND", message: "API key not found" };
    for (const keyId of ["", "key_", "' OR 1=1 --", "\0", "\ud800", body.key, body.key_prefix, "x".repeat(100_000)]) {
      await expect(revokeKey(store, { userId: user.id, keyId })).rejects.toMatchObject(refused);
    }
    await expect(revokeKey(store, { userId: "user_2", keyId: body.id })).rejects.toMatchObject(refused);
    expect(await store.listKeys(user.id)).toHaveLength(1);
    await revokeKey(store, { userId: user.id, keyId: body.id });
    await expect(revokeKey(store, { userId: user.id, keyId: body.id })).rejects.toMatchObject(refused);
  });

  test("show their last use in ISO 8601", () => {
    const key = { id: "key_1", userId: "user_1", name: "n", prefix: "rk_01234567", createdAt: 0, lastUsedAt: 1_500 };
    expect(keyBody(key, "Max")).toEqual({
      id: "key_1",
      key_prefix: "rk_01234567",
      name: "n",
      plan_tier: "Max",
      created_at: "1970-01-01T00:00:00.000Z",
      last_used_at: "1970-01-01T00:00:01.500Z",
      expires_at: null,
      models: null,
      budget: null,
      tags: {},
      scopes: null,
      addresses: null,
      replaced_by: null,
    });
  });

  test("have one shape", () => {
    const good = `rk_${"0123456789abcdef".repeat(4)}`;
    expect(isKeyShaped(good)).toBe(true);
    for (const bad of [
      "",
      "rk_",
      good.toUpperCase(),
      `${good}0`,
      good.slice(0, -1),
      ` ${good}`,
      `${good}\n`,
      `sk${good.slice(2)}`,
    ]) {
      expect(isKeyShaped(bad), `key ${bad}`).toBe(false);
    }
  });
});
