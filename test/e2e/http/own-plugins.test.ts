import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/kit/index.ts";
import { askFormat, FORMATS, type FormatName, streamedText } from "../support/formats.ts";
import { TestGateway, type TestUser } from "../support/in-process.ts";

const NAMES = Object.keys(FORMATS) as FormatName[];

/** Keeps answers, of streams their events, and gives them again. */
const CACHE = `
import { createHash } from "node:crypto";
import { definePlugin, replay } from "#kit";
export default definePlugin({
  name: "own-cache",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup(_options, { storage }) {
    return {
      async answer({ body, stream, dialect }) {
        const key = createHash("sha256").update(JSON.stringify([stream, dialect, body])).digest("hex");
        const found = await storage.get(key);
        if (found !== null && stream) return { type: "events", source: replay(JSON.parse(found)), usage: null };
        if (found !== null) return { type: "answer", body: JSON.parse(found), usage: null };
        return {
          type: "keep",
          maxBytes: 100_000,
          keep: (answer) => storage.set(key, JSON.stringify(stream ? answer.events : answer.body), 60_000),
        };
      },
    };
  },
});
`;
const TEAM = `
import { definePlugin } from "#kit";
export default definePlugin({
  name: "own-team",
  stage: "admit",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({
    admit: (exchange) => ({ tags: [{ name: "team", value: exchange.header("X-Team") ?? "none", measured: true }] }),
  }),
});
`;
const SLOW = `
import { definePlugin } from "#kit";
export default definePlugin({
  name: "own-slow",
  stage: "transform",
  schema: new URL("./none.schema.json", import.meta.url),
  setup: () => ({ transform: (call) => (call.body.user === "slow" ? new Promise(() => {}) : call) }),
});
`;

let gateway: TestGateway;
let user: TestUser;
beforeAll(async () => {
  gateway = await TestGateway.start({
    files: {
      "cache.ts": CACHE,
      "team.ts": TEAM,
      "slow.ts": SLOW,
      "none.schema.json": JSON.stringify({ type: "object", additionalProperties: false }),
    },
    config: {
      pipeline: [
        "auth",
        "plan-check",
        { use: "./team.ts" },
        "quota",
        "breaker",
        { use: "./slow.ts", timeout: "150ms", fail: "open" },
        { use: "./cache.ts" },
        "stream-relay",
        "meter",
      ],
    },
  });
  user = await gateway.user();
});
afterAll(() => gateway.close());

const attempts = () => gateway.metric("gateway_upstream_attempts_total");

describe.each(NAMES)("an answer from a plugin's storage, in the format %s", (name) => {
  test.each([false, true])("reads as the upstream's did, and is free; streamed: %s", async (stream) => {
    const ask = () => askFormat(gateway, user, name, { stream }, { headers: { "x-team": "blue" } });
    const first = await ask();
    const before = { balance: (await gateway.books(user)).balance, attempts: await attempts() };
    const second = await ask();
    expect([first.status, second.status]).toEqual([200, 200]);
    const textOf = (text: string): string =>
      stream ? streamedText(name, text) : FORMATS[name].text(JSON.parse(text) as Json);
    expect(textOf(second.text)).toBe(textOf(first.text));
    expect(textOf(first.text)).not.toBe("");
    expect(first.headers["x-gateway-answered-by"]).toBeUndefined();
    expect(second.headers["x-gateway-answered-by"]).toBe("own-cache");
    expect({ balance: (await gateway.books(user)).balance, attempts: await attempts() }).toEqual(before);
    await gateway.audit();
  });
});

test("tags, times and failures of plugins are in metrics and ledger", async () => {
  await askFormat(gateway, user, "chat", {}, { headers: { "x-team": "red" } });
  expect(await gateway.metric("gateway_tagged_requests_total", { tag: "team", value: "red" })).toBe(1);
  expect(await gateway.metric("gateway_tagged_requests_total", { tag: "team", value: "blue" })).toBeGreaterThan(1);
  expect(
    await gateway.metric("gateway_plugin_hook_seconds_count", { plugin: "own-cache", hook: "keep" }),
  ).toBeGreaterThan(1);
  expect(await gateway.metric("gateway_plugin_hook_seconds_count", { plugin: "quota", hook: "admit" })).toBeGreaterThan(
    1,
  );
  const ledger = await gateway.store.ledger(user.id);
  expect(new Set(ledger.map(({ tags }) => tags?.["team"]))).toEqual(new Set(["blue", "red"]));
});

test("a hook that does not return in its step's time is passed over, and counted", async () => {
  const { status } = await askFormat(gateway, user, "chat", { user: "slow" });
  expect(status).toBe(200);
  expect(await gateway.metric("gateway_plugin_failures_total", { plugin: "own-slow" })).toBe(1);
  await gateway.audit();
});
