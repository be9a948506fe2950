import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, shown } from "../../support/http.ts";
import { TestGateway, type TestUser } from "../../support/in-process.ts";
import { bearer, post } from "../../support/sign-in.ts";

const TEXT = "text/plain; charset=utf-8";
const NOT_FOUND = [404, "NOT_FOUND", TEXT, "API key not found"];
const REVOKED = [200, undefined, "application/json", '{"message":"API key revoked"}'];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.close());

interface Key {
  readonly id: string;
  readonly key: string;
  readonly key_prefix: string;
  readonly name: string;
  readonly created_at: string;
}

/** A new user's key management. The user has one key already. */
async function owner(): Promise<{
  user: TestUser;
  create: (body: unknown) => Promise<Answer>;
  list: () => Promise<readonly Key[]>;
  revoke: (id: string) => Promise<Answer>;
}> {
  const user = await gateway.user();
  const headers = bearer(await gateway.token(user));
  const url = `${gateway.url}/v1/user/key`;
  return {
    user,
    create: (body) => post(url, body, headers),
    async list() {
      const { status, text } = await gateway.send("/v1/user/key", { method: "GET", headers });
      expect(status).toBe(200);
      return (JSON.parse(text) as { data: Key[] }).data;
    },
    revoke: (id) => gateway.send(`/v1/user/key/${id}`, { method: "DELETE", headers }),
  };
}

const keyOf = ({ status, text }: Answer): Key => {
  expect({ status, text }).toMatchObject({ status: 200 });
  return JSON.parse(text) as Key;
};

test("what a body says beside the name changes nothing", async () => {
  const { create, user } = await owner();
  const other = await gateway.user();
  const key = keyOf(
    await create({ name: "x", id: "key_mine", key: "rk_mine", user_id: other.id, plan_tier: "Free", digest: "" }),
  );
  expect(key).toMatchObject({ id: expect.stringMatching(/^key_[\w-]{24}$/), plan_tier: "Max", name: "x" });
  expect(await gateway.store.listKeys(other.id)).toHaveLength(1);
  expect(await gateway.store.listKeys(user.id)).toHaveLength(2);
});

test("a key is revoked once, by its own user, by its id", async () => {
  const [ann, ben] = [await owner(), await owner()];
  const key = keyOf(await ann.create({ name: "laptop" }));
  const others = [
    key.id.slice(0, -1),
    key.key,
    key.key_prefix,
    key.name,
    "%00",
    "a b".replace(" ", "%20"),
    "x".repeat(5_000),
  ];
  for (const id of others) expect([id, ...shown(await ann.revoke(id))]).toEqual([id, ...NOT_FOUND]);
  const malformed = await ann.revoke("%E0%A4%A");
  expect([malformed.status, malformed.text]).toEqual([400, "Invalid request: / must have a well-formed path"]);
  expect(shown(await ben.revoke(key.id))).toEqual(NOT_FOUND);
  expect(await ann.list()).toHaveLength(2);
  expect(shown(await ann.revoke(key.id))).toEqual(REVOKED);
  expect(shown(await ann.revoke(key.id))).toEqual(NOT_FOUND);
  expect(await ann.list()).toHaveLength(1);
});

test("of 20 revocations at once one is told that it was the one", async () => {
  const { create, revoke } = await owner();
  const { id } = keyOf(await create({ name: "laptop" }));
  const statuses = (await Promise.all(Array.from({ length: 20 }, () => revoke(id)))).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(statuses.filter((status) => status === 404)).toHaveLength(19);
});

test("every key of a user works, each on its own, and none shows in the list", async () => {
  const { user, create, list, revoke } = await owner();
  const keys = [keyOf(await create({ name: "a" })), keyOf(await create({ name: "b" }))];
  for (const { key } of keys) expect((await gateway.chat({ ...user, key })).status).toBe(200);
  expect((await gateway.books(user)).used.day).toBe(2);
  const { ledger } = await gateway.books(user);
  expect(new Set(ledger.map(({ keyId }) => keyId))).toEqual(new Set(keys.map(({ id }) => id)));
  const listed = await list();
  for (const { key } of keys) expect(JSON.stringify(listed)).not.toContain(key.slice(11));
  await revoke(keys[0]!.id);
  await expect.poll(async () => (await gateway.chat({ ...user, key: keys[0]!.key })).status).toBe(401);
  expect((await gateway.chat({ ...user, key: keys[1]!.key })).status).toBe(200);
});

test("a user's tier shows as stored, and a key follows it", async () => {
  const { user, create, list } = await owner();
  await gateway.store.setTier(user.id, "Free");
  expect(keyOf(await create({ name: "x" }))).toMatchObject({ plan_tier: "Free" });
  expect((await list()).map((key) => ({ ...key }))).toMatchObject([{ plan_tier: "Free" }, { plan_tier: "Free" }]);
});
