import { describe, expect, test } from "vitest";
import { CAPABILITIES, DIALECTS } from "../../src/dialects/capabilities.ts";
import { bytes } from "./wire-cases.ts";

/** Those that read errors and keys as OpenAI's. */
const ALIKE = (["openai", "jina", "voyage"] as const).map((name) => DIALECTS[name]!);

test.each([
  ["openai", ["chat", "embedding", "rerank", "speech", "transcription", "image"]],
  ["cohere", ["chat", "embedding", "rerank"]],
  ["jina", ["embedding", "rerank"]],
  ["voyage", ["embedding", "rerank"]],
  ["anthropic", ["chat"]],
  ["gemini", ["chat", "embedding"]],
  ["azure", ["chat", "embedding", "speech", "transcription", "image"]],
  ["bedrock", ["chat"]],
  ["elevenlabs", ["speech", "transcription"]],
  ["deepgram", ["speech", "transcription"]],
] as const)("%s serves %j", (name, kinds) => {
  expect(CAPABILITIES[name].served).toEqual(kinds);
});

test("every dialect knows its name and serves nothing that it cannot", () => {
  for (const [name, dialect] of Object.entries(DIALECTS)) expect(dialect.name).toBe(name);
  for (const { kinds, served } of Object.values(CAPABILITIES))
    expect(kinds).toEqual(expect.arrayContaining([...served]));
});

describe("probes", () => {
  test.each([
    ["openai", "/models"],
    ["cohere", "/v1/models"],
    ["jina", "/v1/models"],
    ["voyage", "/v1/models"],
  ] as const)("%s: GET %s", (name, path) => {
    expect(DIALECTS[name]?.probe("k-1")).toEqual({
      method: "GET",
      path,
      headers: { authorization: "Bearer k-1", accept: "application/json" },
      body: null,
    });
  });

  test("without a key there is no authorization", () => {
    for (const dialect of ALIKE) expect(dialect.probe("").headers).toEqual({ accept: "application/json" });
  });
});

test.each([
  ["OpenAI", { error: { message: "bad" } }, "bad"],
  [
    "Cohere",
    { id: "x", message: "invalid request: top_n must be positive" },
    "invalid request: top_n must be positive",
  ],
  ["Voyage", { detail: "Argument 'x' is not supported" }, "Argument 'x' is not supported"],
  [
    "FastAPI",
    { detail: [{ type: "missing", loc: ["body", "input", 0], msg: "Field required" }, {}] },
    "body.input.0: Field required",
  ],
  ["FastAPI with an odd place", { detail: [{ loc: [{}, null, ["x"]], msg: "Field required" }] }, "Field required"],
  ["FastAPI without a place", { detail: [{ msg: "Field required" }] }, "Field required"],
  ["nothing of use", { detail: [{ loc: ["body"], msg: 1 }] }, ""],
  ["an empty list", { detail: [] }, ""],
  ["a list of texts", { detail: ["x"] }, ""],
  ["an object", { detail: { x: 1 } }, ""],
  ["HTML", "<html>413</html>", ""],
])("the words of an error body: %s", (_, body, message) => {
  for (const dialect of ALIKE) expect(dialect.errorMessage(bytes(body))).toBe(message);
});
