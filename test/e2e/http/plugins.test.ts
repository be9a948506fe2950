import { afterAll, beforeAll, expect, test } from "vitest";
import { TestGateway, type TestUser } from "../support/in-process.ts";

const PIPELINE = [
  "auth",
  "plan-check",
  { use: "header-tags", options: { tags: { team: { header: "X-Team", values: ["blue"], measured: true } } } },
  { use: "budget", options: { amount: 0.001, warn_at: "1%" } },
  "quota",
  "breaker",
  { use: "prompt-prefix", options: { prompts: [{ text: "Be brief." }] } },
  { use: "guard-words", options: { words: ["hunter2"] } },
  "pii-mask",
  { use: "answer-cache", options: { ttl: "1m" } },
  "stream-relay",
  "meter",
];

let gateway: TestGateway;
let user: TestUser;
beforeAll(async () => {
  gateway = await TestGateway.start({ config: { pipeline: PIPELINE } });
  user = await gateway.user();
});
afterAll(() => gateway.close());

const ask = (content: string, headers: Readonly<Record<string, string>> = {}) =>
  gateway.chat(user, { temperature: 0, messages: [{ role: "user", content }] }, { headers });

test("the six plugins in one pipeline: each does its part", async () => {
  const first = await ask("I am ann@example.com", { "x-team": "blue" });
  expect(first.status).toBe(200);
  expect(first.text).toContain("You said: I am ann@example.com");
  expect(first.headers).toMatchObject({ "x-gateway-cache": "miss", "x-gateway-budget-limit": "0.001" });
  await expect
    .poll(async () => (await ask("I am ann@example.com", { "x-team": "red" })).headers["x-gateway-cache"])
    .toBe("hit");
  const refused = await ask("my password is hunter2");
  expect([refused.status, refused.text]).toEqual([400, "Invalid request: it has words that are not allowed"]);
  const { ledger } = await gateway.books(user);
  expect(ledger[0]).toMatchObject({ tags: { team: "blue" } });
  expect(ledger.at(-1)).toMatchObject({ tags: { team: "other" }, charge: 0n });
  expect(await gateway.metric("gateway_tagged_requests_total", { tag: "team", value: "blue" })).toBe(1);
});

test("the budget ends with 402, and the warning comes before it", async () => {
  const words = "word ".repeat(400);
  const answers = [];
  for (let count = 0; count < 6; count += 1) answers.push(await ask(`${count} ${words}`));
  expect(answers.at(-1)).toMatchObject({ status: 402, text: "The budget of this month is used up" });
  expect(answers.at(-1)?.headers).toMatchObject({ "x-error-code": "INSUFFICIENT_CREDITS" });
  const warned = answers.map(({ headers }) => headers["x-gateway-budget-warning"]).find((text) => text !== undefined);
  expect(warned).toMatch(/^\d+% of the budget of this month is used$/);
});
