import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { CHAT, MESSAGES, TestGateway } from "../support/in-process.ts";
import { KeptClient } from "../support/kept.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await TestGateway.start();
});
afterAll(() => gateway.close());

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly json: Json;
}

async function ask(method: string, path: string, body?: Json, headers: Record<string, string> = {}): Promise<Answered> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const types: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
  const answer = await gateway.admin(path, { method, headers: { ...types, ...headers }, ...sent });
  return {
    status: answer.status,
    text: answer.text,
    json: answer.status === 200 ? (JSON.parse(answer.text) as Json) : {},
  };
}

async function made(email: string, more: Json = {}): Promise<string> {
  const { json } = await ask("POST", "/admin/users", { email, credits: 5, ...more });
  return String(json["id"]);
}

describe("users over the admin API", () => {
  test("are made, found, shown and changed", async () => {
    const id = await made("Kim@Example.com", { credits: "1.000000001" });
    const page = await ask("GET", "/admin/users?search=KIM@&disabled=false&limit=1");
    const user = {
      id,
      email: "kim@example.com",
      plan_tier: expect.any(String),
      credits: "1.000000001",
      held: "0",
      granted: "1.000000001",
      charged: "0",
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      disabled_at: null,
    };
    expect(page.json).toEqual({ data: [user], next_cursor: null });
    const shown = await ask("GET", `/admin/users/${id}`);
    expect(shown.json).toMatchObject({ ...user, streams: { running: 0 }, requests_running: 0 });
    expect(shown.json["windows"]).toMatchObject({ day: { used: 0 }, hour: { used: 0 }, minute: { used: 0 } });
    const [tier] = Object.keys(gateway.gateway.generation.snapshot.tiers).slice(-1);
    expect((await ask("PATCH", `/admin/users/${id}`, { plan_tier: tier })).json).toMatchObject({ plan_tier: tier });
    const taken = await ask("POST", "/admin/users", { email: "kim@example.com" });
    expect(taken).toMatchObject({ status: 400, text: expect.stringContaining("belongs to a user already") });
  });

  test("pages follow one another to the last", async () => {
    for (let n = 0; n < 5; n += 1) await made(`page${n}@example.com`);
    const found: unknown[] = [];
    let cursor: string | null = null;
    do {
      const query = `search=page&limit=2${cursor === null ? "" : `&cursor=${cursor}`}`;
      const { json }: Answered = await ask("GET", `/admin/users?${query}`);
      found.push(...(json["data"] as Json[]).map(({ email }) => email));
      cursor = json["next_cursor"] as string | null;
    } while (cursor !== null);
    expect(found).toEqual([0, 1, 2, 3, 4].map((n) => `page${n}@example.com`));
  });

  test.each<[method: string, path: string, body: Json | undefined, status: number, text: string]>([
    ["GET", "/admin/users/user_nobody", undefined, 404, "User not found"],
    ["GET", "/admin/users/user_nobody/keys", undefined, 404, "User not found"],
    ["GET", "/admin/users/user_nobody/credits", undefined, 404, "User not found"],
    ["PATCH", "/admin/users/user_nobody", { disabled: true }, 404, "User not found"],
    ["POST", "/admin/users/user_nobody/keys", { name: "n" }, 404, "User not found"],
    ["DELETE", "/admin/keys/key_nothing", undefined, 404, "API key not found"],
    ["GET", "/admin/users?cursor=x", undefined, 400, "/cursor"],
    ["GET", "/admin/users?limit=0", undefined, 400, "/limit"],
    ["GET", "/admin/users?name=x", undefined, 400, "/name"],
    ["POST", "/admin/users", { email: "no address" }, 400, "/email must be an e-mail address"],
    ["POST", "/admin/users", { email: "x@example.com", plan_tier: "Gone" }, 400, "/plan_tier must be one of"],
    ["POST", "/admin/users", { email: "x@example.com", credits: -1 }, 400, "/credits must not be negative"],
    ["POST", "/admin/users", { email: "x@example.com", credits: "1e5" }, 400, "/credits must be a decimal"],
    ["POST", "/admin/users", { email: "x@example.com", admin: true }, 400, "/admin"],
  ])("%s %s %j is %i", async (method, path, body, status, text) => {
    expect(await ask(method, path, body)).toMatchObject({ status, text: expect.stringContaining(text) });
  });

  test("credits are given once with a reason, whatever is repeated", async () => {
    const path = `/admin/users/${await made("credits@example.com")}/credits`;
    const once = { "idempotency-key": "ticket-1" };
    const first = await ask("POST", path, { amount: "0.1", reason: "goodwill" }, once);
    expect(first.json).toMatchObject({ amount: "0.1", credits: "5.1", reason: "goodwill", by: "admin" });
    expect((await ask("POST", path, { amount: 0.1, reason: "goodwill" }, once)).text).toBe(first.text);
    for (const other of [
      { amount: 1, reason: "goodwill" },
      { amount: "0.1", reason: "else" },
    ]) {
      const refused = await ask("POST", path, other, once);
      expect(refused).toMatchObject({ status: 400, text: expect.stringContaining("Idempotency-Key") });
    }
    const nameless = await ask("POST", path, { amount: 1, reason: "x" });
    expect(nameless).toMatchObject({ status: 400, text: expect.stringContaining("Idempotency-Key") });
    const nothing = await ask("POST", path, { amount: 0, reason: "x" }, { "idempotency-key": "2" });
    expect(nothing).toMatchObject({ status: 400, text: expect.stringContaining("/amount must not be 0") });
    await ask("POST", path, { amount: -2, reason: "mistake" }, { "idempotency-key": "3" });
    const page = (await ask("GET", `${path}?limit=1`)).json;
    expect(page["data"]).toMatchObject([{ amount: "-2", credits: "3.1" }]);
    const rest = (await ask("GET", `${path}?cursor=${String(page["next_cursor"])}`)).json;
    expect(rest).toEqual({ data: [first.json], next_cursor: null });
  });

  test("one who is disabled has no key and no stream any more, until enabled again", async () => {
    const user = await gateway.user();
    const client = new KeptClient();
    const headers = { authorization: `Bearer ${user.key}` };
    const body = { model: "route/one", messages: MESSAGES, stream: true, sim: "?chunk_delay=20ms&chunks=100000" };
    const stream = client.open(gateway.url + CHAT, headers, body);
    await expect.poll(async () => (await gateway.store.running(user.id)).streams, { timeout: 10_000 }).toBe(1);
    const disabled = await ask("PATCH", `/admin/users/${user.id}`, { disabled: true });
    expect(disabled.json).toMatchObject({ disabled_at: expect.stringMatching(/Z$/) });
    await expect.poll(async () => (await gateway.store.running(user.id)).streams, { timeout: 10_000 }).toBe(0);
    expect(await stream.ended).toMatchObject({ whole: true });
    client.close();
    expect((await gateway.get("/v1/user", user)).status).toBe(401);
    await ask("PATCH", `/admin/users/${user.id}`, { disabled: false });
    await expect.poll(async () => (await gateway.get("/v1/user", user)).status, { timeout: 10_000 }).toBe(200);
  });

  test("one who is deleted is nobody at once; what runs is settled, and the ledger stays under the id", async () => {
    const email = "forgotten@example.com";
    const id = await made(email, { plan_tier: "Max" });
    const { json: made1 } = await ask("POST", `/admin/users/${id}/keys`, { name: "Forgotten's laptop" });
    const user = { id, key: String(made1["key"]), tier: "Max" };
    await ask("PATCH", `/admin/keys/${String(made1["id"])}`, { name: "Forgotten's phone" });
    const token = await gateway.token(user);
    expect((await gateway.chat(user)).status).toBe(200);
    const client = new KeptClient();
    const headers = { authorization: `Bearer ${user.key}` };
    const body = { model: "route/one", messages: MESSAGES, stream: true, sim: "?chunk_delay=20ms&chunks=100000" };
    const stream = client.open(gateway.url + CHAT, headers, body);
    await expect.poll(async () => (await gateway.store.running(id)).streams, { timeout: 10_000 }).toBe(1);
    expect(await ask("DELETE", `/admin/users/${id}`)).toMatchObject({
      status: 200,
      text: '{"message":"User deleted"}',
    });
    for (const secret of [user.key, token])
      expect(
        (await gateway.send("/v1/user", { method: "GET", headers: { authorization: `Bearer ${secret}` } })).status,
      ).toBe(401);
    expect((await gateway.chat(user)).status).toBe(401);
    expect(await stream.ended).toMatchObject({ whole: true });
    client.close();
    await expect.poll(async () => (await gateway.store.ledger(id)).length, { timeout: 10_000 }).toBe(2);
    expect(await gateway.store.running(id)).toEqual({ requests: 0, streams: 0, held: 0n });
    const { json: ledger } = await ask("GET", `/admin/ledger?user=${id}`);
    expect(ledger["data"]).toMatchObject([{ user_id: id }, { user_id: id }]);
    expect((await ask("GET", `/admin/users/${id}`)).status).toBe(404);
    expect((await ask("DELETE", `/admin/users/${id}`)).status).toBe(404);
    const audit = await ask("GET", "/admin/audit?limit=200");
    expect(audit.text).not.toMatch(/forgotten/i);
    const named = (audit.json["data"] as Json[]).filter(({ target }) => target === id);
    expect(named.map(({ action, outcome }) => [action, outcome])).toEqual([
      ["deleteUser", "refused"],
      ["deleteUser", "done"],
    ]);
    expect(await made(email)).not.toBe(id);
  });

  test("a key is changed and rolled as its user can", async () => {
    const id = await made("rolled@example.com");
    const { json: key } = await ask("POST", `/admin/users/${id}/keys`, { name: "n", scopes: ["usage"] });
    const path = `/admin/keys/${String(key["id"])}`;
    const change = { name: "m", scopes: null, addresses: ["10.0.0.0/8"], models: ["route/*"], tags: { a: "b" } };
    const changed = await ask("PATCH", path, { ...change, expires_in: "1d" });
    expect(changed.json).toMatchObject({ ...change, user_id: id, expires_at: expect.stringMatching(/Z$/) });
    const rolled = await ask("POST", `${path}/roll`, { grace: "1h" });
    const previous = { id: key["id"], expires_at: expect.stringMatching(/Z$/) };
    expect(rolled.json).toMatchObject({ ...change, user_id: id, key: expect.stringMatching(/^rk_/), previous });
    expect((await ask("POST", `${path}/roll`)).text).toContain(`roll ${String(rolled.json["id"])}`);
    const audit = await ask("GET", "/admin/audit?limit=5");
    expect((audit.json["data"] as Json[]).map(({ action }) => action)).toEqual(
      expect.arrayContaining(["rollKey", "changeKey"]),
    );
    expect(audit.text).not.toContain(String(rolled.json["key"]).slice(3, 20));
    for (const [method, where, sent] of [
      ["PATCH", "/admin/keys/key_none", { name: "n" }],
      ["POST", "/admin/keys/key_none/roll", {}],
    ] as const)
      expect(await ask(method, where, sent)).toMatchObject({ status: 404, text: "API key not found" });
    for (const wrong of [{}, { addresses: ["example.com"] }, { scopes: ["all"] }, { limit: 1 }])
      expect((await ask("PATCH", path, wrong)).status).toBe(400);
  });

  test("a key is made with limits, listed and revoked; the audit log has no secret", async () => {
    const id = await made("keys@example.com");
    const budget = { amount: "2.5", per: "month" };
    const body = { name: "ci", expires_in: "1d", models: ["route/*"], budget, tags: { team: "a" } };
    const { json } = await ask("POST", `/admin/users/${id}/keys`, body);
    const { key, ...shown } = json;
    expect(shown).toMatchObject({ user_id: id, models: ["route/*"], budget: { ...budget, spent: "0", held: "0" } });
    expect((await ask("GET", `/admin/users/${id}/keys`)).json).toEqual({ data: [shown], next_cursor: null });
    const refused = await ask("POST", `/admin/users/${id}/keys`, { ...body, expires_in: "soon" });
    expect(refused).toMatchObject({ status: 400, text: expect.stringContaining("/expires_in must be") });
    const audit = await ask("GET", "/admin/audit?limit=5");
    expect(audit.text).toContain(String(shown["id"]));
    expect(audit.text).not.toContain(String(key).slice(3, 20));
    expect((await ask("DELETE", `/admin/keys/${String(shown["id"])}`)).status).toBe(200);
    expect((await ask("DELETE", `/admin/keys/${String(shown["id"])}`)).status).toBe(404);
  });
});
