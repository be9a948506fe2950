import { expect, test } from "vitest";
import type { Call } from "../../src/kit/index.ts";
import { durationsOf, featuresOf } from "../../src/telemetry/decisions.ts";
import { exchange, TIMELINE } from "./support.ts";

const parts = (...content: object[]) => ({ messages: [{ role: "user", content }] });

test.each<[features: string[], body: Call["body"]]>([
  [[], { messages: [{ role: "user", content: "private words" }] }],
  [["tools"], { tools: [{ type: "function" }] }],
  [[], { tools: [], functions: [] }],
  [["tools"], { functions: [{ name: "f" }] }],
  [["json_schema"], { response_format: { type: "json_schema" } }],
  [["json_object"], { response_format: { type: "json_object" } }],
  [[], { response_format: { type: "text" } }],
  [[], { response_format: { type: "constructor" }, messages: [{ content: [{ type: "toString" }] }] }],
  [["reasoning"], { reasoning_effort: "low" }],
  [[], { reasoning_effort: "none" }],
  [["reasoning"], { reasoning: { max_tokens: 5 } }],
  [["logprobs"], { logprobs: true }],
  [["vision"], parts({ type: "text", text: "x" }, { type: "image_url" }, { type: "image_url" })],
  [["audio", "documents"], parts({ type: "file" }, { type: "input_audio" })],
  [[], { messages: "none", tools: {}, response_format: null }],
  [[], { messages: [null, 1, { content: [null, 2, { type: 3 }] }] }],
])("features %j are those that a body asks for", (features, body) => {
  expect(featuresOf({ ...exchange().call, body })).toEqual(features);
});

test("of other kinds than chat no body is read", () => {
  expect(featuresOf({ ...exchange().call, kind: "image", body: { tools: [1] } })).toEqual([]);
});

test("a request's time is its body's, its upstreams' and the rest", () => {
  expect(durationsOf(TIMELINE, 0)).toEqual({
    body_ms: 10,
    first_event_ms: 250.4,
    upstream_ms: 1700,
    gateway_ms: 290,
    total_ms: 2000,
  });
  expect(durationsOf(undefined, 12.3456)).toMatchObject({ upstream_ms: null, total_ms: 12.346 });
});
