import { describe, expect, test } from "vitest";
import { readResponses } from "../../../../src/dialects/responses/client/request.ts";
import type { Json } from "../../../../src/kit/index.ts";
import codex from "./codex.json" with { type: "json" };

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
