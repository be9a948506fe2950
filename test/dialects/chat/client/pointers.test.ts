import { expect, test } from "vitest";
import { readChat } from "../../../../src/dialects/chat/client.ts";
import { dropped, Report } from "../../../../src/dialects/canonical/report.ts";
import { clientPointer } from "../../../../src/dialects/canonical/parameters.ts";
import type { Call, ClientDialect, Json } from "../../../../src/kit/index.ts";

const callOf = (dialect?: ClientDialect, native?: Json): Call => ({
  ...readChat({ model: "route/a", messages: [] }),
  ...(dialect && { dialect }),
  ...(native && { native }),
});

test.each<readonly [ClientDialect | undefined, string, string]>([
  [undefined, "/stop", "/stop"],
  ["chat", "/reasoning_effort", "/reasoning_effort"],
  ["messages", "/max_completion_tokens", "/max_tokens"],
  ["messages", "/stop", "/stop_sequences"],
  ["messages", "/reasoning_effort", "/output_config/effort"],
  ["messages", "/response_format", "/output_config/format"],
  ["messages", "/user", "/metadata/user_id"],
  ["messages", "/messages/0/content/1", "/messages/0/content/1"],
  ["responses", "/max_completion_tokens", "/max_output_tokens"],
  ["responses", "/response_format", "/text/format"],
  ["responses", "/reasoning_effort", "/reasoning/effort"],
  ["responses", "/messages/2/content/0", "/input/2/content/0"],
  ["responses", "/top_k", "/top_k"],
  ["messages", "/constructor", "/constructor"],
])("%s: %s is the client's %s", (dialect, pointer, expected) => {
  expect(clientPointer(callOf(dialect), pointer)).toBe(expected);
});

/** What is reported of a Messages client's own fields. */
function ownDropped(native?: Json): readonly string[] {
  const report = new Report(callOf("messages", native));
  report.dropNative();
  return report.dropped;
}

test("pointers are given once", () => {
  const report = new Report(callOf("messages"));
  for (const pointer of ["/stop", "/stop_sequences", "/stop"]) report.drop(pointer);
  report.dropOwn("/stop_sequences");
  expect(report.dropped).toEqual(["/stop_sequences"]);
});

test.each<readonly [Json, readonly string[]]>([
  [{ model: "m", stream: true, stream_options: {}, messages: [] }, []],
  [{ seed: 1, n: 2, top_k: 3 }, ["/seed", "/n", "/top_k"]],
  [{ n: 1, logprobs: false, top_logprobs: 0, frequency_penalty: 0, presence_penalty: 0, store: false }, []],
  [{ service_tier: "auto", tool_choice: "auto", parallel_tool_calls: true, modalities: ["text"] }, []],
  [{ response_format: { type: "text" }, logit_bias: {}, functions: [], user: null, metadata: undefined }, []],
  [
    { response_format: { type: "json_object" }, modalities: ["text", "audio"], tool_choice: "none" },
    ["/response_format", "/modalities", "/tool_choice"],
  ],
  [{ "a/b~c": 1, temperature: 1 }, ["/a~1b~0c"]],
])("of %j is missed %j", (body, pointers) => {
  expect(dropped(body, new Set(["messages", "temperature"]))).toEqual(pointers);
});

test("of an object what stands beside the known fields is missed, its dialect's own fields included", () => {
  const tool = {
    type: "function",
    function: {},
    strict: null,
    other: 1,
    native: { defer_loading: true, type: "custom" },
  };
  const known = new Set(["type", "function"]);
  const report = new Report(callOf());
  report.dropUnknown(tool, known, "/tools/3");
  expect(report.dropped).toEqual(["/tools/3/other", "/tools/3/defer_loading"]);
});

test("fields of the client's dialect alone, where a part of one is canonical only the rest", () => {
  const native = {
    container: "c",
    metadata: { a: 1, "b/c": 2 },
    mcp_servers: [],
    tool_choice: { type: "x" },
    stop: null,
  };
  expect(ownDropped(native)).toEqual(["/container", "/metadata/a", "/metadata/b~1c", "/tool_choice/type"]);
  expect(ownDropped()).toEqual([]);
});
