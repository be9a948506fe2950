import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readChat } from "../../src/dialects/clients/chat.ts";
import { fittedToolId, withSignature } from "../../src/dialects/tool-ids.ts";
import type { DialectName } from "../../src/kit/index.ts";
import { testTarget } from "../support/snapshot.ts";
import { codecOf } from "./wire-cases.ts";

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
    expect(String(body).split('"call_1"').length - 1).toBe(2);
    expect(String(body)).not.toContain("__ts1_");
  });
});

describe("ids as an upstream takes them", () => {
  const id = fc.oneof(fc.string({ maxLength: 80 }), fc.string({ unit: fc.constantFrom("a", "1"), maxLength: 10 }));

  test("of nine letters and digits", () => {
    const fit = (given: string): string => fittedToolId(given, { toolCallIds: "mistral", toolCallId: 64 });
    fc.assert(
      fc.property(id, id, (one, other) => {
        expect(fit(one)).toMatch(/^[A-Za-z0-9]{9}$/);
        expect(fit(one) === fit(other)).toBe(one === other);
        expect(fit(fit(one))).toBe(fit(one));
      }),
    );
  });

  test("of forty characters", () => {
    const fit = (given: string): string => fittedToolId(given, { toolCallIds: "any", toolCallId: 40 });
    fc.assert(
      fc.property(id, id, (one, other) => {
        expect(fit(one).length).toBeLessThanOrEqual(40);
        expect(fit(one) === fit(other)).toBe(one === other);
        if (one.length <= 40) expect(fit(one)).toBe(one);
      }),
    );
  });
});
