import { describe, expect, test } from "vitest";
import promptPrefix from "../../plugins/prompt-prefix.ts";
import type { Json } from "../../src/kit/index.ts";
import { Bench } from "../support/bench.ts";
import { testExchange } from "../support/exchange.ts";
import { deepFreeze, testSnapshot } from "../support/snapshot.ts";
import { answers } from "../support/upstream.ts";
import { pluginHost, setUp } from "./harness.ts";

type Prompts = Parameters<typeof promptPrefix.setup>[0]["prompts"];

const snapshot = testSnapshot();
const host = await pluginHost({ snapshot });
const USER = { role: "user", content: "hi" };

async function instructed(prompts: Prompts, messages: readonly unknown[], tier = "Free"): Promise<unknown> {
  const hooks = await setUp(promptPrefix, { prompts }, host);
  const exchange = testExchange(snapshot, { tier });
  const call = await hooks.transform!(deepFreeze({ ...exchange.call, body: { messages, other: 1 } }), exchange);
  expect(call.body["other"]).toBe(1);
  return call.body["messages"];
}

const BOTH: Prompts = [{ text: "A" }, { text: "Z", place: "after" }, { text: "B", place: "before" }];

describe("instructions", () => {
  test.each<readonly [string, readonly Json[], readonly Json[]]>([
    ["without the client's own", [USER], [{ role: "system", content: "A\n\nB\n\nZ" }, USER]],
    [
      "around a text",
      [{ role: "developer", content: "own", name: "x" }, USER],
      [{ role: "developer", content: "A\n\nB\n\nown\n\nZ", name: "x" }, USER],
    ],
    [
      "around parts",
      [{ role: "system", content: [{ type: "text", text: "own" }] }],
      [
        {
          role: "system",
          content: ["A", "B", "own", "Z"].map((text) => ({ type: "text", text })),
        },
      ],
    ],
    [
      "around several",
      [{ role: "system", content: "1" }, { role: "developer", content: "2" }, USER, { role: "system", content: "3" }],
      [
        { role: "system", content: "A\n\nB\n\n1" },
        { role: "developer", content: "2\n\nZ" },
        USER,
        { role: "system", content: "3" },
      ],
    ],
    ["around an empty one", [{ role: "system", content: "" }], [{ role: "system", content: "A\n\nB\n\nZ" }]],
  ])("%s", async (_, messages, expected) => {
    expect(await instructed(BOTH, messages)).toEqual(expected);
  });

  test("by plan and by model; without any the call is the very same", async () => {
    const prompts: Prompts = [
      { text: "free", tiers: ["Free"] },
      { text: "pro", tiers: ["Max"] },
      { text: "glob", models: ["other/*", "route/f*"] },
      { text: "dot", models: ["routexfree"] },
    ];
    expect(await instructed(prompts, [USER])).toEqual([{ role: "system", content: "free\n\nglob" }, USER]);
    expect(await instructed(prompts, [USER], "Max")).toEqual([{ role: "system", content: "pro\n\nglob" }, USER]);
    const hooks = await setUp(promptPrefix, { prompts: [{ text: "x", models: ["other/*"] }] }, host);
    const exchange = testExchange(snapshot);
    expect(await hooks.transform!(exchange.call, exchange)).toBe(exchange.call);
  });

  test("reach the upstream, and no request of another kind", async () => {
    const use = { use: "prompt-prefix", options: { prompts: BOTH } };
    const bench = await Bench.create({ pipeline: ["auth", "quota", "breaker", use, "stream-relay", "meter"] });
    bench.upstream.play(answers());
    await bench.serve();
    expect(bench.upstream.attempts[0]?.call.body["messages"]).toMatchObject([{ role: "system" }, USER]);
    await bench.audit();
    const hooks = await setUp(promptPrefix, { prompts: BOTH }, host);
    const exchange = testExchange(snapshot);
    const call = { ...exchange.call, kind: "embedding" as const };
    expect(await hooks.transform!(call, exchange)).toBe(call);
  });

  test("for a plan that there is not: refused at setup", async () => {
    await expect(async () =>
      setUp(promptPrefix, { prompts: [{ text: "x", tiers: ["Nobody"] }] }, host),
    ).rejects.toThrow("a plan that there is not: Nobody");
  });
});
