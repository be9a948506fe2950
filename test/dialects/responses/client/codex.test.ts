import { describe, expect, test } from "vitest";
import { responsesFormat } from "../../../../src/dialects/responses/client/format.ts";
import { readResponses } from "../../../../src/dialects/responses/client/request.ts";
import type { Json } from "../../../../src/kit/index.ts";
import codex from "./codex.json" with { type: "json" };
import { BILL } from "./support.ts";

describe("codex", () => {
  const { body, native } = readResponses(codex);

  test("is read whole but for the tools that run at a provider", () => {
    expect(native).toBeUndefined();
    expect(body).toMatchObject({
      stream: true,
      reasoning_effort: "medium",
      prompt_cache_key: "0199-session",
      tool_choice: "auto",
      parallel_tool_calls: false,
      tools: [
        { function: { name: "exec_command", strict: false } },
        { function: { name: "apply_patch", parameters: { required: ["input"] } } },
        { type: "native", block: { type: "web_search" } },
      ],
    });
  });

  test("its turns are messages", () => {
    expect(
      (body["messages"] as Json[]).map(({ role, content, tool_calls: calls }) => [
        role,
        typeof content,
        Array.isArray(calls),
      ]),
    ).toEqual([
      ["system", "string", false],
      ["developer", "string", false],
      ["user", "string", false],
      ["user", "string", false],
      ["assistant", "string", true],
      ["tool", "string", false],
      ["tool", "string", false],
    ]);
  });
});

describe("tools that come as an item of the conversation", () => {
  const exec = { type: "custom", name: "exec", description: "Runs code." };
  const sum = { type: "function", name: "sum", parameters: { type: "object", properties: {} } };
  const item = {
    type: "additional_tools",
    role: "developer",
    tools: [{ type: "namespace", name: "functions", description: "", tools: [exec] }, sum],
  };
  const user = { type: "message", role: "user", content: "hi" };

  test("are tools of the request to every upstream, and no message", () => {
    const { body, sourceMap } = readResponses({ model: "route/a", input: [item, user] });
    expect(body["messages"]).toEqual([{ role: "user", content: "hi" }]);
    expect((body["tools"] as Json[]).map(({ function: made }) => (made as Json)["name"])).toEqual([
      "functions__exec",
      "sum",
    ]);
    expect(sourceMap.tools).toEqual(["/input/0/tools/0/tools/0", "/input/0/tools/1"]);
  });

  test("do not repeat a tool that the request has", () => {
    const { body } = readResponses({ model: "route/a", tools: [sum], input: [item, user, item] });
    expect(body["tools"]).toHaveLength(2);
  });

  test("are called by the names that the client gave them", () => {
    const call = readResponses({ model: "route/a", input: [item, user] });
    const made = { id: "c1", type: "function", function: { name: "functions__exec", arguments: '{"input":"1+1"}' } };
    const choice = { index: 0, finish_reason: "tool_calls", message: { role: "assistant", tool_calls: [made] } };
    const extras = { id: "e-1", created: 1, provider: "Alpha", latencyMs: 1, bill: BILL };
    const answer = responsesFormat(call).answer({ id: "x", choices: [choice] }, extras);
    expect((JSON.parse(answer) as { output: Json[] }).output).toMatchObject([
      { type: "custom_tool_call", name: "exec", namespace: "functions", input: "1+1" },
    ]);
  });

  test.each([
    ["a tool without a type", [{ name: "x" }], "/input/0/tools/0/type"],
    ["no list", "exec", "/input/0/tools"],
  ])("%s is refused by its place", (_, tools, at) => {
    expect(() => readResponses({ model: "route/a", input: [{ ...item, tools }, user] })).toThrow(at);
  });
});
