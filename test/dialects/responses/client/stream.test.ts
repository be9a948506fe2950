import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kit/index.ts";
import { type Cases, casesOf } from "../../cases.ts";
import { contract } from "./contract.ts";
import { call, more, TOOLS } from "./deltas.ts";
import { assemble, chunks, essence, faults, frames, ROUTE, stream, typesOf } from "./support.ts";

const check = contract();

interface Case {
  readonly deltas: readonly Json[];
  readonly options: Json;
  readonly types: readonly string[];
}

describe.each(casesOf(new URL("streams/events.yaml", import.meta.url)) as Cases<Case>)(
  "%s",
  (_, { deltas, options, types }) => {
    const all = frames(stream(chunks(deltas), options));

    test("comes as its events, in order", () => {
      expect(typesOf(all)).toEqual(["created", "in_progress", ...types, "completed"]);
    });

    test("is what OpenAI describes, event by event", () => {
      expect(faults(check, all)).toEqual([]);
    });

    test("comes to the same from deltas, from done items and from the last event", () => {
      const { output } = all.at(-1)!["response"] as Json;
      expect(all.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item)).toEqual(output);
      expect(essence(assemble(all))).toEqual(essence(output));
    });
  },
);

test("reasoning, text and parallel calls whose pieces alternate", () => {
  const all = frames(
    stream(
      chunks(
        [
          { role: "assistant", content: "", reasoning_content: "think" },
          { content: "say" },
          {
            tool_calls: [
              (call(0, "c1", "add", "")["tool_calls"] as Json[])[0],
              (call(1, "c2", "patch", "")["tool_calls"] as Json[])[0],
            ],
          },
          more(1, '{"input":'),
          more(0, '{"a":'),
          more(1, '"z"}'),
          more(0, "2}"),
        ],
        "tool_calls",
      ),
      TOOLS,
    ),
  );
  expect(faults(check, all)).toEqual([]);
  const { output, status } = all.at(-1)!["response"] as Json;
  expect(status).toBe("completed");
  expect(essence(assemble(all))).toEqual(essence(output));
  expect(output).toMatchObject([
    { type: "reasoning", id: "rs_1_0", content: [{ type: "reasoning_text", text: "think" }] },
    { type: "message", id: "msg_1_1", content: [{ text: "say" }] },
    { type: "function_call", id: "fc_1_2", call_id: "c1", name: "add", arguments: '{"a":2}', status: "completed" },
    { type: "custom_tool_call", id: "ctc_1_3", call_id: "c2", name: "patch", input: "z" },
  ]);
});

test("words end before a call begins, and words after it are another message", () => {
  const all = frames(stream(chunks([{ content: "a" }, call(0, "c", "add", "{}"), { content: "b" }]), TOOLS));
  const steps = all
    .filter(({ type }) => type.startsWith("response.output_item"))
    .map(({ type, output_index }) => [type.replace("response.output_item.", ""), output_index]);
  expect(steps).toEqual([
    ["added", 0],
    ["done", 0],
    ["added", 1],
    ["added", 2],
    ["done", 1],
    ["done", 2],
  ]);
});

test("a call without arguments has those of an empty object, as a delta too", () => {
  const all = frames(stream(chunks([call(0, "c", "add", "")]), TOOLS));
  expect(assemble(all)).toMatchObject([{ arguments: "{}" }]);
  expect((all.at(-1)!["response"] as Json)["output"]).toMatchObject([{ arguments: "{}", status: "completed" }]);
});

test("every event of one stream is of one response, under the route, with usage at the end", () => {
  const all = frames(stream(chunks([{ content: "x" }]), { metadata: { a: "b" } }));
  const responses = all.flatMap(({ response }) => (response === undefined ? [] : [response as Json]));
  expect(responses.map(({ id, model, created_at, metadata }) => [id, model, created_at, metadata])).toEqual(
    responses.map(() => ["resp_1", ROUTE, 5, { a: "b" }]),
  );
  expect(responses.map(({ usage }) => usage)).toEqual([
    undefined,
    undefined,
    {
      input_tokens: 3,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 4,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 7,
    },
  ]);
});

test("who counts nothing is billed by an estimate, and it is shown", () => {
  const counted = chunks([{ content: "x" }]).slice(0, -1);
  expect(frames(stream(counted)).at(-1)!["response"]).toMatchObject({ usage: { input_tokens: 7, output_tokens: 5 } });
});
