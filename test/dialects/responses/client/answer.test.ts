import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RUNS } from "../../../properties/runs.ts";
import { readResponses } from "../../../../src/dialects/responses/client/request.ts";
import { responsesFormat } from "../../../../src/dialects/responses/client/format.ts";
import { contract } from "./contract.ts";
import type { Json } from "../../../../src/kit/index.ts";
import { answer, completion, outputOf, request, ROUTE, TOOLS } from "./support.ts";

const check = contract();

const USAGE = {
  prompt_tokens: 10,
  completion_tokens: 6,
  total_tokens: 16,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
};

test("a whole answer, with everything the API demands of one", () => {
  const body = completion({ content: "Hello" }, "stop", { usage: USAGE, service_tier: "default" });
  const got = answer(body);
  expect(check("Response", got)).toEqual([]);
  expect(got).toEqual({
    id: "resp_1",
    object: "response",
    created_at: 5,
    status: "completed",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: ROUTE,
    output: [
      {
        type: "message",
        id: "msg_1_0",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "Hello", annotations: [], logprobs: [] }],
      },
    ],
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: null,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_p: null,
    truncation: "disabled",
    metadata: {},
    service_tier: "default",
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
      output_tokens: 6,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 16,
    },
  });
});

test("what was asked for is repeated, but that nothing is stored", () => {
  const asked = {
    instructions: "be",
    temperature: 0.5,
    top_p: 0.9,
    max_output_tokens: 99,
    parallel_tool_calls: false,
    reasoning: { effort: "low", summary: "auto" },
    text: { format: { type: "json_object" }, verbosity: "low" },
    tool_choice: { type: "function", name: "f" },
    metadata: { a: "b" },
    user: "u",
    prompt_cache_key: "k",
    safety_identifier: "s",
  };
  const got = answer(completion({ content: "x" }), { ...asked, store: true, tools: [{ type: "function", name: "f" }] });
  expect(got).toMatchObject({ ...asked, store: false });
  expect(got["tools"]).toEqual([{ type: "function", name: "f", parameters: null, strict: false }]);
  expect(check("Response", got)).toEqual([]);
});

test("without id, time or count the gateway's own stand in", () => {
  const { choices } = completion({ content: "x" });
  expect(answer({ choices })).toMatchObject({
    id: "resp_e1",
    created_at: 11,
    usage: { input_tokens: 7, output_tokens: 5, total_tokens: 12 },
  });
});

test.each([
  ["stop", "completed", null],
  ["tool_calls", "completed", null],
  ["length", "incomplete", { reason: "max_output_tokens" }],
  ["content_filter", "incomplete", { reason: "content_filter" }],
])("finish %s is %s", (finish, status, incomplete_details) => {
  const got = answer(completion({ content: "x" }, finish));
  expect(got).toMatchObject({ status, incomplete_details, output: [{ status }] });
  expect(check("Response", got)).toEqual([]);
});

test("log probabilities in full form", () => {
  const logprobs = {
    content: [
      { token: "x", logprob: -1, bytes: [120], top_logprobs: [{ token: "x", logprob: -1 }] },
      { token: "y", logprob: -2, bytes: null },
      { token: 5, logprob: -2 },
      { token: "z" },
    ],
  };
  const [choice] = completion({ content: "xy" })["choices"] as Json[];
  const got = answer({ ...completion({}), choices: [{ ...choice, logprobs }] }, { top_logprobs: 1 });
  expect(check("Response", got)).toEqual([]);
  expect(got["output"]).toMatchObject([
    {
      content: [
        {
          logprobs: [
            { token: "x", bytes: [120], top_logprobs: [{ token: "x", logprob: -1, bytes: [] }] },
            { token: "y", bytes: [], top_logprobs: [] },
          ],
        },
      ],
    },
  ]);
});

test("a summary is one to who asked for it, or where the provider says it is one", () => {
  const message = { content: "a", reasoning_content: "hm" };
  expect(outputOf(completion(message), { reasoning: { summary: "auto" } })[0]).toMatchObject({
    summary: [{ type: "summary_text", text: "hm" }],
  });
  const summed = { content: "a", reasoning_details: [{ type: "reasoning.summary", summary: "hm" }] };
  expect(outputOf(completion(summed))[0]).toMatchObject({ summary: [{ type: "summary_text", text: "hm" }] });
});

test("any JSON for a body: never an exception, always a described answer", () => {
  const json = fc.jsonValue({ maxDepth: 3 });
  const message = fc.dictionary(
    fc.constantFrom("content", "reasoning_details", "tool_calls", "refusal", "images", "annotations"),
    json,
  );
  fc.assert(
    fc.property(message, json, json, (message, finish_reason, other) => {
      const body = {
        id: other,
        created: other,
        choices: [{ message, finish_reason, logprobs: other }],
        usage: other,
        service_tier: null,
      };
      expect(check("Response", answer(body, TOOLS))).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

test("a tokenizer gets the prompt's text and what was produced", () => {
  const format = responsesFormat(readResponses(request({ instructions: "be", input: "hi" })));
  expect(format.promptText()).toContain("hi");
  expect(format.producedText(completion({ content: "abc", reasoning_content: "de" }))).toHaveLength(5);
  expect(format.contentType).toBe("application/json");
});
