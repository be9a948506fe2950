import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readChat } from "../../../src/dialects/chat/client.ts";
import { fittedToolId, withSignature } from "../../../src/dialects/canonical/tools.ts";
import type { DialectName } from "../../../src/kit/index.ts";
import { testTarget } from "../../support/snapshot.ts";
import { codecOf } from "../wire-cases.ts";

const SIGNED = withSignature("call_1", Buffer.from("signature".repeat(10)).toString("base64"));

describe("the signature of a Gemini call that rides in its id", () => {
  test.each<readonly [DialectName, model: string]>([
    ["openai", "m"],
    ["azure", "m"],
    ["anthropic", "claude-sonnet-4-5"],
    ["bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
    ["bedrock", "meta.llama3-70b-instruct-v1:0"],
    ["cohere", "command-a"],
  ])("is not sent on: %s, %s", (dialect, model) => {
    const call = readChat({
      model: "route/a",
      messages: [
        { role: "user", content: "hi" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: SIGNED, type: "function", function: { name: "f", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: SIGNED, content: "ok" },
      ],
      tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
    });
    const { body } = codecOf(dialect, "chat").request(call, testTarget("alpha", { model }), "k");
    expect((body as string).split('"call_1"').length - 1).toBe(2);
    expect(body).not.toContain("__ts1_");
  });
});

const ofNine = (id: string): string => fittedToolId(id, { toolCallIds: "mistral", toolCallId: 64 });
const ofForty = (id: string): string => fittedToolId(id, { toolCallIds: "any", toolCallId: 40 });

describe("ids as an upstream takes them", () => {
  const id = fc.oneof(fc.string({ maxLength: 80 }), fc.string({ unit: fc.constantFrom("a", "1"), maxLength: 10 }));

  test("of nine letters and digits", () => {
    fc.assert(
      fc.property(id, id, (one, other) => {
        expect(ofNine(one)).toMatch(/^[A-Za-z0-9]{9}$/);
        expect(ofNine(one) === ofNine(other)).toBe(one === other);
        expect(ofNine(ofNine(one))).toBe(ofNine(one));
      }),
    );
  });

  test("of forty characters", () => {
    fc.assert(
      fc.property(id, id, (one, other) => {
        expect(ofForty(one).length).toBeLessThanOrEqual(40);
        expect(ofForty(one) === ofForty(other)).toBe(one === other);
        expect(ofForty(one) === one).toBe(one.length <= 40);
      }),
    );
  });
});
