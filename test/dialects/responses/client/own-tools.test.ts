import { expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { contract } from "./contract.ts";
import { answer, completion } from "./support.ts";

/* What a model calls of the API's own tools, whatever it makes of their arguments, is an item that the client knows. */

const check = contract();
const TOOLS = {
  tools: [{ type: "local_shell" }, { type: "shell", environment: { type: "local" } }, { type: "apply_patch" }],
};

const exec = (command: readonly string[], more: Json = {}): Json => ({
  action: { type: "exec", command, env: {}, ...more },
});
const run = (commands: readonly string[]): Json => ({
  action: { commands, timeout_ms: null, max_output_length: null },
});

test.each<[name: string, args: string, item: Json]>([
  [
    "local_shell",
    '{"command":["ls"],"timeout_ms":9,"working_directory":"/a"}',
    exec(["ls"], { timeout_ms: 9, working_directory: "/a" }),
  ],
  ["local_shell", '{"command":"ls -l"}', exec(["bash", "-lc", "ls -l"])],
  ["local_shell", '{"command":["ls",1],"env":{"A":1},"user":null}', exec(["ls"])],
  ["local_shell", "not JSON", exec([])],
  ["shell", '{"commands":["ls"]}', run(["ls"])],
  ["shell", '{"commands":"ls"}', run(["ls"])],
  ["apply_patch", '{"type":"delete_file","path":"a","diff":""}', { operation: { type: "delete_file", path: "a" } }],
  ["apply_patch", "[]", { operation: { type: "update_file", path: "", diff: "" } }],
])("%s with %s", (name, args, item) => {
  const calls = [{ id: "c1", type: "function", function: { name, arguments: args } }];
  const got = answer(completion({ content: null, tool_calls: calls }, "tool_calls"), TOOLS);
  expect(check("Response", got)).toEqual([]);
  expect(got["output"]).toMatchObject([{ type: `${name}_call`, call_id: "c1", status: "completed", ...item }]);
});

test("one that was cut is told as such", () => {
  const calls = ["local_shell", "shell", "apply_patch"].map((name, index) => ({
    id: `c${index}`,
    type: "function",
    function: { name, arguments: '{"comm' },
  }));
  for (const made of calls) {
    const got = answer(completion({ content: null, tool_calls: [made] }, "length"), TOOLS);
    expect(check("Response", got)).toEqual([]);
    expect((got["output"] as readonly Json[])[0]?.["status"]).not.toBe("completed");
  }
});
