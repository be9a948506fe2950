import { rm, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { scriptedUrl } from "../../../src/simulator/server.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

let gateway: TestGateway;
let user: TestUser;

beforeEach(async () => {
  gateway = await TestGateway.start({ chains: { "route/two": ["-"] } });
  user = await gateway.user();
});
afterEach(() => gateway.close());

const json = (text: string): Json => JSON.parse(text) as Json;
const status = async (): Promise<Json> => json((await gateway.admin("/admin/config")).text);
const reload = () => gateway.admin("/admin/reload", { method: "POST" });

describe("POST /admin/reload", () => {
  test("takes a good file over: 200 with its hash, a new generation", async () => {
    const before = await status();
    expect(before).toEqual({
      generation: 1,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      file: gateway.file,
      loaded_at: expect.stringMatching(/^2026-01-15T12:30:\d\d\.\d{3}Z$/) as string,
      warnings: [],
      pending: [],
      last_rejection: null,
      passed_over: null,
      guard: null,
      generations: [{ hash: before["hash"], since: before["loaded_at"], by: "start", serves: true }],
      agree: true,
      instances: [
        {
          instance: expect.any(String) as string,
          hash: before["hash"],
          generation: 1,
          loaded_at: before["loaded_at"],
          draining: false,
        },
      ],
    });
    await gateway.write({
      models: {
        "route/two": null,
        "route/three": {
          kind: "chat",
          tier: "Free",
          owned_by: "x",
          price: { input_per_million: 1, output_per_million: 2 },
          chain: [{ upstream: "two-1", model: "three" }],
        },
      },
    });
    const answer = await reload();
    const after = await status();
    expect([answer.status, json(answer.text)]).toEqual([200, { ok: true, hash: after["hash"] }]);
    expect(after).toMatchObject({ generation: 2, last_rejection: null });
    expect(after["hash"]).not.toBe(before["hash"]);
    expect((await gateway.chat(user, { model: "route/two" })).text).toBe("Invalid model: 'route/two'");
    expect((await gateway.chat(user, { model: "route/three" })).status).toBe(200);
  });

  test("of the same file changes nothing", async () => {
    const before = await status();
    const answer = await reload();
    expect([answer.status, json(answer.text)]).toEqual([200, { ok: true, hash: before["hash"] }]);
    expect(await status()).toEqual(before);
  });

  test.each([
    ["text that is no YAML", "version: 1\nmodels: {", "yaml-syntax"],
    ["an unknown key", null, "unknown-key"],
    ["no file at all", undefined, "file-unreadable"],
  ])("of %s is a 422 with every mistake; the old configuration serves on", async (_, text, rule) => {
    const before = await status();
    if (text === undefined) await rm(gateway.file);
    else if (text === null) await gateway.write({ pipelin: [] });
    else await writeFile(gateway.file, text);
    const answer = await reload();
    expect(answer.status).toBe(422);
    const { ok, diagnostics } = json(answer.text) as { ok: boolean; diagnostics: readonly Json[] };
    expect(ok).toBe(false);
    expect(diagnostics[0]).toMatchObject({
      file: gateway.file,
      line: expect.any(Number) as number,
      column: expect.any(Number) as number,
      pointer: expect.any(String) as string,
      rule,
      severity: "error",
      message: expect.any(String) as string,
      hint: expect.toSatisfy((hint) => hint === null || typeof hint === "string") as string,
    });
    const after = await status();
    expect(after).toEqual({
      ...before,
      last_rejection: { at: expect.stringMatching(/^2026-01-15T/) as string, diagnostics },
    });
    expect((await gateway.chat(user)).status).toBe(200);
    // A good one clears it.
    await gateway.write(text === null ? { pipelin: null } : {});
    expect((await reload()).status).toBe(200);
    expect(await status()).toEqual(before);
  });

  test("a plugin whose setup fails is a bad configuration, too", async () => {
    await writeFile(gateway.file.replace("gateway.yaml", "bad.json"), "{}");
    await writeFile(
      gateway.file.replace("gateway.yaml", "bad.ts"),
      `export default { name: "bad", stage: "transform", schema: new URL("./bad.json", import.meta.url),
        setup() { throw new Error("no such table"); } };`,
    );
    await gateway.write({ pipeline: ["auth", "plan-check", "quota", "breaker", "./bad.ts", "stream-relay", "meter"] });
    const answer = await reload();
    expect(answer.status).toBe(422);
    expect(json(answer.text)).toMatchObject({
      diagnostics: [{ rule: "plugin-setup", message: expect.stringMatching(/bad.*no such table/) as string }],
    });
    expect((await gateway.chat(user)).status).toBe(200);
  });

  test("a hundred at once end with the last file in force", async () => {
    const reloads: Promise<unknown>[] = [];
    for (let count = 1; count <= 20; count += 1) {
      await gateway.write({ tiers: { Max: { limits: { day: count * 1_000 } } } });
      for (let repeat = 0; repeat < 5; repeat += 1) reloads.push(reload());
    }
    await Promise.all(reloads);
    expect((await gateway.chat(user)).headers["x-ratelimit-limit-day"]).toBe("20000");
  });
});

test("sections that need a restart are pending until they are taken back; the rest is in force", async () => {
  const patch = {
    server: { admin: { host: "localhost" }, workers: 1, listen: [{ host: "127.0.0.1", port: 0 }], heartbeat: "5s" },
    store: { prefix: "other:" },
    tiers: { Max: { limits: { day: 77 } } },
  };
  expect(await gateway.reload(patch)).toMatchObject({ ok: true });
  expect((await status())["pending"]).toEqual(["server.listen", "server.admin", "store"]);
  // The old admin address, both old addresses and the old store serve on.
  for (const url of [gateway.url, gateway.secondUrl])
    expect((await gateway.chat(user, {}, { url })).headers["x-ratelimit-limit-day"]).toBe("77");
  const two = { host: "127.0.0.1", port: 0 };
  await gateway.reload({ server: { admin: { host: "127.0.0.1" }, listen: [two, two] }, store: { prefix: null } });
  expect((await status())["pending"]).toEqual([]);
});

test("limits of bodies and addresses, CORS and the heartbeat are in force with the next request", async () => {
  const headers = { origin: "https://app.example.com" };
  const large = { pad: "x".repeat(2_000) };
  expect((await gateway.chat(user, large, { headers })).headers["access-control-allow-origin"]).toBe("*");
  await gateway.reload({ server: { body_limit: "1KiB", cors: { origins: [] }, heartbeat: "100ms" } });
  const refused = await gateway.chat(user, large, { headers });
  expect([refused.status, refused.headers["access-control-allow-origin"]]).toEqual([413, undefined]);
  expect((await gateway.chat(user, { stream: true, sim: "?first_event=300ms" })).text).toContain(": keep-alive\n\n");
  await gateway.reload({ server: { ip_limit: { requests: 1, window: "1h" } } });
  expect((await gateway.chat(user)).status).toBe(200);
  expect((await gateway.chat(user)).status).toBe(429);
});

describe("what outlives a reload", () => {
  test("an open breaker stays open, for as long as it would have", async () => {
    await gateway.reload({
      upstreams: { "two-1": { breaker: { consecutive: 1, open_for: "1h", max_open_for: "1h" } } },
    });
    expect((await gateway.chat(user, { model: "route/two", sim: "?status=500" })).status).toBe(502);
    expect((await gateway.chat(user, { model: "route/two" })).status).toBe(503);
    await gateway.reload({ models: { "route/two": { display_name: "Renamed" } } });
    expect((await gateway.chat(user, { model: "route/two" })).status).toBe(503);
    expect(json((await gateway.admin("/admin/upstreams")).text)).toMatchObject({
      "one-1": { breaker: "closed" },
      "two-1": { breaker: "open" },
    });
    gateway.clock.advance(3_600_000);
    expect((await gateway.chat(user, { model: "route/two" })).status).toBe(200);
  });

  test("streams of an upstream that is removed, or moved, finish; new requests go elsewhere", async () => {
    const streams = Array.from({ length: 5 }, () =>
      gateway.open(user, { model: "route/two", stream: true, sim: "?chunk_delay=60ms" }),
    );
    await Promise.all(streams.map((stream) => stream.until("data:")));
    await gateway.reload({ upstreams: { "two-1": null }, models: { "route/two": null } });
    expect((await gateway.chat(user, { model: "route/two" })).status).toBe(400);
    const moved = scriptedUrl(gateway.simulator.origin, "?status=503");
    await gateway.reload({ upstreams: { "one-1": { base_url: moved } } });
    expect((await gateway.chat(user)).status).toBe(502);
    for (const stream of streams) {
      const { text, whole } = await stream.whole();
      expect([whole, text.endsWith("data: [DONE]\n\n"), text.includes('"error":')]).toEqual([true, true, false]);
    }
    await gateway.audit();
    expect((await gateway.books(user)).ledger.map(({ outcome, charge }) => [outcome, charge])).toEqual(
      Array.from({ length: 5 }, () => ["served", 20_000n]),
    );
  });

  test("a limit that is lowered below what is used ends nothing, and refuses the next", async () => {
    const stream = gateway.open(user, { stream: true, sim: "?chunk_delay=40ms" });
    await stream.until("data:");
    await gateway.chat(user);
    await gateway.reload({ tiers: { Max: { limits: { day: 1 } } } });
    const refused = await gateway.chat(user);
    expect([refused.status, refused.headers["x-ratelimit-remaining-day"]]).toEqual([429, "0"]);
    expect((await stream.whole()).text.endsWith("data: [DONE]\n\n")).toBe(true);
  });

  test("no request fails while the configuration is exchanged under load", async () => {
    const load = { over: false };
    const failures: string[] = [];
    const client = async (stream: boolean): Promise<number> => {
      let count = 0;
      while (!load.over) {
        const { status: code, text } = await gateway.chat(user, { stream });
        if (code !== 200 || text.includes('"error":')) failures.push(`${code} ${text}`);
        count += 1;
      }
      return count;
    };
    const clients = Array.from({ length: 8 }, (_, index) => client(index % 2 === 0));
    for (let edit = 1; edit <= 15; edit += 1) {
      expect(
        await gateway.reload({
          models: { "route/one": { price: { input_per_million: edit, output_per_million: edit } } },
        }),
      ).toMatchObject({ ok: true });
    }
    load.over = true;
    const served = (await Promise.all(clients)).reduce((sum, count) => sum + count, 0);
    expect(failures).toEqual([]);
    const { ledger } = await gateway.books(user);
    expect(ledger).toHaveLength(served);
    // Each at the price of one configuration, never of two: 2 and 9 tokens.
    for (const { charge } of ledger)
      expect([charge % 11_000n === 0n || charge === 20_000n, charge > 0n]).toEqual([true, true]);
  });
});

describe("the admin listener", () => {
  test("/admin/streams tells what runs", async () => {
    const stream = gateway.open(user, { stream: true, sim: "?stall_after=2" });
    await stream.until("data:");
    expect(json((await gateway.admin("/admin/streams")).text)).toMatchObject({ active: 1, complete: true });
    stream.leave();
    await gateway.audit();
    expect(json((await gateway.admin("/admin/streams")).text)).toEqual({ active: 0, complete: true, streams: [] });
  });
});
