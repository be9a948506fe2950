import { afterEach, beforeEach, expect, test } from "vitest";
import { scriptedUrl, type Simulator, startSimulator } from "../../../../src/simulator/server.ts";
import { describeRedis, redisOfSuite } from "../../../support/redis.ts";
import { baseConfig, chainConfig, merge } from "../../support/gateway-config.ts";
import { eventually } from "../../support/http.ts";
import { TestGateway, type TestUser } from "../../support/in-process.ts";

const RUNNING = "?chunk_delay=20ms&chunks=100000";
const BEFORE = "?first_byte=1h";

interface Listed {
  readonly data: readonly { readonly id: string; readonly state: string; readonly age_ms: number }[];
  readonly complete: boolean;
}

async function listed(gateway: TestGateway, user: TestUser): Promise<Listed> {
  const { status, text } = await gateway.get("/v1/user/streams", user);
  expect(status).toBe(200);
  return JSON.parse(text) as Listed;
}

function end(gateway: TestGateway, { key }: TestUser, id: string) {
  const headers = { authorization: `Bearer ${key}` };
  return gateway.send(`/v1/user/streams/${id}`, { method: "DELETE", headers });
}

let gateways: TestGateway[] = [];
afterEach(async () => {
  for (const gateway of gateways) await gateway.close();
  gateways = [];
});

test("a user sees and ends the own streams, and nobody else's", async () => {
  const gateway = await TestGateway.start({ chains: { "route/slow": [RUNNING], "route/mute": [BEFORE] } });
  gateways.push(gateway);
  const [ada, bob] = [await gateway.user(), await gateway.user()];
  expect(await listed(gateway, ada)).toEqual({ data: [], next_cursor: null, complete: true });
  const first = gateway.open(ada, { model: "route/slow", stream: true });
  await first.until("data:");
  const second = gateway.open(ada, { model: "route/mute", stream: true });
  const others = gateway.open(bob, { model: "route/slow", stream: true });
  await others.until("data:");
  await eventually(async () => (await listed(gateway, ada)).data.length === 2);
  const { data } = await listed(gateway, ada);
  expect(data).toEqual([
    {
      id: expect.any(String) as string,
      model: "route/slow",
      state: "streaming",
      started_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      age_ms: expect.any(Number) as number,
    },
    expect.objectContaining({ model: "route/mute", state: "waiting" }),
  ]);
  const [foreign] = (await listed(gateway, bob)).data;
  for (const id of [foreign!.id, "none", "%00", "%F0%9F%A6%8A"]) {
    expect(await end(gateway, ada, id)).toMatchObject({ status: 404 });
  }
  expect(await end(gateway, ada, data[0]!.id)).toMatchObject({ status: 200, text: '{"ended":true}' });
  expect((await first.whole()).text).toMatch(/data: \[DONE\]\n\n$/);
  await eventually(async () => (await listed(gateway, ada)).data.length === 1);
  expect(await end(gateway, ada, data[0]!.id)).toMatchObject({ status: 404 });
  expect((await listed(gateway, bob)).data).toHaveLength(1);
  await end(gateway, ada, data[1]!.id);
  await end(gateway, bob, foreign!.id);
  await Promise.all([second.whole(), others.whole()]);
  expect(await gateway.get("/v1/user/streams")).toMatchObject({ status: 401 });
});

describeRedis("streams of a user on two instances", () => {
  const redis = redisOfSuite();
  let simulator: Simulator;
  beforeEach(async () => {
    simulator = await startSimulator();
    const store = { url: redis.url, prefix: "own-streams:" };
    const upstreams = { "one-1": { base_url: scriptedUrl(simulator.origin, RUNNING) } };
    const base = merge(merge(baseConfig("/nowhere"), chainConfig(simulator.origin, {})), { store, upstreams });
    gateways = [await TestGateway.start({ base }), await TestGateway.start({ base })];
  });
  afterEach(() => simulator.close());

  test("are listed and ended over either of them", async () => {
    const [one, other] = gateways as [TestGateway, TestGateway];
    const [ada, bob] = [await one.user(), await one.user()];
    const [here, there] = [one.open(ada, { stream: true }), other.open(ada, { stream: true })];
    await Promise.all([here.until("data:"), there.until("data:")]);
    await eventually(async () => (await listed(one, ada)).data.length === 2);
    expect(await listed(one, bob)).toMatchObject({ data: [], complete: true });
    const { data, complete } = await listed(other, ada);
    expect({ count: data.length, complete }).toEqual({ count: 2, complete: true });
    expect(data[0]!.age_ms).toBeGreaterThanOrEqual(data[1]!.age_ms);
    for (const { id } of data) {
      expect(await end(one, bob, id)).toMatchObject({ status: 404 });
      expect(await end(one, ada, id)).toMatchObject({ status: 200 });
    }
    for (const stream of [here, there]) expect((await stream.whole()).text).toMatch(/data: \[DONE\]\n\n$/);
  });
});
