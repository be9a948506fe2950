import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NANOS_PER_UNIT, nanoToNumber } from "../../../src/kit/index.ts";
import { poll } from "../support/child.ts";
import { ask, configuration } from "../support/configuration.ts";
import { type GatewayProcess, type SimProcess, Workspace } from "../support/process.ts";

/** Commands on the store of a gateway that serves. */
let workspace: Workspace;
let sim: SimProcess;
let gateway: GatewayProcess;

beforeAll(async () => {
  workspace = new Workspace();
  sim = await workspace.sim();
  workspace.write("gateway.yaml", configuration(sim.origin));
  gateway = await workspace.serve();
});

afterAll(() => workspace.close());

interface UserBody {
  readonly id: string;
  readonly email: string;
  readonly plan_tier: string;
  readonly credits: number;
}

interface KeyBody {
  readonly id: string;
  readonly key: string;
}

let made = 0;

/** Made by the commands themselves; most tests do with `workspace.account`. */
async function customer(...more: readonly string[]): Promise<UserBody & { readonly key: KeyBody }> {
  const user = await workspace.json<UserBody>("users", "add", "--email", `ada${++made}@example.com`, ...more);
  return { ...user, key: await workspace.json<KeyBody>("keys", "add", "--user", user.id, "--name", "laptop") };
}

/** Milliseconds from now until a request's status is as expected. */
async function becomes(key: string, status: number, model = "route/one"): Promise<number> {
  const from = performance.now();
  await poll(async () => (await gateway.chat(key, { ...ask("x"), model })).status === status);
  return performance.now() - from;
}

const statusOf = async (key: string, model = "route/one") => (await gateway.chat(key, { ...ask("x"), model })).status;

test("a user and a key made while it serves work at once", async () => {
  const { key, ...user } = await customer("--tier", "Max", "--credits", "12.5");
  expect(user).toMatchObject({ plan_tier: "Max", credits: 12.5 });
  expect(await statusOf(key.key)).toBe(200);
  expect(await statusOf(key.key, "route/max")).toBe(200);
});

test("credits count for the very next request, also for one whose neighbours hold some", async () => {
  const { id, key } = await workspace.account("Free", 0n);
  expect(await statusOf(key)).toBe(402);
  await workspace.json("credits", "add", id, "10");
  expect(await statusOf(key)).toBe(200);
  const running = await gateway.chat(key, ask("x", { stream: true, sim: { chunks: 10_000, chunk_delay: "20ms" } }));
  expect(running.status).toBe(200);
  // An estimate of the running one. What runs is in the file after 100 ms.
  await poll(async () => (await workspace.onStore(async (store) => store.running(id))).held > 2n * NANOS_PER_UNIT);
  const { credits } = await workspace.json<UserBody>("credits", "add", id, "-7");
  expect(credits, "before holds").toBeGreaterThan(0);
  expect(await statusOf(key), "what is left is held").toBe(402);
  await workspace.json("credits", "add", id, "7");
  expect(await statusOf(key)).toBe(200);
  await running.body?.cancel();
});

test("a revoked key is refused within a second, the user's other one is not", async () => {
  const { id, key, keyId } = await workspace.account();
  const other = await workspace.json<KeyBody>("keys", "add", "--user", id, "--name", "other");
  expect([await statusOf(key), await statusOf(other.key)]).toEqual([200, 200]);
  await workspace.json("keys", "revoke", keyId);
  expect(await becomes(key, 401)).toBeLessThan(1_000);
  expect(await statusOf(other.key)).toBe(200);
  expect(await statusOf(key), "and stays refused").toBe(401);
});

test("a changed tier is in force within a second, both ways", async () => {
  const { id, key } = await workspace.account("Free");
  expect(await statusOf(key, "route/max")).toBe(403);
  await workspace.json("users", "set", id, "--tier", "Max");
  expect(await becomes(key, 200, "route/max")).toBeLessThan(1_000);
  await workspace.json("users", "set", id, "--tier", "Free");
  expect(await becomes(key, 403, "route/max")).toBeLessThan(1_000);
});

describe("commands at the same time", () => {
  test("grants by several processes all count, under load", async () => {
    const { id, key } = await workspace.account("Free", 100n * NANOS_PER_UNIT);
    const stopping = new AbortController();
    const statuses = new Set<number>();
    const load = Promise.all(
      [0, 1, 2].map(async () => {
        while (!stopping.signal.aborted) statuses.add(await statusOf(key));
      }),
    );
    await Promise.all([1, 2, 3, 4].map((amount) => workspace.json("credits", "add", id, String(amount))));
    stopping.abort();
    await load;
    expect([...statuses]).toEqual([200]);
    const { user, drift } = await workspace.books(id);
    expect(nanoToNumber(user.granted)).toBe(110);
    expect(drift).toBe(0n);
  });

  test("one address is taken once", async () => {
    const exits = await Promise.all(
      [0, 1].map(() => workspace.cli("users", "add", "--email", "twin@example.com", "--json")),
    );
    expect(new Set(exits.map(({ code }) => code))).toEqual(new Set([0, 1]));
    expect(exits.find(({ code }) => code === 1)?.stderr).toContain("twin@example.com");
  });
});

test("a token of the command line belongs to the served users: it is none for inference", async () => {
  const { id } = await workspace.account();
  const { access_token } = await workspace.json<{ access_token: string }>("token", id);
  const response = await gateway.chat(access_token, ask("x"));
  expect([response.status, await response.text()]).toEqual([401, "Authentication failed"]);
  const forged = await gateway.chat(`${access_token.slice(0, -2)}xx`, ask("x"));
  expect([forged.status, await forged.json()]).toEqual([401, { message: "Invalid or expired token" }]);
});
