import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import embeddings from "../../../schemas/api/embeddings.schema.json" with { type: "json" };
import rerank from "../../../schemas/api/rerank.schema.json" with { type: "json" };
import type { Json } from "../../../src/kit/index.ts";

/** As the gateway compiles them; the mistake that is reported is the first one. */
const ajv = new Ajv({ allErrors: false, strict: true, strictRequired: false, allowUnionTypes: true });

/** `<pointer> <keyword>` of the first mistake; null for a good body. */
function mistake(schema: Json): (body: Json) => string | null {
  const validate = ajv.compile(schema);
  return (body) => {
    if (validate(body)) return null;
    const { instancePath, keyword, params } = validate.errors![0]!;
    const missing =
      keyword === "required" ? `/${(params as { readonly missingProperty: string }).missingProperty}` : "";
    return `${instancePath}${missing} ${keyword}`;
  };
}

const many = (count: number, item: unknown): unknown[] => Array.from({ length: count }, () => item);

describe("embeddings", () => {
  const check = mistake(embeddings);
  const ok = { model: "route/e", input: "a" };
  test.each([
    ["a text", ok],
    ["texts", { ...ok, input: many(2048, "a") }],
    ["tokens, more than texts may be", { ...ok, input: many(8192, 5) }],
    ["lists of tokens", { ...ok, input: [[0, 1], [2]] }],
    ["everything", { ...ok, encoding_format: "base64", dimensions: 5, user: "u", later: {} }],
    ["nulls", { ...ok, encoding_format: null, dimensions: null, user: null }],
  ])("good: %s", (_, body) => {
    expect(check(body)).toBeNull();
  });

  test.each([
    [{ input: "a" }, "/model required"],
    [{ ...ok, model: "" }, "/model minLength"],
    [{ model: "route/e" }, "/input required"],
    [{ ...ok, input: null }, "/input type"],
    [{ ...ok, input: 5 }, "/input type"],
    [{ ...ok, input: {} }, "/input type"],
    [{ ...ok, input: "" }, "/input minLength"],
    [{ ...ok, input: [] }, "/input minItems"],
    [{ ...ok, input: ["a", ""] }, "/input/1 minLength"],
    [{ ...ok, input: ["a", null] }, "/input/1 type"],
    [{ ...ok, input: [{}] }, "/input/0 type"],
    [{ ...ok, input: ["a", 5] }, "/input/0 type"],
    [{ ...ok, input: [5, "a"] }, "/input/1 type"],
    [{ ...ok, input: [5, -1] }, "/input/1 minimum"],
    [{ ...ok, input: [5, 0.5] }, "/input/1 type"],
    [{ ...ok, input: [[1], "a"] }, "/input/1 type"],
    [{ ...ok, input: [[1], 5] }, "/input/0 type"],
    [{ ...ok, input: [[1], []] }, "/input/1 minItems"],
    [{ ...ok, input: [[1], [-1]] }, "/input/1/0 minimum"],
    [{ ...ok, input: [["a"]] }, "/input/0/0 type"],
    [{ ...ok, input: many(2049, "a") }, "/input maxItems"],
    [{ ...ok, input: many(2049, [1]) }, "/input maxItems"],
    [{ ...ok, encoding_format: "hex" }, "/encoding_format enum"],
    [{ ...ok, dimensions: 0 }, "/dimensions minimum"],
    [{ ...ok, dimensions: "5" }, "/dimensions type"],
    [{ ...ok, user: 5 }, "/user type"],
  ])("%#: %s", (body, expected) => {
    expect(check(body)).toBe(expected);
  });
});

describe("rerank", () => {
  const check = mistake(rerank);
  const ok = { model: "route/r", query: "q", documents: ["a"] };

  test.each([
    ["texts", ok],
    ["a thousand", { ...ok, documents: Array.from({ length: 1000 }, () => "a") }],
    ["objects and texts", { ...ok, documents: [{ text: "", title: 5 }, "a"] }],
    ["everything", { ...ok, top_n: 50, return_documents: true, later: 1 }],
    ["nulls", { ...ok, top_n: null, return_documents: null }],
    ["a long query", { ...ok, query: "🌍".repeat(65_536) }],
  ])("good: %s", (_, body) => {
    expect(check(body)).toBeNull();
  });

  test.each([
    [{ query: "q", documents: ["a"] }, "/model required"],
    [{ ...ok, model: 5 }, "/model type"],
    [{ model: "route/r", documents: ["a"] }, "/query required"],
    [{ ...ok, query: "" }, "/query minLength"],
    [{ ...ok, query: "x".repeat(65_537) }, "/query maxLength"],
    [{ ...ok, query: null }, "/query type"],
    [{ model: "route/r", query: "q" }, "/documents required"],
    [{ ...ok, documents: "a" }, "/documents type"],
    [{ ...ok, documents: [] }, "/documents minItems"],
    [{ ...ok, documents: Array.from({ length: 1001 }, () => "a") }, "/documents maxItems"],
    [{ ...ok, documents: ["a", 5] }, "/documents/1 type"],
    [{ ...ok, documents: ["a", null] }, "/documents/1 type"],
    [{ ...ok, documents: [["a"]] }, "/documents/0 type"],
    [{ ...ok, documents: ["a", {}] }, "/documents/1/text required"],
    [{ ...ok, documents: [{ text: 5 }] }, "/documents/0/text type"],
    [{ ...ok, top_n: 0 }, "/top_n minimum"],
    [{ ...ok, top_n: 1.5 }, "/top_n type"],
    [{ ...ok, return_documents: "yes" }, "/return_documents type"],
  ])("%#: %s", (body, expected) => {
    expect(check(body)).toBe(expected);
  });
});
