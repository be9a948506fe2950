import { describe, expect, test } from "vitest";
import redactNames from "../../plugins/redact-names.ts";
import type { Json } from "../../src/kit/index.ts";
import { testExchange } from "../support/exchange.ts";
import { deepFreeze, testSnapshot } from "../support/snapshot.ts";
import { pluginHost, setUp } from "./harness.ts";

const snapshot = testSnapshot();
const host = await pluginHost({ snapshot });

async function redact(
  names: readonly [string, ...string[]],
  messages: unknown,
  replacement?: string,
): Promise<unknown> {
  const hooks = await setUp(redactNames, { names: [...names], replacement }, host);
  const exchange = testExchange(snapshot);
  const call = await hooks.transform!(deepFreeze({ ...exchange.call, body: { messages, other: "Ada" } }), exchange);
  expect(call.body["other"]).toBe("Ada");
  return call.body["messages"];
}

const text = async (names: readonly [string, ...string[]], content: string, replacement?: string): Promise<unknown> =>
  ((await redact(names, [{ role: "user", content }], replacement)) as readonly Json[])[0]?.["content"];

describe("names", () => {
  test.each<readonly [readonly [string, ...string[]], string, string]>([
    [["Ada"], "Ada met ADA and ada.", "[name] met [name] and [name]."],
    [["Ada"], "Adam in Canada", "Adam in Canada"],
    [["Ada", "Ada Lovelace"], "Ada Lovelace, Ada", "[name], [name]"],
    [["José"], "José's, Joséphine", "[name]'s, Joséphine"],
    [["Ö"], "Ö, Öl", "[name], Öl"],
    [["A.B"], "A.B but not AxB", "[name] but not AxB"],
    [["(x"], "a (x here", "a [name] here"],
    [["王"], "王 王国", "[name] 王国"],
  ])("%j in %j", async (names, content, expected) => {
    expect(await text(names, content)).toBe(expected);
  });

  test("the replacement is taken as it is", async () => {
    expect(await text(["Ada"], "Ada", "$& $1 $$")).toBe("$& $1 $$");
    expect(await text(["Ada"], "Ada!", "")).toBe("!");
  });
});

describe("messages", () => {
  test("texts and text parts; everything else passes", async () => {
    const messages = [
      { role: "system", content: "Ada", name: "Ada" },
      {
        role: "user",
        content: [{ type: "text", text: "Ada" }, { type: "image_url", image_url: { url: "Ada" } }, null, "Ada"],
      },
      { role: "assistant", content: null, tool_calls: [{ id: "Ada" }] },
      "Ada",
    ];
    expect(await redact(["Ada"], messages)).toEqual([
      { role: "system", content: "[name]", name: "Ada" },
      {
        role: "user",
        content: [{ type: "text", text: "[name]" }, { type: "image_url", image_url: { url: "Ada" } }, null, "[name]"],
      },
      { role: "assistant", content: null, tool_calls: [{ id: "Ada" }] },
      "[name]",
    ]);
  });

  test.each([undefined, null, 7, {}])("messages %j: nothing to do", async (messages) => {
    expect(await redact(["Ada"], messages)).toEqual(messages);
  });
});

test.each<readonly [string, Json, Json]>([
  ["an embedding's input", { input: "Ada" }, { input: "[name]" }],
  ["a batch", { input: ["Ada", "Bob"] }, { input: ["[name]", "Bob"] }],
  ["tokens", { input: [[1, 2]] }, { input: [[1, 2]] }],
  [
    "a rerank",
    { query: "Ada?", documents: ["Ada", { text: "Ada", id: "Ada" }] },
    { query: "[name]?", documents: ["[name]", { text: "[name]", id: "Ada" }] },
  ],
  [
    "speech",
    { input: "Ada", voice: "Ada", instructions: "as Ada" },
    { input: "[name]", voice: "Ada", instructions: "as [name]" },
  ],
  ["a prompt", { prompt: "Ada", size: "1x1" }, { prompt: "[name]", size: "1x1" }],
])("what is asked of other endpoints: %s", async (_, body, expected) => {
  const hooks = await setUp(redactNames, { names: ["Ada"] }, host);
  const exchange = testExchange(snapshot);
  const call = await hooks.transform!(deepFreeze({ ...exchange.call, body }), exchange);
  expect(call.body).toEqual(expected);
});
