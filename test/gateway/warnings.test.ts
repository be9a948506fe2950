import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createUser } from "../../src/accounts/users.ts";
import type { Diagnostic } from "../../src/config/diagnostics.ts";
import { loadConfig } from "../../src/config/load.ts";
import { usersWithoutPlan, Warnings } from "../../src/gateway/warnings.ts";
import { runCommand } from "../../src/cli/program.ts";
import { type Json, type Store, storeUnavailable } from "../../src/kit/index.ts";
import { openConfigured } from "../../src/store/open.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { options, scratch, SMALL } from "../config/support.ts";
import { TestGateway } from "../e2e/support/in-process.ts";
import { TestLog } from "../support/host.ts";
import { describeRedis, redisOfSuite } from "../support/redis.ts";

const WAIT = { timeout: 20_000, interval: 50 };
const TIERS = { Gold: { access: "all", limits: { day: 5, hour: 5, minute: 5, streams: 5 } } };

/** Lines of log, as JSON. */
let lines: string[];
let gateway: TestGateway;

async function status(): Promise<{ readonly warnings: readonly Json[] }> {
  return JSON.parse((await gateway.admin("/admin/config")).text) as never;
}

function said(count: number): string {
  return `users-without-plan: ${count} users are on the plan 'Gold', which is not defined: all their requests are refused`;
}

describe("warnings of what serves", () => {
  beforeEach(async () => {
    lines = [];
    const log = createLog({ level: "warn", pretty: false, destination: { write: (line) => lines.push(line) } });
    gateway = await TestGateway.start({ chains: { "route/one": ["-"] }, config: { tiers: TIERS }, log });
  });
  afterEach(() => gateway.close());

  test("a reload logs them, keeps them and shows them; the next without them shows none", async () => {
    expect((await status()).warnings).toEqual([]);
    const unused = { dialect: "openai", base_url: "sim:", api_keys: ["sim"] };
    expect(await gateway.reload({ upstreams: { unused } })).toMatchObject({ ok: true });
    const warning = { rule: "unused-upstream", severity: "warning", pointer: "/upstreams/unused" };
    expect((await status()).warnings).toEqual([expect.objectContaining(warning)]);
    const logged = lines.filter((line) => line.includes("is not used in any chain"));
    expect(logged).toHaveLength(1);
    expect(await gateway.reload({ upstreams: { unused: null } })).toMatchObject({ ok: true });
    expect((await status()).warnings).toEqual([]);
  });

  test("users of a plan that is gone are counted, by plan, until they are moved", async () => {
    for (let index = 0; index < 3; index += 1) await gateway.user({ tier: "Gold" });
    const moved = await gateway.user({ tier: "Gold" });
    expect(await gateway.reload({ tiers: { Gold: null, Golden: TIERS.Gold } })).toMatchObject({ ok: true });
    const rules = async () =>
      (await status()).warnings.map(({ rule, message }) => `${String(rule)}: ${String(message)}`);
    await expect.poll(rules, WAIT).toEqual([said(4)]);
    expect((await status()).warnings[0]).toMatchObject({
      hint: expect.stringContaining("did you mean 'Golden'?") as string,
    });
    expect(lines.filter((line) => line.includes("4 users are on the plan 'Gold'"))).toHaveLength(1);
    await gateway.store.setTier(moved.id, "Golden");
    await gateway.reload({});
    await expect.poll(rules, WAIT).toEqual([said(3)]);
    expect(await gateway.reload({ tiers: { Gold: TIERS.Gold } })).toMatchObject({ ok: true });
    await expect.poll(rules, WAIT).toEqual([]);
  });
});

/** More users than a page has, some disabled. */
async function countUsers(store: Store): Promise<readonly Diagnostic[]> {
  const { snapshot, sources } = await loadConfig(options("gateway.yaml", { read: async () => SMALL }));
  for (let index = 0; index < 12; index += 1) {
    const user = await createUser(store, {
      email: `u${index}@example.com`,
      tier: index % 3 === 0 ? "Free" : "Old",
      credits: 0n,
    });
    if (index === 1) await store.setDisabled(user.id, true);
  }
  const paged = { findUsers: (query: Parameters<Store["findUsers"]>[0]) => store.findUsers({ ...query, limit: 5 }) };
  return usersWithoutPlan(paged, { snapshot: snapshot!, sources });
}

const COUNTED = {
  rule: "users-without-plan",
  pointer: "/tiers",
  line: 2,
  severity: "warning",
  message: expect.stringContaining("7 users are on the plan 'Old'") as string,
};

async function storeAt(url: string): Promise<Store> {
  const { snapshot } = await loadConfig(
    options("gateway.yaml", { read: async () => `${SMALL}store: { url: "${url}" }\n` }),
  );
  const store = await openConfigured(snapshot!.store, { serving: true, now: Date.now });
  onTestFinished(async () => store.close());
  return store;
}

test("a store that is away is no fault of the count: the next load counts again", async () => {
  const log = new TestLog();
  let away = true;
  const page = { users: [{ tier: "Gold" }], next: null };
  const store = {
    findUsers: () => (away ? Promise.reject(storeUnavailable(null)) : Promise.resolve(page as never)),
  };
  const warnings = new Warnings({ store, log });
  const snapshot = { tiers: {}, file: "gateway.yaml" } as never;
  const loaded = { hash: "a", diagnostics: [], sources: [], snapshot };
  warnings.take(loaded);
  await new Promise(setImmediate);
  expect([warnings.list, log.lines]).toEqual([[], []]);
  away = false;
  warnings.take({ ...loaded });
  await vi.waitFor(() => expect(warnings.list).toHaveLength(1), WAIT);
});

test("users without a plan are counted in SQLite, by check --store as well", async () => {
  const folder = await scratch();
  const url = `sqlite:${join(folder, "gateway.db")}`;
  expect(await countUsers(await storeAt(url))).toMatchObject([COUNTED]);
  const file = join(folder, "gateway.yaml");
  await writeFile(file, `${SMALL}store: { url: "${url}" }\n`);
  let stdout = "";
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => (stdout += String(text)) !== "");
  const codes: unknown[] = [];
  for (const args of [
    ["check", "--store"],
    ["check", "--store", "--strict"],
    ["check", "--strict"],
  ]) {
    process.exitCode = undefined;
    await runCommand([...args, "--config", file]);
    codes.push(process.exitCode);
  }
  process.exitCode = undefined;
  write.mockRestore();
  expect(stdout).toContain("warning users-without-plan 7 users are on the plan 'Old'");
  expect(codes).toEqual([undefined, 1, undefined]);
});

describeRedis("on Redis", () => {
  const server = redisOfSuite();
  test("users without a plan are counted", async () => {
    expect(await countUsers(await storeAt(server.url))).toMatchObject([COUNTED]);
  });
});
