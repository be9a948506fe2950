import { describe, expect, test } from "vitest";
import { readResponses } from "../../../../src/dialects/responses/client/request.ts";
import { responsesFormat } from "../../../../src/dialects/responses/client/format.ts";
import type { Json } from "../../../../src/kit/index.ts";
import { contract } from "./contract.ts";
import { call, TOOLS } from "./deltas.ts";
import { assemble, BILL, chunks, essence, faults, frames, request, stream, typesOf } from "./support.ts";

const check = contract();

describe("endings", () => {
  test.each([
    ["length", "max_output_tokens"],
    ["content_filter", "content_filter"],
  ])("%s is incomplete: %s", (finish, reason) => {
    const all = frames(stream(chunks([{ content: "x" }, call(0, "c1", "add", '{"a')], finish), TOOLS));
    expect(faults(check, all)).toEqual([]);
    expect(all.at(-1)).toMatchObject({
      type: "response.incomplete",
      response: { status: "incomplete", incomplete_details: { reason } },
    });
    // What was cut is marked, what came before it is whole.
    expect((all.at(-1)!["response"] as Json)["output"]).toMatchObject([
      { type: "message", status: "completed" },
      { type: "function_call", status: "incomplete", arguments: '{"a' },
    ]);
  });

  test.each([
    ["text", [{ content: "half" }], "output_item.done"],
    ["a call", [call(0, "c", "add", '{"a')], "output_item.done"],
    ["nothing yet", [], "in_progress"],
  ] as const)("killed at %s: what is open is closed, then response.incomplete", (_, deltas, before) => {
    const all = frames(stream(chunks(deltas, null), TOOLS, "killed"));
    expect(faults(check, all)).toEqual([]);
    expect(typesOf(all).slice(0, 2)).toEqual(["created", "in_progress"]);
    expect(typesOf(all).slice(-2)).toEqual([before, "incomplete"]);
    const { output, status, error } = all.at(-1)!["response"] as Json;
    expect([status, error]).toEqual(["incomplete", null]);
    expect(essence(assemble(all))).toEqual(essence(output));
    for (const item of output as Json[]) expect(item["status"]).toBe("incomplete");
  });

  test("of parallel calls only the last can be cut", () => {
    const deltas = [call(0, "c1", "add", "{}"), call(1, "c2", "add", "")];
    const { output } = frames(stream(chunks(deltas, "length"), TOOLS)).at(-1)!["response"] as Json;
    expect(output).toMatchObject([
      { call_id: "c1", status: "completed" },
      { call_id: "c2", status: "incomplete", arguments: "" },
    ]);
  });

  test("a failure is an error event, then the failed response and nothing after it, before the first event too", () => {
    const fields = { code: "server_error", message: "it broke", param: null };
    const error = { type: "error", ...fields, error: { type: "server_error", ...fields } };
    const all = frames(stream(chunks([{ content: "x" }], null), {}, "failure"));
    expect(faults(check, all)).toEqual([]);
    expect(all.at(-2)).toEqual({ ...error, sequence_number: all.length - 2 });
    const failed = { status: "failed", error: { code: "server_error", message: "it broke" } };
    expect(all.at(-1)).toMatchObject({ type: "response.failed", response: failed, sequence_number: all.length - 1 });
    expect(typesOf(all)).not.toContain("completed");
    const empty = frames(stream([], {}, "failure"));
    expect(faults(check, empty)).toEqual([]);
    const begins = ["response.created", "response.in_progress"];
    expect(empty.map(({ type }) => type)).toEqual([...begins, "error", "response.failed"]);
  });

  test("a failed response has the items that are whole, and tells no other as done", () => {
    const deltas = [{ content: "x" }, call(0, "c1", "add", '{"a":')];
    const all = frames(stream(chunks(deltas, null), TOOLS, "failure"));
    const { output } = all.at(-1)!["response"] as Json;
    expect(output).toMatchObject([{ type: "message", status: "completed" }]);
    expect(all.filter(({ type }) => type === "response.output_item.done")).toHaveLength(1);
  });

  test("a heartbeat is a comment", () => {
    expect(responsesFormat(readResponses(request())).stream.heartbeat).toBe(": keep-alive\n\n");
  });
});

/** Of the response that begins with this chunk. */
const idOf = (data: Json): unknown => {
  const format = responsesFormat(readResponses(request())).stream;
  return (frames(format.event({ data, text: "" }))[0]!["response"] as Json)["id"];
};

describe("what upstreams leave out or repeat", () => {
  test.each([
    ["chatcmpl-Ab_9-x", "resp_Ab_9-x"],
    ["msg_01X", "resp_01X"],
    ["gen-1", "resp_1"],
    ["a b\n/c", "resp_abc"],
  ])("id %j is %s", (id, expected) => {
    expect(idOf({ id, choices: [] })).toBe(expected);
  });

  test.each([undefined, "", "  ", 5, null])("id %j: one is made", (id) => {
    expect(idOf({ id, choices: [] })).toMatch(/^resp_[0-9a-f]{32}$/);
  });

  test("calls with the same id, or none, get their own: SDKs refuse two alike", () => {
    const deltas = [call(0, "c", "add", "{}"), call(1, "c", "add", "{}"), call(2, "", "add", "")];
    const { output } = frames(stream(chunks(deltas), TOOLS)).at(-1)!["response"] as Json;
    const ids = (output as Json[]).map((item) => item["call_id"]);
    expect(ids[0]).toBe("c");
    expect(new Set(ids).size).toBe(3);
    expect(ids).not.toContain("");
  });

  test("a name that comes after the first arguments", () => {
    const deltas = [
      { tool_calls: [{ index: 0, id: "c", function: { arguments: '{"a"' } }] },
      call(0, "", "add", ":1}"),
    ];
    const all = frames(stream(chunks(deltas), TOOLS));
    expect(assemble(all)).toMatchObject([{ name: "add", call_id: "c", arguments: '{"a":1}' }]);
  });

  test.each(['{"inp', "[]", "null", '{"input":5}', '{"other":"x"}', ""])(
    "arguments of a free text's call that have no input are shown as they are: %s",
    (args) => {
      const { output } = frames(stream(chunks([call(0, "c", "patch", args)], "length"), TOOLS)).at(-1)![
        "response"
      ] as Json;
      expect(output).toMatchObject([{ type: "custom_tool_call", input: args }]);
    },
  );

  test("other choices than the first are not mixed in", () => {
    const [event] = chunks([{ content: "a" }], null);
    const other = { ...event!, data: { ...event!.data, choices: [{ index: 1, delta: { content: "b" } }] } };
    expect(assemble(frames(stream([event!, other], {}, "killed")))).toMatchObject([{ content: [{ text: "a" }] }]);
  });
});

test("done and killed without any event begin first: the id is made once", () => {
  const all = frames(stream([]));
  expect(typesOf(all)).toEqual(["created", "in_progress", "completed"]);
  expect(new Set(all.map(({ response }) => (response as Json)["id"])).size).toBe(1);
  expect((all.at(-1)!["response"] as Json)["usage"]).toMatchObject({ input_tokens: BILL.usage.prompt });
});
