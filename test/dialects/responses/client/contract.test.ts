import { describe, expect, test } from "vitest";
import { contract, described, schemaOf } from "./contract.ts";
import { answer, completion } from "./support.ts";

const check = contract();

/** A check that never fails would prove nothing of the other suites. */
describe.skipIf(!described)("the description itself finds", () => {
  const good = answer(completion({ content: "x" }));

  test("nothing wrong with a good answer", () => {
    expect(check("Response", good)).toEqual([]);
  });

  test.each([
    ["a missing field", { ...good, tools: undefined }],
    ["a wrong status", { ...good, status: "done" }],
    ["an item of an unknown kind", { ...good, output: [{ type: "message" }] }],
    ["a usage without its details", { ...good, usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } }],
  ])("%s", (_, bad) => {
    expect(check("Response", JSON.parse(JSON.stringify(bad)))).not.toEqual([]);
  });

  test("an event without its number", () => {
    expect(check(schemaOf("response.output_text.done"), { type: "response.output_text.done" })).not.toEqual([]);
  });
});
