import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isInShare } from "../../../src/gateway/guard.ts";
import type { ConfigStatus } from "../../../src/gateway/reloader.ts";
import type { Json } from "../../../src/kit/index.ts";
import { scriptedUrl } from "../../../src/simulator/server.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import { eventually } from "../support/http.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

const SHARE = 0.25;
/** Longer than any test takes: its end comes with the clock of the test. */
const FOR_MS = 60_000;
const GUARD = { share: "25%", for: "60s", min_requests: 10 };
const USERS = 40;

let gateway: TestGateway;
let users: TestUser[];
let lines: Json[];

beforeEach(async () => {
  lines = [];
  const destination = { write: (line: string) => lines.push(JSON.parse(line) as Json) };
  gateway = await TestGateway.start({
    config: { reload: { guard: GUARD } },
    log: createLog({ level: "info", pretty: false, destination }),
  });
  users = [];
  for (let count = 0; count < USERS; count += 1) users.push(await gateway.user());
});
afterEach(() => gateway.close());

const status = async (): Promise<ConfigStatus> =>
  JSON.parse((await gateway.admin("/admin/config")).text) as ConfigStatus;
const script = (query: string): Json => ({
  upstreams: { "one-1": { base_url: scriptedUrl(gateway.simulator.origin, query) } },
});
const rollback = (to?: string | number) =>
  gateway.admin("/admin/rollback", { method: "POST", ...(to !== undefined && { body: { to } }) });
const messages = (): readonly unknown[] => lines.map(({ msg }) => msg);

/** A candidate on trial. @returns its hash. */
async function guarded(patch: Json): Promise<string> {
  const result = await gateway.reload(patch);
  expect(result).toMatchObject({ ok: true, guarded: true });
  const { hash } = result as { readonly hash: string };
  while (chosen(hash).length === 0) users.push(await gateway.user());
  return hash;
}

const chosen = (hash: string): TestUser[] => users.filter(({ id }) => isInShare(id, hash, SHARE));

/** Every user calls again and again, four at a time, until the guard has decided. @returns the users who met a failure. */
async function load(): Promise<ReadonlySet<string>> {
  const failed = new Set<string>();
  const lane = async (own: readonly TestUser[]): Promise<void> => {
    for (;;) {
      for (const user of own) {
        if ((await status()).guard?.state !== "running") return;
        if ((await gateway.chat(user)).status !== 200) failed.add(user.id);
      }
    }
  };
  await Promise.all([0, 1, 2, 3].map((part) => lane(users.filter((_, index) => index % 4 === part))));
  return failed;
}

/** The plan's daily limit that a user is told. */
async function day(user: TestUser): Promise<string | undefined> {
  return (await gateway.chat(user)).headers["x-ratelimit-limit-day"]?.toString();
}

function limit(perDay: number | "none"): Json {
  return { tiers: { Max: { limits: { day: perDay } } } };
}

describe("under load", () => {
  test("a generation whose upstream fails is rolled back within its window, and meets only its share of the users", async () => {
    const before = await status();
    const candidate = await guarded(script("status=500"));
    expect(await status()).toMatchObject({ hash: before.hash, generation: 1, guard: { state: "running", candidate } });
    // Its window never ends: the clock stands still.
    gateway.clock.stop();
    const failed = await load();
    gateway.clock.start();

    const share = new Set(chosen(candidate).map(({ id }) => id));
    expect(failed.size).toBeGreaterThan(0);
    expect([...failed].filter((id) => !share.has(id))).toEqual([]);
    expect(share.size).toBeLessThan(0.75 * users.length);
    const after = await status();
    expect(after).toMatchObject({
      hash: before.hash,
      generation: 1,
      guard: { state: "rolled_back", base: before.hash, candidate, failures: { base: 0 } },
      passed_over: {
        hash: candidate,
        reason: expect.stringMatching(/^\d+ of \d+ requests failed, .* 0 of \d+$/) as string,
      },
      generations: [{ hash: before.hash, serves: true }],
    });
    const { requests, failures } = after.guard!;
    expect(failures.candidate).toBe(requests.candidate);
    expect(requests.candidate).toBeGreaterThanOrEqual(GUARD.min_requests);
    for (const user of users) expect((await gateway.chat(user)).status, "after it").toBe(200);

    expect(await gateway.metric("gateway_config_guards_total", { result: "rolled_back" })).toBe(1);
    expect(await gateway.metric("gateway_config_info", { hash: before.hash })).toBe(1);
    expect(await gateway.metric("gateway_config_candidate_info")).toBe(0);
    const config = candidate.slice(0, 12);
    const served = await gateway.metric("gateway_generation_requests_total", { config });
    expect(served, "some were still running").toBeGreaterThanOrEqual(requests.candidate);
    expect(lines.filter((line) => line["config"] === undefined)).toEqual([]);
    const told = lines.filter((line) => line["msg"] === "request" && line["config"] === config);
    expect(told).toHaveLength(served);
    expect(told.every((line) => line["outcome"] === "failed")).toBe(true);
    expect(lines.find(({ msg }) => String(msg).startsWith("configuration rolled back"))).toMatchObject({
      level: 50,
      config,
    });
  });

  test("one whose first token is late is rolled back, though nothing fails", async () => {
    const before = await status();
    const candidate = await guarded(script("first_byte=250ms"));
    expect([...(await load())]).toEqual([]);
    expect(await status()).toMatchObject({
      hash: before.hash,
      guard: {
        state: "rolled_back",
        candidate,
        reason: expect.stringMatching(/^the first token took \d+\.\d\d times/) as string,
      },
    });
  });

  test("a good one is promoted when its time is over", async () => {
    const before = await status();
    const candidate = await guarded({ billing: { cost_multiplier: 2 } });
    expect(await gateway.metric("gateway_config_candidate_info", { hash: candidate })).toBe(1);
    const loaded = load();
    await eventually(async () => (await status()).guard!.requests.candidate > GUARD.min_requests, 20_000);
    gateway.clock.advance(FOR_MS);
    expect([...(await loaded)]).toEqual([]);
    expect(await status()).toMatchObject({
      hash: candidate,
      generation: 2,
      guard: { state: "promoted", base: before.hash, candidate, failures: { base: 0, candidate: 0 } },
      passed_over: null,
      generations: [
        { hash: candidate, serves: true },
        { hash: before.hash, serves: false },
      ],
    });
    expect(await gateway.metric("gateway_config_guards_total", { result: "promoted" })).toBe(1);
    expect(await gateway.metric("gateway_config_info", { hash: candidate })).toBe(1);
    expect(messages()).toContain("configuration reloaded");
  });
});

describe("during a guard", () => {
  test("users are served by one side each, those whom nobody knows and other routes by the old one", async () => {
    const candidate = await guarded(limit(77));
    const share = new Set(chosen(candidate).map(({ id }) => id));
    for (const user of [...users, ...users]) expect(await day(user)).toBe(share.has(user.id) ? "77" : undefined);
    expect((await gateway.send("/v1/chat/completions", { body: {} })).status).toBe(401);
    expect((await status()).guard!.requests.candidate).toBe(2 * share.size);
  });

  test("few requests, and none at all, are promoted at the end unless they failed", async () => {
    const good = await guarded(limit(77));
    gateway.clock.advance(FOR_MS);
    await eventually(async () => (await status()).hash === good);
    expect((await status()).guard!.reason).toBe("nothing speaks against it: it was asked nothing");
    const bad = await guarded(script("status=500"));
    for (const user of chosen(bad).slice(0, 1)) await gateway.chat(user);
    gateway.clock.advance(FOR_MS);
    await eventually(async () => (await status()).guard!.state === "rolled_back");
    expect((await status()).hash).toBe(good);
  });

  test("a newer file replaces the candidate; the file as it was ends the guard; a bad one changes nothing", async () => {
    const first = await guarded(limit(77));
    const { hash } = await status();
    await gateway.reload({ pipelin: [] });
    expect(await status()).toMatchObject({ hash, guard: { state: "running", candidate: first } });
    const second = await guarded({ pipelin: null, ...limit(78) });
    expect(await status()).toMatchObject({
      hash,
      last_rejection: null,
      guard: { state: "running", candidate: second },
    });
    const [user] = chosen(second);
    expect(await day(user!)).toBe("78");
    expect(await gateway.reload({ tiers: { Max: { limits: { day: "none" } } } })).toEqual({
      ok: true,
      hash,
      changed: false,
    });
    expect(await status()).toMatchObject({ hash, passed_over: null, guard: { state: "replaced", candidate: second } });
    expect(await day(user!)).toBeUndefined();
    expect(await gateway.metric("gateway_config_guards_total", { result: "replaced" })).toBe(2);
  });

  test("a rolled-back file is not tried again until it changes", async () => {
    const candidate = await guarded(script("status=500"));
    await rollback(0);
    expect(await status()).toMatchObject({
      guard: { state: "rolled_back", reason: "asked for" },
      passed_over: { hash: candidate },
    });
    expect(await gateway.reload({})).toMatchObject({
      ok: false,
      diagnostics: [{ rule: "rolled-back", message: "asked for" }],
    });
    expect((await gateway.chat(chosen(candidate)[0]!)).status).toBe(200);
    await guarded(limit(77));
    expect(await status()).toMatchObject({ passed_over: null, last_rejection: null });
  });

  test("a stream that runs on the candidate ends on it, whole, after the rollback", async () => {
    const candidate = await guarded(script("chunks=6&chunk_delay=100ms"));
    const [user] = chosen(candidate);
    const stream = gateway.open(user!, { stream: true });
    await stream.until("content");
    await rollback(0);
    expect((await stream.whole()).text).toMatch(/data: \[DONE\]\n\n$/);
    const config = candidate.slice(0, 12);
    expect(lines.find((line) => line["config"] === config && line["msg"] === "request")).toMatchObject({
      outcome: "served",
      stream: true,
    });
    expect((await status()).guard!.requests.candidate).toBe(0);
  });
});

describe("POST /admin/rollback", () => {
  test("returns to a former generation, by number or hash; the next change of the file is taken as usual", async () => {
    await gateway.reload({ reload: null });
    gateway.clock.advance(FOR_MS);
    await eventually(async () => (await status()).guard?.state === "promoted");
    const hashes = [(await status()).hash];
    for (const limit of [1_000, 2_000]) {
      await gateway.reload({ tiers: { Max: { limits: { day: limit } } } });
      hashes.push((await status()).hash);
    }
    const answer = await rollback();
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { ok: true, hash: hashes[1] }]);
    expect(await day(users[0]!)).toBe("1000");
    expect(await status()).toMatchObject({
      hash: hashes[1],
      generation: 5,
      passed_over: { hash: hashes[2], reason: "a rollback was asked for" },
      generations: [hashes[1], hashes[2], hashes[0]]
        .map((hash) => ({ hash, serves: hash === hashes[1] }))
        .concat([{ hash: expect.any(String) as string, serves: false }]),
    });
    expect(messages()).toContain("configuration of a former generation serves again");
    // Touched, not changed.
    expect(await gateway.reload({})).toMatchObject({ ok: false, diagnostics: [{ rule: "rolled-back" }] });
    expect((await status()).hash).toBe(hashes[1]);
    expect(JSON.parse((await rollback(hashes[0]!.slice(0, 8))).text)).toEqual({ ok: true, hash: hashes[0] });
    expect(await day(users[0]!)).toBeUndefined();
    expect(JSON.parse((await rollback(hashes[2])).text)).toEqual({ ok: true, hash: hashes[2] });
    expect((await status()).passed_over, "the file serves again").toBeNull();
    expect(await gateway.reload({ tiers: { Max: { limits: { day: 3_000 } } } })).toMatchObject({
      ok: true,
      changed: true,
    });
    expect(await day(users[0]!)).toBe("3000");
  });

  test("a generation that is not kept is a 422", async () => {
    for (const to of [1, "ffff", "zz"]) {
      const answer = await rollback(to);
      expect([answer.status, JSON.parse(answer.text)]).toMatchObject([
        422,
        { ok: false, diagnostics: [{ rule: "unknown-generation" }] },
      ]);
    }
    expect((await status()).last_rejection).toBeNull();
  });

  test("the last ten are kept", async () => {
    await guarded({ reload: null });
    await rollback((await status()).guard!.candidate);
    for (let limit = 1; limit <= 12; limit += 1)
      await gateway.reload({ tiers: { Max: { limits: { day: limit * 1_000 } } } });
    expect((await status()).generations).toHaveLength(10);
    expect((await rollback(9)).status).toBe(200);
    expect(await day(users[0]!)).toBe("3000");
  });
});
