import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FEW_RUNS } from "../properties/runs.ts";
import { readChat } from "../../src/dialects/chat/client.ts";
import { withSignature } from "../../src/dialects/canonical/tools.ts";
import type { DialectName, Json } from "../../src/kit/index.ts";
import { testTarget } from "../support/snapshot.ts";
import { codecOf } from "./wire-cases.ts";

/*
 * A conversation may change its vendor at every turn: what one provider signed or sealed goes back to that provider, and to
 * nobody else.
 */

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** What makers leave in a history. @param seal is theirs alone. */
const MAKERS: Readonly<Record<string, (seal: string) => Json>> = {
  claude: (signature) => ({ type: "reasoning.text", text: "hm", signature }),
  claude_redacted: (data) => ({ type: "reasoning.encrypted", data }),
  gemini: (seal) => ({ type: "reasoning.text", text: "hm", signature: `gemini1.h.${base64(seal)}` }),
  gemini_text: (seal) => ({ type: "reasoning.encrypted", data: `gemini1.t.${base64(seal)}` }),
  openai: (data) => ({ type: "reasoning.encrypted", id: "rs_1", data }),
  openrouter: (data) => ({ type: "reasoning.encrypted", data, format: "google-gemini-v1" }),
  openrouter_text: (signature) => ({ type: "reasoning.text", text: "hm", signature, format: "xai-responses-v1" }),
};
const UPSTREAMS: readonly (readonly [DialectName, model: string, makers: readonly string[]])[] = [
  ["anthropic", "claude-sonnet-4-5", ["claude", "claude_redacted"]],
  ["bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", ["claude", "claude_redacted"]],
  ["bedrock", "amazon.nova-pro-v1:0", []],
  ["bedrock", "openai.gpt-oss-120b-1:0", []],
  ["gemini", "gemini-2.5-flash", ["gemini", "gemini_text"]],
  ["gemini", "gemini-3-pro-preview", ["gemini", "gemini_text"]],
  ["cohere", "command-a-reasoning-08-2025", []],
  ["openai", "m", []],
];

const turn = fc.record({
  makers: fc.array(fc.constantFrom(...Object.keys(MAKERS)), { maxLength: 3 }),
  calls: fc.boolean(),
});

interface History {
  readonly messages: readonly Json[];
  /** Makers by their seals. */
  readonly seals: ReadonlyMap<string, string>;
}

function historyOf(turns: readonly { readonly makers: readonly string[]; readonly calls: boolean }[]): History {
  const seals = new Map<string, string>();
  const seal = (maker: string): string => {
    const made = `seal${String(seals.size).padStart(5, "0")}`;
    seals.set(made, maker);
    return made;
  };
  const messages: Json[] = [];
  for (const [index, { makers, calls }] of turns.entries()) {
    messages.push({ role: "user", content: "and" });
    const id = calls ? withSignature(`call_${index}`, base64(seal("gemini"))) : "";
    const called = [{ id, type: "function", function: { name: "f", arguments: "{}" } }];
    messages.push({
      role: "assistant",
      content: "well",
      reasoning_details: makers.map((maker) => MAKERS[maker]!(seal(maker))),
      ...(calls && { tool_calls: called }),
    });
    if (calls) messages.push({ role: "tool", tool_call_id: id, content: "1" });
  }
  messages.push({ role: "user", content: "then" });
  return { messages, seals };
}

describe.each(UPSTREAMS)("%s, %s", (dialect, model, own) => {
  test("gets back what is its own alone", () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), (turns) => {
        const { messages, seals } = historyOf(turns);
        const tools = [{ type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }];
        const call = readChat({ model: "route/a", messages, tools });
        const { body } = codecOf(dialect, "chat").request(call, testTarget("alpha", { model }), "k");
        const text = body as string;
        const sent = [...seals].filter(([seal]) => text.includes(seal) || text.includes(base64(seal)));
        expect(sent.filter(([, maker]) => !own.includes(maker))).toEqual([]);
        expect(text).not.toContain("__ts1_");
        const kept = new Set(sent.map(([seal]) => seal));
        const missing = messages.flatMap(({ reasoning_details: details }) =>
          Array.isArray(details) ? details.filter((detail) => isMissing(detail as Json, seals, own, kept)) : [],
        );
        expect(missing).toEqual([]);
      }),
      { numRuns: FEW_RUNS },
    );
  });
});

/** Whether a detail of the upstream's own making was left behind. */
function isMissing(
  detail: Json,
  seals: ReadonlyMap<string, string>,
  own: readonly string[],
  kept: ReadonlySet<string>,
): boolean {
  const text = JSON.stringify(detail);
  const [seal, maker] = [...seals].find(([one]) => text.includes(one) || text.includes(base64(one))) ?? [];
  return maker !== undefined && own.includes(maker) && !kept.has(seal!);
}
