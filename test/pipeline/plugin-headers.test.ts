import { describe, expect, test } from "vitest";
import { GatewayError, type Hooks, replay, type Stage } from "../../src/kit/index.ts";
import { Bench } from "../support/bench.ts";
import { plugin } from "../support/spy.ts";
import { answers, completion, USAGE } from "../support/upstream.ts";

const HEADERS = { "X-Own": "a value", "x-other": "~" };

async function adding(stage: Stage, hooks: Hooks): Promise<Bench> {
  const own = plugin("adds", stage, hooks);
  const pipeline = stage === "admit" ? ["auth", "adds", "quota", "breaker"] : ["auth", "quota", "breaker", "adds"];
  return Bench.create({ plugins: [own], pipeline: [...pipeline, "stream-relay", "meter"] });
}

const USAGE_OF_NONE = null;
const WAYS: readonly (readonly [string, Stage, Hooks])[] = [
  ["an admission", "admit", { admit: () => ({ headers: HEADERS }) }],
  [
    "an own answer",
    "transform",
    {
      answer: ({ stream }) =>
        stream
          ? { type: "events", source: replay([]), usage: USAGE_OF_NONE, headers: HEADERS }
          : { type: "answer", body: completion(USAGE), usage: USAGE_OF_NONE, headers: HEADERS },
    },
  ],
  ["a wish", "transform", { answer: () => ({ type: "keep", maxBytes: 0, keep() {}, headers: HEADERS }) }],
];

function refuse(): never {
  throw new GatewayError("INVALID_REQUEST", "no");
}

describe("headers of plugins", () => {
  test.each(WAYS)("of %s are on the answer, beside the gateway's own", async (_, stage, hooks) => {
    const bench = await adding(stage, hooks);
    const streamed = bench.stream();
    await streamed.done;
    expect(streamed.client.stream?.headers).toMatchObject({ ...HEADERS, "X-RateLimit-Remaining-Day": "999" });
    bench.upstream.play(answers());
    expect((await bench.serve()).answered?.headers).toMatchObject({ ...HEADERS, "X-RateLimit-Remaining-Day": "998" });
    await bench.audit();
  });

  test("are on what is refused later, too", async () => {
    const bench = await Bench.create({
      plugins: [
        plugin("adds", "admit", { admit: () => ({ headers: HEADERS }) }),
        plugin("no", "transform", { transform: refuse }),
      ],
      pipeline: ["auth", "adds", "quota", "breaker", "no", "stream-relay", "meter"],
    });
    expect((await bench.serve()).refused?.headers).toMatchObject(HEADERS);
    await bench.audit();
  });

  test.each<readonly [string, Readonly<Record<string, string>>]>([
    ["a header of HTTP", { "Content-Length": "1" }],
    ["one that breaks the line", { "X-Own": "a\r\nSet-Cookie: b" }],
    ["one of other characters", { "X-Own": "é" }],
    ["one without a value", { "X-Own": "" }],
    ["one that is long", { "X-Own": "x".repeat(257) }],
    ["one that is no text", { "X-Own": 7 as never }],
    ["a name that breaks the line", { "X-Own: b\r\nX": "c" }],
  ])("%s is the plugin's fault", async (_, headers) => {
    for (const [stage, hooks] of [
      ["admit", { admit: () => ({ headers }) }],
      ["transform", { answer: () => ({ type: "keep", maxBytes: 0, keep() {}, headers }) }],
    ] satisfies [Stage, Hooks][]) {
      const bench = await adding(stage, hooks);
      expect((await bench.serve()).refused?.error).toMatchObject({ code: "INTERNAL" });
      expect(bench.observer.pluginFailures.map(({ name }) => name)).toEqual(["adds"]);
      await bench.audit();
    }
  });
});
