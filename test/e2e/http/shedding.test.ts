import { request } from "node:http";
import { afterEach, expect, test } from "vitest";
import type { Load } from "../../../src/gateway/shedding.ts";
import { FORMATS } from "../../../src/server/endpoints.ts";
import { eventually } from "../support/http.ts";
import { CHAT, TestGateway, type TestUser } from "../support/in-process.ts";

const MIB = 1024 * 1024;
const IDLE: Load = { loopDelay: 1, heapUsed: 100 * MIB, heapLimit: 1_000 * MIB };
const LATE: Load = { ...IDLE, loopDelay: 500 };
const COUNT = "/v1/messages/count_tokens";

const running: TestGateway[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.close();
});

interface Overloaded {
  readonly gateway: TestGateway;
  readonly free: TestUser;
  readonly max: TestUser;
  /** Until the gateway has noticed. */
  readonly become: (load: Load) => Promise<void>;
}

async function start(): Promise<Overloaded> {
  let load = IDLE;
  let seen: Load | null = null;
  const gateway = await TestGateway.start({
    config: { server: { shed: { loop_delay: "200ms", heap: 0.85 } } },
    chains: { "route/slow": ["chunks=4000&chunk_delay=10ms"] },
    measureLoad: () => (seen = load),
  });
  running.push(gateway);
  return {
    gateway,
    free: await gateway.user({ tier: "Free" }),
    max: await gateway.user(),
    async become(next) {
      load = next;
      await eventually(() => seen === next);
    },
  };
}

interface Refused {
  readonly status: number;
  readonly code: string;
  readonly retryAfter: number;
  readonly type: string;
  readonly text: string;
}

/** Sends the head of a request, and a body only if it is asked for more. */
function head(gateway: TestGateway, path: string, key: string, headers: Record<string, string> = {}): Promise<Refused> {
  return new Promise((resolve, reject) => {
    const own = { authorization: `Bearer ${key}`, "content-type": "application/json", "content-length": "1000" };
    const sent = request(gateway.url + path, { method: "POST", headers: { ...own, ...headers }, agent: false });
    sent.on("error", reject);
    sent.on("response", (response) => {
      let text = "";
      response.on("data", (bytes: Buffer) => (text += bytes.toString()));
      response.on("end", () => {
        sent.destroy();
        const { "x-error-code": code, "retry-after": after, "content-type": type } = response.headers;
        resolve({
          status: response.statusCode ?? 0,
          code: String(code),
          retryAfter: Number(after),
          type: String(type),
          text,
        });
      });
    });
    sent.flushHeaders();
  });
}

test("every inference endpoint refuses the lowest class before its body is read, and serves the others", async () => {
  const { gateway, free, max, become } = await start();
  const stream = gateway.open(free, { model: "route/slow", stream: true });
  await stream.until("data:");
  await become(LATE);
  for (const path of [...FORMATS.keys(), COUNT]) {
    const plain = await head(gateway, path, free.key);
    expect({ path, ...plain }).toMatchObject({ path, status: 503, code: "OVERLOADED" });
    expect(plain.text).toContain("Server is busy");
    expect(plain.retryAfter).toBeGreaterThanOrEqual(1);
    expect(plain.retryAfter).toBeLessThanOrEqual(10);
  }
  const json = await head(gateway, CHAT, free.key, { accept: "application/json" });
  expect(JSON.parse(json.text)).toMatchObject({ error: { message: "Server is busy", code: "overloaded" } });
  const messages = await head(gateway, "/v1/messages", free.key, { "anthropic-version": "2023-06-01" });
  expect(JSON.parse(messages.text)).toMatchObject({ type: "error", error: { type: "overloaded_error" } });
  // Who nobody knows is told so; what is no inference is served; so are those of a higher class, and streams that run.
  expect((await head(gateway, CHAT, "rk_unknown")).status).toBe(401);
  expect((await gateway.get("/v1/user", free)).status).toBe(200);
  expect((await gateway.get("/v1/models")).status).toBe(200);
  for (let again = 0; again < 20; again += 1) expect((await gateway.chat(max)).status).toBe(200);
  const before = stream.received;
  await eventually(() => stream.received > before);
  // Refused requests count nowhere: only the stream has.
  expect((await gateway.books(free)).used).toEqual({ day: 1, hour: 1, minute: 1 });
  expect(await gateway.metric("gateway_shed_total", { tier: "Free" })).toBe(FORMATS.size + 3);
  expect(await gateway.metric("gateway_shed_total", { tier: "Max" })).toBe(0);
  expect(await gateway.metric("gateway_shedding", { tier: "Free" })).toBe(1);
  expect(JSON.parse((await gateway.admin("/admin/instances")).text)).toMatchObject({ data: [{ shedding: ["Free"] }] });
  stream.leave();
});

test("a reload changes the bounds and the classes, and takes shedding off", async () => {
  const { gateway, free, max, become } = await start();
  await become(LATE);
  expect((await gateway.chat(free)).status).toBe(503);
  await gateway.reload({ tiers: { Free: { class: 2 }, Max: { class: 1 } } });
  expect([(await gateway.chat(free)).status, (await gateway.chat(max)).status]).toEqual([200, 503]);
  await gateway.reload({ server: { shed: null } });
  for (const user of [free, max]) expect((await gateway.chat(user)).status).toBe(200);
  await eventually(async () => (await gateway.admin("/admin/instances")).text.includes('"shedding":[]'));
});
