import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import type { Explanation } from "../../../src/offline/explain.ts";
import { tier } from "../support/gateway-config.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await TestGateway.start({
    chains: { "route/one": ["-"], "route/two": ["?status=503", "-"] },
    config: {
      tiers: { Max: tier({ minute: 4, streams: 2 }) },
      defaults: { upstream: { breaker: { consecutive: 1, open_for: "1h", max_open_for: "1h" } } },
    },
  });
});
afterAll(() => gateway.close());

const post = (question: Json, headers: Record<string, string> = {}) =>
  gateway.admin("/admin/explain", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: question,
  });

async function explained(question: Json): Promise<Explanation> {
  const { status, text } = await post(question);
  expect({ status, text }).toEqual({ status: 200, text });
  return JSON.parse(text) as Explanation;
}

const state = async (user: TestUser) => ({
  books: await gateway.books(user),
  sent: gateway.simulator.ledger().length,
  requests: await gateway.metric("gateway_requests_total"),
});

test("a user's own counters and credits are read, and nothing is counted, charged or sent", async () => {
  const user = await gateway.user();
  await gateway.chat(user);
  const before = await state(user);
  const { answer, limits, credits } = await explained({ model: "route/one", user: user.id });
  expect(answer).toMatchObject({ status: 200, outcome: "served" });
  expect(limits.minute).toMatchObject({ limit: 4, used: 2, left: 2 });
  expect(Number(credits.balance)).toBeLessThan(10);
  expect(await state(user)).toEqual(before);
});

test("it says what the next request then meets", async () => {
  const user = await gateway.user();
  for (let used = 0; used < 4; used += 1) await gateway.chat(user);
  const { answer, stages } = await explained({ model: "route/one", user: user.id });
  const refused = await gateway.chat(user);
  expect(answer).toMatchObject({ status: refused.status, code: "RATE_LIMIT_ERROR", message: refused.text });
  expect(stages.find(({ decision }) => decision === "refused")?.plugin).toBe("quota");
  expect(await explained({ model: "route/one", user: user.id, key: "key_none" })).toMatchObject({
    answer: { status: 401 },
  });
});

test("breakers are as they are in the process", async () => {
  const user = await gateway.user();
  const asked = { model: "route/two", user: user.id };
  expect((await explained(asked)).chain[0]!.targets[0]).toMatchObject({ decision: "failed" });
  await gateway.chat(user, { model: "route/two" });
  const { chain } = await explained(asked);
  expect(chain.map(({ targets: [target] }) => target!.decision)).toEqual(["skipped", "served"]);
});

test.each([
  [{}, "/model is missing"],
  [{ model: "route/one" }, "/tier is missing, and so is user"],
  [{ model: "route/on", tier: "Max" }, "did you mean route/one?"],
  [{ model: "route/one", tier: "Maxx" }, "did you mean Max?"],
  [{ model: "route/one", user: "nobody" }, "there is no user nobody"],
  [{ model: "route/one", tier: "Max", down: ["none"] }, "there is no upstream none"],
  [{ model: "route/one", tier: "Max", faults: {} }, "/faults is not known"],
  [{ model: "route/one", tier: "Max", prompt_tokens: -1 }, "/prompt_tokens must be"],
  [{ model: "route/one", tier: "Max", endpoint: "video" }, "/endpoint must be one of"],
])("%j is a 400", async (question, message) => {
  const { status, text } = await post(question);
  expect(status).toBe(400);
  expect(text).toContain(message);
});

test("the token is needed", async () => {
  expect((await post({}, { authorization: "Bearer wrong" })).status).toBe(401);
});
